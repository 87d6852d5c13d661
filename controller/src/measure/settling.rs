//! Which paths a group certainly sends on, while the datapath follows a change of it.

use std::time::Duration;

use policies::{PathSet, Timestamp};

/// The paths of one group: those that it should send on, and those that every packet certainly takes.
#[derive(Debug, Clone)]
pub struct SettlingPaths {
    current: PathSet,
    certain: PathSet,
    settled_at: Option<Timestamp>,
}

impl SettlingPaths {
    /// A group whose paths are not known yet: nothing is certain.
    pub fn unknown() -> SettlingPaths {
        SettlingPaths {
            current: PathSet::EMPTY,
            certain: PathSet::EMPTY,
            settled_at: None,
        }
    }

    /// A group that was found on the switch as it is.
    pub fn found(paths: PathSet) -> SettlingPaths {
        SettlingPaths {
            current: paths,
            certain: paths,
            settled_at: None,
        }
    }

    /// A change is being sent. Until it is confirmed and settled, only what both the old and the new group send on
    /// is certain.
    pub fn change(&mut self, paths: PathSet) {
        if paths != self.current {
            self.certain = self.certain.intersection(paths);
            self.current = paths;
            self.settled_at = None;
        }
    }

    /// The switch confirmed every change that was sent so far.
    pub fn confirmed(&mut self, now: Timestamp) {
        if self.certain != self.current {
            self.settled_at = Some(now + SETTLE);
        }
    }

    /// Something out of our hands moved packets (a port died under an `ff` group): nothing is certain until the
    /// next change settles.
    pub fn disturbed(&mut self, now: Timestamp) {
        self.certain = PathSet::EMPTY;
        self.settled_at = Some(now + SETTLE);
    }

    /// The switch refused something: nothing is certain until it has been read and confirmed again.
    pub fn doubt(&mut self) {
        self.certain = PathSet::EMPTY;
        self.settled_at = None;
    }

    /// Called when [`SettlingPaths::deadline`] has come.
    pub fn tick(&mut self, now: Timestamp) {
        if self.settled_at.is_some_and(|at| at <= now) {
            self.certain = self.current;
            self.settled_at = None;
        }
    }

    /// When [`SettlingPaths::tick`] wants to be called.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.settled_at
    }

    /// The paths that it should send on.
    pub fn current(&self) -> PathSet {
        self.current
    }

    /// The paths that every packet takes, whatever the datapath has followed so far.
    pub fn certain(&self) -> PathSet {
        self.certain
    }
}

/// The datapath follows a GROUP_MOD up to 13 ms after the barrier reply; twice over for slow machines.
const SETTLE: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;
    use policies::PathIndex;

    fn paths(indices: &[u8]) -> PathSet {
        indices.iter().map(|index| PathIndex(*index)).collect()
    }

    #[test]
    fn a_path_in_both_groups_stays_certain_and_a_new_one_becomes_so_after_it_settled() {
        let mut group = SettlingPaths::found(paths(&[0]));
        group.change(paths(&[0, 1]));
        assert_eq!(group.certain(), paths(&[0]));
        group.confirmed(Timestamp::from_millis(10));
        group.tick(Timestamp::from_millis(59));
        assert_eq!(group.certain(), paths(&[0]));
        group.tick(Timestamp::from_millis(60));
        assert_eq!(group.certain(), paths(&[0, 1]));
    }

    #[test]
    fn a_second_change_before_the_first_settled_waits_for_its_own_confirmation() {
        let mut group = SettlingPaths::found(paths(&[0]));
        group.change(paths(&[0, 1]));
        group.confirmed(Timestamp::from_millis(0));
        group.change(paths(&[1]));
        assert_eq!(group.certain(), PathSet::EMPTY);
        group.tick(Timestamp::from_millis(100));
        assert_eq!(group.certain(), PathSet::EMPTY);
        group.confirmed(Timestamp::from_millis(100));
        group.tick(Timestamp::from_millis(150));
        assert_eq!(group.certain(), paths(&[1]));
    }
}
