//! Instructions: what a flow does when it matches.

use bytes::{BufMut, Bytes, BytesMut};

use crate::macros::open_enum;
use crate::wire::{
    Fault, Parsed, Span, end, fill, fixed, length_at, or_answer, part, patch_length, put_pad8,
};
use crate::{Action, Actions, EncodeError, ErrorCode, List, MeterId, TableId};

/// `ofp_instruction` and what follows it, OpenFlow 1.3.5 §7.2.4.
///
/// ```text
///  0       2       4
/// +-------+-------+------------------+
/// | type  | length| body             |   length is a multiple of 8 and counts everything
/// +-------+-------+------------------+
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// `OFPIT_GOTO_TABLE`: go on in a later table.
    GotoTable(TableId),
    /// `OFPIT_WRITE_METADATA`: write the metadata register.
    WriteMetadata {
        /// The value; bits outside the mask are written as zero.
        metadata: u64,
        /// The bits to write.
        mask: u64,
    },
    /// `OFPIT_WRITE_ACTIONS`: merge into the action set.
    WriteActions(Actions),
    /// `OFPIT_APPLY_ACTIONS`: do at once, in order.
    ApplyActions(Actions),
    /// `OFPIT_CLEAR_ACTIONS`: empty the action set.
    ClearActions,
    /// `OFPIT_METER`: pass through a meter.
    Meter(MeterId),
    /// `OFPIT_EXPERIMENTER`: an experimenter's own instruction.
    Experimenter {
        /// The experimenter.
        experimenter: u32,
        /// What follows its id; filled up with zeros to a multiple of eight bytes.
        data: Bytes,
    },
    /// A type that is not listed.
    Unknown {
        /// The type.
        type_: u16,
        /// What follows the four bytes of header; filled up with zeros so that the whole is a multiple of eight.
        data: Bytes,
    },
}

/// Instructions, in the order of the wire; the switch has an order of its own.
pub type Instructions = List<Instruction, 3>;

impl Instruction {
    /// The type of the instruction.
    #[must_use]
    pub const fn instruction_type(&self) -> InstructionType {
        match self {
            Self::GotoTable(_) => InstructionType::GotoTable,
            Self::WriteMetadata { .. } => InstructionType::WriteMetadata,
            Self::WriteActions(_) => InstructionType::WriteActions,
            Self::ApplyActions(_) => InstructionType::ApplyActions,
            Self::ClearActions => InstructionType::ClearActions,
            Self::Meter(_) => InstructionType::Meter,
            Self::Experimenter { .. } => InstructionType::Experimenter,
            Self::Unknown { type_, .. } => InstructionType::from_wire(*type_),
        }
    }

    /// Reads instructions to the end of the span, into a list that has none yet.
    #[inline]
    pub(crate) fn fill_list(instructions: &mut Instructions, i: Span<'_>) -> Result<(), nom::Err<Fault>> {
        fill(instructions, i, length_at::<2, 8>, Self::append)
            .map_err(or_answer(ErrorCode::BAD_INSTRUCTION_BAD_LEN))
    }

    #[inline]
    fn append<'a>(i: Span<'a>, list: &mut Instructions) -> Parsed<'a, ()> {
        let (after, head) = fixed::<4>(i, "ofp_instruction")?;
        let length = usize::from(head.u16::<2>());
        if length < 8 || !length.is_multiple_of(8) {
            return Err(i.bad_length(length, "a multiple of 8, at least 8", "ofp_instruction.len"));
        }
        let (after, body) = part(after, length - 4, "ofp_instruction.len")?;
        let left = Self::append_body(InstructionType::from_wire(head.u16::<0>()), body, list)?;
        end(left, "ofp_instruction.len")?;
        Ok((after, ()))
    }

    /// Gives what is left of the body.
    #[inline]
    fn append_body<'a>(
        type_: InstructionType,
        body: Span<'a>,
        list: &mut Instructions,
    ) -> Result<Span<'a>, nom::Err<Fault>> {
        // There are always these four bytes, often padding.
        let (left, head) = fixed::<4>(body, "ofp_instruction")?;
        match type_ {
            InstructionType::GotoTable => list.push(Self::GotoTable(TableId(head.u8::<0>()))),
            InstructionType::WriteMetadata => {
                let (left, body) = fixed::<16>(left, "ofp_instruction_write_metadata")?;
                let (metadata, mask) = (body.u64::<0>(), body.u64::<8>());
                list.push(Self::WriteMetadata { metadata, mask });
                return Ok(left);
            }
            InstructionType::WriteActions => {
                list.push(Self::WriteActions(Actions::new()));
                return Self::fill_last(list, left);
            }
            InstructionType::ApplyActions => {
                list.push(Self::ApplyActions(Actions::new()));
                return Self::fill_last(list, left);
            }
            InstructionType::ClearActions => {
                // Actions after it mean nothing; the structure has room for them all the same.
                Action::fill_list(&mut Actions::new(), left)?;
                list.push(Self::ClearActions);
                return Ok(left.end());
            }
            InstructionType::Meter => list.push(Self::Meter(MeterId(head.u32::<0>()))),
            InstructionType::Experimenter => {
                let (experimenter, data) = (head.u32::<0>(), left.share());
                list.push(Self::Experimenter { experimenter, data });
                return Ok(left.end());
            }
            InstructionType::Unknown(type_) => {
                let data = body.share();
                list.push(Self::Unknown { type_, data });
                return Ok(left.end());
            }
        }
        Ok(left)
    }

    /// Reads the actions of the last instruction where they stay, to the end of the span.
    #[inline]
    fn fill_last<'a>(list: &mut Instructions, i: Span<'a>) -> Result<Span<'a>, nom::Err<Fault>> {
        if let Some(Self::WriteActions(actions) | Self::ApplyActions(actions)) = list.last_mut() {
            Action::fill_list(actions, i)?;
        }
        Ok(i.end())
    }

    pub(crate) fn put_list(instructions: &[Self], out: &mut BytesMut) -> Result<(), EncodeError> {
        instructions
            .iter()
            .try_for_each(|instruction| instruction.put(out))
    }

    fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        let start = out.len();
        out.put_u16(self.instruction_type().to_wire());
        out.put_u16(0);
        match self {
            Self::GotoTable(table) => out.put_u8(table.0),
            Self::WriteMetadata { metadata, mask } => {
                out.put_u32(0);
                out.put_u64(metadata & mask);
                out.put_u64(*mask);
            }
            Self::WriteActions(actions) | Self::ApplyActions(actions) => {
                out.put_u32(0);
                Action::put_list(actions, out)?;
            }
            Self::ClearActions => out.put_u32(0),
            Self::Meter(meter) => out.put_u32(meter.0),
            Self::Experimenter { experimenter, data } => {
                out.put_u32(*experimenter);
                out.put_slice(data);
            }
            Self::Unknown { data, .. } => out.put_slice(data),
        }
        put_pad8(out, start);
        patch_length(out, start, 2, "ofp_instruction")
    }
}

open_enum! {
    /// `ofp_instruction_type`, OpenFlow 1.3.5 §7.2.4.
    InstructionType(u16) {
        /// Go on in a later table
        GotoTable = 1, "OFPIT_GOTO_TABLE";
        /// Write the metadata register
        WriteMetadata = 2, "OFPIT_WRITE_METADATA";
        /// Merge into the action set
        WriteActions = 3, "OFPIT_WRITE_ACTIONS";
        /// Do at once, in order
        ApplyActions = 4, "OFPIT_APPLY_ACTIONS";
        /// Empty the action set
        ClearActions = 5, "OFPIT_CLEAR_ACTIONS";
        /// Pass through a meter
        Meter = 6, "OFPIT_METER";
        /// An experimenter's own instruction
        Experimenter = 0xffff, "OFPIT_EXPERIMENTER";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{bytes, check};
    use crate::{FlowMod, Message};

    #[test]
    fn instruction_vectors() {
        check(&[(
            "04 0e 0098 00000008 0000000000000000 0000000000000000 00 00 0000 0000 0000
             ffffffff ffffffff ffffffff 0000 0000 0001 0004 00000000
             0006 0008 00000009                                            # meter 9
             0004 0010 00000000  0012 0008 00000000                        # apply: pop VLAN
             0005 0008 00000000                                            # clear actions
             0003 0008 00000000                                            # write: nothing
             0002 0018 00000000 0000000000001234 000000000000ffff          # write metadata
             0001 0008 06 000000                                           # goto table 6
             ffff 0010 00002320 0102030405060708                           # an experimenter's
             1234 0008 01020304                                            # unknown",
            Message::FlowMod(FlowMod {
                instructions: list![
                    Instruction::Meter(MeterId(9)),
                    Instruction::ApplyActions(list![Action::PopVlan]),
                    Instruction::ClearActions,
                    Instruction::WriteActions(list![]),
                    Instruction::WriteMetadata {
                        metadata: 0x1234,
                        mask: 0xffff,
                    },
                    Instruction::GotoTable(TableId(6)),
                    Instruction::Experimenter {
                        experimenter: 0x2320,
                        data: Bytes::from_static(&[1, 2, 3, 4, 5, 6, 7, 8]),
                    },
                    Instruction::Unknown {
                        type_: 0x1234,
                        data: Bytes::from_static(&[1, 2, 3, 4]),
                    },
                ],
                ..FlowMod::default()
            }),
        )]);
    }

    #[test]
    fn action_in_an_instruction_is_refused_as_an_action() {
        let flow_mod = "04 0e 0048 00000008 0000000000000000 0000000000000000 00 00 0000 0000 0000
             ffffffff ffffffff ffffffff 0000 0000 0001 0004 00000000";
        for (instruction, answer) in [
            ("0004 0010 00000000  0012 0004 00000000", "OFPBAC_BAD_LEN"),
            ("0001 0010 06000000  00000000 00000000", "OFPBIC_BAD_LEN"),
            ("0001 0004 06000000  00000000 00000000", "OFPBIC_BAD_LEN"),
        ] {
            let error = Message::decode(&bytes(&format!("{flow_mod}\n{instruction}")).into()).unwrap_err();
            assert_eq!(error.answer.to_string(), answer, "{error}");
        }
    }

    #[test]
    fn metadata_outside_the_mask_is_not_written() {
        let flow_mod = FlowMod {
            instructions: list![Instruction::WriteMetadata {
                metadata: 0xff,
                mask: 0x0f,
            }],
            ..FlowMod::default()
        };
        let mut out = BytesMut::new();
        Message::FlowMod(flow_mod)
            .encode(crate::Xid(0), &mut out)
            .unwrap();
        assert_eq!(
            out[64..80],
            [0, 0, 0, 0, 0, 0, 0, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0x0f]
        );
    }
}
