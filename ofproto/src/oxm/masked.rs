//! Values with an optional mask, and how each type of value looks on the wire.

use std::net::{Ipv4Addr, Ipv6Addr};

use bytes::{BufMut, BytesMut};

use crate::{EncodeError, MacAddr, PortNo};

/// A value of which only the bits set in the mask matter; all of them without a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Masked<T> {
    /// The value. Bits outside the mask mean nothing and are written as zero.
    pub value: T,
    /// The mask: 1 is "must be equal". `None` is an exact value.
    pub mask: Option<T>,
}

impl<T> Masked<T> {
    /// The bits of `value` that are set in `mask`.
    pub const fn new(value: T, mask: T) -> Self {
        Self {
            value,
            mask: Some(mask),
        }
    }

    /// All bits of `value`.
    pub const fn exact(value: T) -> Self {
        Self { value, mask: None }
    }
}

impl<T> From<T> for Masked<T> {
    fn from(value: T) -> Self {
        Self::exact(value)
    }
}

impl Masked<Ipv4Addr> {
    /// The network that `address` is in when its first `length` bits (at most 32) are the prefix.
    #[must_use]
    pub fn prefix(address: Ipv4Addr, length: u8) -> Self {
        let mask = u32::MAX.checked_shl(32 - u32::from(length.min(32))).unwrap_or(0);
        Self::new(Ipv4Addr::from(u32::from(address) & mask), Ipv4Addr::from(mask))
    }
}

impl Masked<Ipv6Addr> {
    /// The network that `address` is in when its first `length` bits (at most 128) are the prefix.
    #[must_use]
    pub fn prefix(address: Ipv6Addr, length: u8) -> Self {
        let mask = u128::MAX
            .checked_shl(128 - u32::from(length.min(128)))
            .unwrap_or(0);
        Self::new(Ipv6Addr::from(u128::from(address) & mask), Ipv6Addr::from(mask))
    }
}

/// A type of value: how wide, how to read, write and mask it.
pub(super) trait Value: Copy + PartialEq {
    /// Reads exactly these bytes; `None` when they are not as many as a value has.
    fn read(bytes: &[u8]) -> Option<Self>;
    /// Writes `width` bytes; fails when the value is wider.
    fn write(self, width: u8, out: &mut BytesMut) -> Result<(), EncodeError>;
    /// The bits that are set in `mask` too.
    fn and(self, mask: Self) -> Self;
    /// All bits of a value `width` bytes wide.
    fn ones(width: u8) -> Self;
    /// No bits.
    fn zero() -> Self;
}

/// What a field carries: a plain value, or one with a mask.
pub(super) trait Content: Sized {
    /// May the field carry a mask?
    const MASKABLE: bool;
    /// Reads a value of `width` bytes, and as many of a mask; `None` when there are fewer or more.
    fn read(bytes: &[u8], width: usize, has_mask: bool) -> Option<Self>;
    fn write(&self, width: u8, out: &mut BytesMut) -> Result<(), EncodeError>;
    fn has_mask(&self) -> bool;
    /// With the mask applied and a full mask dropped; `None` when nothing is matched at all.
    fn canonical(&self, width: u8) -> Option<Self>;
}

impl<T: Value> Content for T {
    const MASKABLE: bool = false;

    #[inline]
    fn read(bytes: &[u8], width: usize, _: bool) -> Option<Self> {
        if bytes.len() == width {
            T::read(bytes)
        } else {
            None
        }
    }

    fn write(&self, width: u8, out: &mut BytesMut) -> Result<(), EncodeError> {
        Value::write(*self, width, out)
    }

    fn has_mask(&self) -> bool {
        false
    }

    fn canonical(&self, _: u8) -> Option<Self> {
        Some(*self)
    }
}

impl<T: Value> Content for Masked<T> {
    const MASKABLE: bool = true;

    #[inline]
    fn read(bytes: &[u8], width: usize, has_mask: bool) -> Option<Self> {
        let (value, mask) = bytes.split_at_checked(width)?;
        let value = T::read(value)?;
        match has_mask {
            true => T::read(mask).map(|mask| Self::new(value, mask)),
            false if mask.is_empty() => Some(Self::exact(value)),
            false => None,
        }
    }

    fn write(&self, width: u8, out: &mut BytesMut) -> Result<(), EncodeError> {
        match self.mask {
            None => self.value.write(width, out),
            Some(mask) => {
                self.value.and(mask).write(width, out)?;
                mask.write(width, out)
            }
        }
    }

    fn has_mask(&self) -> bool {
        self.mask.is_some()
    }

    fn canonical(&self, width: u8) -> Option<Self> {
        canonical_of(*self, T::ones(width))
    }
}

/// As [`Content::canonical`], for a value of which only these bits exist.
pub(super) fn canonical_of<T: Value>(masked: Masked<T>, bits: T) -> Option<Masked<T>> {
    match masked.mask {
        Some(mask) if mask.and(bits) == T::zero() => None,
        Some(mask) if mask.and(bits) != bits => Some(Masked::new(masked.value.and(mask), mask.and(bits))),
        _ => Some(Masked::exact(masked.value)),
    }
}

macro_rules! integer_value {
    ($int:ty, $write:ident) => {
        impl Value for $int {
            #[inline]
            fn read(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(Self::from_be_bytes)
            }

            fn write(self, _: u8, out: &mut BytesMut) -> Result<(), EncodeError> {
                out.$write(self);
                Ok(())
            }

            fn and(self, mask: Self) -> Self {
                self & mask
            }

            fn ones(_: u8) -> Self {
                <$int>::MAX
            }

            fn zero() -> Self {
                0
            }
        }
    };
}

integer_value!(u8, put_u8);
integer_value!(u16, put_u16);
integer_value!(u64, put_u64);

/// The widest number in three bytes.
const MAX_24_BITS: u32 = 0x00ff_ffff;

impl Value for u32 {
    #[inline]
    fn read(bytes: &[u8]) -> Option<Self> {
        match *bytes {
            [a, b, c] => Some(Self::from_be_bytes([0, a, b, c])),
            [a, b, c, d] => Some(Self::from_be_bytes([a, b, c, d])),
            _ => None,
        }
    }

    fn write(self, width: u8, out: &mut BytesMut) -> Result<(), EncodeError> {
        if width != 3 {
            out.put_u32(self);
        } else if self <= MAX_24_BITS {
            out.put_slice(&self.to_be_bytes()[1..]);
        } else {
            return Err(EncodeError::OutOfRange {
                context: "ofp_oxm.pbb_isid",
                value: u64::from(self),
                limit: u64::from(MAX_24_BITS),
            });
        }
        Ok(())
    }

    fn and(self, mask: Self) -> Self {
        self & mask
    }

    fn ones(width: u8) -> Self {
        if width == 3 { MAX_24_BITS } else { u32::MAX }
    }

    fn zero() -> Self {
        0
    }
}

impl Value for PortNo {
    #[inline]
    fn read(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(u32::from_be_bytes).map(PortNo)
    }

    fn write(self, _: u8, out: &mut BytesMut) -> Result<(), EncodeError> {
        out.put_u32(self.0);
        Ok(())
    }

    fn and(self, mask: Self) -> Self {
        Self(self.0 & mask.0)
    }

    fn ones(_: u8) -> Self {
        Self(u32::MAX)
    }

    fn zero() -> Self {
        Self(0)
    }
}

impl Value for MacAddr {
    #[inline]
    fn read(bytes: &[u8]) -> Option<Self> {
        <[u8; 6]>::try_from(bytes).ok().map(Self::from)
    }

    fn write(self, _: u8, out: &mut BytesMut) -> Result<(), EncodeError> {
        out.put_slice(self.as_bytes());
        Ok(())
    }

    fn and(self, mask: Self) -> Self {
        let mut bytes = self.into_array();
        for (byte, mask) in bytes.iter_mut().zip(mask.into_array()) {
            *byte &= mask;
        }
        Self::from(bytes)
    }

    fn ones(_: u8) -> Self {
        Self::broadcast()
    }

    fn zero() -> Self {
        Self::nil()
    }
}

impl Value for Ipv4Addr {
    #[inline]
    fn read(bytes: &[u8]) -> Option<Self> {
        <[u8; 4]>::try_from(bytes).ok().map(Self::from)
    }

    fn write(self, _: u8, out: &mut BytesMut) -> Result<(), EncodeError> {
        out.put_slice(&self.octets());
        Ok(())
    }

    fn and(self, mask: Self) -> Self {
        self & mask
    }

    fn ones(_: u8) -> Self {
        Self::BROADCAST
    }

    fn zero() -> Self {
        Self::UNSPECIFIED
    }
}

impl Value for Ipv6Addr {
    #[inline]
    fn read(bytes: &[u8]) -> Option<Self> {
        <[u8; 16]>::try_from(bytes).ok().map(Self::from)
    }

    fn write(self, _: u8, out: &mut BytesMut) -> Result<(), EncodeError> {
        out.put_slice(&self.octets());
        Ok(())
    }

    fn and(self, mask: Self) -> Self {
        self & mask
    }

    fn ones(_: u8) -> Self {
        Self::from(u128::MAX)
    }

    fn zero() -> Self {
        Self::UNSPECIFIED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_of_any_length_has_a_mask() {
        let address = Ipv4Addr::new(10, 1, 2, 3);
        assert_eq!(
            Masked::<Ipv4Addr>::prefix(address, 24).value,
            Ipv4Addr::new(10, 1, 2, 0)
        );
        assert_eq!(
            Masked::<Ipv4Addr>::prefix(address, 0).mask,
            Some(Ipv4Addr::UNSPECIFIED)
        );
        assert_eq!(
            Masked::<Ipv4Addr>::prefix(address, 200).mask,
            Some(Ipv4Addr::BROADCAST)
        );
        let address: Ipv6Addr = "2001:db8::1".parse().unwrap();
        assert_eq!(
            Masked::<Ipv6Addr>::prefix(address, 32).value.to_string(),
            "2001:db8::"
        );
        assert_eq!(
            Masked::<Ipv6Addr>::prefix(address, 0).mask,
            Some(Ipv6Addr::UNSPECIFIED)
        );
    }
}
