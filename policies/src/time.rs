//! Points in time, counted from an origin that the caller chooses.

use std::ops::{Add, AddAssign};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A point in time: how long after an arbitrary monotonic origin chosen by the caller.
///
/// All time stamps given to one engine must share their origin. The daemon counts from its start, a simulation
/// from zero, a replay from the first record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(Duration);

impl Timestamp {
    /// The origin itself.
    pub const ZERO: Timestamp = Timestamp(Duration::ZERO);

    /// The point `millis` milliseconds after the origin.
    pub const fn from_millis(millis: u64) -> Timestamp {
        Timestamp(Duration::from_millis(millis))
    }

    /// The point `micros` microseconds after the origin.
    pub const fn from_micros(micros: u64) -> Timestamp {
        Timestamp(Duration::from_micros(micros))
    }

    /// The time since the origin.
    pub const fn as_duration(self) -> Duration {
        self.0
    }

    /// The time that passed since `earlier`; zero when `earlier` is in fact later.
    pub const fn saturating_since(self, earlier: Timestamp) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// The point `duration` earlier; the origin when that would be before it.
    #[must_use]
    pub const fn saturating_sub(self, duration: Duration) -> Timestamp {
        Timestamp(self.0.saturating_sub(duration))
    }
}

impl From<Duration> for Timestamp {
    /// The point this long after the origin.
    fn from(since_origin: Duration) -> Timestamp {
        Timestamp(since_origin)
    }
}

/// Saturates instead of overflowing: 584 billion years are late enough.
impl Add<Duration> for Timestamp {
    type Output = Timestamp;

    fn add(self, duration: Duration) -> Timestamp {
        Timestamp(self.0.saturating_add(duration))
    }
}

impl AddAssign<Duration> for Timestamp {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_never_go_below_zero() {
        let (early, late) = (Timestamp::from_millis(100), Timestamp::from_millis(350));
        assert_eq!(late.saturating_since(early), Duration::from_millis(250));
        assert_eq!(early.saturating_since(late), Duration::ZERO);
        assert_eq!(early.saturating_sub(Duration::from_secs(1)), Timestamp::ZERO);
    }

    #[test]
    fn sums_do_not_overflow() {
        let mut end = Timestamp::from(Duration::MAX);
        end += Duration::from_secs(1);
        assert_eq!(end.as_duration(), Duration::MAX);
    }
}
