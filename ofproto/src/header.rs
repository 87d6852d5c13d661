//! The header that every message begins with.

use crate::macros::open_enum;
use crate::wire::{Parsed, Span, fixed};
use crate::{DecodeErrorKind, ErrorCode, Xid};

/// `ofp_header`, OpenFlow 1.3.5 §7.1.
///
/// ```text
///  0       1       2       4       8
/// +-------+-------+-------+-------+
/// |version| type  | length| xid   |
/// +-------+-------+-------+-------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Protocol version; 0x04 is OpenFlow 1.3.
    pub version: u8,
    /// Type of message, see [`MessageType`].
    pub type_: u8,
    /// Length of the whole message, header included, in bytes.
    pub length: u16,
    /// Transaction id: a reply has its request's.
    pub xid: Xid,
}

open_enum! {
    /// `ofp_type`, OpenFlow 1.3.5 §7.1.
    MessageType(u8) {
        /// Which versions a peer speaks
        Hello = 0, "OFPT_HELLO";
        /// A refusal
        Error = 1, "OFPT_ERROR";
        /// Are you there?
        EchoRequest = 2, "OFPT_ECHO_REQUEST";
        /// Yes
        EchoReply = 3, "OFPT_ECHO_REPLY";
        /// A message that others define
        Experimenter = 4, "OFPT_EXPERIMENTER";
        /// Who are you?
        FeaturesRequest = 5, "OFPT_FEATURES_REQUEST";
        /// Who a switch is
        FeaturesReply = 6, "OFPT_FEATURES_REPLY";
        /// How are you configured?
        GetConfigRequest = 7, "OFPT_GET_CONFIG_REQUEST";
        /// How the switch is configured
        GetConfigReply = 8, "OFPT_GET_CONFIG_REPLY";
        /// Configure the switch
        SetConfig = 9, "OFPT_SET_CONFIG";
        /// A packet for the controller
        PacketIn = 10, "OFPT_PACKET_IN";
        /// A flow is gone
        FlowRemoved = 11, "OFPT_FLOW_REMOVED";
        /// A port has changed
        PortStatus = 12, "OFPT_PORT_STATUS";
        /// A packet from the controller
        PacketOut = 13, "OFPT_PACKET_OUT";
        /// Add, change or remove flows
        FlowMod = 14, "OFPT_FLOW_MOD";
        /// Add, change or remove groups
        GroupMod = 15, "OFPT_GROUP_MOD";
        /// Configure a port
        PortMod = 16, "OFPT_PORT_MOD";
        /// Configure a table
        TableMod = 17, "OFPT_TABLE_MOD";
        /// Ask for statistics or descriptions
        MultipartRequest = 18, "OFPT_MULTIPART_REQUEST";
        /// Statistics or descriptions
        MultipartReply = 19, "OFPT_MULTIPART_REPLY";
        /// Finish everything before this
        BarrierRequest = 20, "OFPT_BARRIER_REQUEST";
        /// Everything before the request is finished
        BarrierReply = 21, "OFPT_BARRIER_REPLY";
        /// Ask for the queues of a port
        QueueGetConfigRequest = 22, "OFPT_QUEUE_GET_CONFIG_REQUEST";
        /// The queues of a port
        QueueGetConfigReply = 23, "OFPT_QUEUE_GET_CONFIG_REPLY";
        /// Ask for a role
        RoleRequest = 24, "OFPT_ROLE_REQUEST";
        /// The role held
        RoleReply = 25, "OFPT_ROLE_REPLY";
        /// Which messages do you send unasked?
        GetAsyncRequest = 26, "OFPT_GET_ASYNC_REQUEST";
        /// Which messages the switch sends unasked
        GetAsyncReply = 27, "OFPT_GET_ASYNC_REPLY";
        /// Choose which messages the switch sends unasked
        SetAsync = 28, "OFPT_SET_ASYNC";
        /// Add, change or remove meters
        MeterMod = 29, "OFPT_METER_MOD";
    }
}

impl Header {
    /// The header of a whole frame, of a version that can be read.
    #[inline]
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (body, head) = fixed::<HEADER_LEN>(i, "ofp_header")?;
        let header = Self {
            version: head.u8::<0>(),
            type_: head.u8::<1>(),
            length: head.u16::<2>(),
            xid: Xid(head.u32::<4>()),
        };
        if usize::from(header.length) != i.len() {
            let length = header.length.into();
            return Err(i.bad_length(length, "the length of the frame", "ofp_header.length"));
        }
        let type_ = MessageType::from_wire(header.type_);
        if header.version != VERSION && !type_.is_version_free() {
            return Err(i.refused(
                DecodeErrorKind::Version {
                    found: header.version,
                },
                "ofp_header.version",
                ErrorCode::BAD_REQUEST_BAD_VERSION,
            ));
        }
        Ok((body, header))
    }
}

impl MessageType {
    /// Can a message of this type be read at any version? Its form never changed.
    const fn is_version_free(self) -> bool {
        matches!(
            self,
            Self::Hello | Self::Error | Self::EchoRequest | Self::EchoReply
        )
    }
}

/// The version byte of OpenFlow 1.3.
pub const VERSION: u8 = 0x04;
/// The length of an [`Header`] on the wire, in bytes.
pub const HEADER_LEN: usize = 8;
