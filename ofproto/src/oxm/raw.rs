//! Fields outside OpenFlow's basic class, and field names without a value.

use bytes::{BufMut, Bytes, BytesMut};
use nom::Parser;
use nom::error::context;

use super::CLASS_EXPERIMENTER;
use crate::wire::{Parsed, Span, be_u8, be_u16, be_u32};

/// A field that this crate has no name for, kept as it came: another class, an unlisted number, or a mask on a
/// field for which OpenFlow 1.3 has none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RawOxm {
    /// `oxm_class`.
    pub class: u16,
    /// `oxm_field`, 7 bits.
    pub field: u8,
    /// `oxm_hasmask`: the second half of the body is a mask.
    pub has_mask: bool,
    /// What follows the header, at most 255 bytes; in class 0xffff it begins with the experimenter id.
    pub body: Bytes,
}

impl RawOxm {
    /// The experimenter, when the class is 0xffff.
    #[must_use]
    pub fn experimenter(&self) -> Option<u32> {
        if self.class != CLASS_EXPERIMENTER {
            return None;
        }
        self.body.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
    }

    /// With the mask applied and a full mask dropped; `None` when nothing is matched at all.
    pub(super) fn canonical(&self) -> Option<Self> {
        let prefix = if self.class == CLASS_EXPERIMENTER { 4 } else { 0 };
        let masked = self.body.len().saturating_sub(prefix);
        if !self.has_mask || masked == 0 || !masked.is_multiple_of(2) {
            return Some(self.clone());
        }
        let middle = prefix + masked / 2;
        let mask = &self.body[middle..];
        if mask.iter().all(|byte| *byte == 0) {
            return None;
        }
        if mask.iter().all(|byte| *byte == 0xff) {
            return Some(Self {
                has_mask: false,
                body: self.body.slice(..middle),
                ..*self
            });
        }
        let mut body = BytesMut::from(&self.body[..]);
        for (at, mask) in (prefix..middle).zip(mask) {
            body[at] &= mask;
        }
        Some(Self {
            body: body.freeze(),
            ..*self
        })
    }
}

/// The header of an OXM field without its value: names a field in table features, OpenFlow 1.3.5 §7.3.5.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OxmId {
    /// `oxm_class`.
    pub class: u16,
    /// `oxm_field`, 7 bits.
    pub field: u8,
    /// `oxm_hasmask`: the table can match the field with any mask.
    pub has_mask: bool,
    /// `oxm_length`: the length of a value, in bytes.
    pub length: u8,
    /// The experimenter, in class 0xffff only.
    pub experimenter: Option<u32>,
}

impl OxmId {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (class, field, length)) = context("oxm_header", (be_u16, be_u8, be_u8)).parse(i)?;
        let (i, experimenter) = if class == CLASS_EXPERIMENTER {
            let (i, id) = context("ofp_oxm_experimenter_header", be_u32).parse(i)?;
            (i, Some(id))
        } else {
            (i, None)
        };
        Ok((
            i,
            Self {
                class,
                field: field >> 1,
                has_mask: field & 1 == 1,
                length,
                experimenter,
            },
        ))
    }

    pub(crate) fn put(self, out: &mut BytesMut) {
        put_header(out, self.class, self.field, self.has_mask, self.length);
        if self.class == CLASS_EXPERIMENTER {
            out.put_u32(self.experimenter.unwrap_or(0));
        }
    }
}

pub(super) fn put_header(out: &mut BytesMut, class: u16, field: u8, has_mask: bool, length: u8) {
    out.put_u16(class);
    out.put_u8(field << 1 | u8::from(has_mask));
    out.put_u8(length);
}
