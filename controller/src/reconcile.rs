//! From what a switch holds to what it should hold: the difference, in an order that no packet notices.
//!
//! What is pointed to comes first and goes last: meters and groups before the flows that use them, later tables
//! before earlier ones; deletions in the opposite order. Barriers part the steps.

use std::cmp::Reverse;

use ofproto::{
    FlowMod, FlowModCommand, GroupMod, GroupModCommand, Instructions, Message, MeterMod, MeterModCommand,
};

use crate::datapath::{Contents, FlowEntry, FlowKey, GroupEntry, MeterEntry};

/// The messages that turn `actual` into `desired`. Empty when they are equal.
pub fn reconcile(actual: &Contents, desired: &Contents) -> Vec<Message> {
    let steps = [
        upsert_meters(actual, desired),
        upsert_groups(actual, desired),
        upsert_flows(actual, desired),
        delete_flows(actual, desired),
        delete_groups(actual, desired),
        delete_meters(actual, desired),
    ];
    let mut messages = vec![];
    for step in steps.into_iter().filter(|step| !step.is_empty()) {
        if !messages.is_empty() {
            messages.push(Message::BarrierRequest);
        }
        messages.extend(step);
    }
    messages
}

fn upsert_meters(actual: &Contents, desired: &Contents) -> Vec<Message> {
    let changed = desired.meters.iter().filter_map(|(id, entry)| {
        let command = match actual.meters.get(id) {
            None => MeterModCommand::Add,
            Some(old) if old != entry => MeterModCommand::Modify,
            Some(_) => return None,
        };
        let MeterEntry { flags, bands } = entry.clone();
        Some(Message::MeterMod(MeterMod {
            command,
            flags,
            meter_id: *id,
            bands,
        }))
    });
    changed.collect()
}

fn upsert_groups(actual: &Contents, desired: &Contents) -> Vec<Message> {
    let changed = desired.groups.iter().filter_map(|(id, entry)| {
        let command = match actual.groups.get(id) {
            None => GroupModCommand::Add,
            Some(old) if old != entry => GroupModCommand::Modify,
            Some(_) => return None,
        };
        let GroupEntry { type_, buckets } = entry.clone();
        Some(Message::GroupMod(GroupMod {
            command,
            type_,
            group_id: *id,
            buckets,
        }))
    });
    changed.collect()
}

/// A changed entry is modified in place, which keeps its counters; only another cookie or other flags, which MODIFY
/// leaves alone (§6.4), need it replaced.
fn upsert_flows(actual: &Contents, desired: &Contents) -> Vec<Message> {
    let mut changed: Vec<(&FlowKey, FlowModCommand, &FlowEntry)> = desired
        .flows
        .iter()
        .filter_map(|(key, entry)| match actual.flows.get(key) {
            Some(old) if old == entry => None,
            Some(old) if (old.cookie, old.flags) == (entry.cookie, entry.flags) => {
                Some((key, FlowModCommand::ModifyStrict, entry))
            }
            _ => Some((key, FlowModCommand::Add, entry)),
        })
        .collect();
    changed.sort_by_key(|(key, ..)| Reverse(key.table));
    changed
        .into_iter()
        .map(|(key, command, entry)| flow_mod(command, key, entry))
        .collect()
}

fn delete_flows(actual: &Contents, desired: &Contents) -> Vec<Message> {
    let gone = actual
        .flows
        .iter()
        .filter(|(key, _)| !desired.flows.contains_key(key));
    gone.map(|(key, entry)| flow_mod(FlowModCommand::DeleteStrict, key, entry))
        .collect()
}

fn flow_mod(command: FlowModCommand, key: &FlowKey, entry: &FlowEntry) -> Message {
    let delete = command == FlowModCommand::DeleteStrict;
    Message::FlowMod(FlowMod {
        cookie: entry.cookie,
        // An entry is deleted only if it is still ours.
        cookie_mask: if delete { u64::MAX } else { 0 },
        table_id: key.table,
        command,
        priority: key.priority,
        flags: entry.flags,
        match_: key.match_.clone(),
        instructions: if delete {
            Instructions::new()
        } else {
            entry.instructions.clone()
        },
        ..FlowMod::default()
    })
}

fn delete_groups(actual: &Contents, desired: &Contents) -> Vec<Message> {
    let gone = actual
        .groups
        .iter()
        .filter(|(id, _)| !desired.groups.contains_key(id));
    gone.map(|(id, entry)| {
        Message::GroupMod(GroupMod {
            command: GroupModCommand::Delete,
            type_: entry.type_,
            group_id: *id,
            buckets: vec![],
        })
    })
    .collect()
}

fn delete_meters(actual: &Contents, desired: &Contents) -> Vec<Message> {
    let gone = actual
        .meters
        .iter()
        .filter(|(id, _)| !desired.meters.contains_key(id));
    gone.map(|(id, entry)| {
        Message::MeterMod(MeterMod {
            command: MeterModCommand::Delete,
            flags: entry.flags,
            meter_id: *id,
            bands: vec![],
        })
    })
    .collect()
}
