//! The access side: known hosts get their packets, unknown ones are asked for, ARP comes to the controller.

use ofproto::{
    Action, Instruction, Instructions, Masked, Match, MeterBand, MeterFlags, MeterId, OxmField, PortNo, list,
};

use super::SiteView;
use super::class::{IPV4, masked};
use crate::datapath::{Contents, MeterEntry};
use crate::pipeline::{Colour, Slot, Table, priority};

pub(super) fn compile(view: &SiteView<'_>, contents: &mut Contents) {
    let slot = Slot::UNCLAIMED;
    let access = view.ports.by_name(&view.site.access.port);
    let uplinks = view
        .site
        .uplinks
        .values()
        .filter_map(|uplink| view.ports.by_name(&uplink.port));
    for port in access.into_iter().chain(uplinks) {
        let arp = Match::new()
            .with(OxmField::InPort(port.number))
            .with(OxmField::EthType(ARP));
        contents.flow(Table::Classify, slot, priority::ARP, &arp, to_controller());
    }
    let Some(access) = access else { return };
    for (ip, mac) in view.neighbors.hosts() {
        let to_host = Match::new()
            .with(OxmField::EthType(IPV4))
            .with(OxmField::Ipv4Dst(Masked::from(ip)));
        let hand_over = Instruction::ApplyActions(list![
            Action::DecNwTtl,
            Action::SetField(OxmField::EthSrc(Masked::from(access.mac))),
            Action::SetField(OxmField::EthDst(Masked::from(mac))),
            Action::output(access.number),
        ]);
        contents.flow(Table::Deliver, slot, priority::HOST, &to_host, list![hand_over]);
    }
    for gateway in &view.site.access.gateways {
        let to_subnet = Match::new()
            .with(OxmField::EthType(IPV4))
            .with(OxmField::Ipv4Dst(masked(*gateway)));
        let mut ask = list![Instruction::Meter(PUNT_METER)];
        ask.extend(to_controller());
        contents.flow(Table::Deliver, slot, priority::DEFAULT, &to_subnet, ask);
    }
    let limit = MeterEntry {
        flags: MeterFlags::PKTPS | MeterFlags::STATS,
        bands: vec![MeterBand::Drop {
            rate: PUNTS_PER_SECOND,
            burst_size: 0,
        }],
    };
    contents.meters.insert(PUNT_METER, limit);
}

fn to_controller() -> Instructions {
    list![Instruction::ApplyActions(list![Action::output(
        PortNo::CONTROLLER,
    )])]
}

/// Keeps a flood to an unknown host from becoming a flood of packet-ins.
pub const PUNT_METER: MeterId = Slot::UNCLAIMED.sender_meter(Colour::Zero);

const ARP: u16 = 0x0806;
const PUNTS_PER_SECOND: u32 = 100;
