//! What a switch holds of ours: flows by cookie prefix, groups and meters by id range.
//!
//! The same type says what a switch *has* (read back, then kept in step with what is sent) and what it *should*
//! have (compiled), so that equal means nothing to do.

use std::collections::BTreeMap;

use ofproto::{
    Bucket, Cookie, FlowModFlags, FlowStats, GroupDesc, GroupId, GroupType, Instruction, Instructions, Match,
    MeterBand, MeterConfig, MeterFlags, MeterId, TableId,
};

use crate::pipeline::{COOKIE_MASK, COOKIE_PREFIX, GROUPS, METERS};

/// Flows, groups and meters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// Flow entries.
    pub flows: BTreeMap<FlowKey, FlowEntry>,
    /// Groups.
    pub groups: BTreeMap<GroupId, GroupEntry>,
    /// Meters.
    pub meters: BTreeMap<MeterId, MeterEntry>,
}

/// What makes a flow entry the same entry (OpenFlow 1.3.5 §5.2): a second one replaces the first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// The table.
    pub table: TableId,
    /// The priority.
    pub priority: u16,
    /// The match, in canonical order.
    pub match_: Match,
}

/// The rest of a flow entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowEntry {
    /// Ours, with table and slot.
    pub cookie: Cookie,
    /// Flags that the switch keeps.
    pub flags: FlowModFlags,
    /// What happens to a packet, in the order in which the switch lists them.
    pub instructions: Instructions,
}

/// A group without its counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupEntry {
    /// All, ff …
    pub type_: GroupType,
    /// In order: for `ff` the order is the preference.
    pub buckets: Vec<Bucket>,
}

/// A meter without its counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeterEntry {
    /// Unit and statistics.
    pub flags: MeterFlags,
    /// Bands.
    pub bands: Vec<MeterBand>,
}

impl Contents {
    /// Takes in what an OFPMP_FLOW reply lists; other people's flows are left out.
    pub fn add_flows(&mut self, flows: Vec<FlowStats>) {
        for flow in flows
            .into_iter()
            .filter(|flow| flow.cookie.0 & COOKIE_MASK == COOKIE_PREFIX)
        {
            self.insert_flow(
                flow.table_id,
                flow.priority,
                &flow.match_,
                FlowEntry {
                    cookie: flow.cookie,
                    flags: flow.flags,
                    instructions: flow.instructions,
                },
            );
        }
    }

    /// Takes in what an OFPMP_GROUP_DESC reply lists; groups outside our range are left out.
    pub fn add_groups(&mut self, groups: Vec<GroupDesc>) {
        let ours = groups
            .into_iter()
            .filter(|group| GROUPS.contains(&group.group_id.0));
        self.groups.extend(ours.map(|group| {
            (
                group.group_id,
                GroupEntry {
                    type_: group.type_,
                    buckets: group.buckets,
                },
            )
        }));
    }

    /// Takes in what an OFPMP_METER_CONFIG reply lists; meters outside our range are left out.
    pub fn add_meters(&mut self, meters: Vec<MeterConfig>) {
        for MeterConfig {
            meter_id,
            flags,
            mut bands,
        } in meters
        {
            if !METERS.contains(&meter_id.0) {
                continue;
            }
            if !flags.contains(MeterFlags::BURST) {
                // Without the flag the field means nothing (§7.3.4.4); Open vSwitch fills its own default in.
                bands.iter_mut().for_each(forget_burst_size);
            }
            self.meters.insert(meter_id, MeterEntry { flags, bands });
        }
    }

    /// Puts a flow entry in, its match and instructions in canonical order.
    pub fn insert_flow(&mut self, table: TableId, priority: u16, match_: &Match, mut entry: FlowEntry) {
        entry.instructions.sort_by_key(execution_order);
        self.flows.insert(
            FlowKey {
                table,
                priority,
                match_: match_.sorted(),
            },
            entry,
        );
    }
}

fn forget_burst_size(band: &mut MeterBand) {
    match band {
        MeterBand::Drop { burst_size, .. }
        | MeterBand::DscpRemark { burst_size, .. }
        | MeterBand::Experimenter { burst_size, .. }
        | MeterBand::Unknown { burst_size, .. } => *burst_size = 0,
    }
}

/// The order in which a switch carries instructions out (OpenFlow 1.3.5 §5.9), whatever the order on the wire.
fn execution_order(instruction: &Instruction) -> u8 {
    match instruction {
        Instruction::Meter(_) => 0,
        Instruction::ApplyActions(_) => 1,
        Instruction::ClearActions => 2,
        Instruction::WriteActions(_) => 3,
        Instruction::WriteMetadata { .. } => 4,
        Instruction::GotoTable(_) => 5,
        _ => 6,
    }
}
