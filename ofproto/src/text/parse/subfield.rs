//! A field or some bits of it: `NXM_NX_REG0[0..7]`, `reg0[3]`, `eth_src`.

use super::Fault;
use super::field::named_in_action;
use super::piece::Piece;
use crate::text::fields::Field;

/// Bits of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Subfield {
    pub(super) field: Field,
    /// The lowest bit.
    pub(super) offset: u16,
    /// How many there are, at least 1.
    pub(super) bits: u16,
}

impl Subfield {
    pub(super) fn parse(text: Piece<'_>) -> Result<Self, Fault> {
        let (name, range) = match text.split_once("[") {
            Some((name, range)) => (name, Some(range)),
            None => (text, None),
        };
        let field = named_in_action(name).ok_or_else(|| name.fault("a field, such as NXM_NX_REG0[]"))?;
        let whole = Self {
            field,
            offset: 0,
            bits: field.bits(),
        };
        let Some(range) = range else { return Ok(whole) };
        let Some((range, after)) = range.split_once("]") else {
            return Err(range.from(range.text.len()).fault("`]`"));
        };
        if !after.text.is_empty() {
            return Err(after.fault("nothing after `]`"));
        }
        if range.text.is_empty() {
            return Ok(whole);
        }
        let last_bit = u128::from(field.bits().saturating_sub(1));
        let (first, last): (u16, u16) = match range.split_once("..") {
            Some((first, last)) => (first.narrow(last_bit)?, last.narrow(last_bit)?),
            None => (range.narrow(last_bit)?, range.narrow(last_bit)?),
        };
        if first > last {
            return Err(range.fault("the lower bit first"));
        }
        Ok(Self {
            field,
            offset: first,
            bits: last - first + 1,
        })
    }

    /// Offset and number of bits in one word.
    pub(super) const fn range(self) -> u16 {
        self.offset << 6 | self.bits.saturating_sub(1) & 0x3f
    }

    pub(super) fn is_whole(self) -> bool {
        self.offset == 0 && self.bits == self.field.bits()
    }

    /// The largest number that fits.
    pub(super) fn ones(self) -> u128 {
        u128::MAX
            .checked_shr(128u32.saturating_sub(self.bits.into()))
            .unwrap_or(0)
    }

    /// How the field is called on the wire, where there is no room for an experimenter.
    pub(super) fn short_header(self, text: Piece<'_>) -> Result<Vec<u8>, Fault> {
        let header = self.header(text)?;
        if header.len() > 4 {
            return Err(text.fault("a field that has a number other than an experimenter's"));
        }
        Ok(header)
    }

    /// How the field is called on the wire.
    pub(super) fn header(self, text: Piece<'_>) -> Result<Vec<u8>, Fault> {
        self.field
            .header()
            .ok_or_else(|| text.fault("a field that has a number on the wire"))
    }
}
