//! Paths, sets of paths, and the two directions in which they carry traffic.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which way packets travel between the two sites of a peering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From `peering.sites[0]` to `peering.sites[1]`.
    Forward,
    /// From `peering.sites[1]` to `peering.sites[0]`.
    Reverse,
}

impl Direction {
    /// Both directions, in the order in which `Policy::directions` holds them.
    pub const ALL: [Direction; 2] = [Direction::Forward, Direction::Reverse];

    /// The index in `peering.sites` of the site that sends.
    pub const fn sender(self) -> usize {
        match self {
            Direction::Forward => 0,
            Direction::Reverse => 1,
        }
    }

    /// The index in `peering.sites` of the site that receives.
    pub const fn receiver(self) -> usize {
        self.reversed().sender()
    }

    /// The other direction.
    #[must_use]
    pub const fn reversed(self) -> Direction {
        match self {
            Direction::Forward => Direction::Reverse,
            Direction::Reverse => Direction::Forward,
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::Forward => "forward",
            Direction::Reverse => "reverse",
        })
    }
}

/// The place of a path in `peering.paths`, in file order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PathIndex(pub u8);

impl PathIndex {
    /// The index as one for slices.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// This path's name in `names`, which are the keys of `peering.paths`; `path 7` when the list is too short.
    pub fn name(self, names: &[String]) -> String {
        names
            .get(self.index())
            .cloned()
            .unwrap_or_else(|| format!("path {}", self.0))
    }
}

/// A set of paths of one peering, as bits: [`PathIndex`] 0 is the lowest.
///
/// A peering has at most [`PathSet::CAPACITY`] paths; indices beyond it are never members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PathSet(u16);

impl PathSet {
    /// The set without members.
    pub const EMPTY: PathSet = PathSet(0);

    /// How many paths a peering can have.
    pub const CAPACITY: usize = 15;

    /// The first `count` paths; all of them when `count` exceeds the capacity.
    pub const fn all(count: usize) -> PathSet {
        let count = if count > Self::CAPACITY {
            Self::CAPACITY
        } else {
            count
        };
        PathSet((1u16 << count) - 1)
    }

    /// The set of this one path.
    pub const fn single(path: PathIndex) -> PathSet {
        PathSet(if path.index() < Self::CAPACITY {
            1 << path.0
        } else {
            0
        })
    }

    /// Adds a path.
    pub const fn insert(&mut self, path: PathIndex) {
        *self = self.with(path);
    }

    /// This set and `path`.
    #[must_use]
    pub const fn with(self, path: PathIndex) -> PathSet {
        self.union(PathSet::single(path))
    }

    /// This set without `path`.
    #[must_use]
    pub const fn without(self, path: PathIndex) -> PathSet {
        PathSet(self.0 & !PathSet::single(path).0)
    }

    /// Whether `path` is a member.
    pub const fn contains(self, path: PathIndex) -> bool {
        self.0 & PathSet::single(path).0 != 0
    }

    /// How many paths there are in the set.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The paths in both sets.
    #[must_use]
    pub const fn intersection(self, other: PathSet) -> PathSet {
        PathSet(self.0 & other.0)
    }

    /// The paths in either set.
    #[must_use]
    pub const fn union(self, other: PathSet) -> PathSet {
        PathSet(self.0 | other.0)
    }

    /// The members, lowest index first.
    pub fn iter(self) -> impl Iterator<Item = PathIndex> {
        (0u8..16).map(PathIndex).filter(move |&path| self.contains(path))
    }
}

impl FromIterator<PathIndex> for PathSet {
    fn from_iter<I: IntoIterator<Item = PathIndex>>(paths: I) -> PathSet {
        paths.into_iter().fold(PathSet::EMPTY, PathSet::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_direction_has_one_sender_and_one_receiver() {
        for direction in Direction::ALL {
            assert_ne!(direction.sender(), direction.receiver());
            assert_eq!(direction.reversed().sender(), direction.receiver());
        }
        assert_eq!(Direction::Forward.sender(), 0);
    }

    #[test]
    fn a_set_lists_its_members_in_order() {
        let set: PathSet = [PathIndex(4), PathIndex(0), PathIndex(14)].into_iter().collect();
        assert_eq!(
            set.iter().collect::<Vec<_>>(),
            [PathIndex(0), PathIndex(4), PathIndex(14)]
        );
        assert_eq!(set.len(), 3);
        assert!(!set.without(PathIndex(4)).contains(PathIndex(4)));
    }

    #[test]
    fn indices_beyond_the_capacity_are_never_members() {
        let mut set = PathSet::all(200);
        set.insert(PathIndex(15));
        set.insert(PathIndex(255));
        assert_eq!(set, PathSet::all(PathSet::CAPACITY));
        assert!(!set.contains(PathIndex(255)));
        assert_eq!(set.without(PathIndex(255)), set);
    }
}
