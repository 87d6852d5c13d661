//! GROUP_MOD: add, change and remove groups.

use crate::macros::open_enum;
use crate::wire::{Parsed, Span, fixed, or_answer};
use crate::{Bucket, EncodeError, ErrorCode, GroupId};
use bytes::{BufMut, BytesMut};

/// `ofp_group_mod`, OpenFlow 1.3.5 §7.3.4.3.
///
/// ```text
///  0        2      3       4          8
/// +--------+------+-------+----------+---------+
/// | command| type | zero  | group_id | buckets |
/// +--------+------+-------+----------+---------+
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMod {
    /// What to do.
    pub command: GroupModCommand,
    /// How the group chooses among its buckets.
    pub type_: GroupType,
    /// The group.
    pub group_id: GroupId,
    /// Its buckets.
    pub buckets: Vec<Bucket>,
}

open_enum! {
    /// `ofp_group_mod_command`, OpenFlow 1.3.5 §7.3.4.3.
    GroupModCommand(u16) {
        /// Add a group that does not exist
        Add = 0, "OFPGC_ADD";
        /// Change a group that exists
        Modify = 1, "OFPGC_MODIFY";
        /// Remove a group and the flows that use it
        Delete = 2, "OFPGC_DELETE";
        /// Add buckets to a group that exists; of OpenFlow 1.5, and read by Open vSwitch in this version too
        InsertBucket = 3, "OFPGC_INSERT_BUCKET";
        /// Remove the buckets of a group; of OpenFlow 1.5. In this version there is no way to say which: all are meant
        RemoveBucket = 5, "OFPGC_REMOVE_BUCKET";
        /// Add or change; an extension of Open vSwitch
        AddOrModify = 0x8000, "OFPGC_ADD_OR_MOD";
    }
}

open_enum! {
    /// `ofp_group_type`, OpenFlow 1.3.5 §7.3.4.3.
    GroupType(u8) {
        /// A copy to each bucket
        All = 0, "OFPGT_ALL";
        /// One bucket, chosen by the switch according to weights
        Select = 1, "OFPGT_SELECT";
        /// The only bucket
        Indirect = 2, "OFPGT_INDIRECT";
        /// The first live bucket
        FastFailover = 3, "OFPGT_FF";
    }
}

impl GroupMod {
    #[inline]
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, head) = fixed::<8>(i, "ofp_group_mod")?;
        let bad_bucket = or_answer(ErrorCode::GROUP_MOD_FAILED_BAD_BUCKET);
        let (i, buckets) = Bucket::parse_list(i).map_err(bad_bucket)?;
        let group_mod = Self {
            command: GroupModCommand::from_wire(head.u16::<0>()),
            type_: GroupType::from_wire(head.u8::<2>()),
            group_id: GroupId(head.u32::<4>()),
            buckets,
        };
        Ok((i, group_mod))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        out.put_u16(self.command.to_wire());
        out.put_u8(self.type_.to_wire());
        out.put_u8(0);
        out.put_u32(self.group_id.0);
        Bucket::put_list(&self.buckets, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{bytes, check};
    use crate::{Action, MacAddr, Message, OxmField, PortNo};

    #[test]
    fn group_mod_vectors() {
        check(&[
            (
                "04 0f 0058 00000006                    # header
                 0001 03 00 00000007                    # modify, fast failover, group 7
                 0018 0000 ffffffff 00000004 00000000   # watches group 4
                   0016 0008 00000004                   #   group 4
                 0030 0005 00000003 ffffffff 00000000   # weight 5, watches port 3
                   0019 0010 80000606 0200000000aa 0000 #   set eth_dst
                   0000 0010 00000003 0000 000000000000 #   output to port 3",
                Message::GroupMod(GroupMod {
                    command: GroupModCommand::Modify,
                    type_: GroupType::FastFailover,
                    group_id: GroupId(7),
                    buckets: vec![
                        Bucket {
                            watch_group: GroupId(4),
                            actions: list![Action::Group(GroupId(4))],
                            ..Bucket::default()
                        },
                        Bucket {
                            weight: 5,
                            watch_port: PortNo(3),
                            actions: list![
                                Action::SetField(OxmField::EthDst(MacAddr::new(2, 0, 0, 0, 0, 0xaa).into())),
                                Action::output(PortNo(3)),
                            ],
                            ..Bucket::default()
                        },
                    ],
                }),
            ),
            (
                "04 0f 0010 00000006 8000 09 00 fffffffc",
                Message::GroupMod(GroupMod {
                    command: GroupModCommand::AddOrModify,
                    type_: GroupType::Unknown(9),
                    group_id: GroupId::ALL,
                    buckets: vec![],
                }),
            ),
        ]);
    }

    #[test]
    fn bucket_with_odd_length_is_refused() {
        let frame = bytes("04 0f 0020 00000006 0000 00 00 00000001 0011 0000 ffffffff ffffffff 00000000");
        let error = Message::decode(&frame.into()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "ofp_bucket.len at byte 16: length is 17, expected a multiple of 8, at least 16"
        );
        assert_eq!(error.answer, ErrorCode::GROUP_MOD_FAILED_BAD_BUCKET);
    }
}
