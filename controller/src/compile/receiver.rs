//! The receiving side: what each path brought is counted by colour, and the mark comes off.

use ofproto::{Action, Actions, Instruction, Match, OxmField, list};

use super::class::{IPV4, class_match};
use super::sender::counter;
use super::{Receiving, ReceivingPath, SiteView};
use crate::datapath::Contents;
use crate::pipeline::{Colour, Slot, Table, priority};

pub(super) fn compile(view: &SiteView<'_>, contents: &mut Contents) {
    for uplink in view.site.uplinks.values() {
        let Some(port) = view.ports.by_name(&uplink.port) else {
            continue;
        };
        let from_uplink = Match::new()
            .with(OxmField::InPort(port.number))
            .with(OxmField::EthType(IPV4));
        contents.flow(
            Table::Classify,
            Slot::UNCLAIMED,
            priority::FROM_UPLINK,
            &from_uplink,
            list![Instruction::GotoTable(Table::Receive.id())],
        );
        contents.flow(
            Table::Receive,
            Slot::UNCLAIMED,
            priority::DEFAULT,
            &from_uplink,
            list![Instruction::GotoTable(Table::Deliver.id())],
        );
    }
    for receiving in &view.receiving {
        for path in &receiving.paths {
            let uplink = view.site.uplinks.get(&path.uplink);
            let Some(port) = uplink.and_then(|uplink| view.ports.by_name(&uplink.port)) else {
                continue;
            };
            for (colour, mark) in Colour::ALL.into_iter().zip(receiving.marks) {
                let meter = receiving.slot.receiver_meter(path.index, colour);
                contents.meters.insert(meter, counter());
                for class in &receiving.matches {
                    // On the way the mark stands where the class's own DSCP stood.
                    let marked = policies::ClassMatch {
                        dscp: Some(mark),
                        ..*class
                    };
                    contents.flow(
                        Table::Receive,
                        receiving.slot,
                        priority::POLICY + receiving.priority,
                        &class_match(&marked).with(OxmField::InPort(port.number)),
                        list![
                            Instruction::Meter(meter),
                            Instruction::ApplyActions(restored(receiving, path)),
                            Instruction::GotoTable(Table::Deliver.id()),
                        ],
                    );
                }
            }
        }
    }
}

/// The packet as its receiver expects it.
fn restored(receiving: &Receiving, path: &ReceivingPath) -> Actions {
    let dscp = Action::SetField(OxmField::IpDscp(receiving.restored_dscp));
    let port = path.port.map(|port| Action::SetField(OxmField::UdpDst(port)));
    [Some(dscp), port].into_iter().flatten().collect()
}
