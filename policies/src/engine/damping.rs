//! A mode that came and went and comes again too soon has to stay longer each time.

use std::time::Duration;

use crate::time::Timestamp;

/// Lengthens the hold of `exit` for paths that flap.
///
/// Bicast begun again within ten holds after it ended doubles the hold, up to sixteen times the policy's. A quiet
/// time of ten (lengthened) holds halves it again.
#[derive(Clone, Debug)]
pub(super) struct Damping {
    factor: u32,
    bicast_ended: Option<Timestamp>,
    quiet_since: Timestamp,
}

impl Damping {
    pub(super) fn new(now: Timestamp) -> Damping {
        Damping {
            factor: 1,
            bicast_ended: None,
            quiet_since: now,
        }
    }

    /// The hold in force.
    pub(super) fn hold(&self, hold: Duration) -> Duration {
        hold.saturating_mul(self.factor)
    }

    /// Bicast begins because a path loses packets.
    pub(super) fn bicast_begins(&mut self, now: Timestamp, hold: Duration) {
        let again = self
            .bicast_ended
            .is_some_and(|ended| now.saturating_since(ended) <= hold * QUIET_HOLDS);
        if again {
            self.factor = (self.factor * 2).min(MAX_FACTOR);
        }
        self.quiet_since = now;
    }

    /// Bicast ends because a path does not lose packets any more.
    pub(super) fn bicast_ends(&mut self, now: Timestamp) {
        self.bicast_ended = Some(now);
        self.quiet_since = now;
    }

    /// Time has passed.
    pub(super) fn relax(&mut self, now: Timestamp, hold: Duration) {
        while self.factor > 1 {
            let quiet = self.hold(hold).saturating_mul(QUIET_HOLDS);
            if now.saturating_since(self.quiet_since) < quiet {
                return;
            }
            self.factor /= 2;
            self.quiet_since += quiet;
        }
    }
}

const QUIET_HOLDS: u32 = 10;
const MAX_FACTOR: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    const HOLD: Duration = Duration::from_secs(10);

    #[test]
    fn each_early_return_doubles_the_hold_up_to_sixteen_times() {
        let mut now = Timestamp::ZERO;
        let mut damping = Damping::new(now);
        let mut holds = Vec::new();
        for _ in 0..7 {
            damping.bicast_begins(now, HOLD);
            holds.push(damping.hold(HOLD).as_secs());
            now += damping.hold(HOLD);
            damping.bicast_ends(now);
            now += Duration::from_secs(50);
            damping.relax(now, HOLD);
        }
        assert_eq!(holds, [10, 20, 40, 80, 160, 160, 160]);
    }

    #[test]
    fn quiet_times_halve_it_again() {
        let mut damping = Damping {
            factor: 4,
            ..Damping::new(Timestamp::ZERO)
        };
        let mut hold_after = |seconds: u64| {
            damping.relax(Timestamp::from_millis(seconds * 1000), HOLD);
            damping.hold(HOLD).as_secs()
        };
        assert_eq!(hold_after(399), 40);
        assert_eq!(hold_after(400), 20);
        assert_eq!(hold_after(599), 20);
        assert_eq!(hold_after(600), 10);
        assert_eq!(hold_after(100_000), 10);
    }

    #[test]
    fn a_late_return_is_no_flap() {
        let mut damping = Damping::new(Timestamp::ZERO);
        damping.bicast_ends(Timestamp::ZERO);
        damping.bicast_begins(Timestamp::from_millis(100_001), HOLD);
        assert_eq!(damping.hold(HOLD), HOLD);
    }
}
