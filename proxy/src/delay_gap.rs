//! By how much the slower path is later, as the other end measured it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The delay gap of one sending direction: how much later than the first copy the second one of a packet
/// arrives at the receiver. The receiving shim measures it and tells the sending one in its headers; the
/// congestion controllers and the loss thresholds of the connections to that peer read it.
///
/// Clones share one value. Zero when nothing was measured, or when only one path is in use.
#[derive(Clone, Debug, Default)]
pub struct DelayGap(Arc<AtomicU64>);

impl DelayGap {
    /// What was measured last.
    pub fn get(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::Relaxed))
    }

    /// Replaces what was measured; anything above the range of a `u64` of microseconds counts as that.
    pub fn set(&self, gap: Duration) {
        self.0.store(
            u64::try_from(gap.as_micros()).unwrap_or(u64::MAX),
            Ordering::Relaxed,
        );
    }
}
