//! A one-way path in virtual time: random loss, a drop-tail queue before a bottleneck, and a delay. What is lost
//! takes none of the bottleneck's time, as with netem.

use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Ethernet, IPv4 and UDP headers of a datagram.
const HEADERS: u64 = 42;

/// How packets are lost in front of the bottleneck.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Loss {
    /// Each with this probability.
    Random(f64),
    /// Gilbert-Elliott: all packets of the bad state are lost.
    Bursts {
        /// Mean number of packets in a burst.
        length: f64,
        /// Share of packets lost in the long run.
        mean: f64,
    },
}

/// What a path is like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    /// Bits per second; none is unlimited.
    pub(crate) rate: Option<u64>,
    pub(crate) delay: Duration,
    /// Room before the bottleneck, bytes.
    pub(crate) queue: u64,
    pub(crate) loss: Loss,
}

/// The path itself and what it did to its packets.
#[derive(Debug)]
pub(crate) struct Path {
    pub(crate) spec: Spec,
    rng: Xoshiro256PlusPlus,
    in_burst: bool,
    busy_until: Option<Instant>,
    pub(crate) offered: u64,
    pub(crate) overflowed: u64,
    pub(crate) lost: u64,
}

impl Path {
    pub(crate) fn new(spec: Spec, seed: u64) -> Self {
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self {
            spec,
            rng,
            in_burst: false,
            busy_until: None,
            offered: 0,
            overflowed: 0,
            lost: 0,
        }
    }

    /// Sends a datagram of `size` bytes: when it arrives, or none when it is dropped.
    pub(crate) fn send(&mut self, now: Instant, size: usize) -> Option<Instant> {
        self.offered += 1;
        if self.is_lost() {
            self.lost += 1;
            return None;
        }
        let size = size as u64 + HEADERS;
        let start = self.busy_until.unwrap_or(now).max(now);
        let mut done = now;
        if let Some(rate) = self.spec.rate {
            let backlog = (start - now).as_secs_f64() * rate as f64 / 8.0;
            if backlog + size as f64 > self.spec.queue as f64 {
                self.overflowed += 1;
                return None;
            }
            done = start + Duration::from_nanos(size * 8 * 1_000_000_000 / rate);
            self.busy_until = Some(done);
        }
        Some(done + self.spec.delay)
    }

    fn is_lost(&mut self) -> bool {
        match self.spec.loss {
            Loss::Random(probability) => self.rng.random_bool(probability),
            Loss::Bursts { length, mean } => {
                let leave = 1.0 / length;
                let enter = leave * mean / (1.0 - mean);
                self.in_burst = self
                    .rng
                    .random_bool(if self.in_burst { 1.0 - leave } else { enter });
                self.in_burst
            }
        }
    }
}
