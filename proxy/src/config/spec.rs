//! The shape of the configuration file, exactly as in YAML; see [`policies::document`] for why nothing is required
//! and every value is a text here.

use policies::document::{Entries, Kind, OneOrMany, Text};
use serde::Deserialize;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) key: Option<Text>,
    pub(super) certificates: Option<Certificates>,
    pub(super) listen: Option<Text>,
    pub(super) listen_datagrams: Option<Text>,
    pub(super) socket: Option<Text>,
    pub(super) metrics: Option<Text>,
    pub(super) qlog: Option<Text>,
    pub(super) report: Option<Report>,
    pub(super) transport: Option<Transport>,
    pub(super) shim: Option<Shim>,
    pub(super) limits: Option<Limits>,
    pub(super) peers: Option<Entries<Peer>>,
    pub(super) forwards: Option<Entries<Forward>>,
}

/// `certificates: {chain: proxy.pem, key: proxy.pem, authority: ca.pem}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Certificates {
    pub(super) chain: Option<Text>,
    pub(super) key: Option<Text>,
    pub(super) authority: Option<Text>,
}

/// `report: {to: /run/bicast/report.sock, every: 1s, site: vehicle, policies: {hq: proxies}}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Report {
    pub(super) to: Option<Text>,
    pub(super) every: Option<Text>,
    pub(super) site: Option<Text>,
    pub(super) policies: Option<Entries<Text>>,
}

/// `transport: {stream_window: 1250kB, connection_window: 64MB, idle: 30s, keep_alive: 5s, mtu: auto}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Transport {
    pub(super) stream_window: Option<Text>,
    pub(super) connection_window: Option<Text>,
    pub(super) idle: Option<Text>,
    pub(super) keep_alive: Option<Text>,
    pub(super) mtu: Option<Text>,
}

/// `shim: {mode: auto, hold: adaptive, lead: 100, max_hold: 100ms, window: 1s, path_ports: [4443]}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shim {
    pub(super) mode: Option<Text>,
    pub(super) hold: Option<Text>,
    pub(super) lead: Option<Text>,
    pub(super) max_hold: Option<Text>,
    pub(super) window: Option<Text>,
    pub(super) path_ports: Option<OneOrMany>,
}

/// `limits: {streams: 10000, flows: 1000, handshakes: 100, connect: 10s, flow_idle: 60s, stream_idle: 2h, shutdown: 5s}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Limits {
    pub(super) streams: Option<Text>,
    pub(super) flows: Option<Text>,
    pub(super) handshakes: Option<Text>,
    pub(super) connect: Option<Text>,
    pub(super) flow_idle: Option<Text>,
    pub(super) stream_idle: Option<Text>,
    pub(super) shutdown: Option<Text>,
}

/// `hq: {key: …, dial: hq.example.net:4433, congestion: bbr3, allow: ["10.0.0.0/8:*"]}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Peer {
    pub(super) key: Option<Text>,
    pub(super) certificate_name: Option<Text>,
    pub(super) dial: Option<Text>,
    pub(super) dial_datagrams: Option<Text>,
    pub(super) congestion: Option<Text>,
    pub(super) connection_per_flow: Option<Text>,
    pub(super) allow: Option<OneOrMany>,
}

/// `web: {kind: tcp, listen: 127.0.0.1:8080, peer: hq, target: server:80, congestion: bbr1}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Forward {
    pub(super) kind: Option<Text>,
    pub(super) listen: Option<Text>,
    pub(super) peer: Option<Text>,
    pub(super) target: Option<Text>,
    pub(super) congestion: Option<Text>,
}

/// What messages about the file say.
pub(super) const KIND: Kind = Kind {
    name: "a configuration of bicast-proxy",
    expected: "`key`, `peers` and `forwards`",
    example,
};

fn example(key: &str) -> Option<&'static str> {
    Some(match key {
        "peers" => "`peers: {NAME: {key: BASE64, dial: HOST:PORT}}`",
        "forwards" => {
            "`forwards: {NAME: {kind: tcp, listen: 127.0.0.1:8080, peer: NAME, target: HOST:PORT}}`"
        }
        "certificates" => "`certificates: {chain: proxy.pem, key: proxy.pem, authority: ca.pem}`",
        "report" => "`report: {to: /run/bicast/report.sock, site: NAME, policies: {PEER: NAME}}`",
        "policies" => "`policies: {PEER: NAME}`",
        "shim" => "`shim: {mode: auto, lead: 100}`",
        "transport" => "`transport: {idle: 30s, keep_alive: 5s}`",
        "limits" => "`limits: {streams: 10000, flows: 1000}`",
        _ => return None,
    })
}
