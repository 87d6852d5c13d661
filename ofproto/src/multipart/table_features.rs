//! OFPMP_TABLE_FEATURES: what tables can do.

use bytes::{BufMut, Bytes, BytesMut};
use nom::Parser;
use nom::combinator::map;
use nom::error::context;

use crate::wire::{
    Parsed, Span, be_u8, be_u16, be_u32, be_u64, list, pad, part, patch_length, put_pad8, put_text, rest,
    text,
};
use crate::{EncodeError, OxmId, TableId};

/// `ofp_table_features`, OpenFlow 1.3.5 §7.3.5.5.
///
/// ```text
///  0       2         3       8      40               48               56       60            64
/// +-------+---------+-------+------+----------------+----------------+--------+-------------+------------+
/// | length| table_id| zeros | name | metadata_match | metadata_write | config | max_entries | properties |
/// +-------+---------+-------+------+----------------+----------------+--------+-------------+------------+
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFeatures {
    /// The table.
    pub table_id: TableId,
    /// Its name, at most 32 bytes.
    pub name: String,
    /// Bits of the metadata that it can match.
    pub metadata_match: u64,
    /// Bits of the metadata that it can write.
    pub metadata_write: u64,
    /// `ofp_table_config`: all bits are deprecated in 1.3.
    pub config: u32,
    /// How many flows it can have.
    pub max_entries: u32,
    /// What its flows can do.
    pub properties: Vec<TableFeatureProperty>,
}

/// The type of an instruction or action in table features: its header without the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeatureId {
    /// The type, see [`InstructionType`](crate::InstructionType) and [`ActionType`](crate::ActionType).
    pub type_: u16,
    /// The four bytes that follow when the length is 8: an experimenter's id.
    pub experimenter: Option<u32>,
}

impl FeatureId {
    /// A type without an experimenter.
    #[must_use]
    pub const fn new(type_: u16) -> Self {
        Self {
            type_,
            experimenter: None,
        }
    }
}

macro_rules! properties {
    ($($(#[$meta:meta])* $variant:ident($content:ty) = $number:literal, $parse:expr, $put:expr;)*) => {
        /// `ofp_table_feature_prop_header` and what follows it, OpenFlow 1.3.5 §7.3.5.5.2.
        ///
        /// A `…Miss` property is for the table-miss flow and may be left out when it equals the one without.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum TableFeatureProperty {
            $($(#[$meta])* $variant(Vec<$content>),)*
            /// An experimenter's own property (`OFPTFPT_EXPERIMENTER`, `OFPTFPT_EXPERIMENTER_MISS`).
            Experimenter {
                /// Is it for the table-miss flow?
                miss: bool,
                /// The experimenter.
                experimenter: u32,
                /// The type, as the experimenter numbers them.
                exp_type: u32,
                /// What follows.
                data: Bytes,
            },
            /// A type that is not listed.
            Unknown {
                /// The type.
                type_: u16,
                /// What follows the four bytes of header.
                data: Bytes,
            },
        }

        impl TableFeatureProperty {
            const fn type_(&self) -> u16 {
                match self {
                    $(Self::$variant(_) => $number,)*
                    Self::Experimenter { miss: false, .. } => EXPERIMENTER,
                    Self::Experimenter { miss: true, .. } => EXPERIMENTER_MISS,
                    Self::Unknown { type_, .. } => *type_,
                }
            }

            fn parse_body(type_: u16, i: Span<'_>) -> Parsed<'_, Self> {
                match type_ {
                    $($number => map(list($parse), Self::$variant).parse(i),)*
                    EXPERIMENTER | EXPERIMENTER_MISS => context(
                        "ofp_table_feature_prop_experimenter",
                        map((be_u32, be_u32, rest), |(experimenter, exp_type, data)| Self::Experimenter {
                            miss: type_ == EXPERIMENTER_MISS,
                            experimenter,
                            exp_type,
                            data,
                        }),
                    )
                    .parse(i),
                    _ => map(rest, |data| Self::Unknown { type_, data }).parse(i),
                }
            }

            fn put_body(&self, out: &mut BytesMut) {
                match self {
                    $(Self::$variant(items) => items.iter().for_each(|item| $put(*item, out)),)*
                    Self::Experimenter { experimenter, exp_type, data, .. } => {
                        out.put_u32(*experimenter);
                        out.put_u32(*exp_type);
                        out.put_slice(data);
                    }
                    Self::Unknown { data, .. } => out.put_slice(data),
                }
            }
        }
    };
}

properties! {
    /// Instructions (`OFPTFPT_INSTRUCTIONS`).
    Instructions(FeatureId) = 0, parse_feature_id, put_feature_id;
    /// Instructions of the table-miss flow (`OFPTFPT_INSTRUCTIONS_MISS`).
    InstructionsMiss(FeatureId) = 1, parse_feature_id, put_feature_id;
    /// Tables that goto-table can go to (`OFPTFPT_NEXT_TABLES`).
    NextTables(TableId) = 2, parse_table_id, put_table_id;
    /// Tables that goto-table of the table-miss flow can go to (`OFPTFPT_NEXT_TABLES_MISS`).
    NextTablesMiss(TableId) = 3, parse_table_id, put_table_id;
    /// Actions of write-actions (`OFPTFPT_WRITE_ACTIONS`).
    WriteActions(FeatureId) = 4, parse_feature_id, put_feature_id;
    /// Actions of write-actions of the table-miss flow (`OFPTFPT_WRITE_ACTIONS_MISS`).
    WriteActionsMiss(FeatureId) = 5, parse_feature_id, put_feature_id;
    /// Actions of apply-actions (`OFPTFPT_APPLY_ACTIONS`).
    ApplyActions(FeatureId) = 6, parse_feature_id, put_feature_id;
    /// Actions of apply-actions of the table-miss flow (`OFPTFPT_APPLY_ACTIONS_MISS`).
    ApplyActionsMiss(FeatureId) = 7, parse_feature_id, put_feature_id;
    /// Fields that can be matched (`OFPTFPT_MATCH`).
    Match(OxmId) = 8, OxmId::parse, OxmId::put;
    /// Fields that may be left out of a match (`OFPTFPT_WILDCARDS`).
    Wildcards(OxmId) = 10, OxmId::parse, OxmId::put;
    /// Fields that a set-field of write-actions can set (`OFPTFPT_WRITE_SETFIELD`).
    WriteSetField(OxmId) = 12, OxmId::parse, OxmId::put;
    /// The same of the table-miss flow (`OFPTFPT_WRITE_SETFIELD_MISS`).
    WriteSetFieldMiss(OxmId) = 13, OxmId::parse, OxmId::put;
    /// Fields that a set-field of apply-actions can set (`OFPTFPT_APPLY_SETFIELD`).
    ApplySetField(OxmId) = 14, OxmId::parse, OxmId::put;
    /// The same of the table-miss flow (`OFPTFPT_APPLY_SETFIELD_MISS`).
    ApplySetFieldMiss(OxmId) = 15, OxmId::parse, OxmId::put;
}

impl TableFeatures {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (after, (length, table_id, (), name)) =
            context("ofp_table_features", (be_u16, be_u8, pad(5), text(NAME_LEN))).parse(i)?;
        let (after, (metadata_match, metadata_write, config, max_entries)) =
            context("ofp_table_features", (be_u64, be_u64, be_u32, be_u32)).parse(after)?;
        let length = usize::from(length);
        let Some(properties) = length.checked_sub(HEADER_LEN) else {
            return Err(i.bad_length(length, "at least 64", "ofp_table_features.length"));
        };
        let (after, properties) = part(after, properties, "ofp_table_features.length")?;
        let (_, properties) = list(TableFeatureProperty::parse)(properties)?;
        let features = Self {
            table_id: TableId(table_id),
            name,
            metadata_match,
            metadata_write,
            config,
            max_entries,
            properties,
        };
        Ok((after, features))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        let start = out.len();
        out.put_u16(0);
        out.put_u8(self.table_id.0);
        out.put_bytes(0, 5);
        put_text(out, &self.name, NAME_LEN, "ofp_table_features.name")?;
        out.put_u64(self.metadata_match);
        out.put_u64(self.metadata_write);
        out.put_u32(self.config);
        out.put_u32(self.max_entries);
        self.properties
            .iter()
            .try_for_each(|property| property.put(out))?;
        patch_length(out, start, 0, "ofp_table_features")
    }
}

impl TableFeatureProperty {
    fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (after, (type_, length)) = context("ofp_table_feature_prop_header", (be_u16, be_u16)).parse(i)?;
        let length = usize::from(length);
        let Some(body) = length.checked_sub(4) else {
            return Err(i.bad_length(length, "at least 4", "ofp_table_feature_prop_header.length"));
        };
        let (after, body) = part(after, body, "ofp_table_feature_prop_header.length")?;
        let padding = length.next_multiple_of(8) - length;
        let (after, ()) = context("ofp_table_feature_prop_header.pad", pad(padding)).parse(after)?;
        let (_, property) = Self::parse_body(type_, body)?;
        Ok((after, property))
    }

    fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        let start = out.len();
        out.put_u16(self.type_());
        out.put_u16(0);
        self.put_body(out);
        patch_length(out, start, 2, "ofp_table_feature_prop_header")?;
        put_pad8(out, start);
        Ok(())
    }
}

fn parse_feature_id(i: Span<'_>) -> Parsed<'_, FeatureId> {
    let (after, (type_, length)) = context("ofp_table_feature_prop.id", (be_u16, be_u16)).parse(i)?;
    match length {
        4 => Ok((after, FeatureId::new(type_))),
        8 => {
            let (after, id) = context("ofp_table_feature_prop.id", be_u32).parse(after)?;
            Ok((
                after,
                FeatureId {
                    type_,
                    experimenter: Some(id),
                },
            ))
        }
        other => Err(i.bad_length(other.into(), "4 or 8", "ofp_table_feature_prop.id")),
    }
}

fn put_feature_id(id: FeatureId, out: &mut BytesMut) {
    out.put_u16(id.type_);
    match id.experimenter {
        None => out.put_u16(4),
        Some(experimenter) => {
            out.put_u16(8);
            out.put_u32(experimenter);
        }
    }
}

fn parse_table_id(i: Span<'_>) -> Parsed<'_, TableId> {
    context("ofp_table_feature_prop_next_tables", map(be_u8, TableId)).parse(i)
}

fn put_table_id(id: TableId, out: &mut BytesMut) {
    out.put_u8(id.0);
}

/// `OFP_MAX_TABLE_NAME_LEN`.
const NAME_LEN: usize = 32;
const HEADER_LEN: usize = 64;
/// `OFPTFPT_EXPERIMENTER`.
const EXPERIMENTER: u16 = 0xfffe;
/// `OFPTFPT_EXPERIMENTER_MISS`.
const EXPERIMENTER_MISS: u16 = 0xffff;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MultipartReplyBody;
    use crate::vector::{check, reply};

    #[test]
    fn table_features_vectors() {
        let id = FeatureId::new;
        let oxm = |field, has_mask, length| OxmId {
            class: 0x8000,
            field,
            has_mask,
            length,
            experimenter: None,
        };
        check(&[(
            "04 13 00b8 00000002 000c 0000 00000000
             00a8 02 0000000000                                   # table 2
             636c617373696679 000000000000000000000000000000000000000000000000  # classify
             ffffffffffffffff 00000000000000ff 00000003 000f4240
             0000 0014 0001 0004 0004 0004 ffff 0008 00002320 00000000  # instructions, one an experimenter's
             0002 0007 030405 00                                  # next tables
             0006 000c 0000 0004 0016 0004 00000000               # apply actions: output, group
             0008 000c 80000004 80000706 00000000                 # match: in_port, eth_dst with mask
             000e 000c ffff0206 00004f4e 00000000                 # set-field: class of an experimenter
             ffff 000e 00002320 00000001 abcd 0000                # experimenter's, table miss
             0077 0005 ee 000000                                  # unknown",
            reply(MultipartReplyBody::TableFeatures(vec![TableFeatures {
                table_id: TableId(2),
                name: "classify".to_owned(),
                metadata_match: u64::MAX,
                metadata_write: 0xff,
                config: 3,
                max_entries: 1_000_000,
                properties: vec![
                    TableFeatureProperty::Instructions(vec![
                        id(1),
                        id(4),
                        FeatureId {
                            type_: 0xffff,
                            experimenter: Some(0x2320),
                        },
                    ]),
                    TableFeatureProperty::NextTables(vec![TableId(3), TableId(4), TableId(5)]),
                    TableFeatureProperty::ApplyActions(vec![id(0), id(22)]),
                    TableFeatureProperty::Match(vec![oxm(0, false, 4), oxm(3, true, 6)]),
                    TableFeatureProperty::ApplySetField(vec![OxmId {
                        class: 0xffff,
                        field: 1,
                        has_mask: false,
                        length: 6,
                        experimenter: Some(0x4f4e),
                    }]),
                    TableFeatureProperty::Experimenter {
                        miss: true,
                        experimenter: 0x2320,
                        exp_type: 1,
                        data: Bytes::from_static(&[0xab, 0xcd]),
                    },
                    TableFeatureProperty::Unknown {
                        type_: 0x77,
                        data: Bytes::from_static(&[0xee]),
                    },
                ],
            }])),
        )]);
    }
}
