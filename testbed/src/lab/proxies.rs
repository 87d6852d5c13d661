//! A pair of `bicast-proxy`, one at each host.

use super::controller::{REPORT_SOCKET, beside_us};
use super::trace::Trace;
use super::{Lab, Site};
use crate::process::{self, Daemon, Usage};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What became of the packets that a proxy received, by their copies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Copies {
    /// Two copies came.
    pub both: u64,
    /// One came.
    pub one: u64,
    /// None came.
    pub none: u64,
}

/// Two proxies that have found each other. Dropping them kills both.
#[derive(Debug)]
pub struct Proxies {
    daemons: [Daemon; 2],
    sockets: [PathBuf; 2],
}

/// What a pair of proxies is made from.
#[derive(Debug, Clone)]
pub struct ProxyPlan {
    /// Congestion control of both sides: `cubic`, `bbr1`, `bbr2` or `bbr3`.
    pub congestion: String,
    /// Where the far proxy connects to, at [`HTTP_PORT`].
    pub target: String,
    /// The most bytes under way on a stream; `None` is the proxy's default.
    pub stream_window: Option<u64>,
    /// Whether packets wait for missing ones that a slower path may still bring.
    pub resequencing: bool,
}

impl ProxyPlan {
    /// To the server's host.
    pub fn new(congestion: &str) -> Self {
        ProxyPlan {
            congestion: congestion.to_owned(),
            target: Site::Server.host_address(),
            stream_window: None,
            resequencing: true,
        }
    }
}

impl Lab {
    /// Starts a pair and waits until it is connected: what connects to [`FORWARD_PORT`] of loopback at the client's
    /// host ends up at [`HTTP_PORT`] of the target. Logs go to `proxy-client.log` and `proxy-server.log` in the lab's
    /// folder.
    ///
    /// # Errors
    /// When `bicast-proxy` is not built, fails, or the two do not find each other in time.
    pub fn spawn_proxies(&self, plan: &ProxyPlan) -> Result<Proxies> {
        let ProxyPlan {
            congestion, target, ..
        } = plan;
        let program = beside_us("bicast-proxy")?;
        let [client, server] = Site::ALL.map(|site| Files::new(self.folder(), site));
        let [client_key, server_key] = [&client, &server].map(|files| files.keygen(&program));
        let (client_key, server_key) = (client_key?, server_key?);
        let address = Site::Server.host_address();
        let hold = if plan.resequencing { "adaptive" } else { "off" };
        let window = plan.stream_window.map_or_else(String::new, |bytes| {
            format!("transport: {{stream_window: {bytes}B}}\n")
        });
        client.write_config(hold, &format!(
            "{window}peers:\n  server: {{key: \"{server_key}\", dial: \"{address}:{QUIC_PORT}\", congestion: {congestion}}}\n\
             forwards:\n  web: {{kind: tcp, listen: \"127.0.0.1:{FORWARD_PORT}\", peer: server, target: \"{target}:{HTTP_PORT}\"}}\n"
        ))?;
        server.write_config(hold, &format!(
            "listen: 0.0.0.0:{QUIC_PORT}\n\
             peers:\n  client: {{key: \"{client_key}\", congestion: {congestion}, allow: [\"{target}:{HTTP_PORT}\"]}}\n"
        ))?;
        let start = |site: Site, files: &Files| {
            let mut command = self.ns(site.host())?.command(&program);
            command.arg("run").arg("--config").arg(&files.config);
            Daemon::spawn("bicast-proxy", &mut command, &files.log)
        };
        let mut proxies = Proxies {
            daemons: [start(Site::Client, &client)?, start(Site::Server, &server)?],
            sockets: [client.socket, server.socket],
        };
        proxies.wait_until_connected(&program)?;
        Ok(proxies)
    }
}

impl Proxies {
    /// What `bicast-proxy stats -o json` says at the client's and at the server's side.
    ///
    /// # Errors
    /// When a proxy has ended or does not answer.
    pub fn stats(&mut self) -> Result<[Value; 2]> {
        let program = beside_us("bicast-proxy")?;
        let [client, server] = [0, 1].map(|side| self.stats_of(side, &program));
        Ok([client?, server?])
    }

    /// How the copies of the streams' packets fared on their way to the client.
    ///
    /// # Errors
    /// When the proxy does not say.
    pub fn copies_to_client(&mut self) -> Result<Copies> {
        let [client, _] = self.stats()?;
        let shim = &streams(&client)?["shim"];
        let paths = shim["paths"].as_array().context("bicast-proxy knows no paths")?;
        Ok(Copies {
            both: number(&shim["both"])?,
            one: paths
                .iter()
                .map(|path| number(&path["only"]))
                .sum::<Result<u64>>()?,
            none: number(&shim["neither"])?,
        })
    }

    /// How many packets of streams to the client the server's side took for lost.
    ///
    /// # Errors
    /// When the proxy does not say.
    pub fn declared_lost_at_server(&mut self) -> Result<u64> {
        let [_, server] = self.stats()?;
        number(&streams(&server)?["lost_packets"])
    }

    /// What the connection that carries the streams says of itself at the server's side.
    ///
    /// # Errors
    /// When the proxy does not say.
    pub fn streams_at_server(&mut self) -> Result<Value> {
        let [_, server] = self.stats()?;
        Ok(streams(&server)?.clone())
    }

    /// Follows that connection from now on.
    pub fn trace_at_server(&self) -> Trace {
        Trace::start(self.sockets[1].clone())
    }

    /// Processor time of both proxies.
    ///
    /// # Errors
    /// When one of them has ended.
    pub fn cpu(&self) -> Result<Duration> {
        let cpu = |daemon: &Daemon| Ok(process::usage(daemon.pid())?.cpu);
        self.daemons.iter().map(cpu).sum()
    }

    /// Processor time and memory of the proxy at the client's side.
    ///
    /// # Errors
    /// When it has ended.
    pub fn usage_at_client(&self) -> Result<Usage> {
        process::usage(self.daemons[0].pid())
    }

    fn wait_until_connected(&mut self, program: &Path) -> Result<()> {
        let patience = Instant::now() + PATIENCE;
        loop {
            for daemon in &mut self.daemons {
                daemon.check_running()?;
            }
            let connected = |stats: &Value| stats.pointer("/peers/0/connections/0").is_some();
            if [0, 1]
                .iter()
                .all(|side| self.stats_of(*side, program).is_ok_and(|stats| connected(&stats)))
            {
                return Ok(());
            }
            ensure!(
                Instant::now() < patience,
                "the proxies did not find each other in time; see {}",
                self.daemons[0].log().display()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn stats_of(&self, side: usize, program: &Path) -> Result<Value> {
        let mut command = process::command(program);
        command.args(["stats", "-o", "json", "--socket"]);
        let text = process::run(command.arg(&self.sockets[side]))?;
        serde_json::from_str(&text).with_context(|| format!("bicast-proxy printed {text}"))
    }
}

/// The connection that carries streams.
pub(super) fn streams(stats: &Value) -> Result<&Value> {
    let connections = stats.pointer("/peers/0/connections").and_then(Value::as_array);
    connections
        .into_iter()
        .flatten()
        .find(|connection| connection["class"] == "streams")
        .context("no connection for streams")
}

fn number(value: &Value) -> Result<u64> {
    value.as_u64().context("bicast-proxy does not count that")
}

/// The files of one proxy.
struct Files {
    site: Site,
    key: PathBuf,
    config: PathBuf,
    log: PathBuf,
    socket: PathBuf,
}

impl Files {
    fn new(folder: &Path, site: Site) -> Self {
        let file = |end: &str| folder.join(format!("proxy-{}.{end}", site.name()));
        Self {
            site,
            // It vanishes with the lab: no recording needs it.
            key: PathBuf::from(format!("/run/proxy-{}.key", site.name())),
            config: file("yaml"),
            log: file("log"),
            // A socket's path must be short.
            socket: PathBuf::from(format!("/run/proxy-{}.sock", site.name())),
        }
    }

    fn keygen(&self, program: &Path) -> Result<String> {
        // A key of an earlier run is not asked for again.
        let _ = std::fs::remove_file(&self.key);
        let public = process::run(process::command(program).arg("keygen").arg(&self.key))?;
        Ok(public.trim().to_owned())
    }

    fn write_config(&self, hold: &str, text: &str) -> Result<()> {
        let (here, there) = (self.site.name(), self.site.peer().name());
        let own = format!(
            "key: \"{}\"\nsocket: \"{}\"\nshim: {{path_ports: {PATH_B_PORT}, hold: {hold}}}\n\
             report: {{to: {REPORT_SOCKET}, every: 500ms, site: {here}, policies: {{{there}: {PROXY_POLICY}}}}}\n",
            self.key.display(),
            self.socket.display()
        );
        Ok(std::fs::write(&self.config, own + text)?)
    }
}

/// TCP port of loopback at the client's host, where applications connect.
pub const FORWARD_PORT: u16 = 8080;
/// TCP port of the web server at the server's host.
pub const HTTP_PORT: u16 = 8000;
/// UDP port of the streams between the proxies; datagrams take the next.
pub const QUIC_PORT: u16 = 4433;
/// The policy for whose packets they report to `bicastd`, if one of this name is in force.
pub const PROXY_POLICY: &str = "proxies";
/// UDP port where both expect what came by path b, if a policy delivers it there.
pub const PATH_B_PORT: u16 = 4443;
const PATIENCE: Duration = Duration::from_secs(30);
