//! FLOW_REMOVED: a flow is gone.

use bytes::{BufMut, BytesMut};

use crate::macros::open_enum;
use crate::wire::{Parsed, Span, fixed, or_context};
use crate::{Cookie, EncodeError, Match, TableId};

/// `ofp_flow_removed`, OpenFlow 1.3.5 §7.4.2.
///
/// ```text
///  0        8         10      11        12            16            20
/// +--------+---------+-------+---------+-------------+-------------+
/// | cookie | priority| reason| table_id| duration_sec|duration_nsec|
/// +--------+---+-----+-------+---+-----+------+------+-------------+
/// |idle_timeout|hard_timeout|packet_count|byte_count| match |
/// +------------+------------+------------+----------+-------+
///  20           22           24           32         40
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowRemoved {
    /// The flow's cookie.
    pub cookie: Cookie,
    /// The flow's priority.
    pub priority: u16,
    /// Why it is gone.
    pub reason: FlowRemovedReason,
    /// The table that it was in.
    pub table_id: TableId,
    /// How long it was there, whole seconds.
    pub duration_sec: u32,
    /// How long it was there, nanoseconds beyond the seconds.
    pub duration_nsec: u32,
    /// The idle timeout that it was added with, in seconds.
    pub idle_timeout: u16,
    /// The hard timeout that it was added with, in seconds.
    pub hard_timeout: u16,
    /// Packets that it matched.
    pub packet_count: u64,
    /// Bytes that it matched.
    pub byte_count: u64,
    /// Which packets it was for.
    pub match_: Match,
}

open_enum! {
    /// `ofp_flow_removed_reason`, OpenFlow 1.3.5 §7.4.2.
    FlowRemovedReason(u8) {
        /// No packet for the idle timeout
        IdleTimeout = 0, "OFPRR_IDLE_TIMEOUT";
        /// The hard timeout is over
        HardTimeout = 1, "OFPRR_HARD_TIMEOUT";
        /// Deleted by a FLOW_MOD
        Delete = 2, "OFPRR_DELETE";
        /// Its group was deleted
        GroupDelete = 3, "OFPRR_GROUP_DELETE";
    }
}

impl FlowRemoved {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, head) = fixed::<40>(i, "ofp_flow_removed")?;
        let mut match_ = Match::new();
        let (i, ()) = match_.fill(i).map_err(or_context("ofp_flow_removed.match"))?;
        let removed = Self {
            cookie: Cookie(head.u64::<0>()),
            priority: head.u16::<8>(),
            reason: FlowRemovedReason::from_wire(head.u8::<10>()),
            table_id: TableId(head.u8::<11>()),
            duration_sec: head.u32::<12>(),
            duration_nsec: head.u32::<16>(),
            idle_timeout: head.u16::<20>(),
            hard_timeout: head.u16::<22>(),
            packet_count: head.u64::<24>(),
            byte_count: head.u64::<32>(),
            match_,
        };
        Ok((i, removed))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        out.put_u64(self.cookie.0);
        out.put_u16(self.priority);
        out.put_u8(self.reason.to_wire());
        out.put_u8(self.table_id.0);
        out.put_u32(self.duration_sec);
        out.put_u32(self.duration_nsec);
        out.put_u16(self.idle_timeout);
        out.put_u16(self.hard_timeout);
        out.put_u64(self.packet_count);
        out.put_u64(self.byte_count);
        self.match_.put(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::check;
    use crate::{Message, OxmField, PortNo};

    #[test]
    fn flow_removed_vectors() {
        check(&[(
            "04 0b 0040 00000000                   # header
             0000000000000077 01f4 02 03           # cookie, priority 500, deleted, table 3
             00000000 34cecfc0 003c 0258           # 0.886 s, idle 60, hard 600
             0000000000000006 0000000000000258     # 6 packets, 600 bytes
             0001 000c 80000004 00000001 00000000  # in_port 1",
            Message::FlowRemoved(FlowRemoved {
                cookie: Cookie(0x77),
                priority: 500,
                reason: FlowRemovedReason::Delete,
                table_id: TableId(3),
                duration_sec: 0,
                duration_nsec: 885_968_832,
                idle_timeout: 60,
                hard_timeout: 600,
                packet_count: 6,
                byte_count: 600,
                match_: Match::new().with(OxmField::InPort(PortNo(1))),
            }),
        )]);
    }
}
