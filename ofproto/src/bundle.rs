//! Bundles: several changes at once or not at all. ONF extension 230 of OpenFlow 1.3, in experimenter messages.

use bytes::{BufMut, Bytes, BytesMut};
use nom::Parser;
use nom::error::context;

use crate::macros::{flags, open_enum};
use crate::wire::{Parsed, Span, be_u16, be_u32, pad, part, rest, span};
use crate::{DecodeError, EncodeError, Experimenter, ExperimenterId, HEADER_LEN, Header, Message, Xid};

/// `ofp_bundle_ctrl_msg`: opens, closes, commits or discards a bundle, and the answers to that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleControl {
    /// The bundle, numbered by the controller.
    pub bundle_id: u32,
    /// What to do.
    pub type_: BundleControlType,
    /// How the bundle is carried out.
    pub flags: BundleFlags,
    /// Properties, kept as bytes.
    pub properties: Bytes,
}

/// `ofp_bundle_add_msg`: puts a message into a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleAdd {
    /// The bundle.
    pub bundle_id: u32,
    /// The flags that the bundle was opened with.
    pub flags: BundleFlags,
    /// The message, header included. Its transaction id is that of the envelope.
    pub message: Bytes,
    /// Properties, kept as bytes.
    pub properties: Bytes,
}

open_enum! {
    /// `ofp_bundle_ctrl_type`.
    BundleControlType(u16) {
        /// Open a bundle
        OpenRequest = 0, "OFPBCT_OPEN_REQUEST";
        /// It is open
        OpenReply = 1, "OFPBCT_OPEN_REPLY";
        /// Take no more messages
        CloseRequest = 2, "OFPBCT_CLOSE_REQUEST";
        /// It is closed
        CloseReply = 3, "OFPBCT_CLOSE_REPLY";
        /// Carry it out
        CommitRequest = 4, "OFPBCT_COMMIT_REQUEST";
        /// It is carried out
        CommitReply = 5, "OFPBCT_COMMIT_REPLY";
        /// Forget it
        DiscardRequest = 6, "OFPBCT_DISCARD_REQUEST";
        /// It is forgotten
        DiscardReply = 7, "OFPBCT_DISCARD_REPLY";
    }
}

flags! {
    /// `ofp_bundle_flags`.
    BundleFlags(u16) {
        /// `OFPBF_ATOMIC`: all changes or none.
        ATOMIC = 1 << 0;
        /// `OFPBF_ORDERED`: in the order in which they were added.
        ORDERED = 1 << 1;
    }
}

impl BundleControl {
    /// A control message without properties.
    #[must_use]
    pub const fn new(bundle_id: u32, type_: BundleControlType, flags: BundleFlags) -> Self {
        Self {
            bundle_id,
            type_,
            flags,
            properties: Bytes::new(),
        }
    }

    /// The experimenter message that carries it.
    #[must_use]
    pub fn to_experimenter(&self) -> Experimenter {
        let mut data = BytesMut::with_capacity(8 + self.properties.len());
        data.put_u32(self.bundle_id);
        data.put_u16(self.type_.to_wire());
        data.put_u16(self.flags.bits());
        data.put_slice(&self.properties);
        onf(EXP_TYPE_CONTROL, data)
    }

    /// Reads it from an experimenter message; `None` when that is another message.
    ///
    /// # Errors
    ///
    /// When the body is not one of a bundle control message. Offsets count from the beginning of the body.
    pub fn from_experimenter(message: &Experimenter) -> Result<Option<Self>, DecodeError> {
        if !is_onf(message, EXP_TYPE_CONTROL) {
            return Ok(None);
        }
        let (_, control) = Self::parse(Span::new(&message.data))?;
        Ok(Some(control))
    }

    fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (bundle_id, type_, flags, properties)) =
            context("ofp_bundle_ctrl_msg", (be_u32, be_u16, be_u16, rest)).parse(i)?;
        let control = Self {
            bundle_id,
            type_: BundleControlType::from_wire(type_),
            flags: BundleFlags::from_bits_retain(flags),
            properties,
        };
        Ok((i, control))
    }
}

impl BundleAdd {
    /// Puts `message` into a bundle. The experimenter message must go out with the same `xid`.
    ///
    /// # Errors
    ///
    /// When the message has no form on the wire.
    pub fn new(bundle_id: u32, flags: BundleFlags, message: &Message, xid: Xid) -> Result<Self, EncodeError> {
        let mut bytes = BytesMut::new();
        message.encode(xid, &mut bytes)?;
        Ok(Self {
            bundle_id,
            flags,
            message: bytes.freeze(),
            properties: Bytes::new(),
        })
    }

    /// Reads the message in the envelope.
    ///
    /// # Errors
    ///
    /// When it is not a message. Offsets count from its own first byte.
    pub fn decode_message(&self) -> Result<(Header, Message), DecodeError> {
        Message::decode(&self.message)
    }

    /// The experimenter message that carries it.
    #[must_use]
    pub fn to_experimenter(&self) -> Experimenter {
        let mut data = BytesMut::with_capacity(16 + self.message.len() + self.properties.len());
        data.put_u32(self.bundle_id);
        data.put_u16(0);
        data.put_u16(self.flags.bits());
        data.put_slice(&self.message);
        if !self.properties.is_empty() {
            let used = self.message.len();
            data.put_bytes(0, used.next_multiple_of(8) - used);
            data.put_slice(&self.properties);
        }
        onf(EXP_TYPE_ADD_MESSAGE, data)
    }

    /// Reads it from an experimenter message; `None` when that is another message.
    ///
    /// # Errors
    ///
    /// When the body is not one of a bundle add message. Offsets count from the beginning of the body.
    pub fn from_experimenter(message: &Experimenter) -> Result<Option<Self>, DecodeError> {
        if !is_onf(message, EXP_TYPE_ADD_MESSAGE) {
            return Ok(None);
        }
        let (_, add) = Self::parse(Span::new(&message.data))?;
        Ok(Some(add))
    }

    fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (bundle_id, (), flags)) = context("ofp_bundle_add_msg", (be_u32, pad(2), be_u16)).parse(i)?;
        let (_, (_, length)) = context("ofp_bundle_add_msg.message", (be_u16, be_u16)).parse(i)?;
        let length = usize::from(length);
        if length < HEADER_LEN {
            return Err(i.bad_length(length, "at least 8", "ofp_bundle_add_msg.message"));
        }
        let (i, message) = part(i, length, "ofp_bundle_add_msg.message")?;
        let padding = (length.next_multiple_of(8) - length).min(i.len());
        let (i, _) = span(i, padding)?;
        let (i, properties) = rest(i)?;
        let flags = BundleFlags::from_bits_retain(flags);
        Ok((
            i,
            Self {
                bundle_id,
                flags,
                message: message.share(),
                properties,
            },
        ))
    }
}

fn onf(exp_type: u32, data: BytesMut) -> Experimenter {
    Experimenter {
        experimenter: ExperimenterId::ONF.0,
        exp_type,
        data: data.freeze(),
    }
}

fn is_onf(message: &Experimenter, exp_type: u32) -> bool {
    message.experimenter == ExperimenterId::ONF.0 && message.exp_type == exp_type
}

/// `ONF_ET_BUNDLE_CONTROL`.
const EXP_TYPE_CONTROL: u32 = 2300;
/// `ONF_ET_BUNDLE_ADD_MESSAGE`.
const EXP_TYPE_ADD_MESSAGE: u32 = 2301;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::check;

    #[test]
    fn bundle_vectors() {
        let control = BundleControl::new(
            5,
            BundleControlType::CommitRequest,
            BundleFlags::ATOMIC | BundleFlags::ORDERED,
        );
        let add = BundleAdd::new(5, BundleFlags::ORDERED, &Message::BarrierRequest, Xid(6)).unwrap();
        let with_properties = BundleAdd {
            properties: Bytes::from_static(&[0xff; 8]),
            ..add.clone()
        };
        check(&[
            (
                "04 04 0018 0000000a 4f4e4600 000008fc  # header, ONF, 2300
                 00000005 0004 0003                     # bundle 5, commit, atomic and ordered",
                Message::Experimenter(control.to_experimenter()),
            ),
            (
                "04 04 0020 00000006 4f4e4600 000008fd  # header, ONF, 2301
                 00000005 0000 0002                     # bundle 5, ordered
                 04 14 0008 00000006                    # BARRIER_REQUEST",
                Message::Experimenter(add.to_experimenter()),
            ),
            (
                "04 04 0028 00000006 4f4e4600 000008fd 00000005 0000 0002 04 14 0008 00000006 ffffffffffffffff",
                Message::Experimenter(with_properties.to_experimenter()),
            ),
        ]);
        assert_eq!(
            BundleControl::from_experimenter(&control.to_experimenter()),
            Ok(Some(control.clone()))
        );
        assert_eq!(BundleControl::from_experimenter(&add.to_experimenter()), Ok(None));
        assert_eq!(BundleAdd::from_experimenter(&control.to_experimenter()), Ok(None));
        for add in [add, with_properties] {
            let read = BundleAdd::from_experimenter(&add.to_experimenter())
                .unwrap()
                .unwrap();
            assert_eq!(read, add);
            assert_eq!(read.decode_message().unwrap().1, Message::BarrierRequest);
        }
    }
}
