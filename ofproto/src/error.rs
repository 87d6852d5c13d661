//! What can be wrong with bytes, and with values that should become bytes.

use std::fmt;

use bytes::Bytes;
use thiserror::Error;

use crate::{ErrorCode, ErrorMsg};

/// Bytes that are not an OpenFlow message: what is wrong, where, and what to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// What is wrong.
    pub kind: DecodeErrorKind,
    /// The byte of the frame at which it was noticed, counted from the first byte of the header.
    pub offset: usize,
    /// The structure or field being read, by its C name, e.g. `ofp_flow_mod.match`.
    pub context: &'static str,
    /// The error that the protocol has for it.
    pub answer: ErrorCode,
}

impl DecodeError {
    /// The `OFPT_ERROR` to answer with: the code and the first 64 bytes of the frame that was refused
    /// (OpenFlow 1.3.5 §7.4.4). It goes out with the frame's own transaction id.
    #[must_use]
    pub fn error_msg(&self, frame: &[u8]) -> ErrorMsg {
        let quoted = frame.get(..QUOTED_BYTES).unwrap_or(frame);
        ErrorMsg {
            error: self.answer,
            data: Bytes::copy_from_slice(quoted),
        }
    }
}

impl std::error::Error for DecodeError {}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}: {}", self.context, self.offset, self.kind)
    }
}

/// What is wrong with bytes that are not an OpenFlow message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// A structure needs more bytes than what holds it has left.
    #[error("ends too early, {missing} more bytes expected")]
    Truncated {
        /// How many bytes are missing, at least.
        missing: usize,
    },
    /// Bytes are left over where none may follow.
    #[error("{extra} bytes too many")]
    Trailing {
        /// How many bytes are left over.
        extra: usize,
    },
    /// A length field does not fit what it is the length of.
    #[error("length is {found}, expected {expected}")]
    Length {
        /// The length field, in bytes.
        found: usize,
        /// What it may be.
        expected: &'static str,
    },
    /// A message of another protocol version that is none of those readable at any version.
    #[error("version is {found:#04x}, expected 0x04")]
    Version {
        /// The version byte.
        found: u8,
    },
    /// A message type that OpenFlow 1.3.5 does not have.
    #[error("message type {found} is unknown")]
    MessageType {
        /// The type byte.
        found: u8,
    },
    /// A match that is not made of OXM fields.
    #[error("match type is {found}, expected 1 (OXM)")]
    MatchType {
        /// The type field.
        found: u16,
    },
}

/// A value that has no form on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A structure is longer than its length field can say.
    #[error("{context} would be {length} bytes long, at most {limit} fit")]
    TooLong {
        /// The structure, by its C name.
        context: &'static str,
        /// How long it would be, in bytes.
        length: usize,
        /// How long it may be, in bytes.
        limit: usize,
    },
    /// A number does not fit its field.
    #[error("{context} is {value:#x}, at most {limit:#x} fits")]
    OutOfRange {
        /// The field, by its C name.
        context: &'static str,
        /// The number.
        value: u64,
        /// The largest number that fits.
        limit: u64,
    },
    /// A field of a match does not stand behind the fields that say that a packet has it.
    #[error("{field} needs {needed} before it")]
    MissingPrerequisite {
        /// The field, by its C name.
        field: &'static str,
        /// What is missing, in the words of a flow specification.
        needed: &'static str,
    },
    /// A text holds a NUL, which would end it early.
    #[error("{context} holds a NUL character")]
    NulInText {
        /// The field, by its C name.
        context: &'static str,
    },
}

/// How much of a refused message its error quotes.
const QUOTED_BYTES: usize = 64;
