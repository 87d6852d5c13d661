//! How long to wait before a count is taken to be the last word.

use std::time::Duration;

/// How long to wait for the last packets of a colour: long at first, soon short where nothing comes late, and long
/// again for a good while where something did.
#[derive(Debug)]
pub(super) struct LateGuard {
    wait: Duration,
    floor: Duration,
}

impl LateGuard {
    pub(super) fn new() -> LateGuard {
        LateGuard {
            wait: LATE_GUARD_START,
            floor: LATE_GUARD_MIN,
        }
    }

    pub(super) fn wait(&self) -> Duration {
        self.wait
    }

    /// A packet came after its colour was read.
    pub(super) fn late(&mut self) {
        self.floor = (self.wait.max(self.floor) * 2).min(LATE_GUARD_MAX);
        self.wait = self.floor;
    }

    /// A whole period and nothing came late.
    pub(super) fn nothing_late(&mut self) {
        self.floor = (self.floor - self.floor / 256).max(LATE_GUARD_MIN);
        self.wait = (self.wait / 2).max(self.floor);
    }
}

/// How far apart two reads must be for "the same count" to mean "nothing more comes": a few packet spacings.
pub(super) fn still_gap(length: Duration, packets: u64) -> Duration {
    let packets = u32::try_from(packets.max(1)).unwrap_or(u32::MAX);
    (length / packets * 4).clamp(STILL_GAP, STILL_GAP_MAX)
}

/// Between two reads of a count that should stand still. The datapath follows a flip within 13 ms of the barrier.
pub(super) const STILL_GAP: Duration = Duration::from_millis(25);
/// The same for traffic of very few packets.
const STILL_GAP_MAX: Duration = Duration::from_millis(500);
/// Between the sender's last packet of a colour and the first look for it at the receiver.
const LATE_GUARD_MIN: Duration = Duration::from_millis(25);
/// The same as long as nothing is known of the path's delay.
const LATE_GUARD_START: Duration = Duration::from_millis(150);
/// A path slower than this is not waited for; its late packets are credited when they are found.
const LATE_GUARD_MAX: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_shrinks_where_nothing_is_late_and_grows_where_something_is() {
        let mut guard = LateGuard::new();
        (0..5).for_each(|_| guard.nothing_late());
        assert_eq!(guard.wait(), LATE_GUARD_MIN);
        (0..3).for_each(|_| guard.late());
        assert_eq!(guard.wait(), LATE_GUARD_MIN * 8);
        (0..100).for_each(|_| guard.nothing_late());
        assert!(guard.wait() > LATE_GUARD_MIN * 4, "a slow path is remembered");
        (0..10).for_each(|_| guard.late());
        assert_eq!(guard.wait(), LATE_GUARD_MAX);
    }

    #[test]
    fn traffic_of_few_packets_is_waited_for_longer() {
        let period = Duration::from_millis(250);
        assert_eq!(still_gap(period, 500), STILL_GAP);
        assert_eq!(still_gap(period, 10), Duration::from_millis(100));
        assert_eq!(still_gap(period, 1), STILL_GAP_MAX);
    }
}
