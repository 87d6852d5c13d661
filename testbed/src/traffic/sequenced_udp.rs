//! A flow of numbered UDP packets at a fixed rate: a sender that keeps an absolute schedule, a receiver that
//! enters every copy into a ledger. Both under real-time priority below the emulator's, where permitted.
//!
//! ```text
//!  0        8        16       24             payload
//!  ┌────────┬────────┬────────┬──── … ────┐
//!  │ flow   │ number │ sent   │ zeros      │   all big-endian; sent: nanoseconds of the lab's clock
//!  └────────┴────────┴────────┴──── … ────┘
//! ```

use super::ledger::{Ledger, Report};
use super::socket;
use crate::clock;
use crate::lab::Lab;
use crate::moment::Moment;
use crate::sched;
use anyhow::{Result, anyhow, ensure};
use nix::time::{ClockId, clock_gettime};
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

/// A flow to be sent.
#[derive(Debug, Clone)]
pub struct SequencedUdp {
    /// Namespace of the sender: `client-host` or `server-host`.
    pub from: String,
    /// Namespace of the receiver.
    pub to: String,
    /// Port that the sender sends from; 0 for any.
    pub source_port: u16,
    /// Port that the receiver listens on.
    pub port: u16,
    /// Packets per second.
    pub pps: u32,
    /// Bytes of UDP payload, at least 100.
    pub payload: usize,
}

/// A flow under way. Dropping it ends it without a report.
#[derive(Debug)]
pub struct Running {
    shared: Arc<Shared>,
    sender: Option<JoinHandle<Sent>>,
    receiver: Option<JoinHandle<(Ledger, Duration)>>,
}

/// Where a flow stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Packets sent.
    pub sent: u64,
    /// Packets of which a copy has arrived.
    pub unique: u64,
    /// Copies that have arrived.
    pub copies: u64,
}

#[derive(Debug, Default)]
struct Shared {
    stop_sending: AtomicBool,
    stop_receiving: AtomicBool,
    sent: AtomicU64,
    unique: AtomicU64,
    copies: AtomicU64,
}

#[derive(Debug, Default)]
struct Sent {
    sent_at: Vec<Moment>,
    late: Duration,
    errors: u64,
    cpu: Duration,
}

impl SequencedUdp {
    /// Starts to send.
    ///
    /// # Errors
    /// When a port is taken or a namespace unknown.
    pub fn start(&self, lab: &Lab) -> Result<Running> {
        ensure!(
            self.payload >= LEAST_PAYLOAD,
            "the payload must be at least {LEAST_PAYLOAD} bytes"
        );
        ensure!(self.pps > 0, "the rate must be at least one packet per second");
        let incoming = socket::bind(lab, &self.to, self.port)?;
        let outgoing = socket::bind(lab, &self.from, self.source_port)?;
        outgoing.connect((socket::address(&self.to)?, self.port))?;
        let shared = Arc::new(Shared::default());
        let flow = clock::now().as_nanos() ^ u64::from(self.port).rotate_left(48);
        let receiver = spawn("udp-receiver", sched::RECEIVER_PRIORITY, {
            let shared = Arc::clone(&shared);
            move || receive(&incoming, flow, &shared)
        })?;
        let sender = spawn("udp-sender", sched::SENDER_PRIORITY, {
            let (shared, pps, payload) = (Arc::clone(&shared), self.pps, vec![0; self.payload]);
            move || send(&outgoing, flow, pps, payload, &shared)
        })?;
        Ok(Running {
            shared,
            sender: Some(sender),
            receiver: Some(receiver),
        })
    }
}

impl Running {
    /// Where it stands.
    pub fn progress(&self) -> Progress {
        Progress {
            sent: self.shared.sent.load(Relaxed),
            unique: self.shared.unique.load(Relaxed),
            copies: self.shared.copies.load(Relaxed),
        }
    }

    /// Stops sending; what is under way still arrives. To end several flows at the same time.
    pub fn stop_sending(&self) {
        self.shared.stop_sending.store(true, Relaxed);
    }

    /// Stops sending, waits until nothing more arrives, and reports.
    ///
    /// # Errors
    /// When one of its threads has panicked.
    pub fn stop(mut self) -> Result<Report> {
        self.stop_sending();
        let sent = join(self.sender.take())?;
        self.drain();
        self.shared.stop_receiving.store(true, Relaxed);
        let (ledger, receiver_cpu) = join(self.receiver.take())?;
        let report = ledger.close(&sent.sent_at);
        Ok(Report {
            sender_late: sent.late,
            send_errors: sent.errors,
            cpu: sent.cpu + receiver_cpu,
            ..report
        })
    }

    /// Waits until no copy has arrived for a while.
    fn drain(&self) {
        let mut copies = self.progress().copies;
        loop {
            std::thread::sleep(QUIET);
            let now = self.progress().copies;
            if now == copies {
                return;
            }
            copies = now;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shared.stop_sending.store(true, Relaxed);
        self.shared.stop_receiving.store(true, Relaxed);
    }
}

fn send(socket: &UdpSocket, flow: u64, pps: u32, mut payload: Vec<u8>, shared: &Shared) -> Sent {
    let start = clock::now();
    let mut sent = Sent::default();
    while !shared.stop_sending.load(Relaxed) {
        let number = sent.sent_at.len() as u64;
        let due = start + Duration::from_nanos(number * 1_000_000_000 / u64::from(pps));
        clock::sleep_until(due);
        let now = clock::now();
        sent.late = sent.late.max(now.saturating_since(due));
        payload[..8].copy_from_slice(&flow.to_be_bytes());
        payload[8..16].copy_from_slice(&number.to_be_bytes());
        payload[16..24].copy_from_slice(&now.as_nanos().to_be_bytes());
        if socket.send(&payload).is_err() {
            sent.errors += 1;
        }
        sent.sent_at.push(now);
        shared.sent.store(number + 1, Relaxed);
    }
    sent.cpu = thread_cpu();
    sent
}

fn receive(socket: &UdpSocket, flow: u64, shared: &Shared) -> (Ledger, Duration) {
    let mut ledger = Ledger::default();
    let mut buffer = [0; 2048];
    while !shared.stop_receiving.load(Relaxed) {
        // A timeout is an opportunity to look at the flag.
        let Ok(length) = socket.recv(&mut buffer) else {
            continue;
        };
        let now = clock::now();
        match read_header(&buffer[..length]) {
            Some((of_flow, number, sent_at)) if of_flow == flow => {
                ledger.arrival(number, sent_at, now);
                let index = usize::try_from(number).unwrap_or(usize::MAX);
                if ledger
                    .records()
                    .get(index)
                    .is_some_and(|record| record.copies == 1)
                {
                    shared.unique.fetch_add(1, Relaxed);
                }
                shared.copies.fetch_add(1, Relaxed);
            }
            _ => ledger.stranger(),
        }
    }
    (ledger, thread_cpu())
}

fn read_header(datagram: &[u8]) -> Option<(u64, u64, Moment)> {
    let word = |index: usize| {
        let bytes = datagram.get(index * 8..index * 8 + 8)?;
        Some(u64::from_be_bytes(bytes.try_into().ok()?))
    };
    Some((word(0)?, word(1)?, Moment::from_nanos(word(2)?)))
}

fn spawn<T: Send + 'static>(
    name: &str,
    priority: i32,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>> {
    Ok(std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        // Without the permission the flow runs all the same; the report shows how late the sender was.
        let _ = sched::realtime(priority);
        work()
    })?)
}

fn join<T>(thread: Option<JoinHandle<T>>) -> Result<T> {
    let thread = thread.ok_or_else(|| anyhow!("the flow was stopped already"))?;
    thread.join().map_err(|_| anyhow!("a traffic thread panicked"))
}

/// Processor time of the calling thread.
fn thread_cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .map(Duration::from)
        .unwrap_or_default()
}

const LEAST_PAYLOAD: usize = 100;
/// Longer than the delay between the copies of a packet on any sensible pair of links.
const QUIET: Duration = Duration::from_millis(300);
