//! HELLO: which versions a peer speaks.

use bytes::{BufMut, Bytes, BytesMut};
use nom::Parser;
use nom::error::context;

use crate::wire::{Parsed, Span, array_of, be_u16, be_u32, part, patch_length, put_pad8, rest, span};
use crate::{EncodeError, VERSION};

/// `ofp_hello`, OpenFlow 1.3.5 §7.5.1: the first message on a connection, readable at any version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The version byte of the message's header.
    pub header_version: u8,
    /// `ofp_hello_elem_versionbitmap`. Without one a peer speaks [`header_version`](Self::header_version) and may
    /// speak every version below it.
    pub bitmap: Option<VersionBitmap>,
    /// Elements of other types, in their order; they are written after the bitmap.
    pub other: Vec<HelloElement>,
}

/// Versions as a bitmap: bit *n* of the whole is wire version *n*, each word holds 32 of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionBitmap(pub Vec<u32>);

/// An element of a HELLO that is not listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelloElement {
    /// `ofp_hello_elem_type`.
    pub type_: u16,
    /// What follows the four bytes of header.
    pub data: Bytes,
}

impl Hello {
    /// The HELLO of a peer that speaks OpenFlow 1.3 and nothing else.
    #[must_use]
    pub fn v1_3() -> Self {
        Self {
            header_version: VERSION,
            bitmap: Some(VersionBitmap::of(&[VERSION])),
            other: Vec::new(),
        }
    }

    /// The wire versions that the peer offers, lowest first: 0x01 is OpenFlow 1.0, 0x04 is 1.3.
    ///
    /// Without a bitmap it is the version of the header alone.
    #[must_use]
    pub fn versions(&self, header_version: u8) -> Vec<u8> {
        match &self.bitmap {
            Some(bitmap) => bitmap.versions().collect(),
            None => vec![header_version],
        }
    }

    /// Does the peer speak this version? With bitmaps on both sides the bitmap decides. A peer without one
    /// negotiates by its header: it must be able to take any version up to that one (§6.3.1).
    #[must_use]
    pub fn accepts(&self, version: u8) -> bool {
        match &self.bitmap {
            Some(bitmap) => bitmap.versions().any(|offered| offered == version),
            None => version <= self.header_version,
        }
    }

    pub(crate) fn parse(i: Span<'_>, header_version: u8) -> Parsed<'_, Self> {
        let none = Self {
            header_version,
            bitmap: None,
            other: Vec::new(),
        };
        match none.clone().take_elements(i) {
            // Before version 4 the body had no meaning and could hold anything.
            Err(_) if header_version < VERSION => rest(i).map(|(end, _)| (end, none)),
            parsed => parsed,
        }
    }

    fn take_elements(mut self, mut i: Span<'_>) -> Parsed<'_, Self> {
        while !i.is_empty() {
            let (after, element) = element(i)?;
            match element {
                Element::Bitmap(bitmap) if self.bitmap.is_none() => self.bitmap = Some(bitmap),
                // A second bitmap adds nothing that the first one could not have said.
                Element::Bitmap(_) => {}
                Element::Other(element) => self.other.push(element),
            }
            i = after;
        }
        Ok((i, self))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        if let Some(VersionBitmap(words)) = &self.bitmap {
            let start = out.len();
            out.put_u16(TYPE_VERSION_BITMAP);
            out.put_u16(0);
            for word in words {
                out.put_u32(*word);
            }
            patch_length(out, start, 2, "ofp_hello_elem_versionbitmap")?;
            put_pad8(out, start);
        }
        for element in &self.other {
            let start = out.len();
            out.put_u16(element.type_);
            out.put_u16(0);
            out.put_slice(&element.data);
            patch_length(out, start, 2, "ofp_hello_elem_header")?;
            put_pad8(out, start);
        }
        Ok(())
    }
}

impl VersionBitmap {
    /// The bitmap with these wire versions in it.
    #[must_use]
    pub fn of(versions: &[u8]) -> Self {
        let mut words = Vec::new();
        for version in versions {
            let word = usize::from(version / 32);
            if words.len() <= word {
                words.resize(word + 1, 0);
            }
            words[word] |= 1 << (version % 32);
        }
        Self(words)
    }

    /// The wire versions in it, lowest first.
    pub fn versions(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=u8::MAX).filter(|version| {
            let word = self.0.get(usize::from(version / 32)).copied().unwrap_or(0);
            word >> (version % 32) & 1 == 1
        })
    }
}

enum Element {
    Bitmap(VersionBitmap),
    Other(HelloElement),
}

fn element(i: Span<'_>) -> Parsed<'_, Element> {
    let (after, (type_, length)) = context("ofp_hello_elem_header", (be_u16, be_u16)).parse(i)?;
    let length = usize::from(length);
    let Some(body) = length.checked_sub(4) else {
        return Err(i.bad_length(length, "at least 4", "ofp_hello_elem_header.length"));
    };
    let (after, body) = part(after, body, "ofp_hello_elem_header.length")?;
    // The padding of the last element may be missing: some peers count it neither here nor in the header.
    let padding = (length.next_multiple_of(8) - length).min(after.len());
    let (after, _) = span(after, padding)?;
    if type_ != TYPE_VERSION_BITMAP {
        return Ok((
            after,
            Element::Other(HelloElement {
                type_,
                data: body.share(),
            }),
        ));
    }
    let (_, words) = context("ofp_hello_elem_versionbitmap.bitmaps", array_of(4, be_u32)).parse(body)?;
    Ok((after, Element::Bitmap(VersionBitmap(words))))
}

/// `OFPHET_VERSIONBITMAP`.
const TYPE_VERSION_BITMAP: u16 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use crate::vector::{bytes, check};

    #[test]
    fn hello_vectors() {
        check(&[
            (
                "04 00 0010 00000001    # header
                 0001 0008 00000010     # version bitmap: 0x04",
                Message::Hello(Hello::v1_3()),
            ),
            (
                "04 00 0008 00000001",
                Message::Hello(Hello {
                    header_version: 4,
                    bitmap: None,
                    other: vec![],
                }),
            ),
            (
                "06 00 0020 00000001              # a peer that speaks 1.5 as well
                 0001 000c 00000052 00000000 00000000  # 0x01, 0x04, 0x06; a second word; padding
                 0077 0006 abcd 0000              # an element of another type",
                Message::Hello(Hello {
                    header_version: 6,
                    bitmap: Some(VersionBitmap(vec![0x52, 0])),
                    other: vec![HelloElement {
                        type_: 0x77,
                        data: Bytes::from_static(&[0xab, 0xcd]),
                    }],
                }),
            ),
        ]);
    }

    #[test]
    fn versions_come_from_the_bitmap_or_else_from_the_header() {
        let hello = |bitmap| Hello {
            header_version: 1,
            bitmap,
            other: vec![],
        };
        assert_eq!(
            hello(Some(VersionBitmap::of(&[1, 4, 33]))).versions(1),
            [1, 4, 33]
        );
        assert_eq!(hello(None).versions(1), [1]);
        assert!(hello(Some(VersionBitmap::of(&[1, 4]))).accepts(4));
        assert!(!hello(Some(VersionBitmap::of(&[1, 6]))).accepts(4));
        assert!(!hello(None).accepts(4));
    }

    #[test]
    fn hello_of_an_old_peer_may_hold_anything() {
        let frame = bytes("01 00 000b 00000001 ffff00");
        let (header, message) = Message::decode(&frame.into()).unwrap();
        assert_eq!(header.version, 1);
        assert_eq!(
            message,
            Message::Hello(Hello {
                header_version: 1,
                bitmap: None,
                other: vec![]
            })
        );
        assert!(Message::decode(&bytes("04 00 000b 00000001 ffff00").into()).is_err());
    }
}
