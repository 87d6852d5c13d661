//! Reading and writing the pieces that messages are made of.
//!
//! Reading: a [`Span`] is a part of the frame that knows where it lies in it, so that errors can say which byte
//! and payloads can be slices. Parsers are functions `Span -> Parsed<T>` and are joined with nom.
//!
//! Writing: functions that append to a `BytesMut` and patch lengths afterwards.

use bytes::{BufMut, Bytes, BytesMut};
use nom::error::{ContextError, ErrorKind, ParseError};
use nom::{IResult, Input, Needed, Parser};

use crate::{DecodeError, DecodeErrorKind, EncodeError, ErrorCode, List, MacAddr};

/// What a parser gives: the rest of the span and a value, or a fault.
pub(crate) type Parsed<'a, T> = IResult<Span<'a>, T, Fault>;

/// A part of a frame. Its methods take it by value and are inlined, those for faults too: a whole span does not travel
/// in registers, and what is somewhere kept in memory is kept there from the beginning.
///
/// It is `pub`, as [`Fault`] is, for a trait that nobody outside can name.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    frame: &'a Bytes,
    bytes: &'a [u8],
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
    fn offset(self) -> usize {
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
    fn split(self, index: usize) -> (Self, Self) {
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

/// A [`DecodeError`] in the making: the innermost parser that knows better fills in context and answer. Boxed, since
/// every parser returns room for it, and nearly none needs it.
#[derive(Clone, Debug)]
pub struct Fault(Box<Cause>);

#[derive(Clone, Debug)]
struct Cause {
    kind: DecodeErrorKind,
    offset: usize,
    context: Option<&'static str>,
    answer: Option<ErrorCode>,
}

impl Fault {
    #[cold]
    fn new(
        kind: DecodeErrorKind,
        offset: usize,
        context: Option<&'static str>,
        answer: Option<ErrorCode>,
    ) -> nom::Err<Self> {
        nom::Err::Error(Self(Box::new(Cause {
            kind,
            offset,
            context,
            answer,
        })))
    }
}

impl From<nom::Err<Fault>> for DecodeError {
    #[cold]
    fn from(error: nom::Err<Fault>) -> Self {
        match error {
            nom::Err::Error(Fault(cause)) | nom::Err::Failure(Fault(cause)) => Self {
                kind: cause.kind,
                offset: cause.offset,
                context: cause.context.unwrap_or("ofp_header"),
                answer: cause.answer.unwrap_or(ErrorCode::BAD_REQUEST_BAD_LEN),
            },
            // No parser here asks for more input; a frame is whole before it is parsed.
            nom::Err::Incomplete(_) => Self {
                kind: DecodeErrorKind::Truncated { missing: 1 },
                offset: 0,
                context: "ofp_header",
                answer: ErrorCode::BAD_REQUEST_BAD_LEN,
            },
        }
    }
}

impl ParseError<Span<'_>> for Fault {
    #[cold]
    fn from_error_kind(input: Span<'_>, _: ErrorKind) -> Self {
        Self(Box::new(Cause {
            kind: DecodeErrorKind::Truncated { missing: 1 },
            offset: input.offset() + input.len(),
            context: None,
            answer: None,
        }))
    }

    fn append(_: Span<'_>, _: ErrorKind, other: Self) -> Self {
        other
    }
}

impl ContextError<Span<'_>> for Fault {
    #[cold]
    fn add_context(_: Span<'_>, context: &'static str, mut other: Self) -> Self {
        other.0.context.get_or_insert(context);
        other
    }
}

/// Names the error to answer with when `parser` fails and nothing inside it named one.
#[inline]
pub(crate) fn answering<'a, T>(
    answer: ErrorCode,
    mut parser: impl FnMut(Span<'a>) -> Parsed<'a, T>,
) -> impl FnMut(Span<'a>) -> Parsed<'a, T> {
    move |i| parser(i).map_err(or_answer(answer))
}

/// Names the error to answer with for a fault that does not name one itself.
pub(crate) fn or_answer(answer: ErrorCode) -> impl Fn(nom::Err<Fault>) -> nom::Err<Fault> {
    move |error| {
        error.map(|mut fault| {
            fault.0.answer.get_or_insert(answer);
            fault
        })
    }
}

/// Names the structure in which a fault happened that does not name one itself.
pub(crate) fn or_context(context: &'static str) -> impl Fn(nom::Err<Fault>) -> nom::Err<Fault> {
    move |error| {
        error.map(|mut fault| {
            fault.0.context.get_or_insert(context);
            fault
        })
    }
}

#[inline]
fn array<const N: usize>(i: Span<'_>) -> Parsed<'_, [u8; N]> {
    match i.bytes.split_first_chunk::<N>() {
        Some((head, tail)) => Ok((Span { bytes: tail, ..i }, *head)),
        None => Err(truncated(i, N, None)),
    }
}

#[inline]
fn truncated(i: Span<'_>, wanted: usize, context: Option<&'static str>) -> nom::Err<Fault> {
    let kind = DecodeErrorKind::Truncated {
        missing: wanted - i.len(),
    };
    Fault::new(kind, i.offset() + i.len(), context, None)
}

#[inline]
pub(crate) fn be_u8(i: Span<'_>) -> Parsed<'_, u8> {
    array(i).map(|(i, [byte])| (i, byte))
}

#[inline]
pub(crate) fn be_u16(i: Span<'_>) -> Parsed<'_, u16> {
    array(i).map(|(i, bytes)| (i, u16::from_be_bytes(bytes)))
}

#[inline]
pub(crate) fn be_u32(i: Span<'_>) -> Parsed<'_, u32> {
    array(i).map(|(i, bytes)| (i, u32::from_be_bytes(bytes)))
}

#[inline]
pub(crate) fn be_u64(i: Span<'_>) -> Parsed<'_, u64> {
    array(i).map(|(i, bytes)| (i, u64::from_be_bytes(bytes)))
}

#[inline]
pub(crate) fn mac(i: Span<'_>) -> Parsed<'_, MacAddr> {
    array::<6>(i).map(|(i, bytes)| (i, MacAddr::from(bytes)))
}

/// The part of a fixed size that a structure begins with. Fields are read at their places, which are those of the
/// sketch in the structure's documentation; that they lie inside is checked when the crate is compiled.
#[derive(Clone, Copy)]
pub(crate) struct Fixed<'a, const N: usize>(&'a [u8; N]);

impl<'a, const N: usize> Fixed<'a, N> {
    /// What the span begins with, when it is long enough.
    #[inline]
    pub(crate) fn split(i: Span<'a>) -> Option<(Span<'a>, Self)> {
        let (head, tail) = i.bytes.split_first_chunk::<N>()?;
        Some((Span { bytes: tail, ..i }, Self(head)))
    }

    #[inline]
    fn at<const AT: usize, const WIDTH: usize>(&self) -> [u8; WIDTH] {
        const { assert!(AT + WIDTH <= N, "the field lies inside the structure") };
        std::array::from_fn(|index| self.0[AT + index])
    }

    #[inline]
    pub(crate) fn u8<const AT: usize>(&self) -> u8 {
        self.at::<AT, 1>()[0]
    }

    #[inline]
    pub(crate) fn u16<const AT: usize>(&self) -> u16 {
        u16::from_be_bytes(self.at::<AT, 2>())
    }

    #[inline]
    pub(crate) fn u32<const AT: usize>(&self) -> u32 {
        u32::from_be_bytes(self.at::<AT, 4>())
    }

    #[inline]
    pub(crate) fn u64<const AT: usize>(&self) -> u64 {
        u64::from_be_bytes(self.at::<AT, 8>())
    }
}

/// The fixed part of `context`.
#[inline]
pub(crate) fn fixed<'a, const N: usize>(i: Span<'a>, context: &'static str) -> Parsed<'a, Fixed<'a, N>> {
    Fixed::split(i).ok_or_else(|| truncated(i, N, Some(context)))
}

/// The next `count` bytes as a span of their own; that there are so many is said by `context`.
#[inline]
pub(crate) fn part<'a>(i: Span<'a>, count: usize, context: &'static str) -> Parsed<'a, Span<'a>> {
    if count > i.len() {
        Err(truncated(i, count, Some(context)))
    } else {
        Ok(i.split(count))
    }
}

/// `count` bytes of padding, whatever they hold.
#[inline]
pub(crate) fn pad<'a>(count: usize) -> impl Parser<Span<'a>, Output = (), Error = Fault> {
    move |i: Span<'a>| span(i, count).map(|(i, _)| (i, ()))
}

/// The next `count` bytes as a span of their own.
#[inline]
pub(crate) fn span(i: Span<'_>, count: usize) -> Parsed<'_, Span<'_>> {
    if count > i.len() {
        Err(truncated(i, count, None))
    } else {
        Ok(i.split(count))
    }
}

/// What is left, as a slice of the frame.
#[inline]
pub(crate) fn rest(i: Span<'_>) -> Parsed<'_, Bytes> {
    let (end, all) = i.split(i.len());
    Ok((end, all.share()))
}

/// How many items follow one after the other, by the lengths that they begin with, as far as that makes sense. It
/// makes room for a list at once; whether the items are right is seen when they are read.
pub(crate) fn count(i: Span<'_>, length_of_next: impl Fn(&[u8]) -> Option<usize>) -> usize {
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

/// Refuses bytes after the end of `context`.
#[inline]
pub(crate) fn end(i: Span<'_>, context: &'static str) -> Result<(), nom::Err<Fault>> {
    if i.is_empty() {
        Ok(())
    } else {
        Err(i.fault(DecodeErrorKind::Trailing { extra: i.len() }, context))
    }
}

/// A text in a field of fixed size, up to its first NUL. Bytes that are not UTF-8 become `?` one by one, so that
/// the text never gets longer than its field.
pub(crate) fn text<'a>(size: usize) -> impl Parser<Span<'a>, Output = String, Error = Fault> {
    move |i: Span<'a>| {
        let (i, field) = span(i, size)?;
        let used = field.bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        let mut text = String::with_capacity(used.len());
        for chunk in used.utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().map(|_| '?'));
        }
        Ok((i, text))
    }
}

/// Appends a text in a field of fixed size, filled up with NUL.
pub(crate) fn put_text(
    out: &mut BytesMut,
    text: &str,
    size: usize,
    context: &'static str,
) -> Result<(), EncodeError> {
    if text.len() > size {
        return Err(EncodeError::TooLong {
            context,
            length: text.len(),
            limit: size,
        });
    }
    if text.contains('\0') {
        return Err(EncodeError::NulInText { context });
    }
    out.put_slice(text.as_bytes());
    out.put_bytes(0, size - text.len());
    Ok(())
}

/// Fills up with zeros to a multiple of eight bytes, counted from `start`.
pub(crate) fn put_pad8(out: &mut BytesMut, start: usize) {
    let used = out.len() - start;
    out.put_bytes(0, used.next_multiple_of(8) - used);
}

/// Writes the length of what begins at `start` into the 16-bit field `field` bytes after it.
pub(crate) fn patch_length(
    out: &mut BytesMut,
    start: usize,
    field: usize,
    context: &'static str,
) -> Result<(), EncodeError> {
    let length = out.len() - start;
    let Ok(short) = u16::try_from(length) else {
        return Err(EncodeError::TooLong {
            context,
            length,
            limit: usize::from(u16::MAX),
        });
    };
    out[start + field..start + field + 2].copy_from_slice(&short.to_be_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_field_is_never_longer_than_the_field() {
        let frame = Bytes::from_static(b"ab\xff\xc3\xa9\xff\0zz");
        let (rest, text) = text(8).parse(Span::new(&frame)).unwrap();
        assert_eq!(text, "ab?é?");
        assert_eq!(rest.bytes(), b"z");
    }

    #[test]
    fn fault_says_which_byte() {
        let frame = Bytes::from_static(&[0; 6]);
        let (i, _) = be_u32(Span::new(&frame)).unwrap();
        let error = DecodeError::from(be_u64(i).unwrap_err());
        assert_eq!(error.offset, 6);
        assert_eq!(error.kind, DecodeErrorKind::Truncated { missing: 6 });
    }
}
