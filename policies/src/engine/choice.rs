//! Which paths are best, given what is preferred, usable and suspect.

use crate::mode::Mode;
use crate::path::{PathIndex, PathSet};
use crate::policy::{DirectionPolicy, ModePolicy};

/// The order of the paths at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice<'a> {
    /// Every path, the preferred first.
    pub(super) prefer: &'a [PathIndex],
    /// Paths that can be used.
    pub(super) usable: PathSet,
    /// Paths that were left because they lost packets, and have not shown since that they do not.
    pub(super) suspect: PathSet,
}

impl Choice<'_> {
    /// The usable paths, best first: those that are not suspect before those that are, each in order of preference.
    fn ranking(&self) -> impl Iterator<Item = PathIndex> {
        let usable = || {
            self.prefer
                .iter()
                .copied()
                .filter(|&path| self.usable.contains(path))
        };
        let trusted = usable().filter(|&path| !self.suspect.contains(path));
        trusted.chain(usable().filter(|&path| self.suspect.contains(path)))
    }

    /// The best usable path.
    pub(super) fn best(&self) -> Option<PathIndex> {
        self.ranking().next()
    }

    /// The best usable path but for `path`.
    pub(super) fn best_beside(&self, path: PathIndex) -> Option<PathIndex> {
        self.ranking().find(|&other| other != path)
    }

    /// The two best usable paths.
    pub(super) fn best_two(&self) -> Option<PathSet> {
        let two: PathSet = self.ranking().take(2).collect();
        (two.len() == 2).then_some(two)
    }

    /// The usable paths that are preferred to `path`, the most preferred first.
    pub(super) fn better_than(&self, path: PathIndex) -> impl Iterator<Item = PathIndex> {
        let better = self
            .prefer
            .iter()
            .copied()
            .take_while(move |&other| other != path);
        better.filter(|&other| self.usable.contains(other))
    }

    /// `paths` in order of preference.
    pub(super) fn in_order(&self, paths: PathSet) -> impl Iterator<Item = PathIndex> {
        self.prefer
            .iter()
            .copied()
            .filter(move |&path| paths.contains(path))
    }

    /// The mode that `policy` allows and that is nearest to `mode`, when it is not measurements that decide.
    pub(super) fn allowed(&self, policy: &DirectionPolicy, mode: Mode) -> Mode {
        let first = || self.prefer.first().copied().unwrap_or(PathIndex(0));
        match (policy.mode, mode) {
            (ModePolicy::Unicast, Mode::Unicast(path)) => Mode::Unicast(self.best().unwrap_or(path)),
            (ModePolicy::Unicast, Mode::Bicast(paths)) => {
                let kept = self.in_order(paths).next();
                Mode::Unicast(self.best().or(kept).unwrap_or_else(first))
            }
            (ModePolicy::Bicast, Mode::Bicast(paths)) => Mode::Bicast(self.best_two().unwrap_or(paths)),
            (ModePolicy::Bicast, Mode::Unicast(_)) => {
                let preferred = || self.prefer.iter().copied().take(2).collect();
                Mode::Bicast(self.best_two().unwrap_or_else(preferred))
            }
            (ModePolicy::Adaptive, Mode::Unicast(path)) => Mode::Unicast(self.best().unwrap_or(path)),
            (ModePolicy::Adaptive, Mode::Bicast(paths)) => Mode::Bicast(self.best_two().unwrap_or(paths)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: PathIndex = PathIndex(0);
    const B: PathIndex = PathIndex(1);
    const C: PathIndex = PathIndex(2);

    #[test]
    fn suspect_paths_come_last() {
        let choice = Choice {
            prefer: &[B, A, C],
            usable: PathSet::all(3),
            suspect: PathSet::single(B),
        };
        assert_eq!(choice.best(), Some(A));
        assert_eq!(choice.best_beside(A), Some(C));
        assert_eq!(choice.best_two(), Some(PathSet::single(A).with(C)));
        assert_eq!(choice.better_than(C).collect::<Vec<_>>(), [B, A]);
    }

    #[test]
    fn one_usable_path_makes_no_pair() {
        let choice = Choice {
            prefer: &[A, B],
            usable: PathSet::single(B),
            suspect: PathSet::EMPTY,
        };
        assert_eq!(choice.best_two(), None);
        assert_eq!(choice.best(), Some(B));
        assert_eq!(choice.better_than(B).next(), None);
    }
}
