//! ERROR: a refusal.

use bytes::{BufMut, Bytes, BytesMut};
use nom::Parser;
use nom::error::context;

use crate::ErrorCode;
use crate::error_code::EXPERIMENTER;
use crate::wire::{Parsed, Span, be_u16, be_u32, rest};

/// `ofp_error_msg` and `ofp_error_experimenter_msg`, OpenFlow 1.3.5 §7.4.4; readable at any version.
///
/// ```text
///  0       2       4                      0       2          4               8
/// +-------+-------+-------+              +-------+----------+---------------+-------+
/// | type  | code  | data  |      or      | 0xffff| exp_type | experimenter  | data  |
/// +-------+-------+-------+              +-------+----------+---------------+-------+
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorMsg {
    /// What is refused, and why.
    pub error: ErrorCode,
    /// The beginning of the refused message, at least 64 bytes of it if it was that long; for a failed HELLO a
    /// text.
    pub data: Bytes,
}

impl ErrorMsg {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (type_, code)) = context("ofp_error_msg", (be_u16, be_u16)).parse(i)?;
        let (i, error) = if type_ == EXPERIMENTER {
            let (i, experimenter) = context("ofp_error_experimenter_msg", be_u32).parse(i)?;
            (i, ErrorCode::from_experimenter(experimenter, code))
        } else {
            (i, ErrorCode::new(type_, code))
        };
        let (i, data) = rest(i)?;
        Ok((i, Self { error, data }))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) {
        out.put_u16(self.error.type_());
        out.put_u16(self.error.code());
        if let Some(experimenter) = self.error.experimenter() {
            out.put_u32(experimenter);
        }
        out.put_slice(&self.data);
    }
}
