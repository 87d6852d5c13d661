//! The fields that Open vSwitch has: their names, their numbers on the wire, and how it prints their values.

mod families;

use self::families::{FAMILIES, Family, READ_ONLY, Space};
use crate::oxm::{CLASS_NXM_0, CLASS_NXM_1};
use crate::wire::Span;
use crate::{OxmField, OxmId, RawOxm};

/// A field that Open vSwitch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Field {
    /// Its place in the order in which Open vSwitch lists fields: the row in [`FAMILIES`].
    row: usize,
    /// Which one of the row.
    member: u8,
}

/// How a value is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Hex,
    Decimal,
    Mac,
    Ipv4,
    Ipv6,
    Port,
    PacketType,
    TunnelFlags,
    CtState,
    Fragment,
    TcpFlags,
}

impl Field {
    /// The field with this number; `None` when Open vSwitch has none.
    pub(super) fn of(id: OxmId) -> Option<Self> {
        let space = Space {
            class: id.class,
            experimenter: id.experimenter,
        };
        FAMILIES.iter().enumerate().find_map(|(row, family)| {
            family.ids.iter().find_map(|(of, first)| {
                let member = id.field.checked_sub(*first)?;
                (*of == space && member < family.count).then_some(Self { row, member })
            })
        })
    }

    /// The field with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::all().find(|field| field.name() == name)
    }

    fn all() -> impl Iterator<Item = Self> {
        FAMILIES
            .iter()
            .enumerate()
            .flat_map(|(row, family)| (0..family.count).map(move |member| Self { row, member }))
    }

    pub(super) fn name(self) -> String {
        let family = self.family();
        if family.count == 1 {
            family.stem.to_owned()
        } else {
            format!("{}{}", family.stem, family.first + self.member)
        }
    }

    /// The name in the manner of C of the first of its ids: `NXM_NX_REG0`.
    pub(super) fn wire_name(self) -> String {
        let family = self.family();
        if family.wire_stem.is_empty() || family.count == 1 {
            let name = if family.wire_stem.is_empty() {
                family.stem
            } else {
                family.wire_stem
            };
            name.to_owned()
        } else {
            // Members on the wire are counted as in the name.
            format!("{}{}", family.wire_stem, family.first + self.member)
        }
    }

    pub(super) fn format(self) -> Format {
        self.family().format
    }

    /// How many bits a value has.
    pub(super) fn bits(self) -> u16 {
        self.family().bits
    }

    /// May actions write it?
    pub(super) fn is_writable(self) -> bool {
        !READ_ONLY.contains(&self.family().stem)
    }

    /// Is it one of tunnel options, whose length is agreed between switch and controller?
    pub(super) fn is_tunnel_option(self) -> bool {
        self.bits() > 128
    }

    /// Does Open vSwitch take the value for the mask, whatever mask is given?
    pub(super) fn is_its_own_mask(self) -> bool {
        matches!(
            self.family().stem,
            "tun_erspan_ver" | "tun_erspan_dir" | "tun_erspan_hwid" | "tun_gtpu_flags" | "tun_gtpu_msgtype"
        )
    }

    /// Is it one of the network service header?
    pub(super) fn is_nsh(self) -> bool {
        self.family().stem.starts_with("nsh")
    }

    /// How many bytes a value has.
    pub(super) fn width(self) -> u8 {
        match self.family().bits.div_ceil(8) {
            1 if self.format() == Format::TunnelFlags => 2,
            // Three bytes travel in four.
            3 => 4,
            bytes => u8::try_from(bytes).unwrap_or(0),
        }
    }

    /// The field with this name on the wire, such as `NXM_NX_REG0`, or `OXM_OF_IN_PORT`.
    pub(super) fn named_on_wire(name: &str) -> Option<Self> {
        let name = match name.strip_prefix("OXM_OF_") {
            // OpenFlow's own number for what Nicira had numbered before.
            Some("IN_PORT") | None => return Self::all().find(|field| field.wire_name() == name),
            Some(rest) => rest,
        };
        let short = match name {
            "IPV4_SRC" => "IP_SRC",
            "IPV4_DST" => "IP_DST",
            "ICMPV4_TYPE" => "ICMP_TYPE",
            "ICMPV4_CODE" => "ICMP_CODE",
            "IPV6_FLABEL" => "IPV6_LABEL",
            "IPV6_ND_TARGET" => "ND_TARGET",
            "IPV6_ND_SLL" => "ND_SLL",
            "IPV6_ND_TLL" => "ND_TLL",
            "TUNNEL_ID" => "TUN_ID",
            other => other,
        };
        Self::all().find(|field| {
            let wire_name = field.wire_name();
            let stem = ["OXM_OF_", "NXM_OF_", "NXM_NX_"]
                .iter()
                .find_map(|prefix| wire_name.strip_prefix(prefix));
            stem == Some(short)
                && field
                    .id()
                    .is_some_and(|id| id.class != CLASS_NXM_0 && id.class != CLASS_NXM_1)
        })
    }

    /// The header with which Nicira's actions name the field.
    pub(super) fn header(self) -> Option<Vec<u8>> {
        // Without a value; the length is that of one.
        let mut header = self.nicira_entry(0, None)?;
        header.truncate(header.len().saturating_sub(self.width().into()));
        Some(header)
    }

    /// The id on the wire; of several the one that OpenFlow itself defines.
    pub(super) fn id(self) -> Option<OxmId> {
        let family = self.family();
        let (space, first) = family.ids.last()?;
        Some(OxmId {
            class: space.class,
            field: first + self.member,
            has_mask: false,
            length: self.width(),
            experimenter: space.experimenter,
        })
    }

    /// Value and mask of a field kept as bytes; `None` when they are not as wide as they should be.
    pub(super) fn value_in(self, raw: &RawOxm) -> Option<(u128, Option<u128>)> {
        let body = raw.body.get(if raw.experimenter().is_some() { 4 } else { 0 }..)?;
        let width = usize::from(self.width());
        if width > 16 {
            return None;
        }
        match (raw.has_mask, body.len()) {
            (false, length) if length == width => Some((number_of(body), None)),
            (true, length) if length == 2 * width => {
                let (value, mask) = body.split_at(width);
                Some((number_of(value), Some(number_of(mask))))
            }
            _ => None,
        }
    }

    /// The field with this value, by way of its form on the wire; `None` when it does not fit.
    pub(super) fn with_value(self, value: u128, mask: Option<u128>) -> Option<OxmField> {
        let id = self.id()?;
        let bytes = entry(id, value, mask)?.into();
        OxmField::parse(Span::new(&bytes)).ok().map(|(_, field)| field)
    }

    /// The field as Nicira's actions carry it: under the first number that is not an experimenter's, with this value.
    pub(super) fn nicira_entry(self, value: u128, mask: Option<u128>) -> Option<Vec<u8>> {
        let ids = self.family().ids;
        let usual = ids.iter().find(|(space, _)| space.experimenter.is_none());
        let (space, first) = usual.or(ids.first())?;
        let id = OxmId {
            class: space.class,
            field: first + self.member,
            has_mask: false,
            length: self.width(),
            experimenter: space.experimenter,
        };
        entry(id, value, mask)
    }

    fn family(self) -> &'static Family {
        &FAMILIES[self.row]
    }
}

/// At most sixteen bytes as a number.
pub(super) fn number_of(bytes: &[u8]) -> u128 {
    bytes
        .iter()
        .fold(0, |number, byte| number << 8 | u128::from(*byte))
}

/// A field on the wire; `None` when it is too long.
fn entry(id: OxmId, value: u128, mask: Option<u128>) -> Option<Vec<u8>> {
    let prefix: u8 = if id.experimenter.is_some() { 4 } else { 0 };
    let length = id.length.checked_mul(if mask.is_some() { 2 } else { 1 })?;
    let mut bytes = id.class.to_be_bytes().to_vec();
    bytes.push(id.field << 1 | u8::from(mask.is_some()));
    bytes.push(length.checked_add(prefix)?);
    if let Some(experimenter) = id.experimenter {
        bytes.extend(experimenter.to_be_bytes());
    }
    let width = usize::from(id.length);
    for number in [Some(value & mask.unwrap_or(u128::MAX)), mask]
        .into_iter()
        .flatten()
    {
        let whole = number.to_be_bytes();
        bytes.resize(bytes.len() + width.saturating_sub(whole.len()), 0);
        bytes.extend(&whole[whole.len().saturating_sub(width)..]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_with_a_number_is_found_by_it_and_by_its_name() {
        for field in Field::all() {
            assert_eq!(Field::named(&field.name()), Some(field));
            if let Some(id) = field.id() {
                assert_eq!(Field::of(id), Some(field), "{}", field.name());
            }
        }
    }
}
