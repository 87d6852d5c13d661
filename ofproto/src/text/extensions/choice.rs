//! Text of Nicira's actions that choose among links by a hash, and of those that wrap packets.

use super::parts::{Reader, port_of, put_range};
use crate::text::Hex;

/// `nx_action_multipath`.
pub(super) fn put_multipath(out: &mut String, mut body: Reader<'_>) -> Option<()> {
    let (fields, basis) = (hashed(body.u16()?)?, body.u16()?);
    body.skip(2)?;
    let algorithm = ["modulo_n", "hash_threshold", "hrw", "iter_hash"].get(usize::from(body.u16()?))?;
    let (last_link, argument) = (u32::from(body.u16()?), body.u32()?);
    body.skip(2)?;
    let range = body.u16()?;
    put!(
        out,
        "multipath({fields},{basis},{algorithm},{},{argument},",
        last_link + 1
    );
    put_range(out, body.field()?, range);
    out.push(')');
    Some(())
}

/// `nx_action_bundle`, whose choice is sent out of or, if `loads`, written to a field.
pub(super) fn put_bundle(out: &mut String, mut body: Reader<'_>, loads: bool) -> Option<()> {
    let algorithm = ["active_backup", "hrw"].get(usize::from(body.u16()?))?;
    let (fields, basis) = (hashed(body.u16()?)?, body.u16()?);
    body.skip(4)?;
    let (count, range) = (body.u16()?, body.u16()?);
    let mut target = Reader::new(body.take(8)?);
    put!(
        out,
        "{}({fields},{basis},{algorithm},ofport,",
        if loads { "bundle_load" } else { "bundle" }
    );
    if loads {
        put_range(out, target.field()?, range);
        out.push(',');
    }
    out.push_str("members:");
    for at in 0..count {
        put!(out, "{}{}", if at == 0 { "" } else { "," }, port_of(body.u16()?));
    }
    out.push(')');
    Some(())
}

/// `nx_action_encap`.
pub(super) fn put_encap(out: &mut String, mut body: Reader<'_>) -> Option<()> {
    body.skip(2)?;
    put!(
        out,
        "encap({}",
        match body.u32()? {
            0 => "ethernet",
            0x1_894f => "nsh",
            0x1_8847 => "mpls",
            0x1_8848 => "mpls_mc",
            _ => return None,
        }
    );
    let mut separator = "(";
    while !body.is_empty() {
        let (class, type_, length) = (body.u16()?, body.u8()?, usize::from(body.u8()?));
        let mut value = Reader::new(body.take(length.checked_sub(4)?)?);
        body.skip(length.next_multiple_of(8) - length)?;
        out.push_str(separator);
        separator = ",";
        match (class, type_) {
            (NSH, 1) => put!(out, "md_type={}", value.u8()?),
            (NSH, 2) => {
                let (class, type_, length) = (value.u16()?, value.u8()?, value.u8()?);
                put!(out, "tlv(0x{class:04x},{type_},0x");
                crate::text::hex::put_hex(out, value.take(length.into())?);
                out.push(')');
            }
            _ => return None,
        }
    }
    out.push_str(if separator == "," { "))" } else { ")" });
    Some(())
}

/// `nx_action_decap`.
pub(super) fn put_decap(out: &mut String, mut body: Reader<'_>) -> Option<()> {
    body.skip(2)?;
    let type_ = body.u32()?;
    out.push_str("decap(");
    // What follows the header that is taken away goes without saying.
    if type_ != 0xfffe {
        let (space, type_) = (type_ >> 16, Hex((type_ & 0xffff).into()));
        put!(out, "packet_type(ns={space},type={type_})");
    }
    out.push(')');
    Some(())
}

/// `nx_hash_fields`: what is hashed.
fn hashed(number: u16) -> Option<&'static str> {
    const NAMES: &[&str] = &[
        "eth_src",
        "symmetric_l4",
        "symmetric_l3l4",
        "symmetric_l3l4+udp",
        "nw_src",
        "nw_dst",
        "symmetric_l3",
    ];
    NAMES.get(usize::from(number)).copied()
}

/// `OFPPPC_NSH`: the class of properties of network service headers.
const NSH: u16 = 4;
