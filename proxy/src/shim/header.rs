//! The eight bytes before each QUIC datagram.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---+---+-+-----+-------------------------------+---------------+
//! |0 0|ver|U|0 0 0|             echo              |               |
//! +---+---+-+-----+-------------------------------+               +
//! |                        sequence number                        |
//! +---------------------------------------------------------------+
//! ```
//!
//! - The first two bits are zero. A QUIC packet has the header form bit (long headers, version negotiation) or
//!   the fixed bit (short headers, stateless resets) set there (RFC 9000 §17), as long as neither end greases
//!   the fixed bit (RFC 9287): an endpoint over a shim must not offer to.
//! - `ver` is 1. Zero is left out so that zeroed bytes are no header.
//! - `U`: the packet belongs to the unordered stream of sequence numbers, which is never held back.
//! - `echo`: the delay gap that the sender of this packet measured on what it receives, in units of 16 µs;
//!   0 when it measured none, 65,535 for anything longer.
//! - The sequence number counts the packets of one stream to one peer, modulo 2^40, from a random start. A copy
//!   made by the network carries the same header as its original.
//!
//! Nothing here is authenticated; the modules that use a header say why a forged one does no harm.

use std::time::Duration;

use thiserror::Error;

/// What the shim adds to each datagram, in bytes.
pub const HEADER_LEN: usize = 8;

/// The header of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The stream of sequence numbers that the packet belongs to.
    pub stream: Stream,
    /// By how much second copies come later than first ones in the other direction; zero if unknown.
    pub echo: Duration,
    /// The packet's place in its stream.
    pub sequence: SequenceNumber,
}

/// A stream of sequence numbers; each direction between two peers has both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Packets that are best delivered in order: those of connections with QUIC streams.
    #[default]
    Ordered,
    /// Packets that are delivered as they come: those of connections with QUIC datagrams.
    Unordered,
}

/// A sequence number as it is on the wire: 40 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequenceNumber(u64);

/// What a received datagram is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form<'a> {
    /// A QUIC packet without a shim header.
    Plain,
    /// A shim header and the QUIC packet behind it.
    Shim(Header, &'a [u8]),
}

/// Why a datagram is neither a QUIC packet nor one with a header that we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HeaderError {
    /// There is no packet behind the header, or not even a header.
    #[error("{0} bytes are too short for a header and a packet")]
    Truncated(usize),
    /// A version of the header that we do not speak.
    #[error("shim version {0} is unknown")]
    Version(u8),
    /// Bits are set that version 1 leaves zero.
    #[error("reserved bits {0:#05b} are set")]
    Reserved(u8),
}

impl Header {
    /// Tells plain QUIC from a packet with a header, and takes the header off.
    pub fn decode(datagram: &[u8]) -> Result<Form<'_>, HeaderError> {
        let truncated = HeaderError::Truncated(datagram.len());
        if datagram.first().ok_or(truncated)? & QUIC_BITS != 0 {
            return Ok(Form::Plain);
        }
        let (&[first, e0, e1, s0, s1, s2, s3, s4], packet) =
            datagram.split_first_chunk::<HEADER_LEN>().ok_or(truncated)?;
        match (first >> VERSION_SHIFT, first & RESERVED_BITS) {
            (VERSION, 0) => {}
            (VERSION, reserved) => return Err(HeaderError::Reserved(reserved)),
            (version, _) => return Err(HeaderError::Version(version)),
        }
        if packet.is_empty() {
            return Err(truncated);
        }
        let header = Self {
            stream: if first & UNORDERED_BIT == 0 {
                Stream::Ordered
            } else {
                Stream::Unordered
            },
            echo: ECHO_UNIT * u32::from(u16::from_be_bytes([e0, e1])),
            sequence: SequenceNumber(u64::from_be_bytes([0, 0, 0, s0, s1, s2, s3, s4])),
        };
        Ok(Form::Shim(header, packet))
    }

    /// The bytes to send before the packet. The echo is rounded up to the unit of the wire.
    pub fn encode(&self) -> [u8; HEADER_LEN] {
        let unordered = if self.stream == Stream::Unordered {
            UNORDERED_BIT
        } else {
            0
        };
        let units = self.echo.as_micros().div_ceil(ECHO_UNIT.as_micros());
        let [e0, e1] = u16::try_from(units).unwrap_or(u16::MAX).to_be_bytes();
        let [_, _, _, s0, s1, s2, s3, s4] = self.sequence.0.to_be_bytes();
        [VERSION << VERSION_SHIFT | unordered, e0, e1, s0, s1, s2, s3, s4]
    }
}

impl SequenceNumber {
    /// How many there are: they count modulo this.
    pub const MODULUS: u64 = 1 << 40;

    /// The number on the wire of a count that never wraps.
    pub fn new(count: u64) -> Self {
        Self(count % Self::MODULUS)
    }

    /// The count that has this number on the wire and is nearest to `near`.
    pub fn expand(self, near: u64) -> u64 {
        let half = Self::MODULUS / 2;
        // The first count not below `near - half` that has this number.
        let floor = near.saturating_sub(half);
        let ahead = self.0.wrapping_sub(floor) % Self::MODULUS;
        floor.saturating_add(ahead)
    }
}

const QUIC_BITS: u8 = 0b1100_0000;
const VERSION_SHIFT: u32 = 4;
const VERSION: u8 = 1;
const UNORDERED_BIT: u8 = 0b0000_1000;
const RESERVED_BITS: u8 = 0b0000_0111;
const ECHO_UNIT: Duration = Duration::from_micros(16);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header(stream: Stream, echo_units: u16, count: u64) -> Header {
        Header {
            stream,
            echo: ECHO_UNIT * u32::from(echo_units),
            sequence: SequenceNumber::new(count),
        }
    }

    #[test]
    fn vectors_decode_and_encode() {
        let vectors: [(&[u8], Header); 3] = [
            (b"\x10\x00\x00\x00\x00\x00\x00\x01", header(Stream::Ordered, 0, 1)),
            (
                b"\x18\x04\xe2\x00\x00\x01\x02\x03",
                header(Stream::Unordered, 1250, 0x01_0203),
            ), // 20 ms
            (
                b"\x10\xff\xff\xff\xff\xff\xff\xff",
                header(Stream::Ordered, u16::MAX, (1 << 40) - 1),
            ),
        ];
        for (bytes, header) in vectors {
            assert_eq!(header.encode(), bytes);
            let datagram = [bytes, b"QUIC"].concat();
            assert_eq!(Header::decode(&datagram), Ok(Form::Shim(header, b"QUIC")));
        }
        assert_eq!(header(Stream::Unordered, 1250, 0).echo, Duration::from_millis(20));
    }

    #[test]
    fn quic_packets_are_plain() {
        for first in [0x40, 0x7f, 0x80, 0xc3, 0xff] {
            assert_eq!(Header::decode(&[first]), Ok(Form::Plain));
            assert_eq!(Header::decode(&[first; 1200]), Ok(Form::Plain));
        }
    }

    #[test]
    fn what_is_neither_is_refused_with_a_reason() {
        assert_eq!(Header::decode(b""), Err(HeaderError::Truncated(0)));
        assert_eq!(
            Header::decode(b"\x10\0\0\0\0\0\0"),
            Err(HeaderError::Truncated(7))
        );
        assert_eq!(
            Header::decode(b"\x10\0\0\0\0\0\0\0"),
            Err(HeaderError::Truncated(8))
        );
        assert_eq!(Header::decode(&[0; 20]), Err(HeaderError::Version(0)));
        assert_eq!(Header::decode(&[0x20; 20]), Err(HeaderError::Version(2)));
        assert_eq!(Header::decode(&[0x15; 20]), Err(HeaderError::Reserved(5)));
    }

    #[test]
    fn a_short_gap_is_not_told_as_none_and_a_long_one_does_not_wrap() {
        let told = |echo| {
            let bytes = Header {
                echo,
                ..header(Stream::Ordered, 0, 0)
            }
            .encode();
            match Header::decode(&[&bytes[..], b"Q"].concat()) {
                Ok(Form::Shim(header, _)) => header.echo,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(told(Duration::from_nanos(1_000)), ECHO_UNIT);
        assert_eq!(told(Duration::from_secs(3_600)), ECHO_UNIT * 65_535);
    }

    proptest! {
        #[test]
        fn every_header_survives_the_wire(unordered: bool, units: u16, count: u64, packet in prop::collection::vec(any::<u8>(), 1..40)) {
            let header = header(if unordered { Stream::Unordered } else { Stream::Ordered }, units, count);
            let datagram = [&header.encode()[..], &packet].concat();
            prop_assert_eq!(Header::decode(&datagram), Ok(Form::Shim(header, &packet[..])));
        }

        #[test]
        fn a_count_is_found_again_from_any_count_near_it(count in (1u64 << 40)..u64::MAX / 2, ahead in -(1i64 << 39)..(1i64 << 39)) {
            let near = count.saturating_add_signed(-ahead);
            prop_assert_eq!(SequenceNumber::new(count).expand(near), count);
        }
    }
}
