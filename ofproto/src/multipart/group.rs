//! OFPMP_GROUP, OFPMP_GROUP_DESC, OFPMP_GROUP_FEATURES: groups.

use bytes::{BufMut, BytesMut};
use nom::Parser;
use nom::error::context;

use crate::macros::flags;
use crate::wire::{Parsed, Span, array_of, be_u8, be_u16, be_u32, be_u64, pad, part, patch_length};
use crate::{Bucket, EncodeError, GroupId, GroupType};

/// `ofp_group_stats`, OpenFlow 1.3.5 §7.3.5.9.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupStats {
    /// The group.
    pub group_id: GroupId,
    /// How many flows and groups use it.
    pub ref_count: u32,
    /// Packets that it was given.
    pub packet_count: u64,
    /// Bytes that it was given.
    pub byte_count: u64,
    /// How long it has been there, whole seconds.
    pub duration_sec: u32,
    /// How long it has been there, nanoseconds beyond the seconds.
    pub duration_nsec: u32,
    /// The counters of each bucket, in order.
    pub bucket_stats: Vec<BucketCounter>,
}

/// `ofp_bucket_counter`, OpenFlow 1.3.5 §7.3.5.9.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketCounter {
    /// Packets that it was given.
    pub packet_count: u64,
    /// Bytes that it was given.
    pub byte_count: u64,
}

/// `ofp_group_desc`, OpenFlow 1.3.5 §7.3.5.10.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDesc {
    /// How the group chooses among its buckets.
    pub type_: GroupType,
    /// The group.
    pub group_id: GroupId,
    /// Its buckets.
    pub buckets: Vec<Bucket>,
}

/// `ofp_group_features`, OpenFlow 1.3.5 §7.3.5.11.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupFeatures {
    /// The group types that the switch has: a bit per type, at the number of its [`GroupType`].
    pub types: u32,
    /// What groups can do.
    pub capabilities: GroupCapabilities,
    /// How many groups of each type there can be.
    pub max_groups: [u32; 4],
    /// The actions that groups of each type can do: a bit per action, at the number of its
    /// [`ActionType`](crate::ActionType).
    pub actions: [u32; 4],
}

flags! {
    /// `ofp_group_capabilities`, OpenFlow 1.3.5 §7.3.5.11.
    GroupCapabilities(u32) {
        /// `OFPGFC_SELECT_WEIGHT`: weights of select groups.
        SELECT_WEIGHT = 1 << 0;
        /// `OFPGFC_SELECT_LIVENESS`: liveness of select groups.
        SELECT_LIVENESS = 1 << 1;
        /// `OFPGFC_CHAINING`: groups that forward to groups.
        CHAINING = 1 << 2;
        /// `OFPGFC_CHAINING_CHECKS`: refuses groups that would loop.
        CHAINING_CHECKS = 1 << 3;
    }
}

impl GroupStats {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (
            after,
            (length, (), group_id, ref_count, (), packet_count, byte_count, duration_sec, duration_nsec),
        ) = context(
            "ofp_group_stats",
            (
                be_u16,
                pad(2),
                be_u32,
                be_u32,
                pad(4),
                be_u64,
                be_u64,
                be_u32,
                be_u32,
            ),
        )
        .parse(i)?;
        let length = usize::from(length);
        let Some(buckets) = length.checked_sub(STATS_HEADER_LEN) else {
            return Err(i.bad_length(length, "at least 40", "ofp_group_stats.length"));
        };
        let (after, buckets) = part(after, buckets, "ofp_group_stats.length")?;
        let (_, bucket_stats) = array_of(BUCKET_COUNTER_LEN, BucketCounter::parse)(buckets)?;
        let stats = Self {
            group_id: GroupId(group_id),
            ref_count,
            packet_count,
            byte_count,
            duration_sec,
            duration_nsec,
            bucket_stats,
        };
        Ok((after, stats))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        let start = out.len();
        out.put_u32(0);
        out.put_u32(self.group_id.0);
        out.put_u32(self.ref_count);
        out.put_u32(0);
        out.put_u64(self.packet_count);
        out.put_u64(self.byte_count);
        out.put_u32(self.duration_sec);
        out.put_u32(self.duration_nsec);
        for bucket in &self.bucket_stats {
            out.put_u64(bucket.packet_count);
            out.put_u64(bucket.byte_count);
        }
        patch_length(out, start, 0, "ofp_group_stats")
    }
}

impl BucketCounter {
    fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (packet_count, byte_count)) = context("ofp_bucket_counter", (be_u64, be_u64)).parse(i)?;
        Ok((
            i,
            Self {
                packet_count,
                byte_count,
            },
        ))
    }
}

impl GroupDesc {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (after, (length, type_, (), group_id)) =
            context("ofp_group_desc", (be_u16, be_u8, pad(1), be_u32)).parse(i)?;
        let length = usize::from(length);
        let Some(buckets) = length.checked_sub(DESC_HEADER_LEN) else {
            return Err(i.bad_length(length, "at least 8", "ofp_group_desc.length"));
        };
        let (after, buckets) = part(after, buckets, "ofp_group_desc.length")?;
        let (_, buckets) = Bucket::parse_list(buckets)?;
        Ok((
            after,
            Self {
                type_: GroupType::from_wire(type_),
                group_id: GroupId(group_id),
                buckets,
            },
        ))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        let start = out.len();
        out.put_u16(0);
        out.put_u8(self.type_.to_wire());
        out.put_u8(0);
        out.put_u32(self.group_id.0);
        Bucket::put_list(&self.buckets, out)?;
        patch_length(out, start, 0, "ofp_group_desc")
    }
}

impl GroupFeatures {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let four = || (be_u32, be_u32, be_u32, be_u32);
        let (i, (types, capabilities, max_groups, actions)) =
            context("ofp_group_features", (be_u32, be_u32, four(), four())).parse(i)?;
        let features = Self {
            types,
            capabilities: GroupCapabilities::from_bits_retain(capabilities),
            max_groups: max_groups.into(),
            actions: actions.into(),
        };
        Ok((i, features))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) {
        out.put_u32(self.types);
        out.put_u32(self.capabilities.bits());
        for number in [self.max_groups, self.actions].as_flattened() {
            out.put_u32(*number);
        }
    }
}

const STATS_HEADER_LEN: usize = 40;
const BUCKET_COUNTER_LEN: usize = 16;
const DESC_HEADER_LEN: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{check, reply};
    use crate::{Action, MultipartReplyBody, PortNo};

    #[test]
    fn group_vectors() {
        check(&[
            (
                "04 13 0058 00000002 0006 0000 00000000
                 0048 0000 00000001 00000002 00000000                # group 1, used twice
                 0000000000000003 0000000000000004 00000005 00000006 # packets, bytes, duration
                 0000000000000007 0000000000000008                   # bucket 0
                 0000000000000009 000000000000000a                   # bucket 1",
                reply(MultipartReplyBody::Group(vec![GroupStats {
                    group_id: GroupId(1),
                    ref_count: 2,
                    packet_count: 3,
                    byte_count: 4,
                    duration_sec: 5,
                    duration_nsec: 6,
                    bucket_stats: vec![
                        BucketCounter {
                            packet_count: 7,
                            byte_count: 8,
                        },
                        BucketCounter {
                            packet_count: 9,
                            byte_count: 10,
                        },
                    ],
                }])),
            ),
            (
                "04 13 0040 00000002 0007 0000 00000000
                 0028 00 00 00000001                                 # type all, group 1
                 0020 0000 ffffffff ffffffff 00000000
                   0000 0010 00000002 0000 000000000000              #   output to port 2
                 0008 02 00 00000009                                 # type indirect, group 9, no buckets",
                reply(MultipartReplyBody::GroupDesc(vec![
                    GroupDesc {
                        type_: GroupType::All,
                        group_id: GroupId(1),
                        buckets: vec![Bucket {
                            actions: list![Action::output(PortNo(2))],
                            ..Bucket::default()
                        }],
                    },
                    GroupDesc {
                        type_: GroupType::Indirect,
                        group_id: GroupId(9),
                        buckets: vec![],
                    },
                ])),
            ),
            (
                "04 13 0038 00000002 0008 0000 00000000 0000000f 00000007
                 00000001 00000002 00000003 00000004 00000011 00000012 00000013 00000014",
                reply(MultipartReplyBody::GroupFeatures(GroupFeatures {
                    types: 15,
                    capabilities: GroupCapabilities::SELECT_WEIGHT
                        | GroupCapabilities::SELECT_LIVENESS
                        | GroupCapabilities::CHAINING,
                    max_groups: [1, 2, 3, 4],
                    actions: [0x11, 0x12, 0x13, 0x14],
                })),
            ),
        ]);
    }
}
