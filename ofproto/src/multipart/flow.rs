//! OFPMP_FLOW, OFPMP_AGGREGATE: flows and their counters.

use bytes::{BufMut, BytesMut};

use super::MultipartType;
use super::entries::Entry;
use crate::wire::{Fault, Parsed, Span, count_alike, fixed, length_at, or_context, part, patch_length};
use crate::{Cookie, EncodeError, FlowModFlags, GroupId, Instruction, Instructions, Match, PortNo, TableId};

/// `ofp_flow_stats_request` and `ofp_aggregate_stats_request`, OpenFlow 1.3.5 §7.3.5.2, §7.3.5.3: which flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowStatsRequest {
    /// The table; `ALL` for every one.
    pub table_id: TableId,
    /// Only flows that output to this port; `ANY` for all.
    pub out_port: PortNo,
    /// Only flows that use this group; `ANY` for all.
    pub out_group: GroupId,
    /// The cookie to look for.
    pub cookie: Cookie,
    /// The bits of the cookie that must be equal; 0 looks at none.
    pub cookie_mask: u64,
    /// Only flows that this match covers.
    pub match_: Match,
}

/// `ofp_flow_stats`, OpenFlow 1.3.5 §7.3.5.2: a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowStats {
    /// The table that it is in.
    pub table_id: TableId,
    /// How long it has been there, whole seconds.
    pub duration_sec: u32,
    /// How long it has been there, nanoseconds beyond the seconds.
    pub duration_nsec: u32,
    /// Its priority.
    pub priority: u16,
    /// Seconds without a packet after which it goes; 0 for never.
    pub idle_timeout: u16,
    /// Seconds after which it goes; 0 for never.
    pub hard_timeout: u16,
    /// How it is kept.
    pub flags: FlowModFlags,
    /// Its cookie.
    pub cookie: Cookie,
    /// Packets that it matched.
    pub packet_count: u64,
    /// Bytes that it matched.
    pub byte_count: u64,
    /// Which packets it is for.
    pub match_: Match,
    /// What is done with them.
    pub instructions: Instructions,
}

/// `ofp_aggregate_stats_reply`, OpenFlow 1.3.5 §7.3.5.3: the sum over flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AggregateStats {
    /// Packets that they matched.
    pub packet_count: u64,
    /// Bytes that they matched.
    pub byte_count: u64,
    /// How many flows.
    pub flow_count: u32,
}

impl Default for FlowStatsRequest {
    /// Every flow of every table.
    fn default() -> Self {
        Self {
            table_id: TableId::ALL,
            out_port: PortNo::ANY,
            out_group: GroupId::ANY,
            cookie: Cookie(0),
            cookie_mask: 0,
            match_: Match::new(),
        }
    }
}

impl FlowStatsRequest {
    #[inline]
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, head) = fixed::<32>(i, "ofp_flow_stats_request")?;
        let mut match_ = Match::new();
        let (i, ()) = match_
            .fill(i)
            .map_err(or_context("ofp_flow_stats_request.match"))?;
        let request = Self {
            table_id: TableId(head.u8::<0>()),
            out_port: PortNo(head.u32::<4>()),
            out_group: GroupId(head.u32::<8>()),
            cookie: Cookie(head.u64::<16>()),
            cookie_mask: head.u64::<24>(),
            match_,
        };
        Ok((i, request))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        out.put_u8(self.table_id.0);
        out.put_bytes(0, 3);
        out.put_u32(self.out_port.0);
        out.put_u32(self.out_group.0);
        out.put_u32(0);
        out.put_u64(self.cookie.0);
        out.put_u64(self.cookie_mask);
        self.match_.put(out)
    }
}

impl FlowStats {
    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        let start = out.len();
        out.put_u16(0);
        out.put_u8(self.table_id.0);
        out.put_u8(0);
        out.put_u32(self.duration_sec);
        out.put_u32(self.duration_nsec);
        out.put_u16(self.priority);
        out.put_u16(self.idle_timeout);
        out.put_u16(self.hard_timeout);
        out.put_u16(self.flags.bits());
        out.put_u32(0);
        out.put_u64(self.cookie.0);
        out.put_u64(self.packet_count);
        out.put_u64(self.byte_count);
        self.match_.put(out)?;
        Instruction::put_list(&self.instructions, out)?;
        patch_length(out, start, 0, "ofp_flow_stats")
    }
}

impl Entry for FlowStats {
    const TYPE: MultipartType = MultipartType::Flow;

    #[inline]
    fn count(i: Span<'_>) -> usize {
        count_alike(i, length_at::<0, FLOW_STATS_LEN>)
    }

    #[inline]
    fn begin(i: Span<'_>) -> Parsed<'_, (Self, Span<'_>)> {
        let (body, head) = fixed::<48>(i, "ofp_flow_stats")?;
        let length = usize::from(head.u16::<0>());
        if length < FLOW_STATS_LEN {
            return Err(i.bad_length(length, "at least 56", "ofp_flow_stats.length"));
        }
        let (after, lists) = part(body, length - 48, "ofp_flow_stats.length")?;
        let stats = Self {
            table_id: TableId(head.u8::<2>()),
            duration_sec: head.u32::<4>(),
            duration_nsec: head.u32::<8>(),
            priority: head.u16::<12>(),
            idle_timeout: head.u16::<14>(),
            hard_timeout: head.u16::<16>(),
            flags: FlowModFlags::from_bits_retain(head.u16::<18>()),
            cookie: Cookie(head.u64::<24>()),
            packet_count: head.u64::<32>(),
            byte_count: head.u64::<40>(),
            match_: Match::new(),
            instructions: Instructions::new(),
        };
        Ok((after, (stats, lists)))
    }

    #[inline]
    fn fill(&mut self, lists: Span<'_>) -> Result<(), nom::Err<Fault>> {
        let (i, ()) = self
            .match_
            .fill(lists)
            .map_err(or_context("ofp_flow_stats.match"))?;
        Instruction::fill_list(&mut self.instructions, i)
    }
}

impl AggregateStats {
    #[inline]
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, head) = fixed::<24>(i, "ofp_aggregate_stats_reply")?;
        let stats = Self {
            packet_count: head.u64::<0>(),
            byte_count: head.u64::<8>(),
            flow_count: head.u32::<16>(),
        };
        Ok((i, stats))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) {
        out.put_u64(self.packet_count);
        out.put_u64(self.byte_count);
        out.put_u32(self.flow_count);
        out.put_u32(0);
    }
}

/// `ofp_flow_stats` with an empty match and no instructions.
const FLOW_STATS_LEN: usize = 56;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{check, reply};
    use crate::{Action, Message, MultipartReply, MultipartReplyBody, OxmField};

    #[test]
    fn flow_vectors() {
        check(&[
            (
                "04 13 0070 00000002 0001 0000 00000000            # header, flow
                 0060 02 00 00000003 1dcd6500                       # length, table 2, 3.5 s
                 0064 003c 0258 0001 00000000                       # priority, idle, hard, flags
                 000000000000b1ca 0000000000000006 0000000000000258 # cookie, packets, bytes
                 0001 000c 80000004 00000001 00000000               # in_port 1
                 0001 0008 05 000000                                # goto table 5
                 0004 0018 00000000                                 # apply actions
                   0000 0010 00000002 0000 000000000000             #   output to port 2",
                reply(MultipartReplyBody::Flow(vec![FlowStats {
                    table_id: TableId(2),
                    duration_sec: 3,
                    duration_nsec: 500_000_000,
                    priority: 100,
                    idle_timeout: 60,
                    hard_timeout: 600,
                    flags: FlowModFlags::SEND_FLOW_REM,
                    cookie: Cookie(0xb1ca),
                    packet_count: 6,
                    byte_count: 600,
                    match_: Match::new().with(OxmField::InPort(PortNo(1))),
                    instructions: list![
                        Instruction::GotoTable(TableId(5)),
                        Instruction::ApplyActions(list![Action::output(PortNo(2))]),
                    ],
                }])),
            ),
            (
                "04 13 0010 00000002 0001 0001 00000000",
                Message::MultipartReply(MultipartReply {
                    more: true,
                    body: MultipartReplyBody::Flow(vec![]),
                }),
            ),
            (
                "04 13 0028 00000002 0002 0000 00000000 0000000000000001 0000000000000002 00000003 00000000",
                reply(MultipartReplyBody::Aggregate(AggregateStats {
                    packet_count: 1,
                    byte_count: 2,
                    flow_count: 3,
                })),
            ),
        ]);
    }
}
