//! Actions: what is done to a packet.

use bytes::{BufMut, Bytes, BytesMut};

use crate::macros::open_enum;
use crate::wire::{
    Fault, Parsed, Span, end, fill, fixed, length_at, or_answer, part, patch_length, put_pad8,
};
use crate::{DecodeErrorKind, EncodeError, ErrorCode, GroupId, List, OxmField, PortNo};

/// `ofp_action_header` and what follows it, OpenFlow 1.3.5 §7.2.5.
///
/// ```text
///  0       2       4
/// +-------+-------+------------------+
/// | type  | length| body             |   length is a multiple of 8 and counts everything
/// +-------+-------+------------------+
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// `OFPAT_OUTPUT`: send out of a port.
    Output {
        /// The port.
        port: PortNo,
        /// Bytes of the packet to send when the port is the controller; see [`MAX_LEN_NO_BUFFER`].
        max_len: u16,
    },
    /// `OFPAT_COPY_TTL_OUT`: copy the TTL outwards.
    CopyTtlOut,
    /// `OFPAT_COPY_TTL_IN`: copy the TTL inwards.
    CopyTtlIn,
    /// `OFPAT_SET_MPLS_TTL`: set the MPLS TTL.
    SetMplsTtl(u8),
    /// `OFPAT_DEC_MPLS_TTL`: decrement the MPLS TTL.
    DecMplsTtl,
    /// `OFPAT_PUSH_VLAN`: push a VLAN tag of this Ethernet type.
    PushVlan(u16),
    /// `OFPAT_POP_VLAN`: pop the outer VLAN tag.
    PopVlan,
    /// `OFPAT_PUSH_MPLS`: push an MPLS label of this Ethernet type.
    PushMpls(u16),
    /// `OFPAT_POP_MPLS`: pop the outer MPLS label; the payload is of this Ethernet type.
    PopMpls(u16),
    /// `OFPAT_SET_QUEUE`: choose the queue of the output port.
    SetQueue(u32),
    /// `OFPAT_GROUP`: hand over to a group.
    Group(GroupId),
    /// `OFPAT_SET_NW_TTL`: set the IP TTL.
    SetNwTtl(u8),
    /// `OFPAT_DEC_NW_TTL`: decrement the IP TTL.
    DecNwTtl,
    /// `OFPAT_SET_FIELD`: write a header field.
    SetField(OxmField),
    /// `OFPAT_PUSH_PBB`: push a PBB service tag of this Ethernet type.
    PushPbb(u16),
    /// `OFPAT_POP_PBB`: pop the outer PBB service tag.
    PopPbb,
    /// `OFPAT_EXPERIMENTER`: an experimenter's own action.
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

/// Actions, in order.
pub type Actions = List<Action, 2>;

impl Action {
    /// Output to a port: whole packets when it is the controller.
    #[must_use]
    pub const fn output(port: PortNo) -> Self {
        let max_len = if port.0 == PortNo::CONTROLLER.0 {
            MAX_LEN_NO_BUFFER
        } else {
            0
        };
        Self::Output { port, max_len }
    }

    /// The type of the action.
    #[must_use]
    pub const fn action_type(&self) -> ActionType {
        match self {
            Self::Output { .. } => ActionType::Output,
            Self::CopyTtlOut => ActionType::CopyTtlOut,
            Self::CopyTtlIn => ActionType::CopyTtlIn,
            Self::SetMplsTtl(_) => ActionType::SetMplsTtl,
            Self::DecMplsTtl => ActionType::DecMplsTtl,
            Self::PushVlan(_) => ActionType::PushVlan,
            Self::PopVlan => ActionType::PopVlan,
            Self::PushMpls(_) => ActionType::PushMpls,
            Self::PopMpls(_) => ActionType::PopMpls,
            Self::SetQueue(_) => ActionType::SetQueue,
            Self::Group(_) => ActionType::Group,
            Self::SetNwTtl(_) => ActionType::SetNwTtl,
            Self::DecNwTtl => ActionType::DecNwTtl,
            Self::SetField(_) => ActionType::SetField,
            Self::PushPbb(_) => ActionType::PushPbb,
            Self::PopPbb => ActionType::PopPbb,
            Self::Experimenter { .. } => ActionType::Experimenter,
            Self::Unknown { type_, .. } => ActionType::from_wire(*type_),
        }
    }

    /// Reads actions to the end of the span, into a list that has none yet.
    #[inline]
    pub(crate) fn fill_list(actions: &mut Actions, i: Span<'_>) -> Result<(), nom::Err<Fault>> {
        fill(actions, i, length_at::<2, 8>, Self::append).map_err(or_answer(ErrorCode::BAD_ACTION_BAD_LEN))
    }

    #[inline]
    fn append<'a>(i: Span<'a>, actions: &mut Actions) -> Parsed<'a, ()> {
        let (after, head) = fixed::<4>(i, "ofp_action_header")?;
        let length = usize::from(head.u16::<2>());
        if length < 8 || !length.is_multiple_of(8) {
            return Err(i.bad_length(length, "a multiple of 8, at least 8", "ofp_action_header.len"));
        }
        let (after, body) = part(after, length - 4, "ofp_action_header.len")?;
        let left = Self::append_body(ActionType::from_wire(head.u16::<0>()), body, actions)?;
        end(left, "ofp_action_header.len")?;
        Ok((after, ()))
    }

    /// Gives what is left of the body.
    #[inline]
    fn append_body<'a>(
        type_: ActionType,
        body: Span<'a>,
        actions: &mut Actions,
    ) -> Result<Span<'a>, nom::Err<Fault>> {
        // There are always these four bytes; only few actions have more.
        let (left, head) = fixed::<4>(body, "ofp_action_header")?;
        match type_ {
            ActionType::Output => {
                let (left, body) = fixed::<12>(body, "ofp_action_output")?;
                let (port, max_len) = (PortNo(body.u32::<0>()), body.u16::<4>());
                actions.push(Self::Output { port, max_len });
                return Ok(left);
            }
            ActionType::CopyTtlOut => actions.push(Self::CopyTtlOut),
            ActionType::CopyTtlIn => actions.push(Self::CopyTtlIn),
            ActionType::SetMplsTtl => actions.push(Self::SetMplsTtl(head.u8::<0>())),
            ActionType::DecMplsTtl => actions.push(Self::DecMplsTtl),
            ActionType::PushVlan => actions.push(Self::PushVlan(head.u16::<0>())),
            ActionType::PopVlan => actions.push(Self::PopVlan),
            ActionType::PushMpls => actions.push(Self::PushMpls(head.u16::<0>())),
            ActionType::PopMpls => actions.push(Self::PopMpls(head.u16::<0>())),
            ActionType::SetQueue => actions.push(Self::SetQueue(head.u32::<0>())),
            ActionType::Group => actions.push(Self::Group(GroupId(head.u32::<0>()))),
            ActionType::SetNwTtl => actions.push(Self::SetNwTtl(head.u8::<0>())),
            ActionType::DecNwTtl => actions.push(Self::DecNwTtl),
            ActionType::SetField => {
                return Self::append_set_field(body, actions)
                    .map_err(or_answer(ErrorCode::BAD_ACTION_BAD_SET_LEN));
            }
            ActionType::PushPbb => actions.push(Self::PushPbb(head.u16::<0>())),
            ActionType::PopPbb => actions.push(Self::PopPbb),
            ActionType::Experimenter => {
                let (experimenter, data) = (head.u32::<0>(), left.share());
                actions.push(Self::Experimenter { experimenter, data });
                return Ok(left.end());
            }
            ActionType::Unknown(type_) => {
                let data = body.share();
                actions.push(Self::Unknown { type_, data });
                return Ok(left.end());
            }
        }
        Ok(left)
    }

    /// One OXM field, then less than eight bytes of padding.
    #[inline]
    fn append_set_field<'a>(body: Span<'a>, actions: &mut Actions) -> Result<Span<'a>, nom::Err<Fault>> {
        let (padding, ()) = OxmField::parse_to(body, |field| actions.push(Self::SetField(field)))?;
        if padding.len() >= 8 {
            let kind = DecodeErrorKind::Trailing { extra: padding.len() };
            return Err(padding.fault(kind, "ofp_action_set_field.field"));
        }
        Ok(padding.end())
    }

    pub(crate) fn put_list(actions: &[Self], out: &mut BytesMut) -> Result<(), EncodeError> {
        actions.iter().try_for_each(|action| action.put(out))
    }

    fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        let start = out.len();
        out.put_u16(self.action_type().to_wire());
        out.put_u16(0);
        match self {
            Self::Output { port, max_len } => {
                out.put_u32(port.0);
                out.put_u16(*max_len);
            }
            Self::CopyTtlOut
            | Self::CopyTtlIn
            | Self::DecMplsTtl
            | Self::PopVlan
            | Self::DecNwTtl
            | Self::PopPbb => out.put_u32(0),
            Self::SetMplsTtl(ttl) | Self::SetNwTtl(ttl) => out.put_u8(*ttl),
            Self::PushVlan(ethertype)
            | Self::PushMpls(ethertype)
            | Self::PopMpls(ethertype)
            | Self::PushPbb(ethertype) => out.put_u16(*ethertype),
            Self::SetQueue(queue) => out.put_u32(*queue),
            Self::Group(group) => out.put_u32(group.0),
            Self::SetField(field) => field.put(out)?,
            Self::Experimenter { experimenter, data } => {
                out.put_u32(*experimenter);
                out.put_slice(data);
            }
            Self::Unknown { data, .. } => out.put_slice(data),
        }
        put_pad8(out, start);
        patch_length(out, start, 2, "ofp_action_header")
    }
}

/// `OFPCML_NO_BUFFER`: send the whole packet to the controller.
pub const MAX_LEN_NO_BUFFER: u16 = 0xffff;

open_enum! {
    /// `ofp_action_type`, OpenFlow 1.3.5 §7.2.5.
    ActionType(u16) {
        /// Send out of a port
        Output = 0, "OFPAT_OUTPUT";
        /// Copy the TTL outwards
        CopyTtlOut = 11, "OFPAT_COPY_TTL_OUT";
        /// Copy the TTL inwards
        CopyTtlIn = 12, "OFPAT_COPY_TTL_IN";
        /// Set the MPLS TTL
        SetMplsTtl = 15, "OFPAT_SET_MPLS_TTL";
        /// Decrement the MPLS TTL
        DecMplsTtl = 16, "OFPAT_DEC_MPLS_TTL";
        /// Push a VLAN tag
        PushVlan = 17, "OFPAT_PUSH_VLAN";
        /// Pop the outer VLAN tag
        PopVlan = 18, "OFPAT_POP_VLAN";
        /// Push an MPLS label
        PushMpls = 19, "OFPAT_PUSH_MPLS";
        /// Pop the outer MPLS label
        PopMpls = 20, "OFPAT_POP_MPLS";
        /// Choose the queue
        SetQueue = 21, "OFPAT_SET_QUEUE";
        /// Hand over to a group
        Group = 22, "OFPAT_GROUP";
        /// Set the IP TTL
        SetNwTtl = 23, "OFPAT_SET_NW_TTL";
        /// Decrement the IP TTL
        DecNwTtl = 24, "OFPAT_DEC_NW_TTL";
        /// Write a header field
        SetField = 25, "OFPAT_SET_FIELD";
        /// Push a PBB service tag
        PushPbb = 26, "OFPAT_PUSH_PBB";
        /// Pop the outer PBB service tag
        PopPbb = 27, "OFPAT_POP_PBB";
        /// An experimenter's own action
        Experimenter = 0xffff, "OFPAT_EXPERIMENTER";
    }
}

#[cfg(test)]
mod tests;
