//! A connection between the proxies, looked at every few milliseconds.

use super::proxies::streams;
use serde_json::Value;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A trace under way. Dropping it ends it.
#[derive(Debug)]
pub struct Trace {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<TracePoint>>>,
}

/// The connection at one moment; all but the moment as `bicast-proxy stats` has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TracePoint {
    /// Seconds since the trace began.
    pub seconds: f64,
    /// The congestion window, bytes.
    pub cwnd: u64,
    /// Sent and neither acknowledged nor lost, bytes.
    pub in_flight: u64,
    /// Smoothed round-trip time.
    pub rtt_us: u64,
    /// Whether the sender had nothing more to send, or no leave by the receiver.
    pub app_limited: bool,
}

impl Trace {
    pub(super) fn start(socket: PathBuf) -> Trace {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let start = Instant::now();
            let mut points = Vec::new();
            while !stopped.load(Relaxed) {
                // A proxy that does not answer leaves a gap in the trace.
                points.extend(look(&socket, start));
                std::thread::sleep(EVERY);
            }
            points
        });
        Trace {
            stop,
            thread: Some(thread),
        }
    }

    /// Ends it and returns what was seen.
    pub fn stop(mut self) -> Vec<TracePoint> {
        self.stop.store(true, Relaxed);
        let thread = self.thread.take();
        thread.and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
    }
}

fn look(socket: &Path, start: Instant) -> Option<TracePoint> {
    let mut stream = UnixStream::connect(socket).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(1))).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let stats: Value = serde_json::from_str(&text).ok()?;
    point(streams(&stats).ok()?, start.elapsed())
}

fn point(connection: &Value, since: Duration) -> Option<TracePoint> {
    Some(TracePoint {
        seconds: since.as_secs_f64(),
        cwnd: connection["cwnd"].as_u64()?,
        in_flight: connection["in_flight"].as_u64()?,
        rtt_us: connection["rtt_us"].as_u64()?,
        app_limited: connection["app_limited"].as_bool()?,
    })
}

const EVERY: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_read_from_what_the_proxy_says() {
        let connection = serde_json::json!({
            "cwnd": 120_000, "in_flight": 60_000, "rtt_us": 10_200, "app_limited": false
        });
        let expected = TracePoint {
            seconds: 0.5,
            cwnd: 120_000,
            in_flight: 60_000,
            rtt_us: 10_200,
            app_limited: false,
        };
        assert_eq!(point(&connection, Duration::from_millis(500)), Some(expected));
        assert_eq!(point(&serde_json::json!({}), Duration::ZERO), None);
    }
}
