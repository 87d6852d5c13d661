//! Text of the fields that Open vSwitch has beyond OpenFlow's own.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::fields::{Field, Format};
use super::hex::put_number;
use super::matching::{put_ipv4, put_ipv6};
use super::value::{Number, TUNNEL_FLAGS, all_ones, halves, port, put_flags, put_short};
use crate::oxm::CLASS_BASIC;
use crate::{Masked, OxmField, RawOxm};

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
    /// Tunnel options, which may be longer than any number.
    options: Vec<(&'a RawOxm, Field)>,
}

impl<'a> Extended<'a> {
    pub(super) fn of(fields: &'a [OxmField]) -> Self {
        let known = |field: &'a OxmField| {
            let OxmField::Raw(raw) = field else { return None };
            let known = Field::of(field.id())?;
            if !is_register(known) && !is_printed(&known.name()) {
                return None;
            }
            let (value, mask) = known.value_in(raw)?;
            let mask = mask.unwrap_or(u128::MAX) & all_ones(known);
            Some((raw, known, value & mask, mask))
        };
        let option = |field: &'a OxmField| {
            let OxmField::Raw(raw) = field else { return None };
            let known = Field::of(field.id()).filter(|known| known.is_tunnel_option())?;
            Some((raw, known))
        };
        let mut options: Vec<_> = fields.iter().filter_map(option).collect();
        options.sort_by_key(|(_, known)| *known);
        Self {
            fields: fields.iter().filter_map(known).collect(),
            options,
        }
    }

    /// Value and mask of the field of this name.
    pub(super) fn value(&self, name: &str) -> Option<(u128, u128)> {
        let found = self.fields.iter().find(|(_, field, ..)| field.name() == name);
        found.map(|(.., value, mask)| (*value, *mask))
    }

    pub(super) fn contains(&self, raw: &RawOxm) -> bool {
        self.fields.iter().any(|(known, ..)| *known == raw)
            || self.options.iter().any(|(known, _)| *known == raw)
    }

    /// All tunnel options, by their numbers.
    pub(super) fn put_tunnel_options(&self, out: &mut String) {
        for (raw, field) in &self.options {
            out.push_str(&field.name());
            let (value, mask) = halves(raw);
            if mask.is_none_or(|mask| mask.iter().any(|byte| *byte != 0)) {
                out.push('=');
                put_number(out, value);
            }
            if let Some(mask) = mask
                && mask.iter().any(|byte| *byte != 0)
                && mask.iter().any(|byte| *byte != 0xff)
            {
                out.push('/');
                put_number(out, mask);
            }
            out.push(',');
        }
    }

    /// Is the field one that only some packets have, and these are others?
    fn is_void(&self, name: &str) -> bool {
        let version = || self.value("tun_erspan_ver").map_or(0, |(version, _)| version);
        match name {
            "tun_erspan_idx" => version() != 1,
            "tun_erspan_dir" | "tun_erspan_hwid" => version() != 2,
            "nsh_c1" | "nsh_c2" | "nsh_c3" | "nsh_c4" => self.value("nsh_mdtype") != Some((1, 0xff)),
            _ => false,
        }
    }

    /// Those of these names, in this order.
    pub(super) fn put(&self, out: &mut String, names: &[&str]) {
        for name in names {
            for (_, field, value, mask) in &self.fields {
                if field.name() == *name && *mask != 0 && !self.is_void(name) {
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
        (..) if field.is_its_own_mask() && value == 0 => return,
        ("tun_gtpu_flags", _) => put!(out, "gtpu_flags={value:#x}"),
        ("tun_gtpu_msgtype", _) => put!(out, "gtpu_msgtype={value}"),
        ("tun_erspan_ver" | "tun_erspan_dir", _) => put!(out, "{name}={value}"),
        ("tun_erspan_idx" | "tun_erspan_hwid" | "tun_gbp_flags", _) => put!(out, "{name}={}", Number(value)),
        (_, Format::Hex) if field.is_nsh() && exact => put!(out, "{name}={value:#x}"),
        (_, Format::Hex) if field.is_nsh() => put!(out, "{name}={value:#x}/{mask:#x}"),
        (_, Format::Decimal) if field.is_nsh() && !exact => put!(out, "{name}=0x{value:02x}/0x{mask:02x}"),
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
        ("packet_type", _) => {
            put!(out, "{name}=(");
            put_short(out, value >> 16);
            out.push(',');
            put_short(out, value & 0xffff);
            out.push(')');
        }
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

fn is_printed(name: &str) -> bool {
    [PRINTED, TUNNEL, NSH].iter().any(|names| names.contains(&name))
}

/// Those that the text of a match has a place for, beside registers and what [`TUNNEL`] and [`NSH`] list.
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
    "vlan_tci",
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
/// Of tunnels, in the order in which a match prints them.
pub(super) const TUNNEL: &[&str] = &[
    "tun_src",
    "tun_dst",
    "tun_ipv6_src",
    "tun_ipv6_dst",
    "tun_gbp_id",
    "tun_gbp_flags",
    "tun_erspan_ver",
    "tun_erspan_idx",
    "tun_erspan_dir",
    "tun_erspan_hwid",
    "tun_gtpu_flags",
    "tun_gtpu_msgtype",
    "tun_flags",
];
/// Of NSH, in that order.
pub(super) const NSH: &[&str] = &[
    "nsh_flags",
    "nsh_ttl",
    "nsh_mdtype",
    "nsh_np",
    "nsh_spi",
    "nsh_si",
    "nsh_c1",
    "nsh_c2",
    "nsh_c3",
    "nsh_c4",
];
const CT_STATE: &[&str] = &["new", "est", "rel", "rpl", "inv", "trk", "snat", "dnat"];
const TCP_FLAGS: &[&str] = &[
    "fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr", "ns", "[200]", "[400]", "[800]",
];
