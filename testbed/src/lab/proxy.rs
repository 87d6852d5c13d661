//! One `bicast-proxy` at a host of a lab.

use super::controller::beside_us;
use super::{Lab, Site};
use crate::netns::Netns;
use crate::process::{self, Daemon, Usage};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A proxy with a key of its own, which can be killed and started again. Dropping it kills it.
#[derive(Debug)]
pub struct ProxyProgram {
    netns: Netns,
    program: PathBuf,
    config: PathBuf,
    log: PathBuf,
    socket: PathBuf,
    key: PathBuf,
    public_key: String,
    daemon: Option<Daemon>,
}

impl Lab {
    /// A proxy with a fresh key for a host. It does not run yet. Its files are called `proxy-NAME`, with the log in the
    /// lab's folder.
    ///
    /// # Errors
    /// When `bicast-proxy` is not built.
    pub fn proxy(&self, site: Site, name: &str) -> Result<ProxyProgram> {
        let file = |end: &str| self.folder().join(format!("proxy-{name}.{end}"));
        // It vanishes with the lab: no record needs it.
        let (program, key) = (
            beside_us("bicast-proxy")?,
            PathBuf::from(format!("/run/proxy-{name}.key")),
        );
        // One of an earlier pair is not asked for again.
        let _ = std::fs::remove_file(&key);
        let public_key = process::run(process::command(&program).arg("keygen").arg(&key))?;
        Ok(ProxyProgram {
            netns: self.ns(site.host())?.clone(),
            program,
            config: file("yaml"),
            log: file("log"),
            // A socket's path must be short.
            socket: PathBuf::from(format!("/run/proxy-{name}.sock")),
            key,
            public_key: public_key.trim().to_owned(),
            daemon: None,
        })
    }
}

impl ProxyProgram {
    /// What its peers list.
    pub fn public_key(&self) -> &str {
        &self.public_key
    }

    /// Starts it with `config` beside its key and its socket for statistics.
    ///
    /// # Errors
    /// When the configuration cannot be written, or the program not be started.
    pub fn start(&mut self, config: &str) -> Result<()> {
        let own = format!(
            "key: \"{}\"\nsocket: \"{}\"\n",
            self.key.display(),
            self.socket.display()
        );
        std::fs::write(&self.config, own + config)?;
        self.start_again()
    }

    /// Starts it with the configuration of before.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn start_again(&mut self) -> Result<()> {
        let mut command = self.netns.command(&self.program);
        command.arg("run").arg("--config").arg(&self.config);
        self.daemon = Some(Daemon::spawn("bicast-proxy", &mut command, &self.log)?);
        Ok(())
    }

    /// Kills it (SIGKILL) and waits until it is gone.
    ///
    /// # Errors
    /// The system's.
    pub fn kill(&mut self) -> Result<()> {
        self.daemon.take().map_or(Ok(()), |mut daemon| daemon.kill())
    }

    /// Waits until there is a connection for streams and one for datagrams with each of `peers` peers.
    ///
    /// # Errors
    /// When it has ended, or there is none in time.
    pub fn wait_until_connected(&mut self, peers: usize) -> Result<()> {
        let patience = Instant::now() + PATIENCE;
        loop {
            if self.stats().is_ok_and(|stats| connected(&stats) >= peers) {
                return Ok(());
            }
            self.daemon()?.check_running()?;
            ensure!(
                Instant::now() < patience,
                "the proxies did not find each other in time; see {}",
                self.log.display()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What `bicast-proxy stats -o json` says.
    ///
    /// # Errors
    /// When it has ended or does not answer.
    pub fn stats(&self) -> Result<Value> {
        let mut command = process::command(&self.program);
        command.args(["stats", "-o", "json", "--socket"]);
        let text = process::run(command.arg(&self.socket))?;
        serde_json::from_str(&text).with_context(|| format!("bicast-proxy printed {text}"))
    }

    /// Processor time and memory.
    ///
    /// # Errors
    /// When it does not run.
    pub fn usage(&self) -> Result<Usage> {
        process::usage(self.pid()?)
    }

    /// How many file descriptors it has open.
    ///
    /// # Errors
    /// When it does not run.
    pub fn open_files(&self) -> Result<usize> {
        process::open_files(self.pid()?)
    }

    /// Where it answers questions for statistics.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The file that holds its log.
    pub fn log(&self) -> &Path {
        &self.log
    }

    fn pid(&self) -> Result<u32> {
        let daemon = self.daemon.as_ref().context("bicast-proxy does not run")?;
        Ok(daemon.pid())
    }

    fn daemon(&mut self) -> Result<&mut Daemon> {
        self.daemon.as_mut().context("bicast-proxy does not run")
    }
}

/// With how many peers there is a connection for streams and one for datagrams.
fn connected(stats: &Value) -> usize {
    let peers = stats["peers"].as_array().into_iter().flatten();
    let both = |peer: &&Value| {
        let connections = peer["connections"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        ["streams", "datagrams"].iter().all(|class| {
            connections
                .iter()
                .any(|connection| connection["class"] == **class)
        })
    };
    peers.filter(both).count()
}

/// Whoever was killed is given up when it has been silent for half a minute, and dialled again after some seconds.
const PATIENCE: Duration = Duration::from_secs(60);
