//! What the texts of Nicira's actions are made of.

use crate::text::fields::Field;
use crate::wire::Span;
use crate::{Action, Actions, OxmId, PortNo};

/// Words in parentheses, with commas between.
pub(super) struct Options<'a> {
    out: &'a mut String,
    separator: &'static str,
}

impl<'a> Options<'a> {
    pub(super) fn new(out: &'a mut String, name: &str) -> Self {
        put!(out, "{name}(");
        Self { out, separator: "" }
    }

    pub(super) fn some(&mut self, option: Option<String>) {
        if let Some(option) = option {
            put!(self.out, "{}{option}", self.separator);
            self.separator = ",";
        }
    }

    pub(super) fn finish(self) {
        self.out.push(')');
    }
}

pub(super) fn put_range(out: &mut String, field: Field, offset_and_bits: u16) {
    put_subfield(out, field, offset_and_bits >> 6, (offset_and_bits & 0x3f) + 1);
}

pub(super) fn put_subfield(out: &mut String, field: Field, offset: u16, bits: u16) {
    out.push_str(&field.wire_name());
    if offset == 0 && bits == field.bits() {
        out.push_str("[]");
    } else if bits == 1 {
        put!(out, "[{offset}]");
    } else {
        put!(
            out,
            "[{offset}..{}]",
            u32::from(offset) + u32::from(bits.saturating_sub(1))
        );
    }
}

/// Bytes in hexadecimal with dots between.
pub(super) fn put_dotted(out: &mut String, bytes: &[u8]) {
    for (at, byte) in bytes.iter().enumerate() {
        put!(out, "{}{byte:02x}", if at == 0 { "" } else { "." });
    }
}

/// A port in 16 bits: the reserved ones have other numbers than in 32.
pub(super) fn port_of(number: u16) -> PortNo {
    PortNo(if number >= IN_PORT {
        u32::from(number) | 0xffff_0000
    } else {
        number.into()
    })
}

/// What is left of an action.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) const fn rest(&self) -> &'a [u8] {
        self.0
    }

    pub(super) fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, left) = self.0.split_at_checked(bytes)?;
        self.0 = left;
        Some(taken)
    }

    pub(super) fn skip(&mut self, bytes: usize) -> Option<()> {
        self.take(bytes).map(|_| ())
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.take(2)?
            .first_chunk()
            .map(|bytes| u16::from_be_bytes(*bytes))
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.take(4)?
            .first_chunk()
            .map(|bytes| u32::from_be_bytes(*bytes))
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.take(8)?
            .first_chunk()
            .map(|bytes| u64::from_be_bytes(*bytes))
    }

    /// The header of a field.
    pub(super) fn field(&mut self) -> Option<Field> {
        let [class_high, class_low, field, length] = *self.take(4)?.first_chunk()?;
        let class = u16::from_be_bytes([class_high, class_low]);
        let experimenter = if class == u16::MAX {
            Some(self.u32()?)
        } else {
            None
        };
        Field::of(OxmId {
            class,
            field: field >> 1,
            has_mask: false,
            length,
            experimenter,
        })
    }

    pub(super) fn actions(&self) -> Option<Actions> {
        let bytes = self.0.to_vec().into();
        let mut actions = Actions::new();
        Action::fill_list(&mut actions, Span::new(&bytes)).ok()?;
        Some(actions)
    }
}

/// `OFPP_IN_PORT` in 16 bits.
pub(super) const IN_PORT: u16 = 0xfff8;
