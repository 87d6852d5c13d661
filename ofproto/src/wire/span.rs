//! A part of a frame.

use bytes::Bytes;
use nom::{Input, Needed};

use super::Fault;
use crate::{DecodeErrorKind, ErrorCode};

/// A part of a frame. Its methods take it by value and are inlined, those for faults too: a whole span does not travel
/// in registers, and what is somewhere kept in memory is kept there from the beginning.
///
/// It is `pub`, as [`Fault`] is, for a trait that nobody outside can name.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    pub(super) frame: &'a Bytes,
    pub(super) bytes: &'a [u8],
}

impl<'a> Span<'a> {
    /// The whole frame.
    #[inline]
    pub(crate) fn new(frame: &'a Bytes) -> Self {
        Self { frame, bytes: frame }
    }

    /// A part of a frame, by its bytes.
    #[inline]
    pub(crate) fn of(frame: &'a Bytes, bytes: &'a [u8]) -> Self {
        Self { frame, bytes }
    }

    /// Where it begins, counted from the first byte of the frame.
    #[inline]
    pub(super) fn offset(self) -> usize {
        self.bytes.as_ptr().addr() - self.frame.as_ptr().addr()
    }

    #[inline]
    pub(crate) fn len(self) -> usize {
        self.bytes.len()
    }

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.bytes.is_empty()
    }

    #[inline]
    pub(crate) fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// What is left when all of it was read.
    #[inline]
    pub(crate) fn end(self) -> Self {
        self.split(self.len()).0
    }

    /// These bytes as a slice of the frame: shared, not copied.
    #[inline]
    pub(crate) fn share(self) -> Bytes {
        self.frame.slice_ref(self.bytes)
    }

    /// A fault noticed at the first byte of this span.
    #[inline]
    pub(crate) fn fault(self, kind: DecodeErrorKind, context: &'static str) -> nom::Err<Fault> {
        Fault::new(kind, self.offset(), Some(context), None)
    }

    /// A fault noticed at the first byte of this span, with the error to answer.
    #[inline]
    pub(crate) fn refused(
        self,
        kind: DecodeErrorKind,
        context: &'static str,
        answer: ErrorCode,
    ) -> nom::Err<Fault> {
        Fault::new(kind, self.offset(), Some(context), Some(answer))
    }

    /// A fault of a length field that lies at the first byte of this span.
    #[inline]
    pub(crate) fn bad_length(
        self,
        found: usize,
        expected: &'static str,
        context: &'static str,
    ) -> nom::Err<Fault> {
        self.fault(DecodeErrorKind::Length { found, expected }, context)
    }

    #[inline]
    pub(super) fn split(self, index: usize) -> (Self, Self) {
        let (head, tail) = self.bytes.split_at(index);
        (Self { bytes: tail, ..self }, Self { bytes: head, ..self })
    }
}

impl<'a> Input for Span<'a> {
    type Item = u8;
    type Iter = std::iter::Copied<std::slice::Iter<'a, u8>>;
    type IterIndices = std::iter::Enumerate<Self::Iter>;

    #[inline]
    fn input_len(&self) -> usize {
        self.bytes.len()
    }

    #[inline]
    fn take(&self, index: usize) -> Self {
        self.split(index).1
    }

    #[inline]
    fn take_from(&self, index: usize) -> Self {
        self.split(index).0
    }

    #[inline]
    fn take_split(&self, index: usize) -> (Self, Self) {
        self.split(index)
    }

    fn position<P: Fn(u8) -> bool>(&self, predicate: P) -> Option<usize> {
        self.bytes.iter().position(|byte| predicate(*byte))
    }

    fn iter_elements(&self) -> Self::Iter {
        self.bytes.iter().copied()
    }

    fn iter_indices(&self) -> Self::IterIndices {
        self.iter_elements().enumerate()
    }

    fn slice_index(&self, count: usize) -> Result<usize, Needed> {
        if self.bytes.len() >= count {
            Ok(count)
        } else {
            Err(Needed::new(count - self.bytes.len()))
        }
    }
}
