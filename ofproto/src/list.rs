//! Lists that are short nearly always.

use std::ops::{Deref, DerefMut};

use smallvec::{IntoIter, SmallVec};

/// A list that keeps its first `INLINE` items in itself and needs memory of its own only beyond that: a slice that
/// can grow. [`list!`](crate::list!) makes one as `vec!` makes a `Vec`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct List<T, const INLINE: usize>(SmallVec<[T; INLINE]>);

/// A [`List`] of these items, as `vec!` makes a `Vec`.
#[macro_export]
macro_rules! list {
    ($($item:expr),* $(,)?) => {
        $crate::List::from([$($item),*])
    };
}

impl<T, const INLINE: usize> List<T, INLINE> {
    /// No items. Not a constant: that would be copied with all the room in it.
    #[inline]
    #[must_use]
    pub fn new() -> Self {
        Self(SmallVec::new())
    }

    /// One item.
    #[inline]
    pub(crate) fn one(item: T) -> Self {
        let mut items = Self::new();
        items.push(item);
        items
    }

    /// Makes room for that many more items.
    pub fn reserve(&mut self, count: usize) {
        self.0.reserve_exact(count);
    }

    /// Appends an item.
    #[inline]
    pub fn push(&mut self, item: T) {
        self.0.push(item);
    }

    /// Leaves only the items for which `keep` is true.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.0.retain(|item| keep(item));
    }
}

impl<T, const INLINE: usize> Default for List<T, INLINE> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, const INLINE: usize> Deref for List<T, INLINE> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const INLINE: usize> DerefMut for List<T, INLINE> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T, const INLINE: usize> From<Vec<T>> for List<T, INLINE> {
    fn from(items: Vec<T>) -> Self {
        Self(items.into())
    }
}

impl<T, const COUNT: usize, const INLINE: usize> From<[T; COUNT]> for List<T, INLINE> {
    fn from(items: [T; COUNT]) -> Self {
        items.into_iter().collect()
    }
}

impl<T, const INLINE: usize> FromIterator<T> for List<T, INLINE> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}

impl<T, const INLINE: usize> Extend<T> for List<T, INLINE> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        self.0.extend(items);
    }
}

impl<T, const INLINE: usize> IntoIterator for List<T, INLINE> {
    type Item = T;
    type IntoIter = IntoIter<[T; INLINE]>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T, const INLINE: usize> IntoIterator for &'a List<T, INLINE> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
