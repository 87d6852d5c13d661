//! The receiving side for one peer: de-duplication, the gap, resequencing, the books.

use std::hash::BuildHasher;
use std::time::{Duration, Instant};

use super::config::{Hold, ShimConfig};
use super::dedup::{Dedup, Identity, Verdict};
use super::gap::GapEstimator;
use super::gate::{self, Gate};
use super::header::{HEADER_LEN, Header, Stream};
use super::path_stats::{PathId, PathStats};
use super::resequencer::{Arrival, Limits, MAX_LEAD, Place, Resequencer};

/// What comes from one peer; `M` is what is known of a packet beside its bytes.
#[derive(Debug)]
pub struct Receiver<M, K> {
    keys: K,
    hold: Hold,
    max_hold: Duration,
    dedup: Dedup,
    gap: GapEstimator,
    ordered: Resequencer<M>,
    unordered: Resequencer<M>,
    /// Behind the ordered stream.
    gate: Gate<M>,
    stats: PathStats,
}

impl<M: Copy, K: BuildHasher> Receiver<M, K> {
    /// A receiver that has seen nothing; `keys` holds the secret key of the packets' identities.
    pub fn new(config: &ShimConfig, paths: usize, keys: K) -> Self {
        let limits = |lead| Limits {
            lead,
            short: gate::LEAST_LEN,
            held_bytes: config.held_bytes,
            quiet: config.max_hold,
        };
        let lead = match config.hold {
            Hold::Adaptive => config.lead.min(MAX_LEAD),
            Hold::Off => u32::MAX,
        };
        Self {
            keys,
            hold: config.hold,
            max_hold: config.max_hold,
            dedup: Dedup::new(config.window, config.window_packets),
            gap: GapEstimator::new(),
            ordered: Resequencer::new(limits(lead)),
            unordered: Resequencer::new(limits(u32::MAX)),
            gate: Gate::new(config.held_bytes),
            stats: PathStats::new(paths),
        }
    }

    /// Takes a packet; it, unless it is a duplicate, and what it sets free goes to `out`, sooner or later.
    ///
    /// Returns whether its number was in place. Only then may the echo in its header be believed: who cannot see
    /// the packets has to guess 40 bits to be in place.
    pub fn receive(
        &mut self,
        now: Instant,
        header: Header,
        packet: &[u8],
        path: PathId,
        meta: M,
        out: &mut dyn FnMut(&[u8], M),
    ) -> bool {
        let bytes = (HEADER_LEN + packet.len()) as u64;
        let identity = Identity::new(&self.keys, &header, packet);
        let stats = &mut self.stats;
        let verdict = self.dedup.observe(now, identity, path, |seen| stats.settle(seen));
        if let Verdict::Copy { lateness, .. } = verdict {
            self.gap.copy(now, lateness);
            self.stats.path(path, |counts| {
                counts.second_copies += 1;
                counts.bytes += bytes;
                counts.lateness.record(lateness);
            });
            return false;
        }
        self.gap.first();
        let hold = self.gap.hold(now, self.max_hold);
        let arrival = Arrival {
            sequence: header.sequence,
            path,
            packet,
            meta,
        };
        let (resequencer, gated) = match header.stream {
            Stream::Ordered => (&mut self.ordered, self.hold == Hold::Adaptive),
            Stream::Unordered => (&mut self.unordered, false),
        };
        let gate = &mut self.gate;
        let (place, outcome) = resequencer.receive(now, hold, arrival, &mut |packet| {
            if gated {
                gate.pass(now, packet, out)
            } else {
                out(packet.packet, packet.meta)
            }
        });
        self.stats.add(outcome);
        let rescued = matches!(place, Place::Filled { opened_by, .. } if opened_by != path);
        self.stats.path(path, |counts| {
            counts.first_arrivals += 1;
            counts.bytes += bytes;
            counts.rescued += u64::from(rescued);
        });
        match place {
            Place::Ahead { .. } | Place::Filled { .. } => return true,
            Place::Late => self.stats.late += 1,
            Place::Stray => self.stats.stray += 1,
        }
        false
    }

    /// Lets out what has been held long enough, and forgets what has left the window.
    pub fn expire(&mut self, now: Instant, out: &mut dyn FnMut(&[u8], M)) {
        let stats = &mut self.stats;
        self.dedup.expire(now, |seen| stats.settle(seen));
        let (hold, gate) = (self.gap.hold(now, self.max_hold), &mut self.gate);
        if gate.closed_until().is_some_and(|until| until <= now) {
            gate.open(now, out);
        }
        let ordered = self
            .ordered
            .expire(now, hold, &mut |packet| gate.pass(now, packet, out));
        let unordered = self
            .unordered
            .expire(now, hold, &mut |packet| out(packet.packet, packet.meta));
        self.stats.add(ordered);
        self.stats.add(unordered);
    }

    /// Whether packets wait, or would, for [`Self::answered`].
    pub fn awaits_answer(&self) -> bool {
        self.gate.closed_until().is_some()
    }

    /// QUIC has sent something: lets out what waits for its acknowledgement of a packet that came late.
    pub fn answered(&mut self, now: Instant, out: &mut dyn FnMut(&[u8], M)) {
        self.gate.open(now, out);
    }

    /// When [`Self::expire`] is to be called; none while nothing is held.
    pub fn next_deadline(&self, now: Instant) -> Option<Instant> {
        let hold = self.ordered.next_deadline(self.gap.hold(now, self.max_hold));
        [hold, self.gate.closed_until()].into_iter().flatten().min()
    }

    /// The delay gap of what is received.
    pub fn gap(&self, now: Instant) -> Duration {
        self.gap.gap(now)
    }

    /// How long a hole is waited for at present.
    pub fn hold(&self, now: Instant) -> Duration {
        match self.hold {
            Hold::Adaptive => self.gap.hold(now, self.max_hold),
            Hold::Off => Duration::ZERO,
        }
    }

    /// How many packets are held back at present.
    pub fn held(&self) -> usize {
        self.ordered.held()
    }

    /// What came so far.
    pub fn stats(&self) -> &PathStats {
        &self.stats
    }
}
