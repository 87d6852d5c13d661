//! A maximum over a sliding window of virtual time.

use std::collections::VecDeque;

/// The largest of the values seen within the last `window` units of a time that never runs backwards: rounds,
/// or bandwidth-probing cycles.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowedMax<T> {
    /// Falling values at rising times: each could still become the maximum.
    candidates: VecDeque<(u64, T)>,
}

impl<T: Copy + PartialOrd + Default> WindowedMax<T> {
    /// Takes in `value`, seen at `time`, and gives the maximum of the times after `time - window`.
    pub(super) fn update(&mut self, value: T, time: u64, window: u64) -> T {
        while self.candidates.back().is_some_and(|(_, v)| *v <= value) {
            self.candidates.pop_back();
        }
        self.candidates.push_back((time, value));
        while self
            .candidates
            .front()
            .is_some_and(|(t, _)| t.saturating_add(window) <= time)
        {
            self.candidates.pop_front();
        }
        self.candidates.front().map(|(_, v)| *v).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maximum_leaves_with_its_window() {
        let mut max = WindowedMax::default();
        assert_eq!(max.update(5, 0, 3), 5);
        assert_eq!(max.update(3, 1, 3), 5);
        assert_eq!(max.update(2, 2, 3), 5);
        assert_eq!(max.update(1, 3, 3), 3, "time 0 is out");
        assert_eq!(max.update(1, 5, 3), 1);
        assert_eq!(max.update(9, 5, 3), 9);
    }

    #[test]
    fn one_round_alone_is_a_window_of_one() {
        let mut max = WindowedMax::default();
        assert_eq!(max.update(7, 4, 1), 7);
        assert_eq!(max.update(2, 4, 1), 7);
        assert_eq!(max.update(2, 5, 1), 2);
    }
}
