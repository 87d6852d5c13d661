//! OFPMP_FLOW, OFPMP_AGGREGATE: flows and their counters.

use bytes::{BufMut, BytesMut};
use nom::Parser;
use nom::error::context;

use crate::wire::{Parsed, Span, be_u8, be_u16, be_u32, be_u64, pad, patch_length, span};
use crate::{Cookie, EncodeError, FlowModFlags, GroupId, Instruction, Match, PortNo, TableId};

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
    pub instructions: Vec<Instruction>,
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
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (table_id, (), out_port, out_group, (), cookie, cookie_mask)) = context(
            "ofp_flow_stats_request",
            (be_u8, pad(3), be_u32, be_u32, pad(4), be_u64, be_u64),
        )
        .parse(i)?;
        let (i, match_) = context("ofp_flow_stats_request.match", Match::parse).parse(i)?;
        let request = Self {
            table_id: TableId(table_id),
            out_port: PortNo(out_port),
            out_group: GroupId(out_group),
            cookie: Cookie(cookie),
            cookie_mask,
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
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (body, length) = context("ofp_flow_stats.length", be_u16).parse(i)?;
        let length = usize::from(length);
        if length < FLOW_STATS_LEN {
            return Err(i.bad_length(length, "at least 56", "ofp_flow_stats.length"));
        }
        let (after, i) = context("ofp_flow_stats.length", |i| span(i, length - 2)).parse(body)?;
        let (i, (table_id, (), duration_sec, duration_nsec, priority, idle_timeout, hard_timeout)) = context(
            "ofp_flow_stats",
            (be_u8, pad(1), be_u32, be_u32, be_u16, be_u16, be_u16),
        )
        .parse(i)?;
        let (i, (flags, (), cookie, packet_count, byte_count)) =
            context("ofp_flow_stats", (be_u16, pad(4), be_u64, be_u64, be_u64)).parse(i)?;
        let (i, match_) = context("ofp_flow_stats.match", Match::parse).parse(i)?;
        let (_, instructions) = Instruction::parse_list(i)?;
        let stats = Self {
            table_id: TableId(table_id),
            duration_sec,
            duration_nsec,
            priority,
            idle_timeout,
            hard_timeout,
            flags: FlowModFlags::from_bits_retain(flags),
            cookie: Cookie(cookie),
            packet_count,
            byte_count,
            match_,
            instructions,
        };
        Ok((after, stats))
    }

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

impl AggregateStats {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (packet_count, byte_count, flow_count, ())) =
            context("ofp_aggregate_stats_reply", (be_u64, be_u64, be_u32, pad(4))).parse(i)?;
        Ok((
            i,
            Self {
                packet_count,
                byte_count,
                flow_count,
            },
        ))
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
