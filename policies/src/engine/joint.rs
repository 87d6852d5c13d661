//! What is known of the packets that were sent on several paths since the mode in force began.

use std::time::Duration;

use crate::estimate::{Estimate, Window};
use crate::joint::{JointCounts, JointSample};
use crate::mode::Mode;
use crate::time::Timestamp;

/// Joint samples of one mode. They explain it and are shown with it; nothing is decided by them.
#[derive(Clone, Debug, Default)]
pub(super) struct Joint {
    window: Window,
    total: JointCounts,
}

impl Joint {
    /// Takes a sample if it speaks of `mode`, which began at `since`, and of nothing else.
    pub(super) fn observe(&mut self, sample: &JointSample, mode: Mode, since: Timestamp) {
        if mode != Mode::Bicast(sample.paths) || sample.from < since + SETTLED {
            return;
        }
        let JointCounts { packets, lost, .. } = sample.counts;
        self.window.push(sample.from, sample.until, packets, lost);
        self.total.add(JointCounts {
            lost: lost.min(packets),
            ..sample.counts
        });
    }

    pub(super) fn estimate(&self, alpha: f64) -> Option<Estimate> {
        self.window.estimate(alpha)
    }

    /// Everything since the mode began, if that is anything.
    pub(super) fn total(&self) -> Option<JointCounts> {
        (self.total.packets > 0).then_some(self.total)
    }
}

/// From the decision until the switch has followed and what was under way has arrived or been given up.
const SETTLED: Duration = Duration::from_secs(1);
