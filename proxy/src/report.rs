//! Tells somebody, such as the controller, how each peer fares: a JSON line for each peer, again and again.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::config::{Report, ReportTo};
use crate::relay::Shared;
use crate::stats::{PeerStats, peer_stats};

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportLine {
    /// When, since 1970.
    pub at_unix_ms: u64,
    /// How often a line comes.
    pub every_ms: u64,
    /// The public key of who reports.
    pub from: String,
    /// The peer that the line is about.
    #[serde(flatten)]
    pub peer: PeerStats,
}

/// Reports for ever. While nobody listens nothing is kept; what is told are counts since the start anyway.
pub(crate) async fn run(report: &Report, shared: &Shared) {
    let from = shared.key.public().to_string();
    loop {
        match connect(&report.to).await {
            Ok(mut stream) => {
                let error = tell(stream.as_mut(), report.every, &from, shared).await;
                tracing::warn!(%error, "whoever takes the reports has gone");
            }
            Err(error) => tracing::debug!(%error, "nobody takes the reports"),
        }
        sleep(report.every.max(Duration::from_secs(1))).await;
    }
}

type Stream = Box<dyn AsyncWrite + Send + Unpin>;

async fn connect(to: &ReportTo) -> std::io::Result<Stream> {
    Ok(match to {
        ReportTo::Unix(path) => Box::new(UnixStream::connect(path).await?),
        ReportTo::Tcp(target) => Box::new(TcpStream::connect(target.to_string()).await?),
    })
}

async fn tell(
    stream: &mut (dyn AsyncWrite + Send + Unpin),
    every: Duration,
    from: &str,
    shared: &Shared,
) -> std::io::Error {
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let mut lines = Vec::new();
        for peer in shared.peers().iter() {
            let line = ReportLine {
                at_unix_ms: unix_ms(),
                every_ms: u64::try_from(every.as_millis()).unwrap_or(u64::MAX),
                from: from.to_owned(),
                peer: peer_stats(shared, peer),
            };
            match serde_json::to_vec(&line) {
                Ok(line) => lines.extend(line),
                Err(error) => return error.into(),
            }
            lines.push(b'\n');
        }
        match timeout(PATIENCE, stream.write_all(&lines)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return error,
            Err(_) => return std::io::ErrorKind::TimedOut.into(),
        }
    }
}

fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Whoever does not read for so long is asked again to connect.
const PATIENCE: Duration = Duration::from_secs(10);
