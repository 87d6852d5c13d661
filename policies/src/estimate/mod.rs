//! Loss with confidence, from counted samples.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What the recent samples of a path say about its loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Packets sent.
    pub sent: u64,
    /// Those of them that were lost.
    pub lost: u64,
    /// From the beginning of the first sample to the end of the last.
    pub span: Duration,
    /// The loss is at least this, with the confidence of the measurement; 0 to 1.
    pub lower: f64,
    /// The loss is at most this, with the confidence of the measurement; 0 to 1.
    pub upper: f64,
}

impl Estimate {
    /// The share of the packets that was lost, 0 to 1; 0 when none was sent.
    pub fn loss(&self) -> f64 {
        if self.sent == 0 {
            0.0
        } else {
            self.lost as f64 / self.sent as f64
        }
    }
}
