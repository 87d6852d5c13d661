//! The list of fields of a match.

use std::ops::{Deref, DerefMut};

use smallvec::SmallVec;

use super::OxmField;

/// The fields of a [`Match`](super::Match): a list that needs no memory of its own while it is short. Most packets
/// for the controller come with one or two fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fields(SmallVec<[OxmField; INLINE]>);

impl Fields {
    /// No fields.
    #[must_use]
    pub const fn new() -> Self {
        Self(SmallVec::new_const())
    }

    /// No fields, and room for that many.
    #[must_use]
    pub fn with_capacity(count: usize) -> Self {
        Self(SmallVec::with_capacity(count))
    }

    /// Appends a field.
    pub fn push(&mut self, field: OxmField) {
        self.0.push(field);
    }

    /// Leaves only the fields for which `keep` is true.
    pub fn retain(&mut self, mut keep: impl FnMut(&OxmField) -> bool) {
        self.0.retain(|field| keep(field));
    }
}

impl Deref for Fields {
    type Target = [OxmField];

    fn deref(&self) -> &[OxmField] {
        &self.0
    }
}

impl DerefMut for Fields {
    fn deref_mut(&mut self) -> &mut [OxmField] {
        &mut self.0
    }
}

impl From<Vec<OxmField>> for Fields {
    fn from(fields: Vec<OxmField>) -> Self {
        Self(fields.into())
    }
}

impl FromIterator<OxmField> for Fields {
    fn from_iter<I: IntoIterator<Item = OxmField>>(fields: I) -> Self {
        Self(fields.into_iter().collect())
    }
}

impl Extend<OxmField> for Fields {
    fn extend<I: IntoIterator<Item = OxmField>>(&mut self, fields: I) {
        self.0.extend(fields);
    }
}

impl IntoIterator for Fields {
    type Item = OxmField;
    type IntoIter = std::vec::IntoIter<OxmField>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_vec().into_iter()
    }
}

impl<'a> IntoIterator for &'a Fields {
    type Item = &'a OxmField;
    type IntoIter = std::slice::Iter<'a, OxmField>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// How many fields are kept in the value itself.
const INLINE: usize = 2;
