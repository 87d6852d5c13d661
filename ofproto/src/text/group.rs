//! Text of groups.

use super::Hex;
use super::actions::put_actions;
use super::put_duration;
use super::table::put_action_bits;
use crate::{Bucket, GroupFeatures, GroupId, GroupMod, GroupModCommand, GroupStats, GroupType, PortNo};

pub(super) fn put_group_mod(out: &mut String, group_mod: &GroupMod) {
    out.push('\n');
    match group_mod.command {
        GroupModCommand::Add => out.push_str(" ADD "),
        GroupModCommand::Modify => out.push_str(" MOD "),
        GroupModCommand::Delete => out.push_str(" DEL "),
        GroupModCommand::AddOrModify => out.push_str(" ADD_OR_MOD "),
        GroupModCommand::InsertBucket => out.push_str(" INSERT_BUCKET "),
        GroupModCommand::RemoveBucket => out.push_str(" REMOVE_BUCKET "),
        GroupModCommand::Unknown(number) => put!(out, " cmd:{number} "),
    }
    match group_mod.command {
        // These leave the type as it is.
        GroupModCommand::InsertBucket | GroupModCommand::RemoveBucket => {
            put!(out, "group_id={}", group_mod.group_id.0);
            put_buckets(out, group_mod.type_, &group_mod.buckets);
        }
        _ => put_group(out, group_mod.group_id, group_mod.type_, &group_mod.buckets),
    }
}

pub(super) fn put_group(out: &mut String, group_id: GroupId, type_: GroupType, buckets: &[Bucket]) {
    put!(out, "group_id={},type=", group_id.0);
    match type_ {
        GroupType::All => out.push_str("all"),
        GroupType::Select => out.push_str("select"),
        GroupType::Indirect => out.push_str("indirect"),
        GroupType::FastFailover => out.push_str("ff"),
        GroupType::Unknown(number) => put!(out, "{number}"),
    }
    put_buckets(out, type_, buckets);
}

fn put_buckets(out: &mut String, type_: GroupType, buckets: &[Bucket]) {
    let usual_weight = u16::from(type_ == GroupType::Select);
    for bucket in buckets {
        out.push_str(",bucket=");
        if bucket.weight != usual_weight {
            put!(out, "weight:{},", bucket.weight);
        }
        if bucket.watch_port != PortNo::ANY {
            put!(out, "watch_port:{},", bucket.watch_port);
        }
        if bucket.watch_group != GroupId::ANY {
            put!(out, "watch_group:{},", bucket.watch_group.0);
        }
        out.push_str("actions=");
        put_actions(out, &bucket.actions);
    }
}

pub(super) fn put_group_stats(out: &mut String, stats: &GroupStats) {
    put!(out, " group_id={},duration=", stats.group_id.0);
    put_duration(out, stats.duration_sec, stats.duration_nsec);
    put!(out, ",ref_count={}", stats.ref_count);
    put!(
        out,
        ",packet_count={},byte_count={}",
        stats.packet_count,
        stats.byte_count
    );
    for (at, bucket) in stats.bucket_stats.iter().enumerate() {
        put!(
            out,
            ",bucket{at}:packet_count={},byte_count={}",
            bucket.packet_count,
            bucket.byte_count
        );
    }
}

pub(super) fn put_group_features(out: &mut String, features: &GroupFeatures) {
    out.push_str("\n Group table:\n");
    put!(out, "    Types:  {:#x}\n", features.types);
    put!(out, "    Capabilities:  {:#x}\n", features.capabilities.bits());
    for (bit, name) in ["all", "select", "indirect", "fast failover"].iter().enumerate() {
        if features.types >> bit & 1 == 1 {
            put!(out, "    {name} group:\n");
            put!(
                out,
                "       max_groups={}\n",
                Hex(features.max_groups[bit].into())
            );
            out.push_str("       actions: ");
            put_action_bits(out, features.actions[bit]);
            out.push('\n');
        }
    }
}
