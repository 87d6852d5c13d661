//! Round-trip times by UDP echo, with real-time priority at both ends where permitted.

use super::ledger::DelaySummary;
use crate::clock;
use crate::lab::Lab;
use crate::sched;
use anyhow::{Result, anyhow};
use serde::{Deserialize, Serialize};
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// Measured round trips.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Rtt {
    /// Requests sent.
    pub sent: u32,
    /// Requests that were answered.
    pub answered: u32,
    /// The times.
    pub times: DelaySummary,
}

/// Sends `count` requests, one every `interval`, from a namespace to an address that belongs to the namespace
/// `to`, and measures until each comes back.
///
/// # Errors
/// When the sockets cannot be made.
pub fn measure_rtt(
    lab: &Lab,
    from: &str,
    (to, address): (&str, &str),
    count: u32,
    interval: Duration,
) -> Result<Rtt> {
    let mirror = super::socket::bind(lab, to, ECHO_PORT)?;
    let socket = super::socket::bind(lab, from, 0)?;
    socket.connect((address, ECHO_PORT))?;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let mirror = scope.spawn(|| reflect(&mirror, &stop));
        let asker = scope.spawn(|| ask(&socket, count, interval));
        let rtt = asker.join().map_err(|_| anyhow!("the echo thread panicked"));
        stop.store(true, Relaxed);
        mirror.join().map_err(|_| anyhow!("the echo thread panicked"))?;
        rtt
    })
}

fn reflect(socket: &UdpSocket, stop: &AtomicBool) {
    let _ = sched::realtime(sched::RECEIVER_PRIORITY);
    let mut buffer = [0; 2048];
    while !stop.load(Relaxed) {
        if let Ok((length, sender)) = socket.recv_from(&mut buffer) {
            // A lost answer shows as a request without one.
            let _ = socket.send_to(&buffer[..length], sender);
        }
    }
}

fn ask(socket: &UdpSocket, count: u32, interval: Duration) -> Rtt {
    let _ = sched::realtime(sched::RECEIVER_PRIORITY);
    let mut times = Vec::new();
    let mut buffer = [0; 2048];
    for number in 0..count {
        let sent_at = clock::now();
        // A refused request shows as one without an answer.
        let _ = socket.send(&number.to_be_bytes());
        while clock::now().saturating_since(sent_at) < PATIENCE {
            if socket
                .recv(&mut buffer)
                .is_ok_and(|length| buffer[..length] == number.to_be_bytes())
            {
                times.push(clock::now().saturating_since(sent_at));
                break;
            }
        }
        clock::sleep_until(sent_at + interval);
    }
    let answered = u32::try_from(times.len()).unwrap_or(u32::MAX);
    Rtt {
        sent: count,
        answered,
        times: DelaySummary::of(times),
    }
}

const ECHO_PORT: u16 = 7;
const PATIENCE: Duration = Duration::from_secs(1);
