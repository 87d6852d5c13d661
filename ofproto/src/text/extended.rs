//! Text of the fields that Open vSwitch has beyond OpenFlow's own.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::fields::{Field, Format};
use super::matching::{put_ipv4, put_ipv6};
use super::{Ipv6Text, MacText};
use crate::oxm::CLASS_BASIC;
use crate::{MacAddr, Masked, OxmField, PortNo, RawOxm};

/// The field in the class of OpenFlow's own fields, if it has a number there.
pub(super) fn in_basic_class(field: &OxmField) -> OxmField {
    let OxmField::Raw(raw) = field else {
        return field.clone();
    };
    let same = || {
        let known = Field::of(field.id())?;
        let (value, mask) = known.value_in(raw)?;
        match (known.name().as_str(), mask) {
            ("in_port", None) => Some(OxmField::InPort(port(value))),
            ("nw_tos", None) => Some(OxmField::IpDscp(u8::try_from(value >> 2).ok()?)),
            _ => known
                .with_value(value, mask)
                .filter(|field| field.id().class == CLASS_BASIC),
        }
    };
    same().unwrap_or_else(|| field.clone())
}

/// The fields of a match that only Open vSwitch has.
pub(super) struct Extended<'a> {
    fields: Vec<(&'a RawOxm, Field, u128, u128)>,
}

impl<'a> Extended<'a> {
    pub(super) fn of(fields: &'a [OxmField]) -> Self {
        let known = |field: &'a OxmField| {
            let OxmField::Raw(raw) = field else { return None };
            let known = Field::of(field.id())?;
            if !is_register(known) && !PRINTED.contains(&known.name().as_str()) {
                return None;
            }
            let (value, mask) = known.value_in(raw)?;
            let mask = mask.unwrap_or(u128::MAX) & all_ones(known);
            Some((raw, known, value & mask, mask))
        };
        Self {
            fields: fields.iter().filter_map(known).collect(),
        }
    }

    pub(super) fn contains(&self, raw: &RawOxm) -> bool {
        self.fields.iter().any(|(known, ..)| *known == raw)
    }

    /// Those of these names, in this order.
    pub(super) fn put(&self, out: &mut String, names: &[&str]) {
        for name in names {
            for (_, field, value, mask) in &self.fields {
                if field.name() == *name && *mask != 0 {
                    put_matched(out, name, *field, *value, *mask);
                }
            }
        }
    }

    /// All registers of 32 bits; wider ones are several of them.
    pub(super) fn put_registers(&self, out: &mut String) {
        for register in 0u16..16 {
            let (mut value, mut mask) = (0, 0);
            for (_, field, whole, whole_mask) in &self.fields {
                let name = field.name();
                let of = |prefix: &str| {
                    name.strip_prefix(prefix)
                        .and_then(|number| number.parse::<u16>().ok())
                };
                let parts = match (of("reg"), of("xreg"), of("xxreg")) {
                    (Some(number), ..) => (number, 1),
                    (_, Some(number), _) => (number * 2, 2),
                    (.., Some(number)) => (number * 4, 4),
                    _ => continue,
                };
                if let Some(at) = register.checked_sub(parts.0).filter(|at| *at < parts.1) {
                    let shift = 32 * (parts.1 - 1 - at);
                    value |= whole >> shift & u128::from(u32::MAX);
                    mask |= whole_mask >> shift & u128::from(u32::MAX);
                }
            }
            if mask != 0 {
                put!(out, "reg{register}={}", Number(value));
                if mask != u128::from(u32::MAX) {
                    put!(out, "/{}", Number(mask));
                }
                out.push(',');
            }
        }
    }
}

fn put_matched(out: &mut String, name: &str, field: Field, value: u128, mask: u128) {
    let exact = mask == all_ones(field);
    match (name, field.format()) {
        ("ct_label", _) => {
            put!(out, "{name}={}", Number(value));
            if !exact {
                put!(out, "/{}", Number(mask));
            }
        }
        ("ip_frag", _) => put!(out, "nw_frag={}", fragment(value & mask, mask)),
        ("tcp_src" | "udp_src" | "sctp_src", _) => put!(out, "tp_src={value:#x}/{mask:#x}"),
        ("tcp_dst" | "udp_dst" | "sctp_dst", _) => put!(out, "tp_dst={value:#x}/{mask:#x}"),
        (_, Format::CtState) => {
            put!(out, "{name}=");
            // The state has eight bits, whatever the field.
            put_flags(out, CT_STATE, value, mask & 0xff, 0xff);
        }
        (_, Format::TcpFlags) => {
            put!(out, "{name}=");
            put_flags(out, TCP_FLAGS, value, mask, 0xfff);
        }
        (_, Format::TunnelFlags) => {
            put!(out, "{name}=");
            put_flags(out, TUNNEL_FLAGS, value, mask & 1, u128::MAX);
        }
        // Ethernet goes without saying.
        ("packet_type", _) if value == 0 => return,
        ("packet_type", _) => put!(out, "{name}=({},{})", value >> 16, Number(value & 0xffff)),
        (_, Format::Port) => put!(out, "{name}={}", port(value)),
        (_, Format::Ipv4) => {
            let address = |number| Ipv4Addr::from(u32::try_from(number).unwrap_or(0));
            put_ipv4(out, name, Masked::new(address(value), address(mask)));
            return;
        }
        (_, Format::Ipv6) => {
            put_ipv6(
                out,
                name,
                Masked::new(Ipv6Addr::from(value), Ipv6Addr::from(mask)),
            );
            return;
        }
        ("ct_zone", _) | (_, Format::Decimal) if name != "recirc_id" => {
            if exact {
                put!(out, "{name}={value}");
            } else {
                put!(out, "{name}={value:#x}/{mask:#x}");
            }
        }
        _ => {
            put!(out, "{name}={}", Number(value));
            if !exact {
                put!(out, "/{}", Number(mask));
            }
        }
    }
    out.push(',');
}

/// Value, mask and name of a field to set; `false` when it is none of Open vSwitch's.
pub(super) fn put_raw_value(out: &mut String, raw: &RawOxm) -> bool {
    let Some(field) = Field::of(OxmField::Raw(raw.clone()).id()) else {
        return false;
    };
    let Some((value, mask)) = field.value_in(raw) else {
        return false;
    };
    if !put_value(out, field, value, mask) {
        return false;
    }
    put!(out, "->{}", field.name());
    true
}

/// Value and mask of a field; `false` when there are no words for them.
pub(super) fn put_value(out: &mut String, field: Field, value: u128, mask: Option<u128>) -> bool {
    let all = all_ones(field);
    let mask = mask.filter(|mask| *mask & all != all);
    match (field.format(), mask) {
        (Format::Mac, None) => put!(out, "{}", MacText(mac(value))),
        (Format::Mac, Some(mask)) => put!(out, "{}/{}", MacText(mac(value)), MacText(mac(mask))),
        (Format::Ipv4, mask) => {
            put!(out, "{}", Ipv4Addr::from(u32::try_from(value).unwrap_or(0)));
            put_prefix(out, mask.map(|mask| mask << 96), &|mask| {
                Ipv4Addr::from(u32::try_from(mask >> 96).unwrap_or(0)).to_string()
            });
        }
        (Format::Ipv6, mask) => {
            put!(out, "{}", Ipv6Text(value.into()));
            put_prefix(out, mask, &|mask| Ipv6Text(mask.into()).to_string());
        }
        (Format::Port, None) => put!(out, "{}", port(value)),
        (Format::Hex, None) => put!(out, "{}", Number(value)),
        (Format::Decimal, None) => put!(out, "{value}"),
        (Format::Hex | Format::Port, Some(mask)) => put!(out, "{}/{}", Number(value), Number(mask)),
        (Format::Decimal, Some(mask)) => put!(out, "{value}/{}", Number(mask)),
        (Format::TunnelFlags, mask) => put_flags(out, TUNNEL_FLAGS, value, mask.unwrap_or(1) & 1, 1),
        _ => return false,
    }
    true
}

fn put_prefix(out: &mut String, mask: Option<u128>, text: &dyn Fn(u128) -> String) {
    match mask {
        None => {}
        Some(mask) if mask.leading_ones() + mask.trailing_zeros() == 128 => {
            put!(out, "/{}", mask.leading_ones())
        }
        Some(mask) => put!(out, "/{}", text(mask)),
    }
}

/// Flags with `|` between when all of them matter, else with `+` or `-` before each that does.
fn put_flags(out: &mut String, names: &[&str], value: u128, mask: u128, all: u128) {
    if mask == all {
        if value & all == 0 {
            out.push('0');
        }
        let mut separator = "";
        for (bit, name) in names.iter().enumerate() {
            if value >> bit & 1 == 1 {
                put!(out, "{separator}{name}");
                separator = "|";
            }
        }
        return;
    }
    for (bit, name) in names.iter().enumerate() {
        if mask >> bit & 1 == 1 {
            put!(out, "{}{name}", if value >> bit & 1 == 1 { '+' } else { '-' });
        }
    }
}

const fn fragment(value: u128, mask: u128) -> &'static str {
    match (value & 3, mask & 3) {
        (0, 3) | (0, 1) => "no",
        (1, 3) => "first",
        (3, 3) | (2, 2) => "later",
        (1, 1) => "yes",
        (0, 2) => "not_later",
        _ => "<error>",
    }
}

fn is_register(field: Field) -> bool {
    let name = field.name();
    name.trim_start_matches('x')
        .strip_prefix("reg")
        .is_some_and(|number| number.parse::<u8>().is_ok())
}

fn all_ones(field: Field) -> u128 {
    u128::MAX
        .checked_shr(128u32.saturating_sub(field.bits().into()))
        .unwrap_or(0)
}

/// A port; in 16 bits the reserved ones have other numbers.
fn port(value: u128) -> PortNo {
    let number = u32::try_from(value).unwrap_or(0);
    PortNo(if (0xfff8..=0xffff).contains(&number) {
        number | 0xffff_0000
    } else {
        number
    })
}

fn mac(value: u128) -> MacAddr {
    let [.., a, b, c, d, e, f] = value.to_be_bytes();
    MacAddr::new(a, b, c, d, e, f)
}

/// As [`Hex`](super::Hex), for wider numbers.
struct Number(u128);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == 0 {
            f.write_str("0")
        } else {
            write!(f, "{:#x}", self.0)
        }
    }
}

/// Those that the text of a match has a place for, beside registers.
const PRINTED: &[&str] = &[
    "packet_type",
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
    "tun_src",
    "tun_dst",
    "tun_ipv6_src",
    "tun_ipv6_dst",
    "tun_gbp_id",
    "tun_gbp_flags",
    "tun_flags",
    "nw_ttl",
    "mpls_ttl",
    "ip_frag",
    "tcp_src",
    "udp_src",
    "sctp_src",
    "tcp_dst",
    "udp_dst",
    "sctp_dst",
    "tcp_flags",
];
const CT_STATE: &[&str] = &["new", "est", "rel", "rpl", "inv", "trk", "snat", "dnat"];
const TCP_FLAGS: &[&str] = &[
    "fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr", "ns", "[200]", "[400]", "[800]",
];
const TUNNEL_FLAGS: &[&str] = &["oam"];
