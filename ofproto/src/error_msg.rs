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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use crate::vector::{bytes, check};

    #[test]
    fn error_vectors() {
        check(&[
            (
                "04 01 0010 00000006    # header
                 0002 0009 040e0058     # OFPBAC_BAD_OUT_GROUP, of a FLOW_MOD",
                Message::Error(ErrorMsg {
                    error: ErrorCode::BAD_ACTION_BAD_OUT_GROUP,
                    data: Bytes::from_static(&[0x04, 0x0e, 0x00, 0x58]),
                }),
            ),
            (
                "04 01 0010 0000000a         # header
                 ffff 0909 4f4e4600          # experimenter, 2313, ONF",
                Message::Error(ErrorMsg {
                    error: ErrorCode::BUNDLE_FAILED_MSG_FAILED,
                    data: Bytes::new(),
                }),
            ),
            (
                "04 01 000c 00000006 1234 5678",
                Message::Error(ErrorMsg {
                    error: ErrorCode::new(0x1234, 0x5678),
                    data: Bytes::new(),
                }),
            ),
        ]);
    }

    #[test]
    fn error_of_an_old_peer_is_readable() {
        let (header, message) = Message::decode(&bytes("01 01 000d 00000006 0000 0000 6e").into()).unwrap();
        assert_eq!(header.version, 1);
        let error = ErrorCode::HELLO_FAILED_INCOMPATIBLE;
        assert_eq!(
            message,
            Message::Error(ErrorMsg {
                error,
                data: Bytes::from_static(b"n")
            })
        );
    }
}
