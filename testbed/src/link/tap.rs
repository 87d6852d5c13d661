//! The emulator's packet side: one thread moves frames between the TAP devices at the two ends of every link.
//!
//! ```text
//!            ┌────────────────────── emulator thread (SCHED_FIFO) ─────────────────────┐
//!  TAP in    │ read ─▶ LinkEmulator client-to-server ─▶ write │                        │   TAP in
//!  a-client ◀┼▶                                               ├ a, b, …  ppoll until    ├─▶ a-server
//!            │ write ◀─ LinkEmulator server-to-client ◀─ read │          next deadline │
//!            └───────────────▲──────────────────────────────────────────────────────────┘
//!                            │ requests (set, counters, …), an eventfd wakes the thread
//! ```

use super::Direction;
use super::class::ClassKey;
use super::counters::Counters;
use super::emulator::{LinkEmulator, Verdict};
use super::lateness::{Lateness, LatenessSummary};
use super::spec::LinkSpec;
use crate::clock;
use crate::moment::Moment;
use crate::sched;
use anyhow::{Context, Result, anyhow};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// A link to emulate: the packet sides of its two TAP devices and what it does in each direction.
#[derive(Debug)]
pub struct TapLink {
    /// The TAP at the client's end.
    pub client_end: File,
    /// The TAP at the server's end.
    pub server_end: File,
    /// What it does, in the order of [`Direction::ALL`].
    pub specs: [LinkSpec; 2],
}

/// The running emulator. Dropping it stops the thread and removes the TAP devices.
#[derive(Debug)]
pub struct TapEmulator {
    requests: Sender<Request>,
    wake: Arc<EventFd>,
    thread: Option<JoinHandle<()>>,
    realtime: bool,
    thread_id: i32,
}

/// How the emulator itself is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Health {
    /// How late packets were delivered.
    pub lateness: LatenessSummary,
    /// Frames that the kernel refused at the far end (the device is down, say).
    pub undeliverable: u64,
}

enum Request {
    Set {
        link: usize,
        direction: Direction,
        spec: LinkSpec,
        done: Sender<()>,
    },
    Spec {
        link: usize,
        direction: Direction,
        reply: Sender<LinkSpec>,
    },
    Counters {
        link: usize,
        direction: Direction,
        reply: Sender<Counters>,
    },
    Register {
        key: ClassKey,
        done: Sender<()>,
    },
    Health {
        reply: Sender<Health>,
    },
    ResetHealth {
        done: Sender<()>,
    },
    Stop,
}

impl TapEmulator {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the thread or its eventfd cannot be made.
    pub fn start(links: Vec<TapLink>) -> Result<TapEmulator> {
        let (requests, inbox) = channel();
        let wake = Arc::new(EventFd::from_flags(
            EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC,
        )?);
        let (started, first_words) = channel();
        let thread_wake = Arc::clone(&wake);
        let thread = std::thread::Builder::new()
            .name("emulator".to_owned())
            .spawn(move || {
                let realtime = sched::realtime(sched::EMULATOR_PRIORITY).is_ok();
                // Nobody listening would mean that the starter is gone, and then the thread soon is.
                let _ = started.send((realtime, nix::unistd::gettid().as_raw()));
                Forwarder::new(links, thread_wake, inbox).run();
            })?;
        let (realtime, thread_id) = first_words.recv().context("the emulator thread did not start")?;
        Ok(TapEmulator {
            requests,
            wake,
            thread: Some(thread),
            realtime,
            thread_id,
        })
    }

    /// Whether the thread runs under `SCHED_FIFO`.
    pub fn realtime(&self) -> bool {
        self.realtime
    }

    /// Processor time of the thread.
    ///
    /// # Errors
    /// When the thread is gone.
    pub fn cpu(&self) -> Result<Duration> {
        crate::process::thread_cpu(self.thread_id)
    }

    /// Changes one direction of a link; in force when it returns.
    ///
    /// # Errors
    /// When the thread is gone.
    pub fn set(&self, link: usize, direction: Direction, spec: LinkSpec) -> Result<()> {
        self.ask(|done| Request::Set {
            link,
            direction,
            spec,
            done,
        })
    }

    /// What one direction of a link does at present.
    ///
    /// # Errors
    /// When the thread is gone.
    pub fn spec(&self, link: usize, direction: Direction) -> Result<LinkSpec> {
        self.ask(|reply| Request::Spec {
            link,
            direction,
            reply,
        })
    }

    /// A consistent reading of one direction's counters.
    ///
    /// # Errors
    /// When the thread is gone.
    pub fn counters(&self, link: usize, direction: Direction) -> Result<Counters> {
        self.ask(|reply| Request::Counters {
            link,
            direction,
            reply,
        })
    }

    /// Counts a class apart, on every link and direction.
    ///
    /// # Errors
    /// When the thread is gone.
    pub fn register(&self, key: ClassKey) -> Result<()> {
        self.ask(|done| Request::Register { key, done })
    }

    /// How the emulator is doing since it started or since [`TapEmulator::reset_health`].
    ///
    /// # Errors
    /// When the thread is gone.
    pub fn health(&self) -> Result<Health> {
        self.ask(|reply| Request::Health { reply })
    }

    /// Begins a new reading of the health, e.g. after the disturbance of starting programs.
    ///
    /// # Errors
    /// When the thread is gone.
    pub fn reset_health(&self) -> Result<()> {
        self.ask(|done| Request::ResetHealth { done })
    }

    fn ask<T>(&self, request: impl FnOnce(Sender<T>) -> Request) -> Result<T> {
        let (reply, answer) = channel();
        let gone = || anyhow!("the emulator thread is gone");
        self.requests.send(request(reply)).map_err(|_| gone())?;
        self.wake.write(1)?;
        answer.recv().map_err(|_| gone())
    }
}

impl Drop for TapEmulator {
    fn drop(&mut self) {
        // Errors mean that the thread has ended by itself.
        let _ = self.requests.send(Request::Stop);
        let _ = self.wake.write(1);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the thread owns. Directions and ends are numbered alike: direction `2·link + d` takes its frames
/// from end `2·link + d` and delivers them to the other end of the link, `(2·link + d) ^ 1`.
struct Forwarder {
    ends: Vec<File>,
    directions: Vec<LinkEmulator<Frame>>,
    wake: Arc<EventFd>,
    inbox: Receiver<Request>,
    spare: Vec<Vec<u8>>,
    health: Health,
    lateness: Lateness,
}

/// A frame in a buffer that is used again.
#[derive(Debug)]
struct Frame {
    buffer: Vec<u8>,
    length: usize,
}

impl AsRef<[u8]> for Frame {
    fn as_ref(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

impl Forwarder {
    fn new(links: Vec<TapLink>, wake: Arc<EventFd>, inbox: Receiver<Request>) -> Self {
        let mut ends = Vec::new();
        let mut directions = Vec::new();
        for link in links {
            ends.extend([link.client_end, link.server_end]);
            directions.extend(link.specs.map(LinkEmulator::new));
        }
        Forwarder {
            ends,
            directions,
            wake,
            inbox,
            spare: Vec::new(),
            health: Health::default(),
            lateness: Lateness::default(),
        }
    }

    fn run(mut self) {
        loop {
            self.deliver();
            let readable = self.wait();
            for (end, _) in readable
                .iter()
                .enumerate()
                .take(self.ends.len())
                .filter(|(_, ready)| **ready)
            {
                self.read(end);
            }
            if readable.last() == Some(&true) && !self.serve() {
                return;
            }
        }
    }

    /// Delivers everything that is due.
    fn deliver(&mut self) {
        for number in 0..self.directions.len() {
            let mut now = clock::now();
            while let Some((due, frame)) = self.directions[number].pop(now) {
                self.lateness.record(now.saturating_since(due));
                if self.ends[number ^ 1].write(frame.as_ref()).is_err() {
                    self.health.undeliverable += 1;
                }
                self.spare.push(frame.buffer);
                now = clock::now();
            }
        }
    }

    /// Sleeps until something can be read or is due; tells for every end, and for the eventfd as the last,
    /// whether it can be read.
    fn wait(&self) -> Vec<bool> {
        let deadline: Option<Moment> = self
            .directions
            .iter()
            .filter_map(LinkEmulator::next_deadline)
            .min();
        let timeout = deadline.map(|deadline| TimeSpec::from(deadline.saturating_since(clock::now())));
        let readers = self.ends.iter().map(AsFd::as_fd).chain([self.wake.as_fd()]);
        let mut polled: Vec<PollFd> = readers
            .map(|reader| PollFd::new(reader, PollFlags::POLLIN))
            .collect();
        // An interrupted wait is a wait that found nothing.
        let _ = ppoll(&mut polled, timeout, None);
        polled.iter().map(|polled| polled.any() == Some(true)).collect()
    }

    /// Takes in what an end has, up to a limit that lets due packets out in between.
    fn read(&mut self, end: usize) {
        for _ in 0..READ_BATCH {
            let mut buffer = self.spare.pop().unwrap_or_else(|| vec![0; BUFFER_BYTES]);
            match self.ends[end].read(&mut buffer) {
                Ok(length) => {
                    let now = clock::now();
                    match self.directions[end].push(now, Frame { buffer, length }) {
                        Verdict::Accepted => {}
                        Verdict::Lost(frame) | Verdict::Overflowed(frame) => self.spare.push(frame.buffer),
                    }
                }
                Err(error) => {
                    self.spare.push(buffer);
                    if error.kind() != ErrorKind::Interrupted {
                        return;
                    }
                }
            }
        }
    }

    /// Answers all requests; `false` when it is time to stop. An asker that is gone needs no answer.
    fn serve(&mut self) -> bool {
        let _ = self.wake.read();
        while let Ok(request) = self.inbox.try_recv() {
            match request {
                Request::Set {
                    link,
                    direction,
                    spec,
                    done,
                } => {
                    self.direction(link, direction).set(clock::now(), spec);
                    let _ = done.send(());
                }
                Request::Spec {
                    link,
                    direction,
                    reply,
                } => {
                    let _ = reply.send(self.direction(link, direction).spec().clone());
                }
                Request::Counters {
                    link,
                    direction,
                    reply,
                } => {
                    let _ = reply.send(self.direction(link, direction).counters().clone());
                }
                Request::Register { key, done } => {
                    self.directions
                        .iter_mut()
                        .for_each(|direction| direction.register(key));
                    let _ = done.send(());
                }
                Request::Health { reply } => {
                    let _ = reply.send(Health {
                        lateness: self.lateness.summary(),
                        ..self.health
                    });
                }
                Request::ResetHealth { done } => {
                    self.health = Health::default();
                    self.lateness = Lateness::default();
                    let _ = done.send(());
                }
                Request::Stop => return false,
            }
        }
        true
    }

    fn direction(&mut self, link: usize, direction: Direction) -> &mut LinkEmulator<Frame> {
        &mut self.directions[2 * link + direction.index()]
    }
}

/// Frames taken from one end before the others get their turn.
const READ_BATCH: usize = 32;
/// Larger than any frame of a device with the usual MTU of 1,500.
const BUFFER_BYTES: usize = 2048;
