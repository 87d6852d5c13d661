//! What a shim knows of one remote address.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ahash::RandomState;
use noq::udp::EcnCodepoint;

use super::config::{Mode, ShimConfig};
use super::header::{HEADER_LEN, SequenceNumber, Stream};
use super::path_stats::PathStats;
use super::receiver::Receiver;
use crate::delay_gap::DelayGap;

/// A hold on what the shim knows of one peer: while there is one, the peer is not forgotten, and the form in
/// which it is spoken to does not change by what comes from its address.
///
/// Whoever has a connection to the peer keeps one for as long.
#[derive(Clone, Debug)]
pub struct PeerHandle(Arc<Peer>);

/// What came from one peer and went to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerStats {
    /// The peer's address.
    pub remote: SocketAddr,
    /// Whether datagrams to it carry the header; none while that is not decided.
    pub shim: Option<bool>,
    /// Datagrams sent with the header.
    pub sent: u64,
    /// What the headers of these cost, in bytes.
    pub sent_header_bytes: u64,
    /// The delay gap of what is sent, as the peer measured it.
    pub outgoing_gap: Duration,
    /// The delay gap of what is received.
    pub gap: Duration,
    /// How long a missing packet is waited for at present.
    pub hold: Duration,
    /// How many packets are held back at present.
    pub held_now: usize,
    /// What came, by path.
    pub received: PathStats,
}

impl PeerHandle {
    pub(super) fn of(peer: Arc<Peer>) -> Self {
        Self(peer)
    }

    pub(super) fn peer(&self) -> &Arc<Peer> {
        &self.0
    }

    /// The delay gap of what is sent to this peer, as the peer measures it; kept up to date.
    pub fn outgoing_gap(&self) -> DelayGap {
        self.0.outgoing_gap.clone()
    }

    /// Decides for this peer whether packets to it carry the header, in place of [`ShimConfig::mode`].
    pub fn set_shim(&self, on: bool) {
        self.0.set.store(if on { SHIM } else { PLAIN }, Ordering::Relaxed);
    }
}

/// One remote address.
#[derive(Debug)]
pub(super) struct Peer {
    remote: SocketAddr,
    mode: Mode,
    /// What was decided for it: [`UNKNOWN`], [`PLAIN`] or [`SHIM`].
    set: AtomicU8,
    /// The form in which it speaks.
    heard: AtomicU8,
    /// Datagrams that went to it before it was heard from.
    unanswered: AtomicU32,
    /// For each stream, where its numbers begin and how many are used.
    outgoing: [(u64, Mutex<u64>); 2],
    /// The gap measured on what is received, in microseconds.
    echo: AtomicU64,
    /// Whether packets wait until something goes to the peer.
    awaits_answer: AtomicBool,
    pub(super) outgoing_gap: DelayGap,
    incoming: Mutex<Incoming>,
}

/// The receiving side of a peer.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) receiver: Receiver<Meta, RandomState>,
    pub(super) heard_at: Instant,
}

/// What is known of a datagram beside its bytes and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meta {
    pub(super) ecn: Option<EcnCodepoint>,
    pub(super) dst_ip: Option<IpAddr>,
    pub(super) interface_index: Option<u32>,
}

impl Peer {
    /// A peer that was not heard from.
    pub(super) fn new(
        config: &ShimConfig,
        keys: &RandomState,
        paths: usize,
        remote: SocketAddr,
        now: Instant,
    ) -> Self {
        // A random start: who does not see the packets cannot know where their numbers are.
        let start = |stream: Stream| (RandomState::new().hash_one((remote, stream)), Mutex::new(0));
        Self {
            remote,
            mode: config.mode,
            set: AtomicU8::new(UNKNOWN),
            heard: AtomicU8::new(UNKNOWN),
            unanswered: AtomicU32::new(0),
            outgoing: [start(Stream::Ordered), start(Stream::Unordered)],
            echo: AtomicU64::new(0),
            awaits_answer: AtomicBool::new(false),
            outgoing_gap: DelayGap::default(),
            incoming: Mutex::new(Incoming {
                receiver: Receiver::new(config, paths, keys.clone()),
                heard_at: now,
            }),
        }
    }

    /// Whether the next datagram to this peer carries the header.
    pub(super) fn speaks_shim(&self) -> bool {
        self.decided().unwrap_or_else(|| {
            let sent = self.unanswered.fetch_add(1, Ordering::Relaxed);
            sent < FIRST_WITH_HEADER || sent.is_multiple_of(2)
        })
    }

    /// Takes note of the form in which the peer speaks. While somebody has to do with the peer, the first form
    /// counts; else the last, so that a forged packet does not decide how a later connection begins.
    pub(super) fn hear(&self, shim: bool, in_use: bool) {
        let form = if shim { SHIM } else { PLAIN };
        if in_use {
            let _ = self
                .heard
                .compare_exchange(UNKNOWN, form, Ordering::Relaxed, Ordering::Relaxed);
        } else {
            self.heard.store(form, Ordering::Relaxed);
        }
    }

    /// Locks a stream of numbers, to use as many as are really sent.
    pub(super) fn numbers(&self, stream: Stream) -> Numbers<'_> {
        let (start, used) = match (stream, &self.outgoing) {
            (Stream::Ordered, [ordered, _]) => ordered,
            (Stream::Unordered, [_, unordered]) => unordered,
        };
        Numbers {
            start: *start,
            used: lock(used),
        }
    }

    pub(super) fn echo(&self) -> Duration {
        Duration::from_micros(self.echo.load(Ordering::Relaxed))
    }

    pub(super) fn set_echo(&self, gap: Duration) {
        self.echo.store(
            u64::try_from(gap.as_micros()).unwrap_or(u64::MAX),
            Ordering::Relaxed,
        );
    }

    pub(super) fn awaits_answer(&self) -> bool {
        self.awaits_answer.load(Ordering::Acquire)
    }

    pub(super) fn await_answer(&self, awaits: bool) {
        self.awaits_answer.store(awaits, Ordering::Release);
    }

    /// Something went to the peer; returns whether that was waited for.
    pub(super) fn answer(&self) -> bool {
        self.awaits_answer.swap(false, Ordering::AcqRel)
    }

    pub(super) fn incoming(&self) -> MutexGuard<'_, Incoming> {
        lock(&self.incoming)
    }

    pub(super) fn decided(&self) -> Option<bool> {
        let known = |form: &AtomicU8| match form.load(Ordering::Relaxed) {
            PLAIN => Some(false),
            SHIM => Some(true),
            _ => None,
        };
        known(&self.set).or_else(|| match self.mode {
            Mode::On => Some(true),
            Mode::Off => Some(false),
            Mode::Auto => known(&self.heard),
        })
    }

    pub(super) fn stats(&self, now: Instant) -> PeerStats {
        let sent = self.outgoing.iter().map(|(_, used)| *lock(used)).sum();
        let incoming = self.incoming();
        let receiver = &incoming.receiver;
        PeerStats {
            remote: self.remote,
            shim: self.decided(),
            sent,
            sent_header_bytes: sent * HEADER_LEN as u64,
            outgoing_gap: self.outgoing_gap.get(),
            gap: receiver.gap(now),
            hold: receiver.hold(now),
            held_now: receiver.held(),
            received: receiver.stats().clone(),
        }
    }
}

/// The numbers of one stream, locked while datagrams are made and sent.
pub(super) struct Numbers<'a> {
    start: u64,
    used: MutexGuard<'a, u64>,
}

impl Numbers<'_> {
    /// The `n`-th number that is not used yet, from 0.
    pub(super) fn peek(&self, n: u64) -> SequenceNumber {
        SequenceNumber::new(self.start.wrapping_add(*self.used).wrapping_add(n))
    }

    /// Marks the next `count` numbers as used.
    pub(super) fn take(mut self, count: u64) {
        *self.used += count;
    }
}

/// A lock whose data no panic can leave half changed.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const UNKNOWN: u8 = 0;
const PLAIN: u8 = 1;
const SHIM: u8 = 2;
const FIRST_WITH_HEADER: u32 = 3;
