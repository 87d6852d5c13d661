//! One measurement of one path: counts, never percentages.

use serde::{Deserialize, Serialize};

use crate::path::{Direction, PathIndex};
use crate::time::Timestamp;

/// What was counted on one path in one direction over one interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossSample {
    /// The path that was measured.
    pub path: PathIndex,
    /// The direction in which it was measured.
    pub direction: Direction,
    /// When the first counted packet may have been sent.
    pub from: Timestamp,
    /// When the last counted packet may have been sent; not before `from`.
    pub until: Timestamp,
    /// Packets sent on this path in the interval.
    pub sent: u64,
    /// Those of them that did not arrive.
    pub lost: u64,
    /// Who counted.
    pub by: Source,
}

/// How a sample was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Colours on the live traffic of a path in use, counted at both ends (RFC 9341).
    AlternateMarking,
    /// The same on a standby path, for the colour periods in which the class was copied onto it.
    SampledBicast,
}
