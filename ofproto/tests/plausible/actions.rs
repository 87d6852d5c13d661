//! Generators of actions and instructions.

use ofproto::oxm::VLAN_PRESENT;
use ofproto::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::matching::masked_mac;
use super::{mac, port};

pub(super) fn actions() -> BoxedStrategy<Actions> {
    vec(action(), 0..4).prop_map(Actions::from).boxed()
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        4 => port().prop_map(Action::output),
        1 => (0u16..).prop_map(|max_len| Action::Output { port: PortNo::CONTROLLER, max_len }),
        1 => select(vec![PortNo::IN_PORT, PortNo::NORMAL, PortNo::FLOOD, PortNo::ALL, PortNo::LOCAL, PortNo::TABLE])
            .prop_map(Action::output),
        1 => (0u32..0xffff_ff00).prop_map(|id| Action::Group(GroupId(id))),
        1 => any::<u32>().prop_map(Action::SetQueue),
        1 => select(vec![Action::PushVlan(0x8100), Action::PushVlan(0x88a8), Action::PushMpls(0x8847), Action::PushMpls(0x8848)]),
        1 => masked_mac().prop_map(|mac| Action::SetField(OxmField::EthSrc(Masked::exact(mac.value)))),
        1 => mac().prop_map(|mac| Action::SetField(OxmField::EthDst(mac.into()))),
        1 => any::<u64>().prop_map(|value| Action::SetField(OxmField::Metadata(value.into()))),
        1 => any::<u64>().prop_map(|value| Action::SetField(OxmField::TunnelId(value.into()))),
        1 => port().prop_map(|port| Action::SetField(OxmField::InPort(port))),
    ]
}

/// Actions that need a match; most of them are refused, for most matches do not fit.
fn picky_action() -> BoxedStrategy<Action> {
    let field = prop_oneof![
        (0u16..4096).prop_map(|vid| OxmField::VlanVid((VLAN_PRESENT | vid).into())),
        (0u8..8).prop_map(OxmField::VlanPcp),
        (0u8..64).prop_map(OxmField::IpDscp),
        (0u8..4).prop_map(OxmField::IpEcn),
        any::<u32>().prop_map(|a| OxmField::Ipv4Src(std::net::Ipv4Addr::from(a).into())),
        any::<u32>().prop_map(|a| OxmField::Ipv4Dst(std::net::Ipv4Addr::from(a).into())),
        any::<u128>().prop_map(|a| OxmField::Ipv6Src(std::net::Ipv6Addr::from(a).into())),
        any::<u128>().prop_map(|a| OxmField::Ipv6Dst(std::net::Ipv6Addr::from(a).into())),
        (0u32..1 << 20).prop_map(|label| OxmField::Ipv6Flabel(label.into())),
        any::<u16>().prop_map(OxmField::TcpSrc),
        any::<u16>().prop_map(OxmField::UdpDst),
        any::<u16>().prop_map(OxmField::SctpDst),
        any::<u8>().prop_map(OxmField::Icmpv4Type),
        any::<u8>().prop_map(OxmField::Icmpv6Code),
        (0u16..256).prop_map(OxmField::ArpOp),
        any::<u32>().prop_map(|a| OxmField::ArpSpa(std::net::Ipv4Addr::from(a).into())),
        any::<u32>().prop_map(|a| OxmField::ArpTpa(std::net::Ipv4Addr::from(a).into())),
        mac().prop_map(|mac| OxmField::ArpSha(mac.into())),
        mac().prop_map(|mac| OxmField::ArpTha(mac.into())),
        any::<u128>().prop_map(|a| OxmField::Ipv6NdTarget(a.into())),
        mac().prop_map(OxmField::Ipv6NdSll),
        (0u32..1 << 20).prop_map(OxmField::MplsLabel),
        (0u8..8).prop_map(OxmField::MplsTc),
        (0u8..2).prop_map(OxmField::MplsBos),
    ];
    prop_oneof![
        4 => field.prop_map(Action::SetField),
        1 => select(vec![Action::DecNwTtl, Action::DecMplsTtl, Action::PopVlan, Action::PopMpls(0x800)]),
        1 => any::<u8>().prop_map(Action::SetNwTtl),
        1 => any::<u8>().prop_map(Action::SetMplsTtl),
    ]
    .boxed()
}

pub(super) fn instructions() -> BoxedStrategy<Instructions> {
    let apply = prop_oneof![
        3 => actions(),
        2 => (actions(), picky_action()).prop_map(|(actions, action)| [action].into_iter().chain(actions).collect()),
    ];
    (
        option::weighted(0.3, 1u32..100),
        option::weighted(0.7, apply),
        any::<bool>(),
        option::weighted(0.3, actions()),
        option::weighted(0.3, any::<(u64, u64)>()),
        option::weighted(0.3, 3u8..255),
    )
        .prop_map(|(meter, apply, clear, write, metadata, goto)| {
            let metadata = metadata.map(|(metadata, mask)| Instruction::WriteMetadata {
                metadata: metadata & mask,
                mask,
            });
            [
                meter.map(|id| Instruction::Meter(MeterId(id))),
                goto.map(|table| Instruction::GotoTable(TableId(table))),
                apply.map(Instruction::ApplyActions),
                metadata,
                clear.then_some(Instruction::ClearActions),
                write.map(Instruction::WriteActions),
            ]
            .into_iter()
            .flatten()
            .collect()
        })
        .boxed()
}
