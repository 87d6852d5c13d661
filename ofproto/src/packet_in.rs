//! PACKET_IN: a packet for the controller.

use bytes::{BufMut, Bytes, BytesMut};
use nom::Parser;
use nom::error::context;

use crate::macros::open_enum;
use crate::wire::{Parsed, Span, be_u8, be_u16, be_u32, be_u64, pad, rest};
use crate::{BufferId, Cookie, EncodeError, Match, OxmField, PortNo, TableId};

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

    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (buffer_id, total_len, reason, table_id, cookie)) =
            context("ofp_packet_in", (be_u32, be_u16, be_u8, be_u8, be_u64)).parse(i)?;
        let (i, match_) = Match::parse(i)?;
        let (i, ((), data)) = context("ofp_packet_in.pad", (pad(2), rest)).parse(i)?;
        let packet_in = Self {
            buffer_id: BufferId(buffer_id),
            total_len,
            reason: PacketInReason::from_wire(reason),
            table_id: TableId(table_id),
            cookie: Cookie(cookie),
            match_,
            data,
        };
        Ok((i, packet_in))
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
