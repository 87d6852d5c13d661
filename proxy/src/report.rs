//! Tells `bicastd` how each peer fares: a JSON line for each peer, again and again. Lines that come back say what it
//! cannot do with them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use policies::{MAX_REPORTED_PORTS, ProxyReport, ReceivedByPort, ReceivedReport, SendingReport};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::config::{Report, ReportTo};
use crate::relay::Shared;
use crate::stats::{ConnectionStats, PeerStats, ShimStats, peer_stats};
use crate::tls::Class;

/// Reports for ever. While nobody listens nothing is kept; what is told are counts since the start anyway.
pub(crate) async fn run(report: &Report, shared: &Shared) {
    let reporter = Reporter {
        report,
        shared,
        from: shared.key.public().to_string(),
        started_unix_ms: unix_ms().saturating_sub(millis(shared.since.elapsed())),
    };
    loop {
        match connect(&report.to).await {
            Ok((reader, mut writer)) => {
                let error = tokio::select! {
                    error = reporter.tell(writer.as_mut()) => error,
                    error = listen(reader) => error,
                };
                tracing::warn!(%error, "whoever takes the reports has gone");
            }
            Err(error) => tracing::debug!(%error, "nobody takes the reports"),
        }
        sleep(report.every.max(Duration::from_secs(1))).await;
    }
}

type Reader = Box<dyn AsyncRead + Send + Unpin>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;

async fn connect(to: &ReportTo) -> std::io::Result<(Reader, Writer)> {
    Ok(match to {
        ReportTo::Unix(path) => {
            let (reader, writer) = UnixStream::connect(path).await?.into_split();
            (Box::new(reader), Box::new(writer))
        }
        ReportTo::Tcp(target) => {
            let (reader, writer) = TcpStream::connect(target.to_string()).await?.into_split();
            (Box::new(reader), Box::new(writer))
        }
    })
}

/// Passes on what is answered, until the end.
async fn listen(reader: Reader) -> std::io::Error {
    let mut lines = BufReader::new(reader.take(MAX_ANSWERS)).lines();
    loop {
        match lines.next_line().await {
            Ok(Some(answer)) => tracing::warn!(answer, "a report is not understood"),
            Ok(None) => return std::io::ErrorKind::UnexpectedEof.into(),
            Err(error) => return error,
        }
    }
}

/// Who reports.
struct Reporter<'a> {
    report: &'a Report,
    shared: &'a Shared,
    from: String,
    started_unix_ms: u64,
}

impl Reporter<'_> {
    async fn tell(&self, writer: &mut (dyn AsyncWrite + Send + Unpin)) -> std::io::Error {
        let mut ticks = interval(self.report.every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let mut lines = Vec::new();
            for (index, peer) in self.shared.peers().iter().enumerate() {
                match serde_json::to_vec(&self.line(index, peer_stats(self.shared, peer))) {
                    Ok(line) => lines.extend(line),
                    Err(error) => return error.into(),
                }
                lines.push(b'\n');
            }
            match timeout(PATIENCE, writer.write_all(&lines)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return error,
                Err(_) => return std::io::ErrorKind::TimedOut.into(),
            }
        }
    }

    fn line(&self, index: usize, peer: PeerStats) -> ProxyReport {
        let streams: Vec<&ConnectionStats> = peer
            .connections
            .iter()
            .filter(|connection| connection.class != Class::Datagrams)
            .collect();
        // A peer that moved has an old connection and a new one for a while; the new one speaks.
        let received = streams.iter().rev().find_map(|connection| {
            let shim = connection.shim.as_ref()?;
            Some(received(
                &connection.remote,
                shim,
                &self.shared.config().path_ports,
            ))
        });
        ProxyReport {
            at_unix_ms: unix_ms(),
            every_ms: millis(self.report.every),
            started_unix_ms: self.started_unix_ms,
            from: self.from.clone(),
            site: self.report.site.clone(),
            policy: self.report.policies.get(&index).cloned(),
            received,
            sending: sending(&streams),
            peer: peer.name,
            key: peer.key,
        }
    }
}

fn received(remote: &str, shim: &ShimStats, path_ports: &[u16]) -> ReceivedReport {
    let ports = std::iter::once(None).chain(path_ports.iter().copied().map(Some));
    let paths = ports.zip(&shim.paths).map(|(port, path)| ReceivedByPort {
        port,
        first_arrivals: path.first_arrivals,
        second_copies: path.second_copies,
        rescued: path.rescued,
        only: path.only,
    });
    ReceivedReport {
        remote: remote.to_owned(),
        both: shim.both,
        neither: shim.neither,
        gap_us: shim.gap_us,
        hold_us: shim.hold_us,
        paths: paths.take(MAX_REPORTED_PORTS).collect(),
    }
}

fn sending(streams: &[&ConnectionStats]) -> Option<SendingReport> {
    let busiest = streams.iter().max_by_key(|connection| connection.delivery_bps)?;
    Some(SendingReport {
        connections: streams.len() as u64,
        rtt_us: busiest.rtt_us,
        cwnd: streams.iter().map(|connection| connection.cwnd).sum(),
        delivery_bps: streams.iter().map(|connection| connection.delivery_bps).sum(),
    })
}

fn unix_ms() -> u64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Whoever does not read for so long is asked again to connect.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes that are read of one connection; answers are few and short.
const MAX_ANSWERS: u64 = 1 << 20;
