//! What a running proxy tells about itself, and the Unix socket that tells it: whoever connects gets one JSON
//! document, and the end.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;
use tokio::net::UnixListener;
use tokio::runtime::Handle;

use crate::congestion::Algorithm;
use crate::counters::CounterValues;
use crate::peer::{Link, Peer};
use crate::relay::Shared;
use crate::shim;
use crate::tls::Class;

/// Everything at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Of the program.
    pub version: String,
    /// Since when it runs.
    pub uptime_ms: u64,
    /// Tasks of the runtime that exist now: some for each forward, peer, connection and stream. Zero if asked from
    /// outside the runtime.
    pub tasks: u64,
    /// Of whoever dials us.
    pub handshakes: HandshakeStats,
    /// Of the configuration.
    pub reloads: ReloadStats,
    /// In the order of the configuration.
    pub peers: Vec<PeerStats>,
}

/// Handshakes that came to nothing, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandshakeStats {
    /// Sent back to prove the address first, because many were under way.
    pub retried: u64,
    /// Not answered, because as many as are allowed were under way.
    pub ignored: u64,
    /// Failed: a key that is not listed, silence.
    pub failed: u64,
}

/// Times that the configuration was read again, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReloadStats {
    /// It is in force since.
    pub done: u64,
    /// It was wrong, or a socket was not to be had: the one before stayed in force.
    pub refused: u64,
}

/// One peer at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerStats {
    /// Its name in the configuration.
    pub name: String,
    /// Its public key, or the name in its certificate.
    pub key: String,
    /// Since the start.
    pub counters: CounterValues,
    /// Those that exist now, oldest first.
    pub connections: Vec<ConnectionStats>,
}

/// One QUIC connection at one moment. Counts are since its start; bytes without IP and UDP headers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConnectionStats {
    /// Different for every connection of a process.
    pub id: u64,
    /// What it carries.
    pub class: Class,
    /// Where the other end is.
    pub remote: String,
    /// Whether this side dialled.
    pub dialled: bool,
    /// Since when it exists.
    pub age_ms: u64,
    /// What controls what we send.
    pub congestion: Algorithm,
    /// The smoothed round-trip time.
    pub rtt_us: u64,
    /// The smallest round-trip time; `None` before the first.
    pub min_rtt_us: Option<u64>,
    /// The congestion window, bytes.
    pub cwnd: u64,
    /// The slow-start threshold, bytes, of an algorithm that has one and has left slow start.
    pub ssthresh: Option<u64>,
    /// Sent and neither acknowledged nor lost, bytes, at the latest acknowledgement.
    pub in_flight: u64,
    /// What the controller wants to send at most, bits per second, if it says so.
    pub pacing_bps: Option<u64>,
    /// What the controller believes that the path carries, bits per second, if it says so.
    pub bandwidth_bps: Option<u64>,
    /// What was acknowledged lately, bits per second.
    pub delivery_bps: u64,
    /// Whether the applications, not the network, limited what was sent last.
    pub app_limited: bool,
    /// The largest UDP payload that the path is known to carry.
    pub mtu: u16,
    /// Packets sent.
    pub sent_packets: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Bytes acknowledged.
    pub delivered_bytes: u64,
    /// Packets declared lost.
    pub lost_packets: u64,
    /// Bytes declared lost.
    pub lost_bytes: u64,
    /// Times that losses, or ECN, made the controller react.
    pub congestion_events: u64,
    /// How many of them turned out to be none.
    pub spurious_congestion_events: u64,
    /// UDP datagrams received.
    pub received_datagrams: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// ACK frames received.
    pub received_acks: u64,
    /// What the shim below QUIC did for the address of the other end.
    pub shim: Option<ShimStats>,
}

/// What the shim did for one address of a peer: for all connections with it together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShimStats {
    /// Whether what we send carries the header; `None` while that is not decided.
    pub header: Option<bool>,
    /// Datagrams sent with the header.
    pub sent: u64,
    /// How much later second copies come of what we receive.
    pub gap_us: u64,
    /// How much later second copies come of what we send, as the peer measures it.
    pub outgoing_gap_us: u64,
    /// How long a missing packet is waited for.
    pub hold_us: u64,
    /// Packets that were held back.
    pub held: u64,
    /// Packets that came more than once.
    pub both: u64,
    /// Packets of which no copy came.
    pub neither: u64,
    /// By path, in the order of the local ports that the network addresses copies to.
    pub paths: Vec<ShimPathStats>,
}

/// What came by one path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShimPathStats {
    /// Packets whose first copy came by it.
    pub first_arrivals: u64,
    /// Copies of packets that had come before.
    pub second_copies: u64,
    /// First arrivals that filled a hole which a packet by another path had shown.
    pub rescued: u64,
    /// Packets that came by no other path.
    pub only: u64,
}

pub(crate) fn stats(shared: &Shared) -> Stats {
    Stats {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        uptime_ms: millis(shared.since.elapsed()),
        tasks: Handle::try_current().map_or(0, |runtime| runtime.metrics().num_alive_tasks() as u64),
        handshakes: HandshakeStats {
            retried: shared.handshakes.retried.get(),
            ignored: shared.handshakes.ignored.get(),
            failed: shared.handshakes.failed.get(),
        },
        reloads: ReloadStats {
            done: shared.reloads.done.get(),
            refused: shared.reloads.refused.get(),
        },
        peers: shared
            .peers()
            .iter()
            .map(|peer| peer_stats(shared, peer))
            .collect(),
    }
}

pub(crate) fn peer_stats(shared: &Shared, peer: &Peer) -> PeerStats {
    let shims = [Class::Streams, Class::Datagrams].map(|class| shared.port(class).shim.stats());
    let shim = |link: &Link| {
        let [streams, datagrams] = &shims;
        let stats = if link.class == Class::Datagrams {
            datagrams
        } else {
            streams
        };
        let remote = link.remote()?;
        stats.iter().find(|stats| stats.remote == remote).map(shim_stats)
    };
    PeerStats {
        name: peer.name.clone(),
        key: peer.identity.to_string(),
        counters: peer.counters.values(),
        connections: peer
            .links()
            .iter()
            .map(|link| connection_stats(link, shim(link)))
            .collect(),
    }
}

fn connection_stats(link: &Link, shim: Option<ShimStats>) -> ConnectionStats {
    let (figures, connection) = (&link.figures, &link.connection);
    let path = connection.path_stats(noq::PathId::ZERO).unwrap_or_default();
    let metrics = connection
        .congestion_state(noq::PathId::ZERO)
        .map(|controller| controller.metrics())
        .unwrap_or_default();
    ConnectionStats {
        id: link.id,
        class: link.class,
        remote: link.remote().map_or("-".to_owned(), |remote| remote.to_string()),
        dialled: link.dialled,
        age_ms: millis(link.since.elapsed()),
        congestion: figures.algorithm(),
        rtt_us: micros(path.rtt),
        min_rtt_us: Some(micros(figures.min_rtt())).filter(|us| *us > 0),
        cwnd: path.cwnd,
        ssthresh: metrics.ssthresh.filter(|bytes| *bytes != u64::MAX),
        in_flight: figures.in_flight(),
        pacing_bps: metrics.pacing_rate.map(|bytes| bytes.saturating_mul(8)),
        bandwidth_bps: metrics.bandwidth_estimate,
        delivery_bps: figures.delivery_rate(),
        app_limited: figures.app_limited(),
        mtu: path.current_mtu,
        sent_packets: path.sent_packets,
        sent_bytes: path.udp_tx.bytes,
        delivered_bytes: figures.delivered(),
        lost_packets: path.lost_packets,
        lost_bytes: path.lost_bytes,
        congestion_events: path.congestion_events,
        spurious_congestion_events: path.spurious_congestion_events,
        received_datagrams: path.udp_rx.datagrams,
        received_bytes: path.udp_rx.bytes,
        received_acks: path.frame_rx.acks + path.frame_rx.path_acks,
        shim,
    }
}

fn shim_stats(stats: &shim::PeerStats) -> ShimStats {
    let received = &stats.received;
    let paths = received.paths.iter().map(|path| ShimPathStats {
        first_arrivals: path.first_arrivals,
        second_copies: path.second_copies,
        rescued: path.rescued,
        only: path.only,
    });
    ShimStats {
        header: stats.shim,
        sent: stats.sent,
        gap_us: micros(stats.gap),
        outgoing_gap_us: micros(stats.outgoing_gap),
        hold_us: micros(stats.hold),
        held: received.held,
        both: received.both,
        neither: received.neither(),
        paths: paths.collect(),
    }
}

/// Binds the socket. One that nobody listens on any more is replaced; a live one is an error.
pub(crate) fn bind(path: &Path) -> anyhow::Result<UnixListener> {
    if UnixStream::connect(path).is_ok() {
        anyhow::bail!("another bicast-proxy already listens at {}", path.display());
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let _ = std::fs::remove_file(path);
    UnixListener::bind(path).with_context(|| format!("cannot listen at {}", path.display()))
}

/// Gives each client what there is to tell, for ever.
pub(crate) async fn serve(listener: UnixListener, shared: &Shared) {
    loop {
        match listener.accept().await {
            Ok((mut client, _)) => {
                let Ok(mut text) = serde_json::to_vec(&stats(shared)) else {
                    continue;
                };
                text.push(b'\n');
                // A client that does not read keeps only its own task.
                tokio::spawn(async move {
                    let _ = tokio::time::timeout(PATIENCE, client.write_all(&text)).await;
                });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept at the statistics socket");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Asks a running proxy.
pub fn ask(socket: &Path) -> anyhow::Result<Stats> {
    let mut stream = UnixStream::connect(socket).with_context(|| {
        format!(
            "cannot reach bicast-proxy at {}; is it running, and may you use its socket?",
            socket.display()
        )
    })?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    serde_json::from_str(&text).context("bicast-proxy answered something unknown")
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

const PATIENCE: Duration = Duration::from_secs(5);
