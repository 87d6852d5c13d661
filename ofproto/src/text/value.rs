//! Text of the values of fields, in the manner of each field.

use std::net::Ipv4Addr;

use super::fields::{Field, Format};
use super::hex::put_number;
use super::{Ipv6Text, MacText};
use crate::{MacAddr, OxmField, PortNo, RawOxm};

/// Value, mask and name of a field to set; `false` when it is none of Open vSwitch's.
pub(super) fn put_raw_value(out: &mut String, raw: &RawOxm) -> bool {
    let Some(field) = Field::of(OxmField::Raw(raw.clone()).id()) else {
        return false;
    };
    if field.is_tunnel_option() {
        let (value, mask) = halves(raw);
        put_number(out, value);
        if let Some(mask) = mask {
            out.push('/');
            put_number(out, mask);
        }
        put!(out, "->{}", field.name());
        return true;
    }
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

/// A number of one digit as it is, others in hexadecimal.
pub(super) fn put_short(out: &mut String, number: u128) {
    match number {
        0..=9 => put!(out, "{number}"),
        _ => put!(out, "{number:#x}"),
    }
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
pub(super) fn put_flags(out: &mut String, names: &[&str], value: u128, mask: u128, all: u128) {
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

/// Value and mask of a field without an experimenter.
pub(super) fn halves(raw: &RawOxm) -> (&[u8], Option<&[u8]>) {
    if raw.has_mask {
        let (value, mask) = raw.body.split_at(raw.body.len() / 2);
        (value, Some(mask))
    } else {
        (&raw.body, None)
    }
}

pub(super) fn all_ones(field: Field) -> u128 {
    u128::MAX
        .checked_shr(128u32.saturating_sub(field.bits().into()))
        .unwrap_or(0)
}

/// A port; in 16 bits the reserved ones have other numbers.
pub(super) fn port(value: u128) -> PortNo {
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
pub(super) struct Number(pub(super) u128);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == 0 {
            f.write_str("0")
        } else {
            write!(f, "{:#x}", self.0)
        }
    }
}

/// Tunnel flags, from bit 0.
pub(super) const TUNNEL_FLAGS: &[&str] = &["oam"];
