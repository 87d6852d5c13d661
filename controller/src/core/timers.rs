//! Who wants to be called when.

use std::collections::{BTreeMap, BTreeSet};

use policies::Timestamp;

/// Deadlines by key: each key has at most one.
#[derive(Debug)]
pub(super) struct Timers<K> {
    by_time: BTreeSet<(Timestamp, K)>,
    by_key: BTreeMap<K, Timestamp>,
}

impl<K: Ord + Clone> Timers<K> {
    pub(super) fn new() -> Timers<K> {
        Timers {
            by_time: BTreeSet::new(),
            by_key: BTreeMap::new(),
        }
    }

    /// Sets or takes away the deadline of a key.
    pub(super) fn set(&mut self, key: K, deadline: Option<Timestamp>) {
        let old = match deadline {
            Some(at) => self.by_key.insert(key.clone(), at),
            None => self.by_key.remove(&key),
        };
        if old == deadline {
            return;
        }
        if let Some(old) = old {
            self.by_time.remove(&(old, key.clone()));
        }
        if let Some(at) = deadline {
            self.by_time.insert((at, key));
        }
    }

    /// Takes the earliest key whose deadline has come.
    pub(super) fn pop_due(&mut self, now: Timestamp) -> Option<K> {
        let (at, key) = self.by_time.first().cloned()?;
        if at > now {
            return None;
        }
        self.by_time.remove(&(at, key.clone()));
        self.by_key.remove(&key);
        Some(key)
    }

    /// The earliest deadline.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.by_time.first().map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_deadline_replaces_the_old_one() {
        let at = Timestamp::from_millis;
        let mut timers = Timers::new();
        timers.set("a", Some(at(5)));
        timers.set("a", Some(at(9)));
        timers.set("b", Some(at(7)));
        assert_eq!(timers.pop_due(at(8)), Some("b"));
        assert_eq!(timers.pop_due(at(8)), None);
        assert_eq!(timers.next(), Some(at(9)));
        timers.set("a", None);
        assert_eq!(timers.next(), None);
    }
}
