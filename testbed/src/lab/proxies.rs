//! A pair of `bicast-proxy`, one at each host.

use super::controller::REPORT_SOCKET;
use super::proxy::ProxyProgram;
use super::trace::Trace;
use super::{Lab, Site};
use crate::process::Usage;
use anyhow::{Context, Result};
use serde_json::Value;
use std::time::Duration;

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
    client: ProxyProgram,
    server: ProxyProgram,
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

    /// What both configurations say.
    fn of_both(&self, site: Site) -> String {
        let (here, there) = (site.name(), site.peer().name());
        let hold = if self.resequencing { "adaptive" } else { "off" };
        format!(
            "shim: {{path_ports: {PATH_B_PORT}, hold: {hold}}}\n\
             report: {{to: {REPORT_SOCKET}, every: 500ms, site: {here}, policies: {{{there}: {PROXY_POLICY}}}}}\n"
        )
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
        let [client, server] = Site::ALL.map(|site| self.proxy(site, site.name()));
        let (mut client, mut server) = (client?, server?);
        let (client_key, server_key) = (client.public_key(), server.public_key());
        let address = Site::Server.host_address();
        let window = plan.stream_window.map_or_else(String::new, |bytes| {
            format!("transport: {{stream_window: {bytes}B}}\n")
        });
        let client_config = format!(
            "{both}{window}peers:\n  server: {{key: \"{server_key}\", dial: \"{address}:{QUIC_PORT}\", congestion: {congestion}}}\n\
             forwards:\n  web: {{kind: tcp, listen: \"127.0.0.1:{FORWARD_PORT}\", peer: server, target: \"{target}:{HTTP_PORT}\"}}\n",
            both = plan.of_both(Site::Client),
        );
        let server_config = format!(
            "{both}listen: 0.0.0.0:{QUIC_PORT}\n\
             peers:\n  client: {{key: \"{client_key}\", congestion: {congestion}, allow: [\"{target}:{HTTP_PORT}\"]}}\n",
            both = plan.of_both(Site::Server),
        );
        client.start(&client_config)?;
        server.start(&server_config)?;
        for program in [&mut client, &mut server] {
            program.wait_until_connected(1)?;
        }
        Ok(Proxies { client, server })
    }
}

impl Proxies {
    /// What `bicast-proxy stats -o json` says at the client's and at the server's side.
    ///
    /// # Errors
    /// When a proxy has ended or does not answer.
    pub fn stats(&self) -> Result<[Value; 2]> {
        Ok([self.client.stats()?, self.server.stats()?])
    }

    /// How the copies of the streams' packets fared on their way to the client.
    ///
    /// # Errors
    /// When the proxy does not say.
    pub fn copies_to_client(&self) -> Result<Copies> {
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
    pub fn declared_lost_at_server(&self) -> Result<u64> {
        let [_, server] = self.stats()?;
        number(&streams(&server)?["lost_packets"])
    }

    /// What the connection that carries the streams says of itself at the server's side.
    ///
    /// # Errors
    /// When the proxy does not say.
    pub fn streams_at_server(&self) -> Result<Value> {
        let [_, server] = self.stats()?;
        Ok(streams(&server)?.clone())
    }

    /// Follows that connection from now on.
    pub fn trace_at_server(&self) -> Trace {
        Trace::start(self.server.socket().to_owned())
    }

    /// Processor time of both proxies.
    ///
    /// # Errors
    /// When one of them has ended.
    pub fn cpu(&self) -> Result<Duration> {
        Ok(self.client.usage()?.cpu + self.server.usage()?.cpu)
    }

    /// Processor time and memory of the proxy at the client's side.
    ///
    /// # Errors
    /// When it has ended.
    pub fn usage_at_client(&self) -> Result<Usage> {
        self.client.usage()
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
