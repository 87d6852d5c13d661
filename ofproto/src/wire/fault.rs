//! What is wrong with a frame, while it is not said yet in full.

use nom::error::{ContextError, ErrorKind, ParseError};

use super::{Parsed, Span};
use crate::{DecodeError, DecodeErrorKind, ErrorCode};

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
    pub(super) fn new(
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

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::super::{be_u32, be_u64};
    use super::*;

    #[test]
    fn fault_says_which_byte() {
        let frame = Bytes::from_static(&[0; 6]);
        let (i, _) = be_u32(Span::new(&frame)).unwrap();
        let error = DecodeError::from(be_u64(i).unwrap_err());
        assert_eq!(error.offset, 6);
        assert_eq!(error.kind, DecodeErrorKind::Truncated { missing: 6 });
    }
}
