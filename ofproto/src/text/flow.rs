//! Text of flows and of packets sent both ways.

use super::actions::{put_actions, put_instructions};
use super::matching::put_match;
use super::packet::put_packet;
use super::put_duration;
use crate::{
    BufferId, Cookie, FlowMod, FlowModCommand, FlowModFlags, FlowRemoved, FlowRemovedReason, FlowStats,
    PacketIn, PacketInReason, PacketOut, PortNo, TableId,
};

pub(super) fn put_flow_mod(out: &mut String, flow_mod: &FlowMod) {
    match flow_mod.command {
        FlowModCommand::Add => out.push_str(" ADD"),
        FlowModCommand::Modify => out.push_str(" MOD"),
        FlowModCommand::ModifyStrict => out.push_str(" MOD_STRICT"),
        FlowModCommand::Delete => out.push_str(" DEL"),
        FlowModCommand::DeleteStrict => out.push_str(" DEL_STRICT"),
        FlowModCommand::Unknown(number) => put!(out, " cmd:{number}"),
    }
    if flow_mod.table_id != TableId(0) {
        put!(out, " table:{}", flow_mod.table_id.0);
    }
    out.push(' ');
    put_match(out, &flow_mod.match_, Some(flow_mod.priority));
    if !out.ends_with(' ') {
        out.push(' ');
    }
    // Of a flow to add the cookie is its own, for the other commands it is what to look for.
    let adds = flow_mod.command == FlowModCommand::Add;
    if adds && flow_mod.cookie != Cookie(0) && flow_mod.cookie != Cookie(u64::MAX) {
        put!(out, "cookie:{} ", flow_mod.cookie);
    }
    if !adds && flow_mod.cookie_mask != 0 {
        put!(out, "cookie:{}/{:#x} ", flow_mod.cookie, flow_mod.cookie_mask);
    }
    if flow_mod.idle_timeout != 0 {
        put!(out, "idle:{} ", flow_mod.idle_timeout);
    }
    if flow_mod.hard_timeout != 0 {
        put!(out, "hard:{} ", flow_mod.hard_timeout);
    }
    if flow_mod.buffer_id != BufferId::NO_BUFFER {
        put!(out, "buf:{:#x} ", flow_mod.buffer_id.0);
    }
    if flow_mod.out_port != PortNo::ANY {
        put!(out, "out_port:{} ", flow_mod.out_port);
    }
    put_flags(out, flow_mod.flags);
    out.push_str("actions=");
    put_instructions(out, &flow_mod.instructions);
}

pub(super) fn put_flow_removed(out: &mut String, removed: &FlowRemoved) {
    out.push(' ');
    put_match(out, &removed.match_, Some(removed.priority));
    match removed.reason {
        FlowRemovedReason::IdleTimeout => out.push_str(" reason=idle"),
        FlowRemovedReason::HardTimeout => out.push_str(" reason=hard"),
        FlowRemovedReason::Delete => out.push_str(" reason=delete"),
        FlowRemovedReason::GroupDelete => out.push_str(" reason=group_delete"),
        // Reasons of later versions.
        FlowRemovedReason::Unknown(4) => out.push_str(" reason=meter_delete"),
        FlowRemovedReason::Unknown(5) => out.push_str(" reason=eviction"),
        FlowRemovedReason::Unknown(number) => put!(out, " reason={number}"),
    }
    if removed.table_id != TableId::ALL {
        put!(out, " table_id={}", removed.table_id.0);
    }
    if removed.cookie != Cookie(0) {
        put!(out, " cookie:{}", removed.cookie);
    }
    out.push_str(" duration");
    put_duration(out, removed.duration_sec, removed.duration_nsec);
    put!(out, " idle{}", removed.idle_timeout);
    if removed.hard_timeout != 0 {
        put!(out, " hard{}", removed.hard_timeout);
    }
    put!(out, " pkts{} bytes{}", removed.packet_count, removed.byte_count);
}

pub(super) fn put_flow_stats(out: &mut String, flow: &FlowStats) {
    put!(out, " cookie={}, duration=", flow.cookie);
    put_duration(out, flow.duration_sec, flow.duration_nsec);
    put!(
        out,
        ", table={}, n_packets={}, n_bytes={}, ",
        flow.table_id.0,
        flow.packet_count,
        flow.byte_count
    );
    if flow.idle_timeout != 0 {
        put!(out, "idle_timeout={}, ", flow.idle_timeout);
    }
    if flow.hard_timeout != 0 {
        put!(out, "hard_timeout={}, ", flow.hard_timeout);
    }
    put_flags(out, flow.flags);
    put_match(out, &flow.match_, Some(flow.priority));
    if !out.ends_with(' ') {
        out.push(' ');
    }
    out.push_str("actions=");
    put_instructions(out, &flow.instructions);
}

pub(super) fn put_packet_in(out: &mut String, packet_in: &PacketIn) {
    if packet_in.table_id != TableId(0) {
        put!(out, " table_id={}", packet_in.table_id.0);
    }
    if packet_in.cookie != Cookie(u64::MAX) {
        put!(out, " cookie={}", packet_in.cookie);
    }
    put!(out, " total_len={} ", packet_in.total_len);
    put_match(out, &packet_in.match_, None);
    match packet_in.reason {
        PacketInReason::NoMatch => out.push_str(" (via no_match)"),
        PacketInReason::Action => out.push_str(" (via action)"),
        PacketInReason::InvalidTtl => out.push_str(" (via invalid_ttl)"),
        PacketInReason::Unknown(number) => put!(out, " (via {number})"),
    }
    let (data_len, total_len) = (packet_in.data.len(), usize::from(packet_in.total_len));
    put!(out, " data_len={data_len}");
    if packet_in.buffer_id == BufferId::NO_BUFFER {
        out.push_str(" (unbuffered)");
        if total_len != data_len {
            out.push_str(" (***total_len != data_len***)");
        }
    } else {
        put!(out, " buffer=0x{:08x}", packet_in.buffer_id.0);
        if total_len < data_len {
            out.push_str(" (***total_len < data_len***)");
        }
    }
    out.push('\n');
    put_packet(out, &packet_in.data);
}

pub(super) fn put_packet_out(out: &mut String, packet_out: &PacketOut) {
    put!(out, " in_port={} actions=", packet_out.in_port);
    put_actions(out, &packet_out.actions);
    if packet_out.buffer_id == BufferId::NO_BUFFER {
        put!(out, " data_len={}\n", packet_out.data.len());
        if !packet_out.data.is_empty() {
            put_packet(out, &packet_out.data);
        }
    } else {
        put!(out, " buffer=0x{:08x}", packet_out.buffer_id.0);
    }
}

/// Flags with a blank after each.
fn put_flags(out: &mut String, flags: FlowModFlags) {
    for (flag, name) in [
        (FlowModFlags::SEND_FLOW_REM, "send_flow_rem "),
        (FlowModFlags::CHECK_OVERLAP, "check_overlap "),
        (FlowModFlags::RESET_COUNTS, "reset_counts "),
        (FlowModFlags::NO_PKT_COUNTS, "no_packet_counts "),
        (FlowModFlags::NO_BYT_COUNTS, "no_byte_counts "),
    ] {
        if flags.contains(flag) {
            out.push_str(name);
        }
    }
}
