//! Text of a match: always in the same order, whatever the order on the wire.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::extended::{Extended, NSH, TUNNEL, in_basic_class};
use super::hex::put_hex;
use super::{Ipv6Text, MacText};
use crate::oxm::VLAN_PRESENT;
use crate::{MacAddr, Masked, Match, OxmField};

/// The match, after the priority if one is given that is not the usual 32768.
pub(super) fn put_match(out: &mut String, match_: &Match, priority: Option<u16>) {
    let start = out.len();
    if let Some(priority) = priority
        && priority != DEFAULT_PRIORITY
    {
        put!(out, "priority={priority},");
    }
    put_fields(out, match_);
    if out.len() > start && out.ends_with(',') {
        out.pop();
    }
}

fn put_fields(out: &mut String, match_: &Match) {
    let fields: Vec<_> = match_.fields.iter().map(in_basic_class).collect();
    let fields = &fields[..];
    let known = Extended::of(fields);
    let find = |number| fields.iter().rev().find(|field| is_basic(field, number));
    let type_ = fields.iter().find_map(|field| match field {
        OxmField::EthType(type_) => Some(*type_),
        _ => None,
    });
    let proto = fields.iter().find_map(|field| match field {
        OxmField::IpProto(proto) => Some(*proto),
        _ => None,
    });
    known.put(out, BEFORE_PROTOCOL);
    let name = type_.and_then(|type_| protocol(type_, proto));
    if let Some((name, _)) = name {
        put!(out, "{name},");
    }
    known.put_registers(out);
    put_field(out, find(TUNNEL_ID));
    known.put(out, TUNNEL);
    known.put_tunnel_options(out);
    for number in BEFORE_VLAN {
        put_field(out, find(*number));
    }
    put_vlan(out, fields, known.value("vlan_tci"));
    for number in ETHERNET {
        put_field(out, find(*number));
    }
    if let (Some(type_), None) = (type_, name) {
        put!(out, "dl_type=0x{type_:04x},");
    }
    for number in ADDRESSES {
        put_field(out, find(*number));
    }
    known.put(out, NSH);
    if let Some(proto) = proto
        && !name.is_some_and(|(_, names_proto)| names_proto)
    {
        put!(out, "nw_proto={proto},");
    }
    for (numbers, names) in REST {
        for number in *numbers {
            put_field(out, find(*number));
        }
        known.put(out, names);
    }
    for field in fields {
        if let OxmField::Raw(raw) = field
            && !known.contains(raw)
        {
            put!(out, "oxm(class={:#06x},field={}", raw.class, raw.field);
            out.push_str(if raw.has_mask { ",masked)=0x" } else { ")=0x" });
            put_hex(out, &raw.body);
            out.push(',');
        }
    }
}

/// The word for an Ethernet type, or for it and an IP protocol; and whether it stands for the protocol too.
fn protocol(type_: u16, proto: Option<u8>) -> Option<(&'static str, bool)> {
    Some(match (type_, proto) {
        (0x0800, Some(1)) => ("icmp", true),
        (0x0800, Some(6)) => ("tcp", true),
        (0x0800, Some(17)) => ("udp", true),
        (0x0800, Some(132)) => ("sctp", true),
        (0x0800, _) => ("ip", false),
        (0x86dd, Some(58)) => ("icmp6", true),
        (0x86dd, Some(6)) => ("tcp6", true),
        (0x86dd, Some(17)) => ("udp6", true),
        (0x86dd, Some(132)) => ("sctp6", true),
        (0x86dd, _) => ("ipv6", false),
        (0x0806, _) => ("arp", false),
        (0x8035, _) => ("rarp", false),
        (0x8847, _) => ("mpls", false),
        (0x8848, _) => ("mplsm", false),
        _ => return None,
    })
}

/// Tag control information is known in parts, or as Open vSwitch's own field with a mask.
fn put_vlan(out: &mut String, fields: &[OxmField], whole: Option<(u128, u128)>) {
    let narrow = |number| u16::try_from(number).unwrap_or(0);
    let (mut tci, mut mask) = whole.map_or((0, 0), |(tci, mask)| (narrow(tci), narrow(mask)));
    for field in fields {
        match field {
            OxmField::VlanVid(vid) => {
                let vid_mask = vid.mask.unwrap_or(u16::MAX) & (VLAN_PRESENT | VID_BITS);
                tci |= vid.value & vid_mask;
                mask |= vid_mask;
            }
            OxmField::VlanPcp(pcp) => {
                tci |= u16::from(pcp & 7) << 13 | VLAN_PRESENT;
                mask |= PCP_BITS | VLAN_PRESENT;
            }
            _ => {}
        }
    }
    if mask == 0 {
        return;
    }
    let whole_or_none = |bits| matches!(mask & bits, part if part == 0 || part == bits);
    let plain = mask & tci & VLAN_PRESENT != 0 && whole_or_none(VID_BITS) && whole_or_none(PCP_BITS);
    if plain && mask & (VID_BITS | PCP_BITS) != 0 {
        if mask & VID_BITS != 0 {
            put!(out, "dl_vlan={},", tci & VID_BITS);
        }
        if mask & PCP_BITS != 0 {
            put!(out, "dl_vlan_pcp={},", tci >> 13);
        }
    } else if mask == u16::MAX {
        put!(out, "vlan_tci=0x{tci:04x},");
    } else {
        put!(out, "vlan_tci=0x{tci:04x}/0x{mask:04x},");
    }
}

fn put_field(out: &mut String, field: Option<&OxmField>) {
    let Some(field) = field else { return };
    match field {
        OxmField::InPort(port) => put!(out, "in_port={port},"),
        OxmField::InPhyPort(port) => put!(out, "in_phy_port={port},"),
        OxmField::Metadata(value) => put_hex_masked(out, "metadata", *value),
        OxmField::TunnelId(value) => put_hex_masked(out, "tun_id", *value),
        OxmField::EthDst(mac) => put_mac(out, "dl_dst", *mac),
        OxmField::EthSrc(mac) => put_mac(out, "dl_src", *mac),
        OxmField::Ipv4Src(address) => put_ipv4(out, "nw_src", *address),
        OxmField::Ipv4Dst(address) => put_ipv4(out, "nw_dst", *address),
        OxmField::ArpSpa(address) => put_ipv4(out, "arp_spa", *address),
        OxmField::ArpTpa(address) => put_ipv4(out, "arp_tpa", *address),
        OxmField::Ipv6Src(address) => put_ipv6(out, "ipv6_src", *address),
        OxmField::Ipv6Dst(address) => put_ipv6(out, "ipv6_dst", *address),
        OxmField::Ipv6Flabel(label) => {
            const BITS: u32 = 0xf_ffff;
            match label.mask {
                Some(mask) if mask & BITS != BITS => {
                    put!(
                        out,
                        "ipv6_label=0x{:05x}/0x{:05x},",
                        label.value & mask,
                        mask & BITS
                    );
                }
                _ => put!(out, "ipv6_label=0x{:05x},", label.value),
            }
        }
        OxmField::ArpOp(op) => put!(out, "arp_op={op},"),
        OxmField::ArpSha(mac) => put_mac(out, "arp_sha", *mac),
        OxmField::ArpTha(mac) => put_mac(out, "arp_tha", *mac),
        OxmField::IpDscp(dscp) => put!(out, "nw_tos={},", u16::from(*dscp) << 2),
        OxmField::IpEcn(ecn) => put!(out, "nw_ecn={ecn},"),
        OxmField::MplsLabel(label) => put!(out, "mpls_label={label},"),
        OxmField::MplsTc(tc) => put!(out, "mpls_tc={tc},"),
        OxmField::MplsBos(bos) => put!(out, "mpls_bos={bos},"),
        OxmField::Icmpv4Type(type_) | OxmField::Icmpv6Type(type_) => put!(out, "icmp_type={type_},"),
        OxmField::Icmpv4Code(code) | OxmField::Icmpv6Code(code) => put!(out, "icmp_code={code},"),
        OxmField::Ipv6NdTarget(target) => put!(out, "nd_target={},", Ipv6Text(*target)),
        OxmField::Ipv6NdSll(mac) => put_mac(out, "nd_sll", Masked::exact(*mac)),
        OxmField::Ipv6NdTll(mac) => put_mac(out, "nd_tll", Masked::exact(*mac)),
        OxmField::TcpSrc(port) | OxmField::UdpSrc(port) | OxmField::SctpSrc(port) => {
            put!(out, "tp_src={port},");
        }
        OxmField::TcpDst(port) | OxmField::UdpDst(port) | OxmField::SctpDst(port) => {
            put!(out, "tp_dst={port},");
        }
        OxmField::PbbIsid(isid) => {
            put_hex_masked(out, "pbb_isid", widened(*isid, 0xff_ffff));
        }
        OxmField::Ipv6Exthdr(bits) => {
            put_hex_masked(out, "ipv6_exthdr", widened(*bits, u16::MAX));
        }
        // These are printed by those who see the whole match.
        OxmField::EthType(_)
        | OxmField::VlanVid(_)
        | OxmField::VlanPcp(_)
        | OxmField::IpProto(_)
        | OxmField::Raw(_) => {}
    }
}

fn put_hex_masked(out: &mut String, name: &str, value: Masked<u64>) {
    match value.mask {
        Some(0) => {}
        Some(mask) if mask != u64::MAX => put!(out, "{name}={:#x}/{mask:#x},", value.value & mask),
        _ => put!(out, "{name}={:#x},", value.value),
    }
}

/// A narrower value as one of 64 bits, with no mask if it covers the whole value.
fn widened<T: Into<u64> + Copy + PartialEq>(value: Masked<T>, ones: T) -> Masked<u64> {
    let mask = value.mask.filter(|mask| *mask != ones).map(Into::into);
    Masked {
        value: value.value.into(),
        mask,
    }
}

fn put_mac(out: &mut String, name: &str, mac: Masked<MacAddr>) {
    match mac.mask {
        Some(mask) if mask.is_nil() => {}
        Some(mask) if !mask.is_broadcast() => {
            put!(out, "{name}={}/{},", MacText(mac.value), MacText(mask));
        }
        _ => put!(out, "{name}={},", MacText(mac.value)),
    }
}

pub(super) fn put_ipv4(out: &mut String, name: &str, address: Masked<Ipv4Addr>) {
    let mask = address.mask.map_or(u32::MAX, u32::from);
    let value = Ipv4Addr::from(u32::from(address.value) & mask);
    match (mask.leading_ones(), mask.trailing_zeros()) {
        (0, 32) => {}
        (32, _) => put!(out, "{name}={value},"),
        (ones, zeros) if ones + zeros == 32 => put!(out, "{name}={value}/{ones},"),
        _ => put!(out, "{name}={value}/{},", Ipv4Addr::from(mask)),
    }
}

pub(super) fn put_ipv6(out: &mut String, name: &str, address: Masked<Ipv6Addr>) {
    let mask = address.mask.map_or(u128::MAX, u128::from);
    let value = Ipv6Addr::from(u128::from(address.value) & mask);
    match (mask.leading_ones(), mask.trailing_zeros()) {
        (0, 128) => {}
        (128, _) => put!(out, "{name}={},", Ipv6Text(value)),
        (ones, zeros) if ones + zeros == 128 => put!(out, "{name}={}/{ones},", Ipv6Text(value)),
        _ => put!(
            out,
            "{name}={}/{},",
            Ipv6Text(value),
            Ipv6Text(Ipv6Addr::from(mask))
        ),
    }
}

fn is_basic(field: &OxmField, number: u8) -> bool {
    !matches!(field, OxmField::Raw(_)) && field.id().field == number
}

/// The priority of a flow whose priority is not given.
pub(super) const DEFAULT_PRIORITY: u16 = 0x8000;
const VID_BITS: u16 = 0x0fff;
const PCP_BITS: u16 = 0xe000;

// Fields in the order of the text: those of OpenFlow by their numbers, others by their names.
const BEFORE_PROTOCOL: &[&str] = &[
    "pkt_mark",
    "recirc_id",
    "dp_hash",
    "conj_id",
    "actset_output",
    "ct_state",
    "ct_zone",
    "ct_mark",
    "ct_label",
    "ct_nw_src",
    "ct_ipv6_src",
    "ct_nw_dst",
    "ct_ipv6_dst",
    "ct_nw_proto",
    "ct_tp_src",
    "ct_tp_dst",
    "packet_type",
];
const TUNNEL_ID: u8 = 38;
/// Metadata, ingress ports.
const BEFORE_VLAN: &[u8] = &[2, 0, 1];
/// Source, destination.
const ETHERNET: &[u8] = &[4, 3];
/// IPv6, ARP, IPv4.
const ADDRESSES: &[u8] = &[26, 27, 28, 22, 23, 11, 12];
const REST: &[(&[u8], &[&str])] = &[
    // ARP, type of service.
    (&[21, 24, 25, 8, 9], &["nw_ttl"]),
    // MPLS.
    (&[34, 35], &["mpls_ttl"]),
    (&[36], &["ip_frag"]),
    // ICMP, neighbour discovery, ports.
    (
        &[19, 20, 29, 30, 31, 32, 33, 13, 15, 17],
        &["tcp_src", "udp_src", "sctp_src"],
    ),
    (&[14, 16, 18], &["tcp_dst", "udp_dst", "sctp_dst", "tcp_flags"]),
    // Those that Open vSwitch does not have.
    (&[37, 39], &[]),
];
