//! The bounded resequencer: hides from QUIC that a packet came by the slower path, and nothing else.
//!
//! ```text
//!            floor                                frontier
//!              |<------ lead ------>|                |
//!   delivered  _  delivered already |  held          |  not seen yet
//!              hole                 deliverable up to here
//! ```
//!
//! A number that is skipped opens a hole. Packets may run ahead of the lowest hole, the floor, by `lead` numbers;
//! what is further ahead is held. A hole is given up when it has been open for as long as `hold`, so nothing is
//! held longer: every hole below a packet was open when the packet came.
//!
//! A hole between two short packets is not waited for: what is missing there most likely carries acknowledgements
//! only, of which the newest say it all, and packets held for its sake would come late as acknowledgements do.
//!
//! The receiver behind remembers 129 packet numbers only and drops whatever comes from before as a possible
//! duplicate: `lead` stays below that, so that a packet that fills a hole is still taken.
//!
//! Sequence numbers are not authenticated. Packets are never dropped here, and none is delivered twice: a forged
//! number can only make packets pass out of order. A number more than [`NEAR`] away from the frontier moves
//! nothing; such packets pass at once, until [`RUN`] of them in a row, near one another and with no other packet
//! for a while, show that the sender really went there.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use super::header::SequenceNumber;
use super::path_stats::PathId;

/// Orders the packets of one stream; `M` is what is known of a packet beside its bytes.
#[derive(Debug)]
pub struct Resequencer<M> {
    limits: Limits,
    /// One above the highest number seen; none before the first packet.
    frontier: Option<u64>,
    /// Ranges of missing numbers below the frontier, ascending, and so by time of opening.
    holes: VecDeque<Hole>,
    held: BTreeMap<u64, Held<M>>,
    held_bytes: usize,
    /// Ranges of numbers that were given up and may still come, oldest first.
    given_up: VecDeque<(u64, u64)>,
    /// The highest number that went out.
    highest_out: u64,
    /// The packet below the frontier was a short one.
    is_frontier_short: bool,
    run: Option<Run>,
    last_near: Option<Instant>,
}

/// What bounds a resequencer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many numbers a packet may be ahead of the lowest hole; at most [`MAX_LEAD`] where QUIC is to take what
    /// fills the hole. `u32::MAX` holds nothing.
    pub lead: u32,
    /// A hole between two packets that are shorter than this is not waited for, bytes.
    pub short: usize,
    /// How many bytes are held at most; beyond, holes are given up early.
    pub held_bytes: usize,
    /// How long a run of far-away numbers must have been alone before it counts.
    pub quiet: Duration,
}

/// The greatest lead that leaves room for reordering on one path within QUIC's 129 packet numbers.
pub const MAX_LEAD: u32 = 112;
/// How far from the frontier a number may be to count at once.
pub const NEAR: u64 = 4096;
/// How many packets in a row move the frontier to a number that is not near.
pub const RUN: u32 = 8;

/// Where a packet came in its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Next in order, or past numbers that are missing now; so many of these.
    Ahead {
        /// The numbers that were skipped.
        skipped: u64,
    },
    /// Into an open hole, which a packet by `opened_by` had opened `open_for` ago.
    Filled {
        /// The path of the packet that showed the hole.
        opened_by: PathId,
        /// Since the hole was opened.
        open_for: Duration,
    },
    /// For a number that had been given up.
    Late,
    /// Nowhere near, or for a number that was there already with other bytes.
    Stray,
}

/// What happened to holes and held packets, for the books.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Numbers given up.
    pub given_up: u64,
    /// Packets that were held and are out now.
    pub released: u64,
    /// The longest that one of these was held.
    pub longest: Duration,
}

impl<M: Copy> Resequencer<M> {
    /// A resequencer that has seen nothing.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            frontier: None,
            holes: VecDeque::new(),
            held: BTreeMap::new(),
            held_bytes: 0,
            given_up: VecDeque::new(),
            highest_out: 0,
            is_frontier_short: false,
            run: None,
            last_near: None,
        }
    }

    /// Takes a packet that is no duplicate; it, and what it sets free, goes to `out` in order.
    pub fn receive(
        &mut self,
        now: Instant,
        hold: Duration,
        arrival: Arrival<'_, M>,
        out: &mut dyn FnMut(Out<'_, M>),
    ) -> (Place, Outcome) {
        let mut outcome = Outcome::default();
        let near = self.frontier.unwrap_or(SequenceNumber::MODULUS);
        let number = arrival.sequence.expand(near);
        let frontier = *self.frontier.get_or_insert(number);
        let is_short = arrival.packet.len() < self.limits.short;
        if number == frontier && self.holes.is_empty() && self.held.is_empty() {
            // As nearly all come: what follows would come to the same.
            self.is_frontier_short = is_short;
            (self.frontier, self.run, self.last_near) = (Some(number + 1), None, Some(now));
            out(self.out(number, arrival.packet, arrival.meta));
            return (Place::Ahead { skipped: 0 }, outcome);
        }
        if number.abs_diff(frontier) > NEAR {
            self.stray(now, number, &mut outcome, out);
            out(Out {
                packet: arrival.packet,
                meta: arrival.meta,
                overtaken: false,
            });
            return (Place::Stray, outcome);
        }
        let place = self.place(now, number, frontier, arrival.path, is_short);
        if matches!(place, Place::Ahead { .. } | Place::Filled { .. }) {
            (self.run, self.last_near) = (None, Some(now));
        }
        self.give_up(now, hold, &mut outcome);
        let room = self.limits.held_bytes.saturating_sub(arrival.packet.len());
        while self.held_bytes > room {
            self.give_up_lowest(&mut outcome);
            self.release(now, u64::MAX, &mut outcome, out);
        }
        self.release(now, number, &mut outcome, out);
        // A second packet with a number that is held already must not take its place.
        let may_wait = place != Place::Stray && arrival.packet.len() <= self.limits.held_bytes;
        if self.may_pass(number) || !may_wait {
            let own = self.out(number, arrival.packet, arrival.meta);
            out(Out {
                overtaken: own.overtaken && place != Place::Stray,
                ..own
            });
            self.release(now, u64::MAX, &mut outcome, out);
        } else {
            let held = Held {
                since: now,
                packet: arrival.packet.into(),
                meta: arrival.meta,
            };
            self.held_bytes += held.packet.len();
            self.held.insert(number, held);
        }
        (place, outcome)
    }

    /// Gives up the holes that are due and releases what waited for them.
    pub fn expire(&mut self, now: Instant, hold: Duration, out: &mut dyn FnMut(Out<'_, M>)) -> Outcome {
        let mut outcome = Outcome::default();
        self.give_up(now, hold, &mut outcome);
        self.release(now, u64::MAX, &mut outcome, out);
        outcome
    }

    /// When [`Self::expire`] is to be called; none while nothing is held.
    pub fn next_deadline(&self, hold: Duration) -> Option<Instant> {
        if self.held.is_empty() {
            None
        } else {
            self.floor().map(|hole| hole.opened + hold)
        }
    }

    /// How many packets are held.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    fn place(&mut self, now: Instant, number: u64, frontier: u64, path: PathId, is_short: bool) -> Place {
        if let Some(skipped) = number.checked_sub(frontier) {
            if skipped > 0 {
                self.holes.push_back(Hole {
                    start: frontier,
                    end: number,
                    opened: now,
                    by: path,
                    is_waited_for: !(is_short && self.is_frontier_short),
                });
            }
            self.frontier = Some(number + 1);
            self.is_frontier_short = is_short;
            return Place::Ahead { skipped };
        }
        let at = self.holes.partition_point(|hole| hole.end <= number);
        if let Some(hole) = self.holes.get(at).copied().filter(|hole| hole.start <= number) {
            self.holes.remove(at);
            let parts = [
                Hole {
                    start: number + 1,
                    ..hole
                },
                Hole { end: number, ..hole },
            ];
            for part in parts.into_iter().filter(|part| part.start < part.end) {
                self.holes.insert(at, part);
            }
            let open_for = now.saturating_duration_since(hole.opened);
            return Place::Filled {
                opened_by: hole.by,
                open_for,
            };
        }
        let Some(at) = self
            .given_up
            .iter()
            .rposition(|(start, end)| (*start..*end).contains(&number))
        else {
            return Place::Stray;
        };
        if let Some((start, end)) = self.given_up.remove(at) {
            for part in [(number + 1, end), (start, number)]
                .into_iter()
                .filter(|(start, end)| start < end)
            {
                self.given_up.insert(at, part);
            }
        }
        Place::Late
    }

    fn stray(&mut self, now: Instant, number: u64, outcome: &mut Outcome, out: &mut dyn FnMut(Out<'_, M>)) {
        let run = self.run.get_or_insert(Run {
            last: number,
            length: 0,
        });
        run.length = if run.last.abs_diff(number) <= NEAR {
            run.length + 1
        } else {
            1
        };
        run.last = number;
        let alone = self
            .last_near
            .is_none_or(|at| now.saturating_duration_since(at) >= self.limits.quiet);
        if run.length >= RUN && alone {
            while !self.holes.is_empty() {
                self.give_up_lowest(outcome);
            }
            self.release(now, u64::MAX, outcome, out);
            self.given_up.clear();
            (self.frontier, self.run, self.last_near) = (Some(number + 1), None, Some(now));
            self.highest_out = number;
        }
    }

    fn give_up(&mut self, now: Instant, hold: Duration, outcome: &mut Outcome) {
        while let Some(hole) = self.holes.front()
            && (now.saturating_duration_since(hole.opened) >= hold || self.holes.len() > MAX_HOLES)
        {
            self.give_up_lowest(outcome);
        }
    }

    fn give_up_lowest(&mut self, outcome: &mut Outcome) {
        if let Some(hole) = self.holes.pop_front() {
            outcome.given_up += hole.end - hole.start;
            self.given_up.push_back((hole.start, hole.end));
            if self.given_up.len() > MAX_HOLES {
                self.given_up.pop_front();
            }
        }
    }

    /// Takes note of a packet that goes out.
    fn out<'a>(&mut self, number: u64, packet: &'a [u8], meta: M) -> Out<'a, M> {
        let overtaken = number < self.highest_out;
        self.highest_out = self.highest_out.max(number);
        Out {
            packet,
            meta,
            overtaken,
        }
    }

    /// The lowest hole that is waited for.
    fn floor(&self) -> Option<&Hole> {
        self.holes.iter().find(|hole| hole.is_waited_for)
    }

    fn may_pass(&self, number: u64) -> bool {
        self.floor()
            .is_none_or(|floor| number.saturating_sub(floor.start) <= u64::from(self.limits.lead))
    }

    /// Lets out what is held below `limit` and may pass.
    fn release(&mut self, now: Instant, limit: u64, outcome: &mut Outcome, out: &mut dyn FnMut(Out<'_, M>)) {
        while let Some(first) = self.held.first_entry()
            && *first.key() < limit
        {
            let number = *first.key();
            if !self.may_pass(number) {
                break;
            }
            if let Some(held) = self.held.remove(&number) {
                self.held_bytes -= held.packet.len();
                outcome.released += 1;
                outcome.longest = outcome.longest.max(now.saturating_duration_since(held.since));
                out(self.out(number, &held.packet, held.meta));
            }
        }
    }
}

/// A packet on its way in.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a, M> {
    /// Its number.
    pub sequence: SequenceNumber,
    /// The path of its first copy.
    pub path: PathId,
    /// The QUIC packet.
    pub packet: &'a [u8],
    /// Goes out with it.
    pub meta: M,
}

/// A packet on its way out.
#[derive(Clone, Copy, Debug)]
pub struct Out<'a, M> {
    /// The QUIC packet.
    pub packet: &'a [u8],
    /// What came in with it.
    pub meta: M,
    /// Whether one with a higher number went out before.
    pub overtaken: bool,
}

#[derive(Clone, Copy, Debug)]
struct Hole {
    start: u64,
    end: u64,
    opened: Instant,
    by: PathId,
    is_waited_for: bool,
}

#[derive(Debug)]
struct Held<M> {
    since: Instant,
    packet: Box<[u8]>,
    meta: M,
}

/// Packets in a row that were nowhere near.
#[derive(Debug)]
struct Run {
    last: u64,
    length: u32,
}

/// How many holes are remembered, open and given up each.
const MAX_HOLES: usize = 2048;
