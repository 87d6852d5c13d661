//! Generators of what messages are made of.

use std::net::{Ipv4Addr, Ipv6Addr};

use bytes::Bytes;
use ofproto::{
    Action, Actions, Bucket, FlowModFlags, GroupId, GroupType, Instruction, Instructions, MacAddr, Masked,
    Match, MeterBand, MeterFlags, MeterId, OxmField, Port, PortConfig, PortFeatures, PortNo, PortState,
    RawOxm, TableId,
};
use proptest::collection::vec;
use proptest::prelude::*;

pub(super) fn data(longest: usize) -> impl Strategy<Value = Bytes> + Clone {
    vec(any::<u8>(), 0..=longest).prop_map(Bytes::from)
}

pub(super) fn port_no() -> impl Strategy<Value = PortNo> + Clone {
    any::<u32>().prop_map(PortNo)
}

pub(super) fn group_id() -> impl Strategy<Value = GroupId> {
    any::<u32>().prop_map(GroupId)
}

pub(super) fn meter_id() -> impl Strategy<Value = MeterId> {
    any::<u32>().prop_map(MeterId)
}

pub(super) fn group_type() -> impl Strategy<Value = GroupType> {
    any::<u8>().prop_map(GroupType::from_wire)
}

pub(super) fn flow_flags() -> impl Strategy<Value = FlowModFlags> {
    any::<u16>().prop_map(FlowModFlags::from_bits_retain)
}

pub(super) fn meter_flags() -> impl Strategy<Value = MeterFlags> {
    any::<u16>().prop_map(MeterFlags::from_bits_retain)
}

pub(super) fn mac() -> impl Strategy<Value = MacAddr> + Clone {
    any::<[u8; 6]>().prop_map(MacAddr::from)
}

/// A text that fits a field of this many bytes.
pub(super) fn text(size: usize) -> impl Strategy<Value = String> {
    vec(
        prop_oneof![4 => prop::char::range(' ', '~'), 1 => Just('é')],
        0..=size,
    )
    .prop_map(move |mut chars| {
        while chars.iter().map(|c| c.len_utf8()).sum::<usize>() > size {
            chars.pop();
        }
        chars.into_iter().collect()
    })
}

pub(super) fn port() -> impl Strategy<Value = Port> {
    (port_no(), mac(), text(16), any::<[u32; 8]>()).prop_map(|(port_no, hw_addr, name, words)| {
        let [
            config,
            state,
            curr,
            advertised,
            supported,
            peer,
            curr_speed,
            max_speed,
        ] = words;
        Port {
            port_no,
            hw_addr,
            name,
            config: PortConfig::from_bits_retain(config),
            state: PortState::from_bits_retain(state),
            curr: PortFeatures::from_bits_retain(curr),
            advertised: PortFeatures::from_bits_retain(advertised),
            supported: PortFeatures::from_bits_retain(supported),
            peer: PortFeatures::from_bits_retain(peer),
            curr_speed,
            max_speed,
        }
    })
}

pub(super) fn match_() -> impl Strategy<Value = Match> {
    vec(field(), 0..6).prop_map(|fields| Match {
        fields: fields.into(),
    })
}

pub(super) fn field() -> impl Strategy<Value = OxmField> {
    let byte = any::<u8>();
    let short = any::<u16>();
    prop_oneof![
        prop_oneof![
            port_no().prop_map(OxmField::InPort),
            port_no().prop_map(OxmField::InPhyPort),
            masked(any::<u64>(), |a, b| a & b).prop_map(OxmField::Metadata),
            masked_mac().prop_map(OxmField::EthDst),
            masked_mac().prop_map(OxmField::EthSrc),
            short.prop_map(OxmField::EthType),
            masked(short, |a, b| a & b).prop_map(OxmField::VlanVid),
            byte.prop_map(OxmField::VlanPcp),
            byte.prop_map(OxmField::IpDscp),
            byte.prop_map(OxmField::IpEcn),
        ],
        prop_oneof![
            byte.prop_map(OxmField::IpProto),
            masked_ipv4().prop_map(OxmField::Ipv4Src),
            masked_ipv4().prop_map(OxmField::Ipv4Dst),
            short.prop_map(OxmField::TcpSrc),
            short.prop_map(OxmField::TcpDst),
            short.prop_map(OxmField::UdpSrc),
            short.prop_map(OxmField::UdpDst),
            short.prop_map(OxmField::SctpSrc),
            short.prop_map(OxmField::SctpDst),
            byte.prop_map(OxmField::Icmpv4Type),
        ],
        prop_oneof![
            byte.prop_map(OxmField::Icmpv4Code),
            short.prop_map(OxmField::ArpOp),
            masked_ipv4().prop_map(OxmField::ArpSpa),
            masked_ipv4().prop_map(OxmField::ArpTpa),
            masked_mac().prop_map(OxmField::ArpSha),
            masked_mac().prop_map(OxmField::ArpTha),
            masked_ipv6().prop_map(OxmField::Ipv6Src),
            masked_ipv6().prop_map(OxmField::Ipv6Dst),
            masked(any::<u32>(), |a, b| a & b).prop_map(OxmField::Ipv6Flabel),
            byte.prop_map(OxmField::Icmpv6Type),
        ],
        prop_oneof![
            byte.prop_map(OxmField::Icmpv6Code),
            any::<u128>().prop_map(|a| OxmField::Ipv6NdTarget(a.into())),
            mac().prop_map(OxmField::Ipv6NdSll),
            mac().prop_map(OxmField::Ipv6NdTll),
            any::<u32>().prop_map(OxmField::MplsLabel),
            byte.prop_map(OxmField::MplsTc),
            byte.prop_map(OxmField::MplsBos),
            masked(0u32..1 << 24, |a, b| a & b).prop_map(OxmField::PbbIsid),
            masked(any::<u64>(), |a, b| a & b).prop_map(OxmField::TunnelId),
            masked(short, |a, b| a & b).prop_map(OxmField::Ipv6Exthdr),
        ],
        raw().prop_map(OxmField::Raw),
    ]
}

/// A field without a name: another class, or a number that the basic class does not have.
fn raw() -> impl Strategy<Value = RawOxm> {
    let number = prop_oneof![
        (Just(0x8000u16), 40u8..128),
        (
            prop_oneof![Just(0u16), Just(1), Just(0xffff), any::<u16>()],
            0u8..128
        )
    ];
    (number, any::<bool>(), data(40)).prop_filter_map("has a name", |((class, field), has_mask, body)| {
        let named = class == 0x8000 && field < 40;
        (!named).then_some(RawOxm {
            class,
            field,
            has_mask,
            body,
        })
    })
}

fn masked<T: Copy + std::fmt::Debug>(
    values: impl Strategy<Value = T> + Clone,
    and: fn(T, T) -> T,
) -> impl Strategy<Value = Masked<T>> {
    (values.clone(), prop::option::of(values)).prop_map(move |(value, mask)| match mask {
        Some(mask) => Masked::new(and(value, mask), mask),
        None => Masked::exact(value),
    })
}

fn masked_ipv4() -> impl Strategy<Value = Masked<Ipv4Addr>> {
    masked(any::<u32>().prop_map(Ipv4Addr::from), |a, b| a & b)
}

fn masked_ipv6() -> impl Strategy<Value = Masked<Ipv6Addr>> {
    masked(any::<u128>().prop_map(Ipv6Addr::from), |a, b| a & b)
}

fn masked_mac() -> impl Strategy<Value = Masked<MacAddr>> {
    masked(mac(), |a, b| {
        let (a, b) = (a.into_array(), b.into_array());
        MacAddr::from(std::array::from_fn(|at| a[at] & b[at]))
    })
}

/// Bytes whose number leaves this remainder when divided by eight, so that no padding is needed.
fn aligned(remainder: usize) -> impl Strategy<Value = Bytes> {
    (0usize..3)
        .prop_flat_map(move |eights| vec(any::<u8>(), 8 * eights + remainder))
        .prop_map(Bytes::from)
}

pub(super) fn actions() -> impl Strategy<Value = Actions> {
    vec(action(), 0..5).prop_map(Actions::from)
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        (port_no(), any::<u16>()).prop_map(|(port, max_len)| Action::Output { port, max_len }),
        prop::sample::select(vec![
            Action::CopyTtlOut,
            Action::CopyTtlIn,
            Action::DecMplsTtl,
            Action::PopVlan,
            Action::DecNwTtl,
            Action::PopPbb,
        ]),
        any::<u8>().prop_map(Action::SetMplsTtl),
        any::<u8>().prop_map(Action::SetNwTtl),
        (
            prop::sample::select(vec![
                Action::PushVlan,
                Action::PushMpls,
                Action::PopMpls,
                Action::PushPbb
            ]),
            any::<u16>()
        )
            .prop_map(|(action, ethertype)| action(ethertype)),
        any::<u32>().prop_map(Action::SetQueue),
        group_id().prop_map(Action::Group),
        field().prop_map(Action::SetField),
        (any::<u32>(), aligned(0))
            .prop_map(|(experimenter, data)| Action::Experimenter { experimenter, data }),
        (28u16..0xffff, aligned(4)).prop_map(|(type_, data)| Action::Unknown { type_, data }),
    ]
}

pub(super) fn instructions() -> impl Strategy<Value = Instructions> {
    let instruction = prop_oneof![
        any::<u8>().prop_map(|table| Instruction::GotoTable(TableId(table))),
        any::<(u64, u64)>().prop_map(|(metadata, mask)| Instruction::WriteMetadata {
            metadata: metadata & mask,
            mask
        }),
        actions().prop_map(Instruction::WriteActions),
        actions().prop_map(Instruction::ApplyActions),
        Just(Instruction::ClearActions),
        meter_id().prop_map(Instruction::Meter),
        (any::<u32>(), aligned(0))
            .prop_map(|(experimenter, data)| Instruction::Experimenter { experimenter, data }),
        (7u16..0xffff, aligned(4)).prop_map(|(type_, data)| Instruction::Unknown { type_, data }),
    ];
    vec(instruction, 0..5).prop_map(Instructions::from)
}

pub(super) fn buckets() -> impl Strategy<Value = Vec<Bucket>> {
    let bucket = (any::<u16>(), port_no(), group_id(), actions()).prop_map(
        |(weight, watch_port, watch_group, actions)| Bucket {
            weight,
            watch_port,
            watch_group,
            actions,
        },
    );
    vec(bucket, 0..4)
}

pub(super) fn meter_bands() -> impl Strategy<Value = Vec<MeterBand>> {
    let band = prop_oneof![
        any::<(u32, u32)>().prop_map(|(rate, burst_size)| MeterBand::Drop { rate, burst_size }),
        any::<(u32, u32, u8)>().prop_map(|(rate, burst_size, prec_level)| MeterBand::DscpRemark {
            rate,
            burst_size,
            prec_level
        }),
        (any::<(u32, u32, u32)>(), data(9)).prop_map(|((rate, burst_size, experimenter), data)| {
            MeterBand::Experimenter {
                rate,
                burst_size,
                experimenter,
                data,
            }
        }),
        (3u16..0xffff, any::<(u32, u32)>(), data(9)).prop_map(|(type_, (rate, burst_size), data)| {
            MeterBand::Unknown {
                type_,
                rate,
                burst_size,
                data,
            }
        }),
    ];
    vec(band, 0..4)
}
