//! One direction of one path between the routers: it delays, loses, and counts what is true.

use std::collections::BTreeMap;
use std::time::Duration;

use policies::Timestamp;

use super::StreamId;
use crate::testing::chance::Chance;
use crate::testing::packet::Packet;

/// One direction of one path.
#[derive(Debug, Clone)]
pub struct Link {
    /// How long a packet is under way.
    pub delay: Duration,
    /// The share of the packets that is lost, each by itself; 0 to 1.
    pub loss: f64,
    chance: Chance,
    truths: BTreeMap<StreamId, Truth>,
}

/// What a link did to one stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Truth {
    /// Packets that were put on it.
    pub entered: u64,
    /// Packets of them that it lost.
    pub dropped: u64,
    /// The same by runs of packets that carry one DSCP value.
    pub runs: Vec<Run>,
}

/// The packets of one colour period: of one DSCP value, without a long pause between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The DSCP value.
    pub dscp: u8,
    /// When the first was put on the link.
    pub first: Timestamp,
    /// When the last was.
    pub last: Timestamp,
    /// Packets that were put on it.
    pub entered: u64,
    /// Packets of them that it lost.
    pub dropped: u64,
}

impl Link {
    pub(super) fn new(delay: Duration, chance: Chance) -> Link {
        Link {
            delay,
            loss: 0.0,
            chance,
            truths: BTreeMap::new(),
        }
    }

    /// What it did to a stream.
    pub fn truth(&self, stream: StreamId) -> Truth {
        self.truths.get(&stream).cloned().unwrap_or_default()
    }

    /// Packets of every stream that were put on it.
    pub fn entered(&self) -> u64 {
        self.truths.values().map(|truth| truth.entered).sum()
    }

    /// A packet is put on it: when it will come out, if it will.
    pub(super) fn enter(&mut self, now: Timestamp, packet: &Packet) -> Option<Timestamp> {
        let lost = self.loss > 0.0 && self.chance.fraction() < self.loss;
        if let Some(ip) = packet.ipv4() {
            let truth = self.truths.entry(StreamId(ip.payload.stream)).or_default();
            truth.count(now, ip.dscp, lost);
        }
        (!lost).then(|| now + self.delay)
    }
}

impl Truth {
    fn count(&mut self, now: Timestamp, dscp: u8, lost: bool) {
        self.entered += 1;
        self.dropped += u64::from(lost);
        // The runs of the two colours overlap while flows follow a flip one by one. Nothing but the other colour, or a
        // long pause, ends a run: something may interrupt the traffic.
        let alternating = self.runs.last().is_some_and(|run| run.dscp != dscp);
        let pause = if alternating { SHORT_PAUSE } else { LONG_PAUSE };
        let mut latest = self.runs.iter_mut().rev().take(2);
        let run = latest.find(|run| run.dscp == dscp && now.saturating_since(run.last) < pause);
        match run {
            Some(run) => {
                run.last = now;
                run.entered += 1;
                run.dropped += u64::from(lost);
            }
            None => self.runs.push(Run {
                dscp,
                first: now,
                last: now,
                entered: 1,
                dropped: u64::from(lost),
            }),
        }
    }
}

/// Longer than between two packets while flows follow a flip, shorter than any period of the other colour.
const SHORT_PAUSE: Duration = Duration::from_millis(45);
/// Shorter than between two sampled periods of one colour, while the periods between them take another path.
const LONG_PAUSE: Duration = Duration::from_millis(240);
