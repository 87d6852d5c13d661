//! The controller under test: `bicastd` in the namespace `control`.

use super::Lab;
use crate::netns::Netns;
use crate::process::{self, Daemon, Usage};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A controller that can be killed and started again. Dropping it kills it.
#[derive(Debug)]
pub struct Controller {
    netns: Netns,
    program: PathBuf,
    arguments: Vec<String>,
    log: PathBuf,
    daemon: Mutex<Option<Daemon>>,
}

impl Lab {
    /// Starts `bicastd`, found beside this program, with a policy file and further arguments. Its log goes to
    /// `bicastd.log` in the lab's folder.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn spawn_controller(&self, policy: &Path, further: &[&str]) -> Result<Controller> {
        std::fs::create_dir_all(
            Path::new(SOCKET)
                .parent()
                .context("the socket lies in a folder")?,
        )?;
        let policy = policy
            .canonicalize()
            .with_context(|| format!("no policy file {}", policy.display()))?;
        let own = [
            "--config",
            &policy.to_string_lossy(),
            "--listen",
            "0.0.0.0:6653",
            "--socket",
            SOCKET,
        ]
        .map(str::to_owned);
        let controller = Controller {
            netns: self.ns("control")?.clone(),
            program: beside_us("bicastd")?,
            arguments: own
                .into_iter()
                .chain(further.iter().map(|&word| word.to_owned()))
                .collect(),
            log: self.folder().join("bicastd.log"),
            daemon: Mutex::new(None),
        };
        controller.start()?;
        Ok(controller)
    }
}

impl Controller {
    /// Starts it, unless it runs.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(&self) -> Result<()> {
        let mut daemon = self.daemon();
        if daemon.is_none() {
            let mut command = self.netns.command(&self.program);
            *daemon = Some(Daemon::spawn(
                "bicastd",
                command.args(&self.arguments),
                &self.log,
            )?);
        }
        Ok(())
    }

    /// Kills it (SIGKILL) and waits until it is gone.
    ///
    /// # Errors
    /// The system's.
    pub fn kill(&self) -> Result<()> {
        match self.daemon().take() {
            Some(mut daemon) => daemon.kill(),
            None => Ok(()),
        }
    }

    /// Fails when it should run and has ended, with the end of its log.
    ///
    /// # Errors
    /// When it has ended.
    pub fn check_running(&self) -> Result<()> {
        self.daemon().as_mut().map_or(Ok(()), Daemon::check_running)
    }

    /// Process id inside the lab, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.daemon().as_ref().map(Daemon::pid)
    }

    /// Processor time and memory.
    ///
    /// # Errors
    /// When it does not run.
    pub fn usage(&self) -> Result<Usage> {
        process::usage(self.pid().context("bicastd does not run")?)
    }

    /// The file that holds its log.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// The socket of its API, reachable from inside the sandbox.
    pub fn socket(&self) -> &Path {
        Path::new(SOCKET)
    }

    /// Runs `bicastctl` against it and returns what that prints.
    ///
    /// # Errors
    /// When `bicastctl` fails.
    pub fn ctl(&self, arguments: &[&str]) -> Result<String> {
        let mut command = self.netns.command(beside_us("bicastctl")?);
        process::run(command.args(["--socket", SOCKET]).args(arguments))
    }

    fn daemon(&self) -> MutexGuard<'_, Option<Daemon>> {
        self.daemon.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn beside_us(program: &str) -> Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name(program);
    anyhow::ensure!(
        path.exists(),
        "{} is not built: run `cargo build --workspace`",
        path.display()
    );
    Ok(path)
}

/// The controller's socket, inside the lab.
const SOCKET: &str = "/run/bicast/bicastd.sock";
/// Where proxies report to it.
pub(super) const REPORT_SOCKET: &str = "/run/bicast/report.sock";
