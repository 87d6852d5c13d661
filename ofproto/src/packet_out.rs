//! PACKET_OUT: a packet from the controller.

use bytes::{BufMut, Bytes, BytesMut};

use crate::wire::{Span, fixed, part};
use crate::{Action, Actions, BufferId, DecodeError, EncodeError, PortNo};

/// `ofp_packet_out`, OpenFlow 1.3.5 §7.3.7.
///
/// ```text
///  0          4        8            10      16
/// +----------+--------+------------+-------+---------+------+
/// | buffer_id| in_port| actions_len| zeros | actions | data |
/// +----------+--------+------------+-------+---------+------+
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketOut {
    /// The kept packet to send; `NO_BUFFER` when it is in [`data`](Self::data).
    pub buffer_id: BufferId,
    /// The port that the packet is taken to have come in by; `CONTROLLER` for none.
    pub in_port: PortNo,
    /// What is done with it.
    pub actions: Actions,
    /// The packet, from its Ethernet header on.
    pub data: Bytes,
}

impl PacketOut {
    /// Reads one to the end of the span, and hands it to `take`, which puts it where it stays.
    #[inline]
    pub(crate) fn parse_to<T>(i: Span<'_>, take: impl FnOnce(Self) -> T) -> Result<T, DecodeError> {
        let (i, head) = fixed::<16>(i, "ofp_packet_out")?;
        let (i, actions) = part(i, head.u16::<8>().into(), "ofp_packet_out.actions_len")?;
        let data = i.share();
        let mut list = Actions::new();
        Action::fill_list(&mut list, actions)?;
        Ok(take(Self {
            buffer_id: BufferId(head.u32::<0>()),
            in_port: PortNo(head.u32::<4>()),
            actions: list,
            data,
        }))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        out.put_u32(self.buffer_id.0);
        out.put_u32(self.in_port.0);
        let field = out.len();
        out.put_bytes(0, 8);
        let start = out.len();
        Action::put_list(&self.actions, out)?;
        let length = out.len() - start;
        let Ok(actions_len) = u16::try_from(length) else {
            let limit = usize::from(u16::MAX);
            return Err(EncodeError::TooLong {
                context: "ofp_packet_out.actions",
                length,
                limit,
            });
        };
        out[field..field + 2].copy_from_slice(&actions_len.to_be_bytes());
        out.put_slice(&self.data);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use crate::vector::{bytes, check};

    #[test]
    fn packet_out_vectors() {
        check(&[(
            "04 0d 002b 00000006                  # header
             ffffffff fffffffd 0010 000000000000  # no buffer, from the controller, 16 bytes of actions
             0000 0010 00000002 0000 000000000000 # output to port 2
             aabbcc                               # data",
            Message::PacketOut(PacketOut {
                buffer_id: BufferId::NO_BUFFER,
                in_port: PortNo::CONTROLLER,
                actions: list![Action::output(PortNo(2))],
                data: Bytes::from_static(&[0xaa, 0xbb, 0xcc]),
            }),
        )]);
    }

    #[test]
    fn actions_that_end_after_the_message_are_refused() {
        let frame = bytes("04 0d 0018 00000006 ffffffff fffffffd 0008 000000000000");
        let error = Message::decode(&frame.into()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "ofp_packet_out.actions_len at byte 24: ends too early, 8 more bytes expected"
        );
        assert_eq!(error.answer, crate::ErrorCode::BAD_REQUEST_BAD_LEN);
    }
}
