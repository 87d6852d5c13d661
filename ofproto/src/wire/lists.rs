//! Reading lists: items one after the other, to the end of a span.

use bytes::Bytes;

use super::{Fault, Parsed, Span};
use crate::List;

/// How many items follow one after the other, by the lengths that they begin with, as far as that makes sense. It
/// makes room for a list at once; whether the items are right is seen when they are read.
fn count(i: Span<'_>, length_of_next: impl Fn(&[u8]) -> Option<usize>) -> usize {
    let (mut left, mut items) = (i.bytes, 0);
    while let Some(after) = length_of_next(left)
        .filter(|length| *length > 0)
        .and_then(|length| left.get(length..))
    {
        (left, items) = (after, items + 1);
    }
    items
}

/// As [`count`]; quick when all are as long as the first: none has to be read then to find the next.
pub(crate) fn count_alike(i: Span<'_>, length_of_next: impl Fn(&[u8]) -> Option<usize>) -> usize {
    if let Some(first) = length_of_next(i.bytes).filter(|length| *length > 0) {
        let mut items = i.bytes.chunks_exact(first);
        if items.all(|item| length_of_next(item) == Some(first)) {
            return i.len() / first;
        }
    }
    count(i, length_of_next)
}

/// The length of an item of at least `MIN` bytes, in a 16-bit field `AT` bytes after its beginning.
#[inline]
pub(crate) fn length_at<const AT: usize, const MIN: usize>(bytes: &[u8]) -> Option<usize> {
    let field = bytes.get(AT..AT + 2)?;
    let length = usize::from(u16::from_be_bytes([field[0], field[1]]));
    (length >= MIN).then_some(length)
}

/// As [`list`], of items whose lengths can be told beforehand: takes the room for all of them at once.
pub(crate) fn counted<'a, T>(
    length_of_next: impl Fn(&[u8]) -> Option<usize>,
    mut item: impl FnMut(Span<'a>) -> Parsed<'a, T>,
) -> impl FnMut(Span<'a>) -> Parsed<'a, Vec<T>> {
    move |i| {
        let mut items = Vec::with_capacity(count(i, &length_of_next));
        read_all(i, &mut item, |value| items.push(value))?;
        Ok((i.end(), items))
    }
}

/// As [`counted`], of items that are appended empty and filled where they stay; see [`fill`] for why.
pub(crate) fn built<'a, T>(
    length_of_next: impl Fn(&[u8]) -> Option<usize>,
    mut append: impl FnMut(Span<'a>, &mut Vec<T>) -> Parsed<'a, ()>,
) -> impl FnMut(Span<'a>) -> Parsed<'a, Vec<T>> {
    move |mut i| {
        let mut items = Vec::with_capacity(count(i, &length_of_next));
        while !i.is_empty() {
            (i, ()) = append(i, &mut items)?;
        }
        Ok((i, items))
    }
}

/// Reads what is left as items, to the very end, into a list that is short nearly always; only when it is not, the rest
/// is counted, and room taken for all of it at once.
///
/// `append` reads an item and appends it: to move a value that was put together a moment ago, from pieces of other
/// sizes than it is moved in, makes the processor wait for its own writes, longer than reading it took.
#[inline]
pub(crate) fn fill<'a, T, const INLINE: usize>(
    items: &mut List<T, INLINE>,
    i: Span<'a>,
    length_of_next: impl Fn(&[u8]) -> Option<usize>,
    append: impl FnMut(Span<'a>, &mut List<T, INLINE>) -> Parsed<'a, ()>,
) -> Result<(), nom::Err<Fault>> {
    fill_from(items, i.frame, i.bytes, length_of_next, append)
}

/// As [`fill`], for many callers: the two parts of a span travel in registers, a whole one does not.
fn fill_from<'a, T, const INLINE: usize>(
    items: &mut List<T, INLINE>,
    frame: &'a Bytes,
    bytes: &'a [u8],
    length_of_next: impl Fn(&[u8]) -> Option<usize>,
    mut append: impl FnMut(Span<'a>, &mut List<T, INLINE>) -> Parsed<'a, ()>,
) -> Result<(), nom::Err<Fault>> {
    let mut i = Span::of(frame, bytes);
    while !i.is_empty() {
        if items.len() == INLINE {
            items.reserve(count(i, &length_of_next));
        }
        (i, ()) = append(i, items)?;
    }
    Ok(())
}

/// Gives every item to `take`, to the very end.
#[inline]
fn read_all<'a, T>(
    mut i: Span<'a>,
    item: &mut impl FnMut(Span<'a>) -> Parsed<'a, T>,
    mut take: impl FnMut(T),
) -> Result<(), nom::Err<Fault>> {
    while !i.is_empty() {
        let (next, value) = item(i)?;
        debug_assert!(next.len() < i.len(), "an item takes at least one byte");
        take(value);
        i = next;
    }
    Ok(())
}

/// As [`counted`], of items of `size` bytes.
pub(crate) fn array_of<'a, T>(
    size: usize,
    mut item: impl FnMut(Span<'a>) -> Parsed<'a, T>,
) -> impl FnMut(Span<'a>) -> Parsed<'a, Vec<T>> {
    move |i| {
        let mut items = Vec::with_capacity(i.len() / size);
        read_all(i, &mut item, |value| items.push(value))?;
        Ok((i.end(), items))
    }
}

/// What is left as items, one after the other to the very end.
pub(crate) fn list<'a, T>(
    mut item: impl FnMut(Span<'a>) -> Parsed<'a, T>,
) -> impl FnMut(Span<'a>) -> Parsed<'a, Vec<T>> {
    move |i| {
        let mut items = Vec::new();
        read_all(i, &mut item, |value| items.push(value))?;
        Ok((i.end(), items))
    }
}
