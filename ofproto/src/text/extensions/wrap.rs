//! Text of Nicira's actions that put headers around packets and take them off.

use super::parts::Reader;
use crate::text::Hex;

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

/// `OFPPPC_NSH`: the class of properties of network service headers.
const NSH: u16 = 4;
