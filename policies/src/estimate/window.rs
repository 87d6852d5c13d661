//! The samples of one path, newest last, in bounded memory.

use std::collections::VecDeque;
use std::time::Duration;

use crate::time::Timestamp;

/// The samples of one path in one direction.
///
/// The newest 64 or more are kept as they came; older ones are merged with their neighbours, again and again, so
/// that the memory is bounded and no count is ever forgotten.
#[derive(Clone, Debug, Default)]
pub struct Window {
    samples: VecDeque<Suffix>,
}

/// Counts over an interval: of one sample, of merged ones, or of everything from a point until now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Suffix {
    /// The beginning of the first sample.
    pub from: Timestamp,
    /// The end of the last one.
    pub until: Timestamp,
    /// Packets sent.
    pub sent: u64,
    /// Those of them that were lost.
    pub lost: u64,
    /// The length of the longest time between two of its samples.
    pub longest_gap: Duration,
    /// The time that its samples cover, without the time between them.
    pub covered: Duration,
}

impl Window {
    /// Adds a sample. One without packets says nothing and is ignored; more lost than sent counts as all lost. A
    /// sample that comes late is put in its place.
    pub fn push(&mut self, from: Timestamp, until: Timestamp, sent: u64, lost: u64) {
        if sent == 0 {
            return;
        }
        let until = until.max(from);
        let covered = until.saturating_since(from);
        let sample = Suffix {
            from,
            until,
            sent,
            lost: lost.min(sent),
            longest_gap: Duration::ZERO,
            covered,
        };
        let later = self
            .samples
            .iter()
            .rev()
            .take_while(|other| other.until > until)
            .count();
        self.samples.insert(self.samples.len() - later, sample);
        if self.samples.len() > CAPACITY {
            self.merge_older_half();
        }
    }

    /// Everything from each sample on until now: first the newest sample alone, then the newest two, and so on.
    pub fn suffixes(&self) -> impl Iterator<Item = Suffix> {
        let mut sum: Option<Suffix> = None;
        self.samples.iter().rev().map(move |sample| {
            let longer = sum.map_or(*sample, |newer| sample.followed_by(&newer));
            sum = Some(longer);
            longer
        })
    }

    /// When the newest sample ended.
    pub fn newest(&self) -> Option<Timestamp> {
        self.samples.back().map(|sample| sample.until)
    }

    /// Joins each two neighbours among the older half of the samples.
    fn merge_older_half(&mut self) {
        let newer = self.samples.split_off(CAPACITY / 2);
        let older = std::mem::take(&mut self.samples);
        let mut pairs = older.into_iter();
        while let Some(first) = pairs.next() {
            self.samples
                .push_back(pairs.next().map_or(first, |second| first.followed_by(&second)));
        }
        self.samples.extend(newer);
    }
}

impl Suffix {
    /// From the beginning of the first sample to the end of the last.
    pub fn span(&self) -> Duration {
        self.until.saturating_since(self.from)
    }

    /// Both intervals together; `later` is the newer one.
    fn followed_by(&self, later: &Suffix) -> Suffix {
        let between = later.from.saturating_since(self.until);
        Suffix {
            from: self.from.min(later.from),
            until: self.until.max(later.until),
            sent: self.sent.saturating_add(later.sent),
            lost: self.lost.saturating_add(later.lost),
            longest_gap: self.longest_gap.max(later.longest_gap).max(between),
            covered: self.covered.saturating_add(later.covered),
        }
    }
}

/// How many samples are kept, merged ones included. Half of them are unmerged: 6.4 s at the shortest period, more
/// than the triggers look at one by one.
const CAPACITY: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    #[test]
    fn suffixes_grow_from_the_newest_sample() {
        let mut window = Window::default();
        window.push(at(0), at(100), 10, 1);
        window.push(at(100), at(200), 20, 2);
        window.push(at(500), at(600), 30, 40);
        window.push(at(600), at(700), 0, 0);
        let suffixes: Vec<_> = window
            .suffixes()
            .map(|s| (s.from, s.sent, s.lost, s.longest_gap.as_millis()))
            .collect();
        assert_eq!(
            suffixes,
            [(at(500), 30, 30, 0), (at(100), 50, 32, 300), (at(0), 60, 33, 300)]
        );
        assert_eq!(window.newest(), Some(at(600)));
    }

    #[test]
    fn a_late_sample_takes_its_place() {
        let mut window = Window::default();
        for from in [0, 200, 100] {
            window.push(at(from), at(from + 100), 1, 0);
        }
        assert_eq!(
            window.suffixes().map(|s| s.from).collect::<Vec<_>>(),
            [at(200), at(100), at(0)]
        );
    }

    #[test]
    fn memory_is_bounded_and_no_count_is_forgotten() {
        let mut window = Window::default();
        for n in 0..100_000 {
            window.push(at(n * 100), at(n * 100 + 100), 50, 1);
        }
        assert!(window.samples.len() <= CAPACITY);
        let all = window.suffixes().last().unwrap();
        assert_eq!((all.from, all.sent, all.lost), (at(0), 5_000_000, 100_000));
        assert_eq!((all.covered, all.longest_gap), (all.span(), Duration::ZERO));
        let recent = window.suffixes().nth(63).unwrap();
        assert_eq!(
            recent.span(),
            Duration::from_millis(6_400),
            "the newest samples are as they came"
        );
    }
}
