//! Reading and writing the pieces that messages are made of.
//!
//! Reading: a [`Span`] is a part of the frame that knows where it lies in it, so that errors can say which byte
//! and payloads can be slices. Parsers are functions `Span -> Parsed<T>` and are joined with nom.
//!
//! Writing: functions that append to a `BytesMut` and patch lengths afterwards.

mod fault;
mod fields;
mod lists;
mod span;
mod write;

use nom::IResult;

pub(crate) use fault::{Fault, answering, or_answer, or_context};
pub(crate) use fields::{Fixed, be_u8, be_u16, be_u32, be_u64, end, fixed, mac, pad, part, rest, span, text};
pub(crate) use lists::{array_of, built, count_alike, counted, fill, length_at, list};
pub(crate) use span::Span;
pub(crate) use write::{patch_length, put_pad8, put_text};

/// What a parser gives: the rest of the span and a value, or a fault.
pub(crate) type Parsed<'a, T> = IResult<Span<'a>, T, Fault>;
