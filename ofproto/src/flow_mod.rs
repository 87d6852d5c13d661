//! FLOW_MOD: add, change and remove flows.

use crate::macros::{flags, open_enum};
use crate::wire::{Span, fixed, or_context};
use crate::{
    BufferId, Cookie, DecodeError, EncodeError, GroupId, Instruction, Instructions, Match, PortNo, TableId,
};
use bytes::{BufMut, BytesMut};

/// `ofp_flow_mod`, OpenFlow 1.3.5 §7.3.4.2.
///
/// ```text
///  0        8             16        17       18            20            22        24
/// +--------+-------------+---------+--------+-------------+-------------+---------+
/// | cookie | cookie_mask | table_id| command| idle_timeout| hard_timeout| priority|
/// +--------+--+----------+---------+-+------+-----+-------+------+------+---------+
/// | buffer_id | out_port | out_group | flags      | zeros | match | instructions |
/// +-----------+----------+-----------+------------+-------+-------+--------------+
///  24          28         32          36           38      40
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowMod {
    /// The cookie of the flow; for the other commands the cookie to look for.
    pub cookie: Cookie,
    /// The bits of the cookie that must be equal, for the other commands; 0 looks at none.
    pub cookie_mask: u64,
    /// The table; `ALL` for deletion in every one.
    pub table_id: TableId,
    /// What to do.
    pub command: FlowModCommand,
    /// Seconds without a packet after which the flow goes; 0 for never.
    pub idle_timeout: u16,
    /// Seconds after which the flow goes; 0 for never.
    pub hard_timeout: u16,
    /// Priority: the highest of the matching flows is taken.
    pub priority: u16,
    /// A kept packet to send through the table.
    pub buffer_id: BufferId,
    /// For deletion: only flows that output to this port; `ANY` for all.
    pub out_port: PortNo,
    /// For deletion: only flows that use this group; `ANY` for all.
    pub out_group: GroupId,
    /// How the flow is kept.
    pub flags: FlowModFlags,
    /// Which packets.
    pub match_: Match,
    /// What is done with them.
    pub instructions: Instructions,
}

open_enum! {
    /// `ofp_flow_mod_command`, OpenFlow 1.3.5 §7.3.4.2.
    FlowModCommand(u8) {
        /// Add a flow, in the place of one with the same match and priority
        Add = 0, "OFPFC_ADD";
        /// Change the instructions of all flows that the match covers
        Modify = 1, "OFPFC_MODIFY";
        /// Change the instructions of the flow with exactly this match and priority
        ModifyStrict = 2, "OFPFC_MODIFY_STRICT";
        /// Remove all flows that the match covers
        Delete = 3, "OFPFC_DELETE";
        /// Remove the flow with exactly this match and priority
        DeleteStrict = 4, "OFPFC_DELETE_STRICT";
    }
}

flags! {
    /// `ofp_flow_mod_flags`, OpenFlow 1.3.5 §7.3.4.2.
    FlowModFlags(u16) {
        /// `OFPFF_SEND_FLOW_REM`: report when the flow goes.
        SEND_FLOW_REM = 1 << 0;
        /// `OFPFF_CHECK_OVERLAP`: refuse when a flow of the same priority overlaps.
        CHECK_OVERLAP = 1 << 1;
        /// `OFPFF_RESET_COUNTS`: start counting again.
        RESET_COUNTS = 1 << 2;
        /// `OFPFF_NO_PKT_COUNTS`: packets need not be counted.
        NO_PKT_COUNTS = 1 << 3;
        /// `OFPFF_NO_BYT_COUNTS`: bytes need not be counted.
        NO_BYT_COUNTS = 1 << 4;
    }
}

impl Default for FlowMod {
    /// Adds a flow to table 0 that matches everything at priority 0 and drops it.
    fn default() -> Self {
        Self {
            cookie: Cookie(0),
            cookie_mask: 0,
            table_id: TableId(0),
            command: FlowModCommand::Add,
            idle_timeout: 0,
            hard_timeout: 0,
            priority: 0,
            buffer_id: BufferId::NO_BUFFER,
            out_port: PortNo::ANY,
            out_group: GroupId::ANY,
            flags: FlowModFlags::empty(),
            match_: Match::new(),
            instructions: Instructions::new(),
        }
    }
}

impl FlowMod {
    /// Reads one to the end of the span, and hands it to `take`, which puts it where it stays.
    #[inline]
    pub(crate) fn parse_to<T>(i: Span<'_>, take: impl FnOnce(Self) -> T) -> Result<T, DecodeError> {
        let (i, head) = fixed::<40>(i, "ofp_flow_mod")?;
        let mut flow_mod = Self {
            cookie: Cookie(head.u64::<0>()),
            cookie_mask: head.u64::<8>(),
            table_id: TableId(head.u8::<16>()),
            command: FlowModCommand::from_wire(head.u8::<17>()),
            idle_timeout: head.u16::<18>(),
            hard_timeout: head.u16::<20>(),
            priority: head.u16::<22>(),
            buffer_id: BufferId(head.u32::<24>()),
            out_port: PortNo(head.u32::<28>()),
            out_group: GroupId(head.u32::<32>()),
            flags: FlowModFlags::from_bits_retain(head.u16::<36>()),
            match_: Match::new(),
            instructions: Instructions::new(),
        };
        let (i, ()) = flow_mod
            .match_
            .fill(i)
            .map_err(or_context("ofp_flow_mod.match"))?;
        Instruction::fill_list(&mut flow_mod.instructions, i)
            .map_err(or_context("ofp_flow_mod.instructions"))?;
        Ok(take(flow_mod))
    }

    /// As [`Message::validate`](crate::Message::validate).
    pub(crate) fn validate(&self) -> Result<(), EncodeError> {
        self.match_.check_prerequisites()?;
        self.instructions
            .iter()
            .try_for_each(|instruction| match instruction {
                Instruction::ApplyActions(actions) | Instruction::WriteActions(actions) => {
                    self.match_.check_set_fields(actions)
                }
                _ => Ok(()),
            })
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        out.put_u64(self.cookie.0);
        out.put_u64(self.cookie_mask);
        out.put_u8(self.table_id.0);
        out.put_u8(self.command.to_wire());
        out.put_u16(self.idle_timeout);
        out.put_u16(self.hard_timeout);
        out.put_u16(self.priority);
        out.put_u32(self.buffer_id.0);
        out.put_u32(self.out_port.0);
        out.put_u32(self.out_group.0);
        out.put_u16(self.flags.bits());
        out.put_u16(0);
        self.match_.put(out)?;
        Instruction::put_list(&self.instructions, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{bytes, check};
    use crate::{Action, MacAddr, Message, MeterId, OxmField};

    #[test]
    fn flow_mod_vectors() {
        check(&[
            (
                "04 0e 0068 00000007                  # header
                 0000000000b1ca57 ffffffffffff0000    # cookie, mask
                 05 00 003c 0258 0064                 # table 5, add, idle 60, hard 600, priority 100
                 00000101 ffffffff ffffffff 0007 0000 # buffer, out_port, out_group, flags
                 0001 0016                            # match, 22 bytes
                   80000004 00000001                  #   in_port 1
                   80000606 022222222222 0000         #   eth_dst, padding
                 0006 0008 00000009                   # meter 9
                 0004 0010 00000000                   # apply actions
                   0016 0008 00000002                 #   group 2
                 0001 0008 06 000000                  # goto table 6",
                Message::FlowMod(FlowMod {
                    cookie: Cookie(0xb1_ca57),
                    cookie_mask: 0xffff_ffff_ffff_0000,
                    table_id: TableId(5),
                    idle_timeout: 60,
                    hard_timeout: 600,
                    priority: 100,
                    buffer_id: BufferId(0x101),
                    flags: FlowModFlags::SEND_FLOW_REM
                        | FlowModFlags::CHECK_OVERLAP
                        | FlowModFlags::RESET_COUNTS,
                    match_: Match::new()
                        .with(OxmField::InPort(PortNo(1)))
                        .with(OxmField::EthDst(
                            MacAddr::new(2, 0x22, 0x22, 0x22, 0x22, 0x22).into(),
                        )),
                    instructions: list![
                        Instruction::Meter(MeterId(9)),
                        Instruction::ApplyActions(list![Action::Group(GroupId(2))]),
                        Instruction::GotoTable(TableId(6)),
                    ],
                    ..FlowMod::default()
                }),
            ),
            (
                "04 0e 0038 00000008                  # header
                 0000000000000000 0000000000000000    # no cookie
                 ff 03 0000 0000 0000                 # all tables, delete
                 ffffffff ffffffff ffffffff 0000 0000
                 0001 0004 00000000                   # matches everything",
                Message::FlowMod(FlowMod {
                    table_id: TableId::ALL,
                    command: FlowModCommand::Delete,
                    ..FlowMod::default()
                }),
            ),
        ]);
    }

    #[test]
    fn error_names_the_place_and_the_answer() {
        let frame = bytes(
            "04 0e 0040 00000008 0000000000000000 0000000000000000 00 00 0000 0000 0000
             ffffffff ffffffff ffffffff 0000 0000
             0001 000a 80000a02 0800 000000000000",
        );
        let (_, message) = Message::decode(&frame.into()).unwrap();
        let Message::FlowMod(flow_mod) = message else {
            panic!("a flow-mod")
        };
        assert_eq!(flow_mod.match_, Match::new().with(OxmField::EthType(0x800)));

        let frame = bytes(
            "04 0e 0040 00000008 0000000000000000 0000000000000000 00 00 0000 0000 0000
             ffffffff ffffffff ffffffff 0000 0000
             0001 0009 80000a01 08 00000000000000",
        );
        let error = Message::decode(&frame.clone().into()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "OFPXMT_OFB_ETH_TYPE at byte 56: length is 1, expected the width of the field"
        );
        let answer = error.error_msg(&frame);
        assert_eq!(answer.error.to_string(), "OFPBMC_BAD_LEN");
        assert_eq!(answer.data, frame[..64]);
    }
}
