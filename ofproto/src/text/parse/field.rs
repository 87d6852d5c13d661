//! One field and its value: of a match, or to be set.

use super::piece::Piece;
use super::{Fault, flags, nicira, option};
use crate::oxm::CLASS_BASIC;
use crate::text::fields::{Field, Format};
use crate::{Action, Masked, OxmField};

/// A value and perhaps a mask.
#[derive(Clone, Copy)]
struct Value {
    value: u128,
    mask: Option<u128>,
}

/// Reads the value of a field; `None` when there is no field of this name.
pub(super) fn parse(name: &str, text: Piece<'_>) -> Result<Option<OxmField>, Fault> {
    // Fields that Open vSwitch does not have.
    match name {
        "in_phy_port" => return Ok(Some(OxmField::InPhyPort(text.port()?))),
        "pbb_isid" => {
            let isid = number(text, 24)?;
            return narrow(text, isid).map(OxmField::PbbIsid).map(Some);
        }
        "ipv6_exthdr" => {
            let bits = number(text, 9)?;
            return narrow(text, bits).map(OxmField::Ipv6Exthdr).map(Some);
        }
        "vlan_vid" => {
            let vid = number(text, 13)?;
            return narrow(text, vid).map(OxmField::VlanVid).map(Some);
        }
        _ => {}
    }
    let Some(field) = known(name) else {
        return Ok(None);
    };
    if field.id().is_none() {
        return Ok(None);
    }
    if field.is_tunnel_option() {
        return option::parse(field, text).map(Some);
    }
    let Value { value, mask } = parse_value(field, text)?;
    let (value, mask) = match mask {
        _ if !field.is_its_own_mask() => (value, mask),
        mask => (
            value & mask.unwrap_or(value),
            Some(value).filter(|value| *value != 0xff),
        ),
    };
    match field.with_value(value, mask) {
        Some(field) => Ok(Some(field)),
        None => Err(text.fault("a value of this field")),
    }
}

/// A field that Open vSwitch has, by one of its names.
pub(super) fn named(name: Piece<'_>) -> Option<Field> {
    known(match name.text {
        // In actions the field of 16 bits is meant.
        "in_port" => return Field::named("in_port"),
        other => other,
    })
}

/// The field of this name, be it the one of `ovs-ofctl` or the one on the wire.
pub(super) fn named_in_action(name: Piece<'_>) -> Option<Field> {
    Field::named_on_wire(name.text.strip_suffix("_W").unwrap_or(name.text)).or_else(|| named(name))
}

/// Reads a value of the whole field.
pub(super) fn parse_exact(field: Field, text: Piece<'_>) -> Result<u128, Fault> {
    match parse_value(field, text)? {
        Value { value, mask: None } => Ok(value),
        Value { .. } => Err(text.fault("a value without a mask")),
    }
}

/// Whether there is a field of this name.
pub(super) fn is_known(name: Piece<'_>) -> bool {
    known(name.text).is_some()
}

fn known(name: &str) -> Option<Field> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    Field::named(alias.map_or(name, |(_, name)| name))
}

/// Reads a field to set. One that is set in part becomes Nicira's actions.
pub(super) fn parse_to_set(name: Piece<'_>, text: Piece<'_>) -> Result<Option<Vec<Action>>, Fault> {
    if name.text == "in_port"
        && let Some(field) = named(name)
    {
        // The one of 16 bits is meant.
        let Value { value, .. } = parse_value(field, text)?;
        let field = field.with_value(value & 0xffff, None);
        return Ok(field.map(|field| vec![Action::SetField(field)]));
    }
    if let Some(field) = known(name.text) {
        if field.is_tunnel_option() {
            return option::parse_to_set(field, text).map(|action| Some(vec![action]));
        }
        let is_openflow = field.id().is_some_and(|id| id.class == CLASS_BASIC);
        if !is_openflow && !field.is_writable() {
            return Err(name.fault("a field that can be written"));
        }
    }
    let has_mask = text.split_once("/").is_some();
    if has_mask && let Some(field) = known(name.text) {
        let Value { value, mask } = parse_value(field, text)?;
        let all = u128::MAX
            .checked_shr(128u32.saturating_sub(field.bits().into()))
            .unwrap_or(0);
        if let Some(mask) = mask.map(|mask| mask & all).filter(|mask| *mask != all) {
            return match nicira::load(field, value, mask) {
                Some(actions) => Ok(Some(actions)),
                None => Err(name.fault("a field that can be set in part")),
            };
        }
    }
    let field = match known(name.text).filter(|field| field.is_its_own_mask()) {
        Some(field) => field.with_value(parse_exact(field, text)?, None),
        None => parse(name.text, text)?,
    };
    Ok(field.map(|field| vec![Action::SetField(field)]))
}

fn parse_value(field: Field, text: Piece<'_>) -> Result<Value, Fault> {
    match field.format() {
        Format::Hex | Format::Decimal => number(text, field.bits()),
        Format::PacketType => packet_type(text),
        Format::TunnelFlags => {
            let (value, mask) = flags::parse(text, flags::TUNNEL, 1)?;
            // The field is wider than its one flag.
            let mask = mask.or(Some(1));
            Ok(Value { value, mask })
        }
        Format::Port => Ok(Value {
            value: text.port()?.0.into(),
            mask: None,
        }),
        Format::Mac => with_mask(text, |text| {
            let bytes = text.mac()?.into_array();
            Ok(bytes
                .iter()
                .fold(0, |number, byte| number << 8 | u128::from(*byte)))
        }),
        Format::Ipv4 => address(text, 32, |text| {
            text.ipv4().map(|address| u32::from(address).into())
        }),
        Format::Ipv6 => address(text, 128, |text| text.ipv6().map(u128::from)),
        Format::CtState => {
            let (value, mask) = flags::parse(text, flags::CT_STATE, u32::MAX.into())?;
            let words = !text.text.starts_with(|c: char| c.is_ascii_digit());
            // There are eight flags, whatever the width of the field.
            let mask = mask.or(words.then_some(0xff));
            Ok(Value { value, mask })
        }
        Format::TcpFlags => flags::parse(text, flags::TCP, 0xfff).map(Value::from),
        Format::Fragment => {
            let (value, mask) = match text.text {
                "no" => (0, 3),
                "yes" => (1, 1),
                "first" => (1, 3),
                "later" => (3, 3),
                "not_later" => (0, 2),
                _ => return Err(text.fault("`no`, `yes`, `first`, `later` or `not_later`")),
            };
            Ok(Value {
                value,
                mask: Some(mask).filter(|mask| *mask != 3),
            })
        }
    }
}

/// `(1,0x800)`: a name space and a type in it.
fn packet_type(text: Piece<'_>) -> Result<Value, Fault> {
    let inner = text
        .text
        .strip_prefix('(')
        .and_then(|inner| inner.strip_suffix(')'));
    let parts = inner.and_then(|inner| text.from(1).to(inner.len()).split_once(","));
    let Some((space, type_)) = parts else {
        return Err(text.fault("a name space and a type, such as (1,0x800)"));
    };
    Ok(Value {
        value: u128::from(space.u16()?) << 16 | u128::from(type_.u16()?),
        mask: None,
    })
}

impl From<(u128, Option<u128>)> for Value {
    fn from((value, mask): (u128, Option<u128>)) -> Self {
        Self { value, mask }
    }
}

fn number(text: Piece<'_>, bits: u16) -> Result<Value, Fault> {
    let max = u128::MAX
        .checked_shr(128u32.saturating_sub(bits.into()))
        .unwrap_or(0);
    with_mask(text, |text| text.number(max))
}

fn with_mask(text: Piece<'_>, read: impl Fn(Piece<'_>) -> Result<u128, Fault>) -> Result<Value, Fault> {
    Ok(match text.split_once("/") {
        None => Value {
            value: read(text)?,
            mask: None,
        },
        Some((value, mask)) => Value {
            value: read(value)?,
            mask: Some(read(mask)?),
        },
    })
}

/// An address; its mask may be the length of a prefix.
fn address(
    text: Piece<'_>,
    bits: u32,
    read: impl Fn(Piece<'_>) -> Result<u128, Fault>,
) -> Result<Value, Fault> {
    let Some((value, mask)) = text.split_once("/") else {
        return read(text).map(|value| Value { value, mask: None });
    };
    let value = read(value)?;
    let mask = if mask.text.bytes().all(|byte| byte.is_ascii_digit()) {
        let length: u32 = mask.narrow(bits.into())?;
        let all = u128::MAX >> (128 - bits);
        all & !all.checked_shr(length).unwrap_or(0)
    } else {
        read(mask)?
    };
    Ok(Value {
        value,
        mask: Some(mask),
    })
}

fn narrow<T: TryFrom<u128>>(text: Piece<'_>, value: Value) -> Result<Masked<T>, Fault> {
    let narrow = |number| T::try_from(number).map_err(|_| text.fault("a smaller number"));
    Ok(Masked {
        value: narrow(value.value)?,
        mask: value.mask.map(narrow).transpose()?,
    })
}

/// Other names of fields.
const ALIASES: &[(&str, &str)] = &[
    ("in_port", "in_port_oxm"),
    ("tunnel_id", "tun_id"),
    ("dl_src", "eth_src"),
    ("dl_dst", "eth_dst"),
    ("dl_type", "eth_type"),
    ("nw_src", "ip_src"),
    ("nw_dst", "ip_dst"),
    ("ip_proto", "nw_proto"),
    ("ip_ecn", "nw_ecn"),
    ("ip_ttl", "nw_ttl"),
    ("nw_frag", "ip_frag"),
    ("tp_src", "tcp_src"),
    ("tp_dst", "tcp_dst"),
    ("nsp", "nsh_spi"),
    ("nsi", "nsh_si"),
    ("nshc1", "nsh_c1"),
    ("nshc2", "nsh_c2"),
    ("nshc3", "nsh_c3"),
    ("nshc4", "nsh_c4"),
    // As they are printed.
    ("gtpu_flags", "tun_gtpu_flags"),
    ("gtpu_msgtype", "tun_gtpu_msgtype"),
];
