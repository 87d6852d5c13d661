//! The configuration: what a checked file says.

mod check;
mod spec;

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use policies::LoadError;

use crate::allow::AllowList;
use crate::congestion::Algorithm;
use crate::key::PublicKey;
use crate::shim::ShimConfig;
use crate::target::Target;
use crate::tls::Class;

/// Everything that a configuration file says, checked: names resolve, addresses and keys are not used twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The file with our private key.
    pub key: PathBuf,
    /// For peers that are known by name.
    pub certificates: Option<Certificates>,
    /// Where peers reach us with streams (UDP). Without it nobody can dial us.
    pub listen: Option<SocketAddr>,
    /// Where peers reach us with datagrams (UDP): the next port, unless the file says otherwise.
    pub listen_datagrams: Option<SocketAddr>,
    /// The Unix socket that gives statistics.
    pub socket: PathBuf,
    /// Where Prometheus may ask (TCP, HTTP).
    pub metrics: Option<SocketAddr>,
    /// The folder that gets a qlog file for each connection.
    pub qlog: Option<PathBuf>,
    /// Who is told how each peer fares.
    pub report: Option<Report>,
    /// How connections to peers behave.
    pub transport: Transport,
    /// What is done below QUIC about copies of packets.
    pub shim: ShimConfig,
    /// The UDP ports to which the network delivers packets of streams that came by further paths, in their order.
    pub path_ports: Vec<u16>,
    /// What bounds memory and waiting.
    pub limits: Limits,
    /// The other proxies, in the order of the file.
    pub peers: Vec<Peer>,
    /// What local applications connect to, in the order of the file.
    pub forwards: Vec<Forward>,
}

/// Another proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The key in the file.
    pub name: String,
    /// What it is known by.
    pub identity: Identity,
    /// Where we dial it with streams; without it we wait until it dials us.
    pub dial: Option<Target>,
    /// Where we dial it with datagrams: the next port, unless the file says otherwise.
    pub dial_datagrams: Option<Target>,
    /// The congestion control of what we send to it.
    pub congestion: Algorithm,
    /// Whether each TCP connection gets a QUIC connection of its own.
    pub connection_per_flow: bool,
    /// What it may have us connect to.
    pub allow: AllowList,
}

/// What a peer is known by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Identity {
    /// Its public key.
    Key(PublicKey),
    /// The name, or the address, in its certificate, which our authority must have signed.
    Name(String),
}

/// The files, in PEM (RFC 7468), that peers need which are known by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificates {
    /// Our certificate, then those between it and the authority's.
    pub chain: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Certificates of the authorities that may sign those of peers.
    pub authority: PathBuf,
}

/// Something that local applications connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forward {
    /// The key in the file.
    pub name: String,
    /// What is spoken there.
    pub kind: ForwardKind,
    /// Where we listen.
    pub listen: SocketAddr,
    /// The place in [`Config::peers`] of the peer that makes the connections.
    pub peer: usize,
    /// The congestion control of both directions, if not that of the peer.
    pub congestion: Option<Algorithm>,
}

/// What is spoken at a [`Forward`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForwardKind {
    /// Plain TCP to a fixed target.
    Tcp(Target),
    /// UDP to a fixed target.
    Udp(Target),
    /// SOCKS5 (RFC 1928): CONNECT and UDP ASSOCIATE, without authentication.
    Socks5,
    /// HTTP CONNECT (RFC 9110 §9.3.6).
    HttpConnect,
    /// TCP that the kernel diverts with TPROXY; the target is where it was going.
    Tproxy,
    /// TCP that the kernel diverts with REDIRECT; the target is where it was going.
    Redirect,
}

/// Who is told how each peer fares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Where to.
    pub to: ReportTo,
    /// How often.
    pub every: Duration,
    /// What the controller calls the site that we are at.
    pub site: Option<String>,
    /// By the place in [`Config::peers`], which of the controller's policies carries the peer's streams.
    pub policies: BTreeMap<usize, String>,
}

/// Where reports go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportTo {
    /// A Unix socket.
    Unix(PathBuf),
    /// A TCP address.
    Tcp(Target),
}

/// How connections to peers behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transport {
    /// Bytes that one stream may have under way to us. At most 1,250,000: behind a hole they are kept in pieces, and
    /// more than 2,048 pieces end the connection.
    pub stream_window: u32,
    /// Bytes that all streams of a connection may have under way to us together.
    pub connection_window: u32,
    /// Silence after which a connection is given up.
    pub idle: Duration,
    /// Silence after which a sign of life is sent.
    pub keep_alive: Duration,
    /// Bytes of the largest UDP payload; `None` finds it out.
    pub mtu: Option<u16>,
}

/// What bounds memory and waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Streams that a peer may have open with us, and we with it.
    pub streams: u32,
    /// UDP flows that a peer may have open with us, and we with it.
    pub flows: u32,
    /// Handshakes under way. From half of it on, whoever dials must first prove that its address is its own.
    pub handshakes: u32,
    /// How long to wait for a peer, a name, a target.
    pub connect: Duration,
    /// Silence that ends a UDP flow.
    pub flow_idle: Duration,
    /// Silence that ends a stream; `None` for never.
    pub stream_idle: Option<Duration>,
    /// How long streams may go on after we are told to stop.
    pub shutdown: Duration,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Identity::Key(key) => key.fmt(f),
            Identity::Name(name) => f.write_str(name),
        }
    }
}

impl Peer {
    /// Where we dial it for connections of a class.
    pub fn dials(&self, class: Class) -> Option<&Target> {
        match class {
            Class::Datagrams => self.dial_datagrams.as_ref(),
            Class::Streams | Class::Own => self.dial.as_ref(),
        }
    }
}

impl Default for Transport {
    fn default() -> Transport {
        Transport {
            stream_window: MAX_STREAM_WINDOW,
            connection_window: 64_000_000,
            idle: Duration::from_secs(30),
            keep_alive: Duration::from_secs(5),
            mtu: None,
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            streams: 10_000,
            flows: 1_000,
            handshakes: 100,
            connect: Duration::from_secs(10),
            flow_idle: Duration::from_secs(60),
            stream_idle: None,
            shutdown: Duration::from_secs(5),
        }
    }
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It says something wrong; one line for each problem, with its place.
    #[error(transparent)]
    Invalid(#[from] Box<LoadError>),
}

/// Reads and checks a configuration file.
pub fn load(path: &Path) -> Result<Config, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read {
        path: path.to_owned(),
        source,
    })?;
    parse(&path.display().to_string(), &text).map_err(|error| Box::new(error).into())
}

/// The same for a text; `file_name` appears in messages only.
pub fn parse(file_name: &str, text: &str) -> Result<Config, LoadError> {
    let invalid = |problems| LoadError::new(file_name, text, problems);
    let file: spec::File =
        policies::document::read(text, &spec::KIND).map_err(|problem| invalid(vec![problem]))?;
    Config::try_from(&file).map_err(invalid)
}

/// Where statistics are given when the file does not say.
pub const DEFAULT_SOCKET: &str = "/run/bicast-proxy/proxy.sock";
/// See [`Transport::stream_window`].
const MAX_STREAM_WINDOW: u32 = 1_250_000;
