//! What became of packets of which a copy was sent on each of several paths, as their receiver saw it.
//!
//! The losses of two paths say what both lose together only if they are independent, and often they are not: a tower,
//! a backhaul or a queue is shared. Who compares copies knows.

use serde::{Deserialize, Serialize};

use crate::path::{Direction, PathSet};
use crate::time::Timestamp;

/// What was counted over one interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JointSample {
    /// The paths that a copy of each packet was sent on.
    pub paths: PathSet,
    /// The direction.
    pub direction: Direction,
    /// When the interval began.
    pub from: Timestamp,
    /// When it ended; not before `from`.
    pub until: Timestamp,
    /// What was counted.
    pub counts: JointCounts,
}

/// Packets, by what became of their copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JointCounts {
    /// All of them.
    pub packets: u64,
    /// Those of which no copy came.
    pub lost: u64,
    /// Those that came in time only because another path carried a copy.
    pub rescued: u64,
}

impl JointCounts {
    /// Adds what was counted elsewhere or later.
    pub fn add(&mut self, other: JointCounts) {
        self.packets = self.packets.saturating_add(other.packets);
        self.lost = self.lost.saturating_add(other.lost);
        self.rescued = self.rescued.saturating_add(other.rescued);
    }
}
