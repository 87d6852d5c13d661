//! Headers put around packets and taken off: `encap(nsh(md_type=1))`, `decap(packet_type(ns=0,type=0))`.

use super::body::{Body, hex_bytes};
use crate::Action;
use crate::text::extensions::wrap::{HEADERS, NEXT_PROTOCOL, NSH};
use crate::text::parse::Fault;
use crate::text::parse::piece::{Pair, Piece};

/// `nx_action_encap`.
pub(super) fn parse_encap(text: Piece<'_>) -> Result<Action, Fault> {
    let Some(header) = text.pairs().next()? else {
        return Err(text.fault("a header"));
    };
    let Some((name, packet_type)) = HEADERS.iter().find(|(name, _)| *name == header.key.text) else {
        return Err(header.key.fault("`ethernet`, `nsh`, `mpls` or `mpls_mc`"));
    };
    let mut body = Body::new(46).zeros(2).u32(*packet_type);
    let Some(value) = header.value else {
        return Ok(body.action());
    };
    let mut properties = value.pairs();
    while let Some(property) = properties.next()? {
        body = match property.key.text {
            "md_type" if *name == "nsh" => {
                let value = property.value("1 or 2")?;
                match value.u8()? {
                    type_ @ (1 | 2) => body.short_property(NSH, 1, &[type_]),
                    _ => return Err(value.fault("1 or 2")),
                }
            }
            "tlv" if *name == "nsh" => body.short_property(NSH, 2, &parse_tlv(property)?),
            _ => return Err(property.key.fault("`md_type` or `tlv` of `nsh`")),
        };
    }
    Ok(body.action())
}

/// `tlv(0x1000,10,0x12345678)`: class, type and value of a variable length.
fn parse_tlv(property: Pair<'_>) -> Result<Vec<u8>, Fault> {
    let text = property.value("a class, a type and a value")?;
    let parts: Vec<_> = text.split(',').collect();
    let &[class, type_, value] = &parts[..] else {
        return Err(text.fault("a class, a type and a value"));
    };
    let [class_word, digits] = [class, value].map(|word| match word.text.strip_prefix("0x") {
        Some(digits) if !digits.is_empty() => Ok(word.from(2)),
        _ => Err(word.fault("`0x` and hexadecimal digits")),
    });
    class_word?;
    let value = hex_bytes(digits?)?;
    let length = u8::try_from(value.len())
        .ok()
        .filter(|length| *length <= MAX_TLV)
        .ok_or_else(|| text.fault("a value of at most 125 bytes"))?;
    let mut bytes = class.u16()?.to_be_bytes().to_vec();
    bytes.extend([type_.u8()?, length]);
    bytes.extend(&value);
    bytes.resize(4 + value.len().next_multiple_of(8), 0);
    Ok(bytes)
}

/// `nx_action_decap`.
pub(super) fn parse_decap(pair: Pair<'_>) -> Result<Action, Fault> {
    let mut packet_type = NEXT_PROTOCOL;
    if let Some(option) = pair
        .value
        .map(|value| value.pairs().next())
        .transpose()?
        .flatten()
    {
        if option.key.text != "packet_type" {
            return Err(option.key.fault("`packet_type`"));
        }
        packet_type = parse_packet_type(option.value("`ns` and `type`")?)?;
    }
    Ok(Body::new(47).zeros(2).u32(packet_type).action())
}

/// `ns=1,type=0x800`.
fn parse_packet_type(text: Piece<'_>) -> Result<u32, Fault> {
    let mut parts = text.pairs();
    let (Some(space), Some(type_)) = (parts.next()?, parts.next()?) else {
        return Err(text.fault("`ns` and `type`"));
    };
    if (space.key.text, type_.key.text) != ("ns", "type") {
        return Err(text.fault("`ns` and `type`"));
    }
    let space = space.value("a name space")?.narrow::<u32>(4)?;
    Ok(space << 16 | u32::from(type_.value("a type")?.u16()?))
}

/// What a length of eight bits has room for, in whole words.
const MAX_TLV: u8 = 125;
