//! Text of Nicira's actions that put headers around packets and take them off.

use super::parts::Reader;
use crate::text::Hex;
use crate::text::hex::put_number;

/// `nx_action_encap`.
pub(super) fn put_encap(out: &mut String, mut body: Reader<'_>) -> Option<()> {
    body.skip(2)?;
    let packet_type = body.u32()?;
    let (name, _) = HEADERS.iter().find(|(_, number)| *number == packet_type)?;
    put!(out, "encap({name}");
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
                put!(out, "tlv(0x{class:04x},{type_},");
                put_number(out, value.take(length.into())?);
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
    if type_ != NEXT_PROTOCOL {
        let (space, type_) = (type_ >> 16, Hex((type_ & 0xffff).into()));
        put!(out, "packet_type(ns={space},type={type_})");
    }
    out.push(')');
    Some(())
}

/// Headers to put around packets, and the packet types that they make.
pub(in crate::text) const HEADERS: &[(&str, u32)] = &[
    ("ethernet", 0),
    ("nsh", 0x1_894f),
    ("mpls", 0x1_8847),
    ("mpls_mc", 0x1_8848),
];
/// `PT_USE_NEXT_PROTO`: the packet is of the type that the header which is taken off says.
pub(in crate::text) const NEXT_PROTOCOL: u32 = 0xfffe;
/// `OFPPPC_NSH`: the class of properties of network service headers.
pub(in crate::text) const NSH: u16 = 4;
