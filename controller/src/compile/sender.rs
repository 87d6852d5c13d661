//! The sending side: classes told apart, counted, marked, and sent on their paths.

use ofproto::{
    Action, Bucket, GroupType, Instruction, Instructions, Masked, Match, MeterBand, MeterFlags, OxmField,
    PortNo, list,
};
use policies::DefaultRoute;

use super::class::{IPV4, class_match};
use super::{GroupPlan, Sending, SiteView};
use crate::datapath::{Contents, GroupEntry, MeterEntry};
use crate::neighbor::Side;
use crate::pipeline::{Colour, Slot, Table, priority};

pub(super) fn compile(view: &SiteView<'_>, contents: &mut Contents) {
    let Some(access) = view.ports.by_name(&view.site.access.port) else {
        return;
    };
    for sending in &view.sending {
        for class in &sending.matches {
            let match_ = class_match(class).with(OxmField::InPort(access.number));
            let rank = priority::POLICY + sending.priority;
            contents.flow(
                Table::Classify,
                sending.slot,
                rank,
                &match_,
                to_steer(sending.slot),
            );
        }
        for colour in Colour::ALL {
            contents
                .meters
                .insert(sending.slot.sender_meter(colour), counter());
        }
        contents
            .groups
            .insert(sending.slot.main_group(), group(view, &sending.main));
        contents
            .groups
            .insert(sending.slot.sample_group(), group(view, &sending.sample));
        steer(sending, contents);
    }
    if let DefaultRoute::Uplink(first) = &view.site.default {
        let slot = Slot::UNCLAIMED;
        let others = view.site.uplinks.keys().filter(|name| *name != first);
        let uplinks = std::iter::once(first).chain(others).cloned().collect();
        let from_access = Match::new()
            .with(OxmField::InPort(access.number))
            .with(OxmField::EthType(IPV4));
        contents.flow(
            Table::Classify,
            slot,
            priority::DEFAULT,
            &from_access,
            to_steer(slot),
        );
        contents
            .groups
            .insert(slot.main_group(), group(view, &GroupPlan::FastFailover(uplinks)));
        let send = list![Action::Group(slot.main_group())];
        contents.flow(
            Table::Steer,
            slot,
            priority::DEFAULT,
            &of_slot(slot),
            list![Instruction::ApplyActions(send)],
        );
    }
}

/// The one flow entry that a colour flip changes: count, mark and send, in one instruction list, so that every packet
/// is counted with the colour that it carries and goes where its period's packets go.
pub fn steer(sending: &Sending, contents: &mut Contents) {
    let slot = sending.slot;
    let group = if sending.sampled {
        slot.sample_group()
    } else {
        slot.main_group()
    };
    let mark = sending.mark.map(|dscp| Action::SetField(OxmField::IpDscp(dscp)));
    let actions = mark.into_iter().chain([Action::Group(group)]).collect();
    let instructions = list![
        Instruction::Meter(slot.sender_meter(sending.colour)),
        Instruction::ApplyActions(actions),
    ];
    contents.flow(
        Table::Steer,
        slot,
        priority::DEFAULT,
        &of_slot(slot),
        instructions,
    );
}

/// The TTL is lowered before the packet is counted: one that dies of it was never sent.
fn to_steer(slot: Slot) -> Instructions {
    list![
        Instruction::ApplyActions(list![Action::DecNwTtl]),
        Instruction::WriteMetadata {
            metadata: slot.metadata(),
            mask: u64::MAX,
        },
        Instruction::GotoTable(Table::Steer.id()),
    ]
}

fn of_slot(slot: Slot) -> Match {
    Match::new()
        .with(OxmField::Metadata(Masked::from(slot.metadata())))
        .with(OxmField::EthType(IPV4))
}

/// A group with one bucket for each uplink that exists and whose next hop is known.
fn group(view: &SiteView<'_>, plan: &GroupPlan) -> GroupEntry {
    let (type_, uplinks) = match plan {
        GroupPlan::FastFailover(uplinks) => (GroupType::FastFailover, uplinks),
        GroupPlan::All(uplinks) => (GroupType::All, uplinks),
    };
    let buckets = uplinks
        .iter()
        .filter_map(|name| bucket(view, name, type_ == GroupType::FastFailover))
        .collect();
    GroupEntry { type_, buckets }
}

fn bucket(view: &SiteView<'_>, uplink: &str, watched: bool) -> Option<Bucket> {
    let uplink = view.site.uplinks.get(uplink)?;
    let port = view.ports.by_name(&uplink.port)?;
    let next_hop = view
        .neighbors
        .mac(&Side::Uplink(uplink.name.clone()), uplink.next_hop)?;
    Some(Bucket {
        watch_port: if watched { port.number } else { PortNo::ANY },
        actions: list![
            Action::SetField(OxmField::EthSrc(Masked::from(port.mac))),
            Action::SetField(OxmField::EthDst(Masked::from(next_hop))),
            Action::output(port.number),
        ],
        ..Bucket::default()
    })
}

/// A meter that only counts: its one band (OpenFlow wants one, the kernel datapath allows one) is never reached.
pub(super) fn counter() -> MeterEntry {
    MeterEntry {
        flags: MeterFlags::PKTPS | MeterFlags::STATS,
        bands: vec![MeterBand::Drop {
            rate: NEVER_REACHED_PPS,
            burst_size: 0,
        }],
    }
}

const NEVER_REACHED_PPS: u32 = 4_000_000_000;
