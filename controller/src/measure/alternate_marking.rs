//! Alternate marking (RFC 9341) with meters: the exact loss of live traffic, period by period.
//!
//! ```text
//!  open ──period over──▶ peek ──idle──▶ open again
//!                         │
//!                         └─ FlipDue ─▶ flip sent ──barrier──▶ sender still? ──two equal reads──▶ receiver still?
//!                                                                                                     │
//!                                       Closed { sent, received per path } ◀──two equal reads, apart──┘
//! ```
//! While a colour is being closed the other one is open; a colour is used again only when it is closed. Meters are
//! cumulative and count each packet with the colour that it carries, so a packet that comes after its colour was
//! read is not lost to the sums: the peek before the next use of the colour finds it, corrects the totals, and
//! makes the wait longer.

use std::time::Duration;

use policies::{PathIndex, PathSet, Timestamp};

use super::patience::{LateGuard, STILL_GAP, still_gap};
use crate::pipeline::Colour;

/// What the sender's meters stand at, by colour.
pub type SenderReading = [u64; 2];
/// What the receiver's meters stand at, by path and colour.
pub type ReceiverReading = Vec<[u64; 2]>;

/// The marking of one direction of one policy.
#[derive(Debug)]
pub struct Marking {
    period: Duration,
    open: Period,
    stage: Stage,
    base: [Option<Base>; 2],
    late_guard: LateGuard,
}

/// What the marking wants done, or has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkingOutput {
    /// Read the sender's meters and pass them to [`Marking::sender_reading`].
    ReadSender,
    /// Read the receiver's meters and pass them to [`Marking::receiver_reading`].
    ReadReceiver,
    /// The open period is over: call [`Marking::flip`] and change the mark in the switch.
    FlipDue,
    /// No packet carries the closing period's colour any more at the sender.
    SenderClosed {
        /// Whether it was a sampled period.
        sampled: bool,
    },
    /// A period is closed and counted.
    Closed(Closed),
    /// Packets of an already closed period arrived after it was read: to be added to the totals.
    Late {
        /// The path that they came by.
        path: PathIndex,
        /// How many.
        packets: u64,
    },
}

/// A closed colour period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    /// When it was opened.
    pub from: Timestamp,
    /// When the flip that ended it was sent.
    pub until: Timestamp,
    /// Whether a standby path was sampled.
    pub sampled: bool,
    /// Packets of the class that the site sent.
    pub sent: u64,
    /// For each path that carried every one of them: the packets that arrived.
    pub received: Vec<(PathIndex, u64)>,
}

#[derive(Debug, Clone, Copy)]
struct Period {
    colour: Colour,
    sampled: bool,
    opened: Timestamp,
    /// The paths that certainly carried every packet so far.
    carried: PathSet,
}

/// What the meters stood at when their colour was last closed.
#[derive(Debug, Clone)]
struct Base {
    sent: u64,
    received: Vec<u64>,
    /// Paths whose late packets may still be credited: those that the period was counted for.
    counted: PathSet,
}

#[derive(Debug)]
enum Stage {
    /// One colour is open, the other closed.
    Open,
    /// Before the flip: has anything been sent, did anything come late?
    Peek {
        sent: Option<SenderReading>,
        received: Option<ReceiverReading>,
        since: Timestamp,
    },
    /// [`MarkingOutput::FlipDue`] is out.
    FlipDue,
    /// The old colour is being closed.
    Closing {
        period: Period,
        until: Timestamp,
        wait: Wait,
    },
}

#[derive(Debug)]
enum Wait {
    /// For the barrier after the flip.
    Barrier,
    /// For the sender's count to stand still.
    Sender {
        read_at: Timestamp,
        asked: bool,
        last: Option<u64>,
    },
    /// For the receiver's counts to stand still.
    Receiver {
        read_at: Timestamp,
        asked: bool,
        sent: u64,
        last: Option<Vec<u64>>,
    },
}

impl Marking {
    /// Starts with `colour` in force at the sender. Nothing is known of the meters yet, so the first period of each
    /// colour only sets the base.
    pub fn new(now: Timestamp, period: Duration, colour: Colour, sampled: bool) -> Marking {
        Marking {
            period,
            open: Period {
                colour,
                sampled,
                opened: now,
                carried: PathSet::EMPTY,
            },
            stage: Stage::Open,
            base: [None, None],
            late_guard: LateGuard::new(),
        }
    }

    /// Changes the length of periods from now on.
    pub fn set_period(&mut self, period: Duration) {
        self.period = period;
    }

    /// The colour in force.
    pub fn colour(&self) -> Colour {
        self.open.colour
    }

    /// Whether the period in force is a sampled one.
    pub fn sampled(&self) -> bool {
        self.open.sampled
    }

    /// Whether any period that is not counted yet is a sampled one.
    pub fn sample_pending(&self) -> bool {
        self.open.sampled || matches!(self.stage, Stage::Closing { period, .. } if period.sampled)
    }

    /// Narrows what the periods under way certainly sent on: the main group's paths and the sample group's. A period
    /// whose last packet has left the sender is not touched by what its group does now.
    pub fn restrict(&mut self, main: PathSet, sample: PathSet) {
        let narrow = |period: &mut Period| {
            period.carried = period
                .carried
                .intersection(if period.sampled { sample } else { main });
        };
        narrow(&mut self.open);
        if let Stage::Closing {
            period,
            wait: Wait::Barrier | Wait::Sender { .. },
            ..
        } = &mut self.stage
        {
            narrow(period);
        }
    }

    /// What the meters say of the periods under way is not the paths' doing: they are not counted.
    pub fn spoil(&mut self) {
        self.open.carried = PathSet::EMPTY;
        if let Stage::Closing { period, .. } = &mut self.stage {
            period.carried = PathSet::EMPTY;
        }
    }

    /// The next colour is being sent to the switch: opens its period on paths `carried`.
    pub fn flip(&mut self, now: Timestamp, sampled: bool, carried: PathSet) {
        let old = self.open;
        self.open = Period {
            colour: old.colour.flipped(),
            sampled,
            opened: now,
            carried,
        };
        self.stage = Stage::Closing {
            period: old,
            until: now,
            wait: Wait::Barrier,
        };
    }

    /// The switch confirmed the flip.
    pub fn flipped(&mut self, now: Timestamp) {
        if let Stage::Closing { wait, .. } = &mut self.stage
            && matches!(wait, Wait::Barrier)
        {
            *wait = Wait::Sender {
                read_at: now + STILL_GAP,
                asked: false,
                last: None,
            };
        }
    }

    /// Meters were made anew, or counters are not to be trusted: starts over.
    pub fn reset(&mut self, now: Timestamp) {
        self.base = [None, None];
        self.stage = Stage::Open;
        self.open.opened = now;
        self.open.carried = PathSet::EMPTY;
    }

    /// A switch is gone: what is being closed cannot be counted. The open period goes on.
    pub fn interrupt(&mut self) {
        if let Stage::Closing { period, .. } = &self.stage {
            self.base[period.colour.index()] = None;
        }
        self.stage = Stage::Open;
    }

    /// Called when [`Marking::deadline`] has come.
    pub fn tick(&mut self, now: Timestamp) -> Vec<MarkingOutput> {
        match &mut self.stage {
            Stage::Open if now >= self.open.opened + self.period => {
                self.stage = Stage::Peek {
                    sent: None,
                    received: None,
                    since: now,
                };
                vec![MarkingOutput::ReadSender, MarkingOutput::ReadReceiver]
            }
            Stage::Peek { since, .. } if now >= *since + GIVE_UP => {
                self.stage = Stage::Open;
                self.open.opened = now;
                vec![]
            }
            Stage::Closing { until, .. } if now >= *until + GIVE_UP => {
                self.interrupt();
                vec![]
            }
            Stage::Closing {
                wait: Wait::Sender { read_at, asked, .. },
                ..
            } if !*asked && now >= *read_at => {
                *asked = true;
                vec![MarkingOutput::ReadSender]
            }
            Stage::Closing {
                wait: Wait::Receiver { read_at, asked, .. },
                ..
            } if !*asked && now >= *read_at => {
                *asked = true;
                vec![MarkingOutput::ReadReceiver]
            }
            _ => vec![],
        }
    }

    /// When [`Marking::tick`] wants to be called.
    pub fn deadline(&self) -> Option<Timestamp> {
        match &self.stage {
            Stage::Open => Some(self.open.opened + self.period),
            Stage::Peek { since, .. } => Some(*since + GIVE_UP),
            Stage::FlipDue => None,
            Stage::Closing { until, wait, .. } => Some(match wait {
                Wait::Sender {
                    read_at,
                    asked: false,
                    ..
                }
                | Wait::Receiver {
                    read_at,
                    asked: false,
                    ..
                } => (*read_at).min(*until + GIVE_UP),
                _ => *until + GIVE_UP,
            }),
        }
    }

    /// The sender's meters, read after [`MarkingOutput::ReadSender`].
    pub fn sender_reading(&mut self, now: Timestamp, reading: SenderReading) -> Vec<MarkingOutput> {
        match &mut self.stage {
            Stage::Peek { sent, .. } => {
                *sent = Some(reading);
                self.peeked(now)
            }
            Stage::Closing { period, wait, .. } => {
                let Wait::Sender { read_at, asked, last } = wait else {
                    return vec![];
                };
                if !std::mem::take(asked) {
                    return vec![];
                }
                let count = reading[period.colour.index()];
                if last.replace(count) != Some(count) {
                    *read_at = now + STILL_GAP;
                    return vec![];
                }
                let sampled = period.sampled;
                *wait = Wait::Receiver {
                    read_at: now + self.late_guard.wait(),
                    asked: false,
                    sent: count,
                    last: None,
                };
                vec![MarkingOutput::SenderClosed { sampled }]
            }
            _ => vec![],
        }
    }

    /// The receiver's meters, read after [`MarkingOutput::ReadReceiver`].
    pub fn receiver_reading(&mut self, now: Timestamp, reading: ReceiverReading) -> Vec<MarkingOutput> {
        match &mut self.stage {
            Stage::Peek { received, .. } => {
                *received = Some(reading);
                self.peeked(now)
            }
            Stage::Closing { period, until, wait } => {
                let Wait::Receiver {
                    read_at,
                    asked,
                    sent,
                    last,
                } = wait
                else {
                    return vec![];
                };
                if !std::mem::take(asked) {
                    return vec![];
                }
                let counts: Vec<u64> = reading.iter().map(|path| path[period.colour.index()]).collect();
                let base = self.base[period.colour.index()].as_ref();
                if last.replace(counts.clone()).as_ref() != Some(&counts) {
                    let packets = base.map_or(0, |base| sent.saturating_sub(base.sent));
                    *read_at = now + still_gap(until.saturating_since(period.opened), packets);
                    return vec![];
                }
                let (period, until, sent) = (*period, *until, *sent);
                self.stage = Stage::Open;
                self.close(period, until, sent, counts)
                    .into_iter()
                    .map(MarkingOutput::Closed)
                    .collect()
            }
            _ => vec![],
        }
    }

    /// Both readings of the peek are in, or not yet.
    fn peeked(&mut self, now: Timestamp) -> Vec<MarkingOutput> {
        let Stage::Peek {
            sent: Some(sent),
            received: Some(received),
            ..
        } = &self.stage
        else {
            return vec![];
        };
        let (sent, received) = (*sent, received.clone());
        let mut outputs = self.credit_late(&received);
        let colour = self.open.colour.index();
        let idle = self.base[colour]
            .as_ref()
            .is_some_and(|base| base.sent == sent[colour]);
        if idle {
            self.stage = Stage::Open;
            self.open.opened = now;
        } else {
            self.stage = Stage::FlipDue;
            outputs.push(MarkingOutput::FlipDue);
        }
        outputs
    }

    /// Credits packets of the closed colour that came after it was read, and waits longer from now on.
    fn credit_late(&mut self, received: &ReceiverReading) -> Vec<MarkingOutput> {
        let closed = self.open.colour.flipped();
        let Some(base) = &mut self.base[closed.index()] else {
            return vec![];
        };
        let mut outputs = vec![];
        for (index, (counts, known)) in (0_u8..).zip(received.iter().zip(&mut base.received)) {
            let packets = counts[closed.index()].saturating_sub(*known);
            *known += packets;
            if packets > 0 && base.counted.contains(PathIndex(index)) {
                outputs.push(MarkingOutput::Late {
                    path: PathIndex(index),
                    packets,
                });
            }
        }
        if outputs.is_empty() {
            self.late_guard.nothing_late()
        } else {
            self.late_guard.late()
        }
        outputs
    }

    /// Counts a period against the base of its colour, which moves on to the present counts.
    fn close(&mut self, period: Period, until: Timestamp, sent: u64, counts: Vec<u64>) -> Option<Closed> {
        let slot = &mut self.base[period.colour.index()];
        let base = slot.replace(Base {
            sent,
            received: counts,
            counted: period.carried,
        })?;
        let counts = &slot.as_ref()?.received;
        let went_back = sent < base.sent || counts.iter().zip(&base.received).any(|(new, old)| new < old);
        if went_back || counts.len() != base.received.len() {
            // A meter was made anew behind our back: the present counts are the new base, the period is not counted.
            return None;
        }
        let received = (0_u8..)
            .map(PathIndex)
            .zip(counts.iter().zip(&base.received))
            .filter(|(path, _)| period.carried.contains(*path))
            .map(|(path, (new, old))| (path, new - old))
            .collect();
        Some(Closed {
            from: period.opened,
            until,
            sampled: period.sampled,
            sent: sent - base.sent,
            received,
        })
    }
}

/// A switch that does not answer for so long does not get its period counted.
const GIVE_UP: Duration = Duration::from_secs(3);

#[cfg(test)]
mod tests;
