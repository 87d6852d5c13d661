//! What Nicira's actions are made of on the wire.

use crate::text::parse::Fault;
use crate::text::parse::piece::Piece;
use crate::{Action, ExperimenterId, PortNo};

/// Bytes of two hexadecimal digits, with or without dots between.
pub(in crate::text::parse) fn hex_bytes(text: Piece<'_>) -> Result<Vec<u8>, Fault> {
    let digits: Vec<u8> = text
        .text
        .chars()
        .filter(|c| *c != '.')
        .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()
        .ok_or_else(|| text.fault("bytes in hexadecimal"))?;
    let (pairs, []) = digits.as_chunks::<2>() else {
        return Err(text.fault("two digits for each byte"));
    };
    Ok(pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

/// A port in 16 bits.
pub(super) fn port_of(text: Piece<'_>) -> Result<u16, Fault> {
    let PortNo(port) = text.port()?;
    let narrow = if port >= PortNo::IN_PORT.0 {
        port & 0xffff
    } else {
        port
    };
    u16::try_from(narrow).map_err(|_| text.fault("a port of 16 bits"))
}

/// What follows the experimenter in an action.
pub(in crate::text::parse) struct Body(Vec<u8>);

impl Body {
    pub(in crate::text::parse) fn new(subtype: u16) -> Self {
        Self(subtype.to_be_bytes().to_vec())
    }

    pub(in crate::text::parse) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    pub(in crate::text::parse) fn zeros(mut self, count: usize) -> Self {
        self.0.resize(self.0.len() + count, 0);
        self
    }

    pub(in crate::text::parse) fn u16(self, number: u16) -> Self {
        self.bytes(&number.to_be_bytes())
    }

    pub(in crate::text::parse) fn u32(self, number: u32) -> Self {
        self.bytes(&number.to_be_bytes())
    }

    pub(in crate::text::parse) fn u64(self, number: u64) -> Self {
        self.bytes(&number.to_be_bytes())
    }

    pub(super) fn actions(mut self, actions: &[Action]) -> Self {
        let mut bytes = bytes::BytesMut::new();
        // Too long a list is found when the whole is encoded.
        if Action::put_list(actions, &mut bytes).is_ok() {
            self.0.extend(bytes);
        }
        self
    }

    /// A property: its type, its length, its value, and zeros up to a multiple of eight bytes.
    pub(super) fn property(self, type_: u16, value: &[u8]) -> Self {
        let length = value.len() + 4;
        let padding = length.next_multiple_of(8) - length;
        let body = self.u16(type_).u16(u16::try_from(length).unwrap_or(u16::MAX));
        body.bytes(value).zeros(padding)
    }

    /// A property in the manner of `encap`, whose type and length have eight bits each.
    pub(super) fn short_property(self, class: u16, type_: u8, value: &[u8]) -> Self {
        let length = value.len() + 4;
        let padding = length.next_multiple_of(8) - length;
        let length = u8::try_from(length).unwrap_or(u8::MAX);
        self.u16(class)
            .bytes(&[type_, length])
            .bytes(value)
            .zeros(padding)
    }

    /// The action, filled up with zeros to a multiple of eight bytes.
    pub(in crate::text::parse) fn action(mut self) -> Action {
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        Action::Experimenter {
            experimenter: ExperimenterId::NICIRA.0,
            data: self.0.into(),
        }
    }
}
