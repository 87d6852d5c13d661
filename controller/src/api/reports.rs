//! Where proxies report: one JSON object a line, over a Unix socket or TCP. What is wrong with a line is answered, once
//! for a while, in the form of the API's errors; a good line is not answered.
//!
//! Whoever can open the socket can report, as whoever can open the API's can change modes. TCP asks nobody who they are.
//! Reports explain and are shown; no mode, no entry of a switch depends on them.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use policies::ProxyReport;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader,
};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, timeout};

use super::Response;
use super::server::{Api, bind};
use crate::event::Event;

/// Takes reports for ever, at the socket `path` and, if given, at a TCP address.
pub async fn serve(
    path: &Path,
    address: Option<SocketAddr>,
    api: Arc<Api>,
    events: mpsc::Sender<Event>,
) -> anyhow::Result<()> {
    let unix = bind(path)?;
    let desk = Desk {
        api,
        events,
        room: Arc::new(Semaphore::new(MAX_CONNECTIONS)),
    };
    if let Some(address) = address {
        let tcp = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen at {address} for reports"))?;
        tracing::info!(listen = %tcp.local_addr()?, "reports of proxies are taken");
        tokio::spawn(accept_tcp(tcp, desk.clone()));
    }
    tokio::spawn(accept_unix(unix, desk));
    Ok(())
}

async fn accept_unix(listener: UnixListener, desk: Desk) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let (reader, writer) = stream.into_split();
                desk.admit(reader, writer, "a Unix socket".to_owned()).await;
            }
            Err(error) => cannot_accept(&error).await,
        }
    }
}

async fn accept_tcp(listener: TcpListener, desk: Desk) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let (reader, writer) = stream.into_split();
                desk.admit(reader, writer, peer.to_string()).await;
            }
            Err(error) => cannot_accept(&error).await,
        }
    }
}

async fn cannot_accept(error: &std::io::Error) {
    // Out of file descriptors, most likely: it may pass.
    tracing::warn!(%error, "cannot accept a proxy that reports");
    tokio::time::sleep(Duration::from_millis(100)).await;
}

/// What every connection needs.
#[derive(Clone)]
struct Desk {
    api: Arc<Api>,
    events: mpsc::Sender<Event>,
    room: Arc<Semaphore>,
}

impl Desk {
    async fn admit(
        &self,
        reader: impl AsyncRead + Send + Unpin + 'static,
        mut writer: impl AsyncWrite + Send + Unpin + 'static,
        peer: String,
    ) {
        let Ok(place) = Arc::clone(&self.room).try_acquire_owned() else {
            tracing::warn!(peer, "more proxies report than the {MAX_CONNECTIONS} that may");
            // Whoever does not read this finds the connection closed.
            let _ = answer(&mut writer, &format!("more than {MAX_CONNECTIONS} connections")).await;
            return;
        };
        let desk = self.clone();
        tokio::spawn(async move {
            if let Err(error) = desk.take(BufReader::new(reader), writer, &peer).await {
                tracing::debug!(%error, peer, "a proxy reports no more");
            }
            drop(place);
        });
    }

    /// Takes what comes by one connection until it ends or is silent for too long.
    async fn take(
        &self,
        mut reader: impl AsyncBufRead + Unpin,
        mut writer: impl AsyncWrite + Unpin,
        peer: &str,
    ) -> anyhow::Result<()> {
        let (mut line, mut patience) = (Vec::new(), PATIENCE);
        let mut told = HashSet::new();
        let mut told_since = Instant::now();
        loop {
            let problem = match timeout(patience, next_line(&mut reader, &mut line)).await?? {
                Line::End => return Ok(()),
                Line::TooLong => format!("a line of more than {MAX_LINE} bytes"),
                Line::Whole => match serde_json::from_slice::<ProxyReport>(&line) {
                    Ok(report) => {
                        patience = PATIENCE.max(Duration::from_millis(report.every_ms).saturating_mul(3));
                        patience = patience.min(MAX_PATIENCE);
                        let report = Box::new(report);
                        match self
                            .api
                            .ask(&self.events, |id| Event::Report { id, report })
                            .await?
                        {
                            Response::Error(problem) => problem,
                            _ => continue,
                        }
                    }
                    Err(error) => format!("not a report of bicast-proxy: {error}"),
                },
            };
            if told_since.elapsed() > REPEAT || told.len() >= MAX_TOLD {
                (told_since, told) = (Instant::now(), HashSet::new());
            }
            if told.insert(problem.clone()) {
                tracing::warn!(peer, problem, "a report is refused");
                answer(&mut writer, &problem).await?;
            }
        }
    }
}

/// What was read.
enum Line {
    Whole,
    TooLong,
    End,
}

/// Reads a line into `line`. The rest of one that is too long is skipped.
async fn next_line(reader: &mut (impl AsyncBufRead + Unpin), line: &mut Vec<u8>) -> std::io::Result<Line> {
    line.clear();
    reader.take(MAX_LINE).read_until(b'\n', line).await?;
    match line.last() {
        None => return Ok(Line::End),
        Some(b'\n') => return Ok(Line::Whole),
        Some(_) if (line.len() as u64) < MAX_LINE => return Ok(Line::Whole),
        Some(_) => {}
    }
    while line.last().is_some_and(|byte| *byte != b'\n') {
        line.clear();
        reader.take(MAX_LINE).read_until(b'\n', line).await?;
    }
    Ok(Line::TooLong)
}

async fn answer(writer: &mut (impl AsyncWrite + Unpin), problem: &str) -> anyhow::Result<()> {
    let mut line = serde_json::to_vec(&Response::Error(problem.to_owned()))?;
    line.push(b'\n');
    Ok(timeout(ANSWER, writer.write_all(&line)).await??)
}

/// Proxies that may report at a time.
const MAX_CONNECTIONS: usize = 256;
/// A line with every port that can be told apart is half as long.
const MAX_LINE: u64 = 64 << 10;
/// A connection that says nothing for so long, or for three times of what its lines promise, is closed.
const PATIENCE: Duration = Duration::from_secs(60);
const MAX_PATIENCE: Duration = Duration::from_secs(3 * 3600);
/// The same problem is told again after this.
const REPEAT: Duration = Duration::from_secs(60);
/// Different problems that are remembered as told.
const MAX_TOLD: usize = 32;
/// Whoever does not read an answer for so long is cut off.
const ANSWER: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use tokio::net::UnixStream;

    use super::*;

    async fn lines(text: &[u8]) -> Vec<String> {
        let (mut reader, mut line, mut seen) = (text, Vec::new(), vec![]);
        loop {
            seen.push(match next_line(&mut reader, &mut line).await.unwrap() {
                Line::Whole => String::from_utf8_lossy(&line).trim_end().to_owned(),
                Line::TooLong => "too long".to_owned(),
                Line::End => return seen,
            });
        }
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_and_the_next_one_read() {
        let long = "x".repeat(5 * usize::try_from(MAX_LINE).unwrap() / 2);
        assert_eq!(
            lines(format!("a\n{long}\nb\nc").as_bytes()).await,
            ["a", "too long", "b", "c"]
        );
        assert_eq!(lines(long.as_bytes()).await, ["too long"]);
        assert!(lines(b"").await.is_empty());
        let longest = "y".repeat(usize::try_from(MAX_LINE).unwrap() - 1);
        assert_eq!(
            lines(format!("{longest}\nb\n").as_bytes()).await,
            [longest.as_str(), "b"]
        );
    }

    #[tokio::test]
    async fn what_is_wrong_is_answered_once_and_the_connection_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.sock");
        let (events, mut inbox) = mpsc::channel(4);
        let api = Arc::new(Api::default());
        serve(&path, None, Arc::clone(&api), events).await.unwrap();
        let (reader, mut writer) = UnixStream::connect(&path).await.unwrap().into_split();
        let mut answers = BufReader::new(reader).lines();
        let good = serde_json::to_string(&ProxyReport::default()).unwrap();
        let text = format!("nonsense\nnonsense\n{{}}\n{good}\n");
        writer.write_all(text.as_bytes()).await.unwrap();
        // The core says nothing of the first two kinds, which are no reports.
        let Event::Report { id, report } = inbox.recv().await.unwrap() else {
            unreachable!("nothing else is sent here")
        };
        assert_eq!(*report, ProxyReport::default());
        api.reply(id, Response::Error("no such policy".to_owned()));
        let mut heard = vec![];
        for _ in 0..3 {
            let line = answers.next_line().await.unwrap().unwrap();
            let Response::Error(problem) = serde_json::from_str(&line).unwrap() else {
                unreachable!("only problems are answered")
            };
            heard.push(problem);
        }
        assert!(
            heard[0].starts_with("not a report of bicast-proxy: expected"),
            "{heard:?}"
        );
        assert!(heard[1].contains("missing field"), "{heard:?}");
        assert_eq!(heard[2], "no such policy");
    }
}
