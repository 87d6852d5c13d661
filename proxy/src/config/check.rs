//! From the shape to the truth: what every text means, and whether it all fits together.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use policies::Problem;
use policies::document::{
    Entries, Fault, Name, OneOrMany, Report, Text, did_you_mean, duration_in, number, one_of,
};
use rustls::pki_types::ServerName;

use super::{
    Config, DEFAULT_SOCKET, Forward, ForwardKind, Identity, Limits, MAX_STREAM_WINDOW, Peer, Transport, spec,
};
use crate::allow::AllowList;
use crate::congestion::Algorithm;
use crate::key::PublicKey;
use crate::shim::resequencer::MAX_LEAD;
use crate::shim::{Hold, Mode, ShimConfig};
use crate::target::Target;

impl TryFrom<&spec::File> for Config {
    type Error = Vec<Problem>;

    fn try_from(file: &spec::File) -> Result<Config, Vec<Problem>> {
        let mut report = Report::default();
        if file.key.is_none() {
            report.fault_at_start("the file needs `key`, the private key's file");
        }
        if entries(file.peers.as_ref()).is_empty() {
            report.fault_at_start("the file needs `peers` with at least one peer");
        }
        let listen = value(file.listen.as_ref(), &mut report, address);
        let listen_datagrams = value(file.listen_datagrams.as_ref(), &mut report, address);
        if let (Some(text), None) = (&file.listen_datagrams, &file.listen) {
            report.fault(text.place, "`listen_datagrams` needs `listen` too".to_owned());
        }
        let peers = peers(file, &mut report);
        let forwards = forwards(file, &mut report);
        let config = Config {
            key: path(file.key.as_ref(), ""),
            certificates: file
                .certificates
                .as_ref()
                .and_then(|files| certificates(files, &mut report)),
            listen,
            listen_datagrams: listen_datagrams.or_else(|| listen.map(next_port)),
            socket: path(file.socket.as_ref(), DEFAULT_SOCKET),
            metrics: value(file.metrics.as_ref(), &mut report, address),
            qlog: file.qlog.as_ref().map(|text| PathBuf::from(&text.text)),
            report: file
                .report
                .as_ref()
                .and_then(|to| check_report(to, file, &mut report)),
            transport: transport(file.transport.as_ref(), &mut report),
            shim: shim(file.shim.as_ref(), &mut report),
            path_ports: path_ports(file.shim.as_ref(), &mut report),
            limits: limits(file.limits.as_ref(), &mut report),
            peers,
            forwards,
        };
        report.finish(config)
    }
}

fn peers(file: &spec::File, report: &mut Report) -> Vec<Peer> {
    let mut known: HashMap<Identity, &Name> = HashMap::new();
    let mut peers = Vec::new();
    for (name, peer) in entries(file.peers.as_ref()) {
        report.name(name);
        let identity = identity(file, name, peer, report);
        let text = peer.key.as_ref().or(peer.certificate_name.as_ref());
        if let (Some(identity), Some(text)) = (identity.clone(), text)
            && let Some(other) = known.insert(identity, name)
        {
            let what = if peer.key.is_some() {
                "key"
            } else {
                "certificate's name"
            };
            report.fault(text.place, format!("peer `{}` has the same {what}", other.text));
        }
        let dial = value(peer.dial.as_ref(), report, target);
        let per_flow = value(peer.connection_per_flow.as_ref(), report, boolean).unwrap_or(false);
        for (needs, text) in [
            (
                "connection_per_flow",
                peer.connection_per_flow.as_ref().filter(|_| per_flow),
            ),
            ("dial_datagrams", peer.dial_datagrams.as_ref()),
        ] {
            if let (Some(text), None) = (text, &peer.dial) {
                report.fault(
                    text.place,
                    format!("`{needs}` needs `dial`: only the side that dials opens connections"),
                );
            }
        }
        if peer.dial.is_none() && file.listen.is_none() {
            let fault = Fault::with_help(
                format!("nobody can open a connection to peer `{}`", name.text),
                "give the peer `dial`, or the file `listen`",
            );
            report.fault(name.place, fault);
        }
        let dial_datagrams = value(peer.dial_datagrams.as_ref(), report, target);
        let congestion = value(peer.congestion.as_ref(), report, congestion);
        let allow = allow(peer.allow.as_ref(), report);
        let Some(identity) = identity else { continue };
        peers.push(Peer {
            name: name.text.clone(),
            identity,
            dial_datagrams: dial_datagrams.or_else(|| {
                let port = dial.as_ref()?.port.checked_add(1)?;
                dial.clone().and_then(|dial| Target::new(dial.host, port))
            }),
            dial,
            congestion: congestion.unwrap_or(DEFAULT_CONGESTION),
            connection_per_flow: per_flow,
            allow,
        });
    }
    peers
}

fn identity(file: &spec::File, name: &Name, peer: &spec::Peer, report: &mut Report) -> Option<Identity> {
    let Some(text) = &peer.certificate_name else {
        let key = report.required(peer.key.as_ref(), name, "key")?;
        return report.value(key, public_key).map(Identity::Key);
    };
    if peer.key.is_some() {
        let message = "a peer is known by its `key` or by its `certificate_name`, not by both".to_owned();
        report.fault(text.place, message);
    }
    if file.certificates.is_none() {
        let fault = Fault::with_help(
            "`certificate_name` needs `certificates`".to_owned(),
            "give the file `certificates: {chain: proxy.pem, key: proxy.pem, authority: ca.pem}`",
        );
        report.fault(text.place, fault);
    }
    report.value(text, |text| match ServerName::try_from(text) {
        Ok(_) => Ok(Identity::Name(text.to_owned())),
        Err(_) => Err(format!("`{text}` is not a name or an address that a certificate can have").into()),
    })
}

fn certificates(files: &spec::Certificates, report: &mut Report) -> Option<super::Certificates> {
    let (Some(chain), Some(key), Some(authority)) = (&files.chain, &files.key, &files.authority) else {
        report.fault_at_start("`certificates` needs the keys `chain`, `key` and `authority`");
        return None;
    };
    Some(super::Certificates {
        chain: PathBuf::from(&chain.text),
        key: PathBuf::from(&key.text),
        authority: PathBuf::from(&authority.text),
    })
}

fn forwards(file: &spec::File, report: &mut Report) -> Vec<Forward> {
    let peers = entries(file.peers.as_ref());
    let names: Vec<&str> = peers.iter().map(|(name, _)| name.text.as_str()).collect();
    let mut taken: HashMap<(bool, SocketAddr), &Name> = HashMap::new();
    let mut forwards = Vec::new();
    for (name, forward) in entries(file.forwards.as_ref()) {
        report.name(name);
        let kind = report
            .required(forward.kind.as_ref(), name, "kind")
            .and_then(|kind| forward_kind(kind, name, forward.target.as_ref(), report));
        let listen = report
            .required(forward.listen.as_ref(), name, "listen")
            .and_then(|text| Some((report.value(text, address)?, text.place)));
        let peer = report
            .required(forward.peer.as_ref(), name, "peer")
            .and_then(|peer| report.lookup(peer, "a peer", &names));
        let congestion_place = forward.congestion.as_ref().map(|text| text.place);
        let congestion = value(forward.congestion.as_ref(), report, congestion);
        if let (Some(place), Some((peer, shape))) = (congestion_place, peer.and_then(|at| peers.get(at)))
            && shape.dial.is_none()
        {
            report.fault(
                place,
                format!(
                    "a congestion control of its own needs a connection of its own: peer `{}` has no `dial`",
                    peer.text
                ),
            );
        }
        let (Some(kind), Some((listen, place)), Some(peer)) = (kind, listen, peer) else {
            continue;
        };
        let udp = matches!(kind, ForwardKind::Udp(_));
        if let (Some(place), true) = (congestion_place, udp) {
            report.fault(
                place,
                "all UDP to a peer shares one connection, it has no `congestion` of its own".to_owned(),
            );
        }
        if listen.port() != 0
            && let Some(other) = taken.insert((udp, listen), name)
        {
            report.fault(place, format!("forward `{}` listens there too", other.text));
        }
        forwards.push(Forward {
            name: name.text.clone(),
            kind,
            listen,
            peer,
            congestion,
        });
    }
    forwards
}

fn forward_kind(kind: &Text, name: &Name, to: Option<&Text>, report: &mut Report) -> Option<ForwardKind> {
    let fixed: Option<fn(Target) -> ForwardKind> = match kind.text.as_str() {
        "tcp" => Some(ForwardKind::Tcp),
        "udp" => Some(ForwardKind::Udp),
        _ => None,
    };
    if let Some(fixed) = fixed {
        let to = report.required(to, name, "target")?;
        return report.value(to, target).map(fixed);
    }
    let kind = report.value(kind, |text| match text {
        "socks5" => Ok(ForwardKind::Socks5),
        "http_connect" => Ok(ForwardKind::HttpConnect),
        "tproxy" => Ok(ForwardKind::Tproxy),
        "redirect" => Ok(ForwardKind::Redirect),
        _ => Err(Fault {
            message: format!("unknown kind `{text}`, expected {}", one_of(&KINDS)),
            help: did_you_mean(text, &KINDS),
        }),
    })?;
    if let Some(to) = to {
        report.fault(to.place, "only `tcp` and `udp` have a fixed `target`".to_owned());
    }
    Some(kind)
}

fn allow(rules: Option<&OneOrMany>, report: &mut Report) -> AllowList {
    let rules = rules.and_then(|rules| {
        report.list(rules, |text| {
            text.parse()
                .map_err(|error| Fault::from(format!("`{text}` is not a rule, {error}")))
        })
    });
    AllowList::new(rules.unwrap_or_default())
}

fn check_report(shape: &spec::Report, file: &spec::File, report: &mut Report) -> Option<super::Report> {
    let every = value(shape.every.as_ref(), report, |text| {
        duration_in(text, &(Duration::from_millis(100)..=Duration::from_secs(3600)))
    });
    if let Some(site) = &shape.site {
        report.name(site);
    }
    let policies = policies(
        entries(shape.policies.as_ref()),
        entries(file.peers.as_ref()),
        report,
    );
    if let (Some(site), true) = (&shape.site, policies.is_empty()) {
        let message = "`site` needs `policies`: by peer, the policy of bicastd that carries its streams";
        report.fault(site.place, message.to_owned());
    }
    if let (None, Some((name, _))) = (&shape.site, entries(shape.policies.as_ref()).first()) {
        let message = "`policies` needs `site`: what bicastd calls the site that this proxy is at";
        report.fault(name.place, message.to_owned());
    }
    let Some(to) = &shape.to else {
        report.fault_at_start("`report` needs the key `to`");
        return None;
    };
    let to = report.value(to, |text| match text.starts_with(['/', '.']) {
        true => Ok(super::ReportTo::Unix(PathBuf::from(text))),
        false => target(text).map(super::ReportTo::Tcp),
    })?;
    Some(super::Report {
        to,
        every: every.unwrap_or(Duration::from_secs(1)),
        site: shape.site.as_ref().map(|site| site.text.clone()),
        policies,
    })
}

fn policies(
    names: &[(Name, Text)],
    peers: &[(Name, spec::Peer)],
    report: &mut Report,
) -> BTreeMap<usize, String> {
    let peers: Vec<&str> = peers.iter().map(|(name, _)| name.text.as_str()).collect();
    let mut policies = BTreeMap::new();
    for (peer, policy) in names {
        report.name(policy);
        if let Some(peer) = report.lookup(peer, "a peer", &peers) {
            policies.insert(peer, policy.text.clone());
        }
    }
    policies
}

fn transport(shape: Option<&spec::Transport>, report: &mut Report) -> Transport {
    let default = Transport::default();
    let Some(shape) = shape else { return default };
    let seconds = Duration::from_secs(1)..=Duration::from_secs(600);
    let mut time = |text: Option<&Text>| value(text, report, |text| duration_in(text, &seconds));
    let (idle, keep_alive) = (time(shape.idle.as_ref()), time(shape.keep_alive.as_ref()));
    let mut window =
        |text: Option<&Text>, most: u32| value(text, report, |text| size(text, &(16_384..=most)));
    let stream_window = window(shape.stream_window.as_ref(), MAX_STREAM_WINDOW);
    let connection_window = window(shape.connection_window.as_ref(), MAX_WINDOW);
    let mtu = value(shape.mtu.as_ref(), report, |text| match text {
        "auto" => Ok(None),
        _ => number(text, "UDP payload size", &(1200..=9000)).map(Some),
    });
    let transport = Transport {
        stream_window: stream_window.unwrap_or(default.stream_window),
        connection_window: connection_window.unwrap_or(default.connection_window),
        idle: idle.unwrap_or(default.idle),
        keep_alive: keep_alive.unwrap_or(default.keep_alive),
        mtu: mtu.flatten(),
    };
    let readable =
        idle.is_some() == shape.idle.is_some() && keep_alive.is_some() == shape.keep_alive.is_some();
    let place = [&shape.keep_alive, &shape.idle].into_iter().flatten().next();
    if let Some(Text { place, .. }) = place.filter(|_| readable)
        && transport.keep_alive >= transport.idle
    {
        report.fault(*place, "`keep_alive` must be less than `idle`".to_owned());
    }
    transport
}

fn shim(shape: Option<&spec::Shim>, report: &mut Report) -> ShimConfig {
    let default = ShimConfig::default();
    let Some(shape) = shape else { return default };
    let modes = [("auto", Mode::Auto), ("on", Mode::On), ("off", Mode::Off)];
    let holds = [("adaptive", Hold::Adaptive), ("off", Hold::Off)];
    let lead = |text: &str| number(text, "number of packets", &(0..=MAX_LEAD));
    let times = Duration::from_millis(1)..=Duration::from_secs(10);
    let time = |text: &str| duration_in(text, &times);
    ShimConfig {
        mode: value(shape.mode.as_ref(), report, |text| word(text, "mode", &modes)).unwrap_or(default.mode),
        hold: value(shape.hold.as_ref(), report, |text| word(text, "hold", &holds)).unwrap_or(default.hold),
        lead: value(shape.lead.as_ref(), report, lead).unwrap_or(default.lead),
        max_hold: value(shape.max_hold.as_ref(), report, time).unwrap_or(default.max_hold),
        window: value(shape.window.as_ref(), report, time).unwrap_or(default.window),
        ..default
    }
}

fn path_ports(shape: Option<&spec::Shim>, report: &mut Report) -> Vec<u16> {
    let Some(list) = shape.and_then(|shape| shape.path_ports.as_ref()) else {
        return Vec::new();
    };
    if list.values.len() > MAX_FURTHER_PATHS {
        let message = format!("more than {MAX_FURTHER_PATHS} further paths cannot be told apart");
        report.fault(list.place, message);
    }
    report
        .list(list, |text| number(text, "port number", &(1..=u16::MAX)))
        .unwrap_or_default()
}

/// One of some words; `what` names them in messages.
fn word<T: Copy>(text: &str, what: &str, words: &[(&str, T)]) -> Result<T, Fault> {
    let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
    let found = words.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| Fault {
        message: format!("unknown {what} `{text}`, expected {}", one_of(&names)),
        help: did_you_mean(text, &names),
    })
}

fn limits(shape: Option<&spec::Limits>, report: &mut Report) -> Limits {
    let default = Limits::default();
    let Some(shape) = shape else { return default };
    let mut count = |text: Option<&Text>, default: u32| {
        let range = 1..=1_000_000;
        value(text, report, |text| number(text, "limit", &range)).unwrap_or(default)
    };
    let streams = count(shape.streams.as_ref(), default.streams);
    let flows = count(shape.flows.as_ref(), default.flows);
    let handshakes = count(shape.handshakes.as_ref(), default.handshakes);
    let mut time = |text: Option<&Text>| {
        let range = Duration::from_millis(100)..=Duration::from_secs(86_400);
        value(text, report, |text| duration_in(text, &range))
    };
    Limits {
        streams,
        flows,
        handshakes,
        connect: time(shape.connect.as_ref()).unwrap_or(default.connect),
        flow_idle: time(shape.flow_idle.as_ref()).unwrap_or(default.flow_idle),
        stream_idle: time(shape.stream_idle.as_ref()).or(default.stream_idle),
        shutdown: time(shape.shutdown.as_ref()).unwrap_or(default.shutdown),
    }
}

/// What a text means that may be left out; `None` also when it means nothing, which is then reported.
fn value<T>(text: Option<&Text>, report: &mut Report, parse: impl Fn(&str) -> Result<T, Fault>) -> Option<T> {
    text.and_then(|text| report.value(text, parse))
}

fn entries<T>(mapping: Option<&Entries<T>>) -> &[(Name, T)] {
    mapping.map_or(&[], |entries| &entries.0)
}

fn path(text: Option<&Text>, default: &str) -> PathBuf {
    PathBuf::from(text.map_or(default, |text| &text.text))
}

/// The address with the port after; the same for the last port and for 0, which means any.
fn next_port(mut address: SocketAddr) -> SocketAddr {
    if address.port() != 0 {
        address.set_port(address.port().saturating_add(1));
    }
    address
}

fn address(text: &str) -> Result<SocketAddr, Fault> {
    text.parse().map_err(|_| {
        format!(
            "`{text}` is not an address with a port, expected one such as `127.0.0.1:8080` or `[::]:4433`"
        )
        .into()
    })
}

fn target(text: &str) -> Result<Target, Fault> {
    text.parse()
        .map_err(|error| Fault::from(format!("`{text}` is not a target, {error}")))
}

fn public_key(text: &str) -> Result<PublicKey, Fault> {
    text.parse()
        .map_err(|error| Fault::from(format!("`{text}` is {error}")))
}

fn congestion(text: &str) -> Result<Algorithm, Fault> {
    text.parse().map_err(|_| {
        let names = Algorithm::ALL.map(|algorithm| algorithm.to_string());
        Fault {
            message: format!("unknown congestion control `{text}`, expected {}", one_of(&names)),
            help: did_you_mean(text, &names),
        }
    })
}

fn boolean(text: &str) -> Result<bool, Fault> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("`{text}` is neither `true` nor `false`").into()),
    }
}

/// `1250kB`, `64MB`, `65536`: bytes.
fn size(text: &str, range: &RangeInclusive<u32>) -> Result<u32, Fault> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let factor = match unit.trim() {
        "" | "B" => Some(1),
        "kB" => Some(1_000),
        "MB" => Some(1_000_000),
        _ => None,
    };
    let bytes = factor.and_then(|factor: u32| digits.parse::<u32>().ok()?.checked_mul(factor));
    bytes.filter(|bytes| range.contains(bytes)).ok_or_else(|| {
        let (low, high) = (range.start(), range.end());
        format!("`{text}` is not a size, expected {low} to {high} bytes such as `64kB` or `1MB`").into()
    })
}

const KINDS: [&str; 6] = ["tcp", "udp", "socks5", "http_connect", "tproxy", "redirect"];
const DEFAULT_CONGESTION: Algorithm = Algorithm::Bbr3;
const MAX_WINDOW: u32 = 1_000_000_000;
/// As many as the shim can count, beside the first.
const MAX_FURTHER_PATHS: usize = 255;
