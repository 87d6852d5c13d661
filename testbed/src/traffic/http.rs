//! Downloads over HTTP: a server that never runs out of bytes, and curl.

use crate::lab::Lab;
use anyhow::{Context, Result, ensure};
use nix::sys::socket::{setsockopt, sockopt};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

/// A server. Dropping it ends it.
#[derive(Debug)]
pub struct HttpServer {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// What a download brought.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Download {
    /// Bytes of content.
    pub bytes: u64,
    /// From the request to the last byte.
    pub took: Duration,
}

impl HttpServer {
    /// Serves `GET /N` at a port of a namespace with N bytes of zeros, and everything else with [`CONTENT_BYTES`], by
    /// TCP with this congestion control.
    ///
    /// # Errors
    /// When the port is taken, or the kernel does not have that congestion control.
    pub fn start(lab: &Lab, namespace: &str, port: u16, congestion: &str) -> Result<HttpServer> {
        let listener = lab.ns(namespace)?.run(|| {
            let listener = TcpListener::bind(("0.0.0.0", port))
                .with_context(|| format!("cannot take TCP port {port} in `{namespace}`"))?;
            setsockopt(&listener, sockopt::TcpCongestion, &OsString::from(congestion))
                .with_context(|| format!("the kernel has no TCP congestion control `{congestion}`"))?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        })?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !stopped.load(Relaxed) {
                match listener.accept() {
                    // A client that goes away in the middle has what it wanted.
                    Ok((stream, _)) => drop(std::thread::spawn(move || answer(&stream))),
                    Err(_) => std::thread::sleep(Duration::from_millis(5)),
                }
            }
        });
        Ok(HttpServer {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn answer(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(SILENCE))?;
    let mut request = BufReader::new(stream);
    let mut line = String::new();
    request.read_line(&mut line)?;
    let bytes = wanted(&line);
    while request.read_line(&mut line)? > 2 {
        line.clear();
    }
    let mut out = stream;
    write!(
        out,
        "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: {bytes}\r\n\r\n"
    )?;
    let zeros = [0; 1 << 16];
    let mut left = bytes;
    while left > 0 {
        let part = left.min(zeros.len() as u64);
        out.write_all(&zeros[..usize::try_from(part).unwrap_or(zeros.len())])?;
        left -= part;
    }
    Ok(())
}

fn wanted(request_line: &str) -> u64 {
    let path = request_line.split(' ').nth(1).unwrap_or_default();
    path.trim_start_matches('/').parse().unwrap_or(CONTENT_BYTES)
}

/// Downloads with curl from inside a namespace for so long.
///
/// # Errors
/// When curl cannot be run or says something else than how much it got.
pub fn download(lab: &Lab, namespace: &str, url: &str, limit: Duration) -> Result<Download> {
    let mut command = lab.ns(namespace)?.command("curl");
    command.args(["--silent", "--show-error", "--output", "/dev/null"]);
    command.args(["--write-out", "%{http_code} %{size_download} %{time_total}"]);
    command.args(["--max-time", &limit.as_secs_f64().to_string(), url]);
    // Its exit code says that the time was over, which it should be.
    let output = command.output().context("cannot run curl")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words: Vec<_> = text.split(' ').collect();
    let [status, bytes, seconds] = words[..] else {
        anyhow::bail!("curl: {text} {}", String::from_utf8_lossy(&output.stderr).trim());
    };
    // Losses may be so heavy that no answer comes in time.
    let nothing_yet = status == "000" && output.status.code() == Some(CURL_TIMED_OUT);
    ensure!(
        status == "200" || nothing_yet,
        "curl {url}: status {status}, {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(Download {
        bytes: bytes.parse().context("bytes by curl")?,
        took: Duration::from_secs_f64(seconds.parse().context("seconds by curl")?),
    })
}

impl Download {
    /// Megabits of content per second.
    pub fn mbps(&self) -> f64 {
        self.bytes as f64 * 8.0 / 1e6 / self.took.as_secs_f64()
    }
}

/// More than anybody waits for.
pub const CONTENT_BYTES: u64 = 1 << 40;
/// Exit code of curl when `--max-time` is over.
const CURL_TIMED_OUT: i32 = 28;
const SILENCE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_says_how_many_bytes_are_wanted() {
        assert_eq!(wanted("GET /1000000 HTTP/1.1\r\n"), 1_000_000);
        assert_eq!(wanted("GET / HTTP/1.1\r\n"), CONTENT_BYTES);
        assert_eq!(wanted(""), CONTENT_BYTES);
    }
}
