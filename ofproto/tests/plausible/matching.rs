//! Generators of matches that have their prerequisites.

use ofproto::oxm::VLAN_PRESENT;
use ofproto::*;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::{mac, port};

pub(super) fn matching() -> BoxedStrategy<Match> {
    let first = option::of(prop_oneof![3 => port(), 1 => Just(PortNo::CONTROLLER)])
        .prop_map(|port| port.map(OxmField::InPort));
    let metadata = option::weighted(0.2, masked(any::<u64>(), |a, b| a & b))
        .prop_map(|value| value.map(OxmField::Metadata));
    let tunnel = option::weighted(0.2, masked(any::<u64>(), |a, b| a & b))
        .prop_map(|value| value.map(OxmField::TunnelId));
    let src = option::weighted(0.3, masked_mac()).prop_map(|mac| mac.map(OxmField::EthSrc));
    let dst = option::weighted(0.3, masked_mac()).prop_map(|mac| mac.map(OxmField::EthDst));
    let vlan = prop_oneof![
        3 => Just(vec![]),
        1 => (0u16..4096).prop_map(|vid| vec![OxmField::VlanVid((VLAN_PRESENT | vid).into())]),
        1 => Just(vec![OxmField::VlanVid(0.into())]),
        1 => Just(vec![OxmField::VlanVid(Masked::new(VLAN_PRESENT, VLAN_PRESENT))]),
        1 => (0u16..4096, 0u16..4096).prop_map(|(vid, mask)| vec![OxmField::VlanVid(Masked::new(VLAN_PRESENT | (vid & mask), VLAN_PRESENT | mask))]),
        1 => (0u16..4096, 0u8..8).prop_map(|(vid, pcp)| vec![OxmField::VlanVid((VLAN_PRESENT | vid).into()), OxmField::VlanPcp(pcp)]),
        1 => (0u8..8).prop_map(|pcp| vec![OxmField::VlanVid(Masked::new(VLAN_PRESENT, VLAN_PRESENT)), OxmField::VlanPcp(pcp)]),
    ];
    (first, metadata, tunnel, src, dst, vlan, upper())
        .prop_map(|(port, metadata, tunnel, src, dst, vlan, upper)| {
            let fields = [port, metadata, tunnel, src, dst]
                .into_iter()
                .flatten()
                .chain(vlan)
                .chain(upper)
                .collect();
            Match { fields }
        })
        .boxed()
}

/// Fields above Ethernet, after their prerequisites.
fn upper() -> BoxedStrategy<Vec<OxmField>> {
    let some = |field: BoxedStrategy<OxmField>| {
        option::of(field)
            .prop_map(|field| field.into_iter().collect::<Vec<_>>())
            .boxed()
    };
    let tos = prop_oneof![
        2 => Just(vec![]),
        1 => (0u8..64).prop_map(|dscp| vec![OxmField::IpDscp(dscp)]),
        1 => (0u8..4).prop_map(|ecn| vec![OxmField::IpEcn(ecn)]),
    ]
    .boxed();
    let pair = |src: fn(u16) -> OxmField, dst: fn(u16) -> OxmField| {
        (option::of(any::<u16>()), option::of(any::<u16>()))
            .prop_map(move |(a, b)| a.map(src).into_iter().chain(b.map(dst)).collect::<Vec<_>>())
            .boxed()
    };
    let with = |fields: Vec<OxmField>, more: BoxedStrategy<Vec<OxmField>>| {
        more.prop_map(move |more| fields.iter().cloned().chain(more).collect::<Vec<_>>())
            .boxed()
    };
    let ports = |type_: u16| {
        prop_oneof![
            Just(vec![OxmField::EthType(type_)]),
            with(
                vec![OxmField::EthType(type_), OxmField::IpProto(6)],
                pair(OxmField::TcpSrc, OxmField::TcpDst)
            ),
            with(
                vec![OxmField::EthType(type_), OxmField::IpProto(17)],
                pair(OxmField::UdpSrc, OxmField::UdpDst)
            ),
            with(
                vec![OxmField::EthType(type_), OxmField::IpProto(132)],
                pair(OxmField::SctpSrc, OxmField::SctpDst)
            ),
            Just(vec![OxmField::EthType(type_), OxmField::IpProto(89)]),
            Just(vec![OxmField::EthType(type_), OxmField::IpProto(2)]),
        ]
        .boxed()
    };
    let icmp = prop_oneof![
        Just(vec![OxmField::Icmpv4Type(8)]),
        any::<(u8, u8)>().prop_map(|(a, b)| vec![OxmField::Icmpv4Type(a), OxmField::Icmpv4Code(b)]),
    ]
    .boxed();
    let icmp6 = prop_oneof![
        any::<(u8, u8)>().prop_map(|(a, b)| vec![OxmField::Icmpv6Type(a), OxmField::Icmpv6Code(b)]),
        (any::<u128>(), mac()).prop_map(|(target, mac)| vec![
            OxmField::Icmpv6Type(135),
            OxmField::Icmpv6Code(0),
            OxmField::Ipv6NdTarget(target.into()),
            OxmField::Ipv6NdSll(mac)
        ]),
        mac().prop_map(|mac| vec![
            OxmField::Icmpv6Type(136),
            OxmField::Icmpv6Code(0),
            OxmField::Ipv6NdTll(mac)
        ]),
    ]
    .boxed();
    let ipv4 = (
        prop_oneof![4 => ports(0x800), 1 => with(vec![OxmField::EthType(0x800), OxmField::IpProto(1)], icmp)],
        tos.clone(),
        some(masked_ipv4().prop_map(OxmField::Ipv4Src).boxed()),
        some(masked_ipv4().prop_map(OxmField::Ipv4Dst).boxed()),
    )
        .prop_map(|(a, b, c, d)| [a, b, c, d].concat());
    let ipv6 = (
        prop_oneof![4 => ports(0x86dd), 1 => with(vec![OxmField::EthType(0x86dd), OxmField::IpProto(58)], icmp6)],
        tos,
        some(masked_ipv6().prop_map(OxmField::Ipv6Src).boxed()),
        some(masked_ipv6().prop_map(OxmField::Ipv6Dst).boxed()),
        some(masked(0u32..1 << 20, |a, b| a & b).prop_map(OxmField::Ipv6Flabel).boxed()),
    )
        .prop_map(|(a, b, c, d, e)| [a, b, c, d, e].concat());
    let arp = (
        some((0u16..256).prop_map(OxmField::ArpOp).boxed()),
        some(masked_ipv4().prop_map(OxmField::ArpSpa).boxed()),
        some(masked_ipv4().prop_map(OxmField::ArpTpa).boxed()),
        some(masked_mac().prop_map(OxmField::ArpSha).boxed()),
        some(masked_mac().prop_map(OxmField::ArpTha).boxed()),
    )
        .prop_map(|(a, b, c, d, e)| [vec![OxmField::EthType(0x806)], a, b, c, d, e].concat());
    let mpls = (
        select(vec![0x8847u16, 0x8848]),
        some((0u32..1 << 20).prop_map(OxmField::MplsLabel).boxed()),
        some((0u8..8).prop_map(OxmField::MplsTc).boxed()),
        some((0u8..2).prop_map(OxmField::MplsBos).boxed()),
    )
        .prop_map(|(type_, a, b, c)| [vec![OxmField::EthType(type_)], a, b, c].concat());
    prop_oneof![
        2 => Just(vec![]),
        4 => ipv4,
        4 => ipv6,
        2 => arp,
        1 => mpls,
        1 => select(vec![0x88b5u16, 0x8035, 0x88cc, 0x600]).prop_map(|type_| vec![OxmField::EthType(type_)]),
    ]
    .boxed()
}

fn masked<T: Copy + std::fmt::Debug>(
    values: impl Strategy<Value = T> + Clone,
    and: fn(T, T) -> T,
) -> impl Strategy<Value = Masked<T>> {
    (values.clone(), option::of(values)).prop_map(move |(value, mask)| match mask {
        Some(mask) => Masked::new(and(value, mask), mask),
        None => Masked::exact(value),
    })
}

pub(super) fn masked_mac() -> impl Strategy<Value = Masked<MacAddr>> {
    masked(mac(), |a, b| {
        let (a, b) = (a.into_array(), b.into_array());
        MacAddr::from(std::array::from_fn(|at| a[at] & b[at]))
    })
}

fn masked_ipv4() -> impl Strategy<Value = Masked<std::net::Ipv4Addr>> {
    prop_oneof![
        masked(any::<u32>().prop_map(std::net::Ipv4Addr::from), |a, b| a & b),
        (any::<u32>(), 0u8..33).prop_map(|(a, n)| Masked::<std::net::Ipv4Addr>::prefix(a.into(), n)),
    ]
}

fn masked_ipv6() -> impl Strategy<Value = Masked<std::net::Ipv6Addr>> {
    let sparse = prop_oneof![
        any::<u128>(),
        any::<[u16; 3]>().prop_map(|[a, b, c]| u128::from(a) << 112 | u128::from(b) << 32 | u128::from(c)),
        any::<u32>().prop_map(u128::from),
        any::<u32>().prop_map(|a| 0xffff_0000_0000 | u128::from(a)),
    ];
    prop_oneof![
        masked(any::<u128>().prop_map(std::net::Ipv6Addr::from), |a, b| a & b),
        (sparse, 0u8..=128).prop_map(|(a, n)| Masked::<std::net::Ipv6Addr>::prefix(a.into(), n)),
    ]
}
