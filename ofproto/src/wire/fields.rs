//! Reading numbers, addresses, texts and parts of a known size.

use bytes::Bytes;
use nom::Parser;

use super::{Fault, Parsed, Span};
use crate::{DecodeErrorKind, MacAddr};

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
}
