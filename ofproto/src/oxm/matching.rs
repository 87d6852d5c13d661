//! A match: fields in the order of the wire.

use bytes::{BufMut, BytesMut};

use super::OxmField;
use crate::wire::{Fault, Parsed, Span, answering, fill, fixed, or_answer, part, patch_length, put_pad8};
use crate::{DecodeErrorKind, EncodeError, ErrorCode, List, PortNo};

/// `ofp_match` of OXM fields, OpenFlow 1.3.5 §7.2.3.1. Without fields it matches every packet.
///
/// ```text
///  0       2       4
/// +-------+-------+----------------+- - - - -+
/// | 1     | length| OXM fields     | zeros   |   length counts all but the zeros,
/// +-------+-------+----------------+- - - - -+   which fill up to a multiple of 8
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Match {
    /// The fields, in the order in which they stand on the wire.
    pub fields: Fields,
}

/// The fields of a [`Match`]. Most packets for the controller come with one or two, most flows have few.
pub type Fields = List<OxmField, 4>;

impl Match {
    /// Matches every packet.
    #[inline]
    #[must_use]
    pub fn new() -> Self {
        Self {
            fields: Fields::new(),
        }
    }

    /// This match, narrowed by one more field.
    #[must_use]
    pub fn with(mut self, field: OxmField) -> Self {
        self.fields.push(field);
        self
    }

    /// The form in which two matches that mean the same are equal: fields ordered by class and number, values cut
    /// to their masks, full masks dropped, fields with an empty mask left out.
    #[must_use]
    pub fn sorted(&self) -> Self {
        let mut fields: Fields = self.fields.iter().filter_map(OxmField::canonical).collect();
        fields.sort_by_key(OxmField::class_and_number);
        Self { fields }
    }

    /// Reads the fields of a match that has none yet.
    #[inline]
    pub(crate) fn fill<'a>(&mut self, i: Span<'a>) -> Parsed<'a, ()> {
        let (after, fields) = Self::fields_in(i)?;
        self.fill_from(fields)?;
        Ok((after, ()))
    }

    /// The bytes of the fields of the match that begins the span; for [`fill_from`](Self::fill_from).
    #[inline]
    pub(crate) fn fields_in(i: Span<'_>) -> Parsed<'_, Span<'_>> {
        answering(ErrorCode::BAD_MATCH_BAD_LEN, |i: Span<'_>| {
            let (after, head) = fixed::<HEADER_LEN>(i, "ofp_match")?;
            let type_ = head.u16::<0>();
            if type_ != TYPE_OXM {
                return Err(i.refused(
                    DecodeErrorKind::MatchType { found: type_ },
                    "ofp_match.type",
                    ErrorCode::BAD_MATCH_BAD_TYPE,
                ));
            }
            let length = usize::from(head.u16::<2>());
            let Some(fields) = length.checked_sub(HEADER_LEN) else {
                return Err(i.bad_length(length, "at least 4", "ofp_match.length"));
            };
            let (after, fields) = part(after, fields, "ofp_match.oxm_fields")?;
            let padding = length.next_multiple_of(8) - length;
            let (after, _) = part(after, padding, "ofp_match.pad")?;
            Ok((after, fields))
        })(i)
    }

    /// The match that these bytes are the fields of, when it is a port alone.
    #[inline]
    pub(crate) fn in_port_alone(fields: Span<'_>) -> Option<Self> {
        let &[0x80, 0x00, 0x00, 0x04, a, b, c, d] = fields.bytes() else {
            return None;
        };
        let port = PortNo(u32::from_be_bytes([a, b, c, d]));
        Some(Self {
            fields: Fields::one(OxmField::InPort(port)),
        })
    }

    /// Reads the fields of a match that has none yet, to the end of the span.
    #[inline]
    pub(crate) fn fill_from(&mut self, fields: Span<'_>) -> Result<(), nom::Err<Fault>> {
        fill(&mut self.fields, fields, OxmField::length_of_next, |i, fields| {
            OxmField::parse_to(i, |field| fields.push(field))
        })
        .map_err(or_answer(ErrorCode::BAD_MATCH_BAD_LEN))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        let start = out.len();
        out.put_u16(TYPE_OXM);
        out.put_u16(0);
        for field in &self.fields {
            field.put(out)?;
        }
        patch_length(out, start, 2, "ofp_match")?;
        put_pad8(out, start);
        Ok(())
    }
}

impl FromIterator<OxmField> for Match {
    fn from_iter<I: IntoIterator<Item = OxmField>>(fields: I) -> Self {
        Self {
            fields: fields.into_iter().collect(),
        }
    }
}

/// `OFPMT_OXM`.
const TYPE_OXM: u16 = 1;
const HEADER_LEN: usize = 4;
