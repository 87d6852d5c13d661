//! What came by which path.

use std::time::Duration;

use super::dedup::Seen;
use super::gap::LogHistogram;
use super::resequencer::Outcome;

/// A path, told by the local port that a copy came to: 0 is the base port, 1 the first further one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathId(u8);

impl PathId {
    /// The path of the `index`-th local port.
    pub const fn new(index: u8) -> Self {
        Self(index)
    }

    /// Counts from 0 in the order of the local ports.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// What came by one path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathCounts {
    /// Packets whose first copy came by this path.
    pub first_arrivals: u64,
    /// Copies of packets that had come before.
    pub second_copies: u64,
    /// First arrivals that filled a hole which a packet by another path had shown.
    pub rescued: u64,
    /// Packets that no other copy of came while they were remembered. Counted when they leave the window.
    pub only: u64,
    /// UDP payload of all of these, shim headers included.
    pub bytes: u64,
    /// How much later than the first copies the second ones by this path came.
    pub lateness: LogHistogram,
}

/// What came from one peer, all paths together and each by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathStats {
    /// By path.
    pub paths: Vec<PathCounts>,
    /// Packets that came more than once. Counted when they leave the window.
    pub both: u64,
    /// Sequence numbers that were given up: overdue on all paths.
    pub given_up: u64,
    /// Packets that came after they were given up.
    pub late: u64,
    /// Packets with a number nowhere near the others, or with one that was there already.
    pub stray: u64,
    /// Packets that were held back and let out again.
    pub held: u64,
    /// The longest that a packet was held back.
    pub longest_hold: Duration,
}

impl PathStats {
    /// Nothing yet, by so many paths.
    pub fn new(paths: usize) -> Self {
        Self {
            paths: vec![PathCounts::default(); paths],
            ..Self::default()
        }
    }

    /// Packets of which no copy came: the loss that the paths have jointly.
    pub fn neither(&self) -> u64 {
        self.given_up.saturating_sub(self.late)
    }

    /// The counts of a path; what comes by a path that is not known is not counted.
    pub fn path(&mut self, path: PathId, count: impl FnOnce(&mut PathCounts)) {
        if let Some(counts) = self.paths.get_mut(path.index()) {
            count(counts);
        }
    }

    /// A packet left the window of de-duplication: no more copies of it are expected.
    pub fn settle(&mut self, seen: Seen) {
        if seen.copies > 1 {
            self.both += 1;
        } else {
            self.path(seen.first_path, |counts| counts.only += 1);
        }
    }

    /// Takes what a resequencer did.
    pub fn add(&mut self, outcome: Outcome) {
        self.given_up += outcome.given_up;
        self.held += outcome.released;
        self.longest_hold = self.longest_hold.max(outcome.longest);
    }
}
