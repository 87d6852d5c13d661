//! PACKET_IN: a packet for the controller.

use bytes::{BufMut, Bytes, BytesMut};

use crate::macros::open_enum;
use crate::wire::{Fixed, Span, fixed};
use crate::{BufferId, Cookie, DecodeError, EncodeError, Match, OxmField, PortNo, TableId};

/// `ofp_packet_in`, OpenFlow 1.3.5 §7.4.1.
///
/// ```text
///  0          4          6       7         8       16      .. 8n
/// +----------+----------+-------+---------+-------+-------+------+------+
/// | buffer_id| total_len| reason| table_id| cookie| match | zeros| data |
/// +----------+----------+-------+---------+-------+-------+------+------+
///                                                            2
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketIn {
    /// Where the switch keeps the packet.
    pub buffer_id: BufferId,
    /// Length of the whole packet, in bytes.
    pub total_len: u16,
    /// Why it was sent.
    pub reason: PacketInReason,
    /// The table whose flow sent it.
    pub table_id: TableId,
    /// The cookie of the flow that sent it; all ones when there was none.
    pub cookie: Cookie,
    /// The packet's metadata: ingress port and what the pipeline had set.
    pub match_: Match,
    /// The packet, from its Ethernet header on; its beginning when it is kept by the switch.
    pub data: Bytes,
}

open_enum! {
    /// `ofp_packet_in_reason`, OpenFlow 1.3.5 §7.4.1.
    PacketInReason(u8) {
        /// A table miss
        NoMatch = 0, "OFPR_NO_MATCH";
        /// An output to the controller
        Action = 1, "OFPR_ACTION";
        /// An invalid TTL
        InvalidTtl = 2, "OFPR_INVALID_TTL";
    }
}

impl PacketIn {
    /// The port by which the packet came in.
    #[must_use]
    pub fn in_port(&self) -> Option<PortNo> {
        self.match_.fields.iter().find_map(|field| match field {
            OxmField::InPort(port) => Some(*port),
            _ => None,
        })
    }

    /// Reads one to the end of the span, and hands it to `take`, which puts it where it stays.
    #[inline]
    pub(crate) fn parse_to<T>(i: Span<'_>, take: impl FnOnce(Self) -> T) -> Result<T, DecodeError> {
        let (i, head) = fixed::<16>(i, "ofp_packet_in")?;
        let (i, fields) = Match::fields_in(i)?;
        let (i, _) = fixed::<2>(i, "ofp_packet_in.pad")?;
        // Early: what was written a moment ago is slow to move.
        let data = i.share();
        // Most packets come from the first tables, with nothing set but the port.
        if let Some(match_) = Match::in_port_alone(fields) {
            return Ok(take(Self::of(&head, match_, data)));
        }
        let mut match_ = Match::new();
        match_.fill_from(fields)?;
        Ok(take(Self::of(&head, match_, data)))
    }

    #[inline]
    fn of(head: &Fixed<'_, 16>, match_: Match, data: Bytes) -> Self {
        Self {
            buffer_id: BufferId(head.u32::<0>()),
            total_len: head.u16::<4>(),
            reason: PacketInReason::from_wire(head.u8::<6>()),
            table_id: TableId(head.u8::<7>()),
            cookie: Cookie(head.u64::<8>()),
            match_,
            data,
        }
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        out.put_u32(self.buffer_id.0);
        out.put_u16(self.total_len);
        out.put_u8(self.reason.to_wire());
        out.put_u8(self.table_id.0);
        out.put_u64(self.cookie.0);
        self.match_.put(out)?;
        out.put_u16(0);
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
    fn packet_in_vectors() {
        check(&[(
            "04 0a 0036 00000000               # header
             ffffffff 0040 01 02               # no buffer, 64 bytes, by an action, table 2
             0000000000000077                  # cookie
             0001 000c 80000004 00000003 00000000  # match: in_port 3
             0000 0102030405060708090a 0b0c    # padding, data",
            Message::PacketIn(PacketIn {
                buffer_id: BufferId::NO_BUFFER,
                total_len: 64,
                reason: PacketInReason::Action,
                table_id: TableId(2),
                cookie: Cookie(0x77),
                match_: Match::new().with(OxmField::InPort(PortNo(3))),
                data: Bytes::from_static(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
            }),
        )]);
    }

    #[test]
    fn data_is_a_slice_of_the_frame() {
        let frame = Bytes::from(bytes(
            "04 0a 0024 00000000 ffffffff 0002 00 00 0000000000000000 0001000400000000 0000 abcd",
        ));
        let (_, message) = Message::decode(&frame).unwrap();
        let Message::PacketIn(packet_in) = message else {
            panic!("a packet-in")
        };
        assert_eq!(packet_in.data.as_ptr(), frame[34..].as_ptr());
        assert_eq!(packet_in.in_port(), None);
    }
}
