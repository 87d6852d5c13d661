//! The part of the delay gap that belongs to the paths, without the queue that stands on one of them now.
//!
//! The gap that the far end measures grows with every queue that only one path has. A window that allowed for all
//! of it would build that queue further, and the gap with it: beside a CUBIC flow on each path, that left CUBIC
//! half of what the smallest gap of late leaves it.

use std::time::{Duration, Instant};

use super::rate_sample::to_f64;
use crate::delay_gap::DelayGap;

/// The smallest gap is one of the last five to ten seconds, as the smallest round trip is.
const HALF_WINDOW: Duration = Duration::from_secs(5);
/// Packets that the far end lets pass a missing one before it holds others back, where it is not told otherwise
/// ([`lead`](crate::shim::ShimConfig::lead)).
const LEAD: u64 = 100;

/// The smallest gap of late.
#[derive(Clone, Debug)]
pub(super) struct BaseGap {
    gap: DelayGap,
    this_half: Option<Duration>,
    last_half: Option<Duration>,
    half_start: Instant,
}

impl BaseGap {
    pub(super) fn new(gap: DelayGap, now: Instant) -> Self {
        Self {
            gap,
            this_half: None,
            last_half: None,
            half_start: now,
        }
    }

    /// Takes in what was measured last; nothing means one path, and the paths after that may be others.
    pub(super) fn update(&mut self, now: Instant) {
        let gap = Some(self.gap.get()).filter(|gap| !gap.is_zero());
        if gap.is_none() {
            (self.this_half, self.last_half) = (None, None);
        } else if now.saturating_duration_since(self.half_start) > HALF_WINDOW {
            (self.last_half, self.this_half, self.half_start) = (self.this_half, gap, now);
        } else {
            self.this_half = self.this_half.min(gap).or(gap);
        }
    }

    /// How long the far end holds packets back at this bandwidth, bytes per second, when one is missing: what comes
    /// within the gap and is no further ahead than it allows, it does not hold.
    pub(super) fn hold(&self, bw: f64, smss: u64) -> Duration {
        let halves = self.this_half.into_iter().chain(self.last_half);
        let gap = halves.min().unwrap_or_default();
        let lead = to_f64(LEAD * smss) / bw.max(1.0);
        Duration::try_from_secs_f64(gap.as_secs_f64() - lead).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_queue_on_one_path_is_not_part_of_the_gap_between_them() {
        let (gap, start) = (DelayGap::default(), Instant::now());
        let mut base = BaseGap::new(gap.clone(), start);
        base.update(start);
        assert_eq!(base.hold(1e9, 1000), Duration::ZERO, "one path");
        for (at, measured) in [(0, 60), (1000, 50), (2000, 70)] {
            gap.set(measured * MS);
            base.update(start + at * MS);
        }
        // 100 packets of 1,000 bytes at 1 GB/s take 0.1 ms.
        assert_eq!(base.hold(1e9, 1000), Duration::from_micros(49_900));
        base.update(start + 5001 * MS);
        base.update(start + 10_002 * MS);
        assert_eq!(
            base.hold(1e9, 1000),
            Duration::from_micros(69_900),
            "it has lasted"
        );
        gap.set(Duration::ZERO);
        base.update(start + 10_003 * MS);
        assert_eq!(base.hold(1e9, 1000), Duration::ZERO);
    }

    #[test]
    fn what_comes_within_the_lead_is_not_held() {
        let (gap, start) = (DelayGap::default(), Instant::now());
        let mut base = BaseGap::new(gap.clone(), start);
        gap.set(20 * MS);
        base.update(start);
        assert_eq!(base.hold(1e7, 1000), 10 * MS);
        assert_eq!(base.hold(1e6, 1000), Duration::ZERO, "20 packets in 20 ms");
        assert_eq!(base.hold(0.0, 1000), Duration::ZERO);
    }
}
