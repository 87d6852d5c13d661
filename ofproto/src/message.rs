//! Every message: which there are, and how each is read and written.

use bytes::{BufMut, Bytes, BytesMut};

use crate::wire::{Span, end, patch_length, rest};
use crate::{
    AsyncConfig, DecodeError, DecodeErrorKind, EncodeError, ErrorCode, ErrorMsg, Experimenter, FeaturesReply,
    FlowMod, FlowRemoved, GroupMod, Header, Hello, MessageType, MeterMod, MultipartReply, MultipartRequest,
    MultipartRequestBody, PacketIn, PacketOut, PortMod, PortStatus, QueueGetConfigReply,
    QueueGetConfigRequest, Role, SwitchConfig, TableMod, VERSION, Xid,
};

/// A message of OpenFlow 1.3.5, §7.1 `ofp_type`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "messages are handled one by one; room costs less than an allocation for each FLOW_MOD"
)]
pub enum Message {
    /// `OFPT_HELLO`: which versions a peer speaks.
    Hello(Hello),
    /// `OFPT_ERROR`: a refusal.
    Error(ErrorMsg),
    /// `OFPT_ECHO_REQUEST`: are you there? The bytes are to be sent back.
    EchoRequest(Bytes),
    /// `OFPT_ECHO_REPLY`: yes; the bytes of the request.
    EchoReply(Bytes),
    /// `OFPT_EXPERIMENTER`: a message that others define.
    Experimenter(Experimenter),
    /// `OFPT_FEATURES_REQUEST`: who are you?
    FeaturesRequest,
    /// `OFPT_FEATURES_REPLY`: who a switch is and what it can do.
    FeaturesReply(FeaturesReply),
    /// `OFPT_GET_CONFIG_REQUEST`: how are you configured?
    GetConfigRequest,
    /// `OFPT_GET_CONFIG_REPLY`: how the switch is configured.
    GetConfigReply(SwitchConfig),
    /// `OFPT_SET_CONFIG`: configure the switch.
    SetConfig(SwitchConfig),
    /// `OFPT_PACKET_IN`: a packet for the controller.
    PacketIn(PacketIn),
    /// `OFPT_FLOW_REMOVED`: a flow is gone.
    FlowRemoved(FlowRemoved),
    /// `OFPT_PORT_STATUS`: a port has changed.
    PortStatus(PortStatus),
    /// `OFPT_PACKET_OUT`: a packet from the controller.
    PacketOut(PacketOut),
    /// `OFPT_FLOW_MOD`: add, change or remove flows.
    FlowMod(FlowMod),
    /// `OFPT_GROUP_MOD`: add, change or remove groups.
    GroupMod(GroupMod),
    /// `OFPT_PORT_MOD`: configure a port.
    PortMod(PortMod),
    /// `OFPT_TABLE_MOD`: configure a table.
    TableMod(TableMod),
    /// `OFPT_MULTIPART_REQUEST`: ask for statistics or descriptions.
    MultipartRequest(MultipartRequest),
    /// `OFPT_MULTIPART_REPLY`: statistics or descriptions.
    MultipartReply(MultipartReply),
    /// `OFPT_BARRIER_REQUEST`: finish everything before this.
    BarrierRequest,
    /// `OFPT_BARRIER_REPLY`: everything before the request is finished.
    BarrierReply,
    /// `OFPT_QUEUE_GET_CONFIG_REQUEST`: ask for the queues of a port.
    QueueGetConfigRequest(QueueGetConfigRequest),
    /// `OFPT_QUEUE_GET_CONFIG_REPLY`: the queues of a port.
    QueueGetConfigReply(QueueGetConfigReply),
    /// `OFPT_ROLE_REQUEST`: ask for a role.
    RoleRequest(Role),
    /// `OFPT_ROLE_REPLY`: the role held.
    RoleReply(Role),
    /// `OFPT_GET_ASYNC_REQUEST`: which messages do you send unasked?
    GetAsyncRequest,
    /// `OFPT_GET_ASYNC_REPLY`: which messages the switch sends unasked.
    GetAsyncReply(AsyncConfig),
    /// `OFPT_SET_ASYNC`: choose which messages the switch sends unasked.
    SetAsync(AsyncConfig),
    /// `OFPT_METER_MOD`: add, change or remove meters.
    MeterMod(MeterMod),
}

impl Message {
    /// Reads one whole frame. Payloads of the message are slices of it.
    ///
    /// HELLO, ERROR and ECHO are read at any version, everything else at version 0x04.
    ///
    /// # Errors
    ///
    /// When the bytes are not a message; the error says where and what to answer.
    pub fn decode(frame: &Bytes) -> Result<(Header, Self), DecodeError> {
        let (i, header) = Header::parse(Span::new(frame))?;
        let type_ = MessageType::from_wire(header.type_);
        // Each message is built where it stays: some are large.
        macro_rules! body {
            ($variant:ident, $parser:expr) => {{
                let (left, body) = $parser(i)?;
                end(left, type_.name())?;
                Ok((header, Self::$variant(body)))
            }};
            ($variant:ident) => {
                Ok(end(i, type_.name()).map(|()| (header, Self::$variant))?)
            };
        }
        match type_ {
            MessageType::Hello => body!(Hello, |i| Hello::parse(i, header.version)),
            MessageType::Error => body!(Error, ErrorMsg::parse),
            MessageType::EchoRequest => body!(EchoRequest, rest),
            MessageType::EchoReply => body!(EchoReply, rest),
            MessageType::Experimenter => body!(Experimenter, Experimenter::parse),
            MessageType::FeaturesReply => body!(FeaturesReply, FeaturesReply::parse),
            MessageType::GetConfigReply => body!(GetConfigReply, SwitchConfig::parse),
            MessageType::SetConfig => body!(SetConfig, SwitchConfig::parse),
            MessageType::PacketIn => PacketIn::parse_to(i, |body| (header, Self::PacketIn(body))),
            MessageType::FlowRemoved => body!(FlowRemoved, FlowRemoved::parse),
            MessageType::PortStatus => body!(PortStatus, PortStatus::parse),
            MessageType::PacketOut => PacketOut::parse_to(i, |body| (header, Self::PacketOut(body))),
            MessageType::FlowMod => FlowMod::parse_to(i, |body| (header, Self::FlowMod(body))),
            MessageType::GroupMod => body!(GroupMod, GroupMod::parse),
            MessageType::PortMod => body!(PortMod, PortMod::parse),
            MessageType::TableMod => body!(TableMod, TableMod::parse),
            MessageType::MultipartRequest => body!(MultipartRequest, MultipartRequest::parse),
            MessageType::MultipartReply => body!(MultipartReply, MultipartReply::parse),
            MessageType::QueueGetConfigRequest => body!(QueueGetConfigRequest, QueueGetConfigRequest::parse),
            MessageType::QueueGetConfigReply => body!(QueueGetConfigReply, QueueGetConfigReply::parse),
            MessageType::RoleRequest => body!(RoleRequest, Role::parse),
            MessageType::RoleReply => body!(RoleReply, Role::parse),
            MessageType::GetAsyncReply => body!(GetAsyncReply, AsyncConfig::parse),
            MessageType::SetAsync => body!(SetAsync, AsyncConfig::parse),
            MessageType::MeterMod => body!(MeterMod, MeterMod::parse),
            MessageType::FeaturesRequest => body!(FeaturesRequest),
            MessageType::GetConfigRequest => body!(GetConfigRequest),
            MessageType::BarrierRequest => body!(BarrierRequest),
            MessageType::BarrierReply => body!(BarrierReply),
            MessageType::GetAsyncRequest => body!(GetAsyncRequest),
            MessageType::Unknown(found) => {
                let kind = DecodeErrorKind::MessageType { found };
                let answer = ErrorCode::BAD_REQUEST_BAD_TYPE;
                Err(Span::new(frame).refused(kind, "ofp_header.type", answer))?
            }
        }
    }

    /// Appends the message in its canonical form, at version 0x04; a HELLO at the version that it names.
    ///
    /// # Errors
    ///
    /// When the message has no form on the wire, as when it is longer than 65,535 bytes. `out` is then as before.
    pub fn encode(&self, xid: Xid, out: &mut BytesMut) -> Result<(), EncodeError> {
        let version = match self {
            Self::Hello(hello) => hello.header_version,
            _ => VERSION,
        };
        self.encode_at(version, xid, out)
    }

    /// As [`encode`](Self::encode), with another version byte: to answer a peer that speaks no OpenFlow 1.3.
    ///
    /// # Errors
    ///
    /// As [`encode`](Self::encode).
    pub fn encode_at(&self, version: u8, xid: Xid, out: &mut BytesMut) -> Result<(), EncodeError> {
        let start = out.len();
        out.put_u8(version);
        out.put_u8(self.message_type().to_wire());
        out.put_u16(0);
        out.put_u32(xid.0);
        let written = self
            .put_body(out)
            .and_then(|()| patch_length(out, start, 2, self.name()));
        if written.is_err() {
            out.truncate(start);
        }
        written
    }

    /// Fails when a match or an action of the message names a field without the fields that it needs: every switch
    /// would refuse that. [`encode`](Self::encode) writes it nevertheless, so that whatever a peer sent can be handed
    /// on byte for byte.
    ///
    /// # Errors
    ///
    /// [`EncodeError::MissingPrerequisite`].
    pub fn validate(&self) -> Result<(), EncodeError> {
        match self {
            Self::FlowMod(flow_mod) => flow_mod.validate(),
            Self::MultipartRequest(request) => match &request.body {
                MultipartRequestBody::Flow(flows) | MultipartRequestBody::Aggregate(flows) => {
                    flows.match_.check_prerequisites()
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// The C name of the message's type, e.g. `OFPT_FLOW_MOD`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.message_type().name()
    }

    /// The message's type.
    #[must_use]
    pub const fn message_type(&self) -> MessageType {
        match self {
            Self::Hello(_) => MessageType::Hello,
            Self::Error(_) => MessageType::Error,
            Self::EchoRequest(_) => MessageType::EchoRequest,
            Self::EchoReply(_) => MessageType::EchoReply,
            Self::Experimenter(_) => MessageType::Experimenter,
            Self::FeaturesRequest => MessageType::FeaturesRequest,
            Self::FeaturesReply(_) => MessageType::FeaturesReply,
            Self::GetConfigRequest => MessageType::GetConfigRequest,
            Self::GetConfigReply(_) => MessageType::GetConfigReply,
            Self::SetConfig(_) => MessageType::SetConfig,
            Self::PacketIn(_) => MessageType::PacketIn,
            Self::FlowRemoved(_) => MessageType::FlowRemoved,
            Self::PortStatus(_) => MessageType::PortStatus,
            Self::PacketOut(_) => MessageType::PacketOut,
            Self::FlowMod(_) => MessageType::FlowMod,
            Self::GroupMod(_) => MessageType::GroupMod,
            Self::PortMod(_) => MessageType::PortMod,
            Self::TableMod(_) => MessageType::TableMod,
            Self::MultipartRequest(_) => MessageType::MultipartRequest,
            Self::MultipartReply(_) => MessageType::MultipartReply,
            Self::BarrierRequest => MessageType::BarrierRequest,
            Self::BarrierReply => MessageType::BarrierReply,
            Self::QueueGetConfigRequest(_) => MessageType::QueueGetConfigRequest,
            Self::QueueGetConfigReply(_) => MessageType::QueueGetConfigReply,
            Self::RoleRequest(_) => MessageType::RoleRequest,
            Self::RoleReply(_) => MessageType::RoleReply,
            Self::GetAsyncRequest => MessageType::GetAsyncRequest,
            Self::GetAsyncReply(_) => MessageType::GetAsyncReply,
            Self::SetAsync(_) => MessageType::SetAsync,
            Self::MeterMod(_) => MessageType::MeterMod,
        }
    }

    fn put_body(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        match self {
            Self::Hello(hello) => return hello.put(out),
            Self::Error(error) => error.put(out),
            Self::EchoRequest(data) | Self::EchoReply(data) => out.put_slice(data),
            Self::Experimenter(experimenter) => experimenter.put(out),
            Self::FeaturesReply(features) => features.put(out),
            Self::GetConfigReply(config) | Self::SetConfig(config) => config.put(out),
            Self::PacketIn(packet_in) => return packet_in.put(out),
            Self::FlowRemoved(removed) => return removed.put(out),
            Self::PortStatus(status) => return status.put(out),
            Self::PacketOut(packet_out) => return packet_out.put(out),
            Self::FlowMod(flow_mod) => return flow_mod.put(out),
            Self::GroupMod(group_mod) => return group_mod.put(out),
            Self::PortMod(port_mod) => port_mod.put(out),
            Self::TableMod(table_mod) => table_mod.put(out),
            Self::MultipartRequest(request) => return request.put(out),
            Self::MultipartReply(reply) => return reply.put(out),
            Self::QueueGetConfigRequest(request) => request.put(out),
            Self::QueueGetConfigReply(reply) => return reply.put(out),
            Self::RoleRequest(role) | Self::RoleReply(role) => role.put(out),
            Self::GetAsyncReply(config) | Self::SetAsync(config) => config.put(out),
            Self::MeterMod(meter_mod) => return meter_mod.put(out),
            Self::FeaturesRequest
            | Self::GetConfigRequest
            | Self::BarrierRequest
            | Self::BarrierReply
            | Self::GetAsyncRequest => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{bytes, check};

    #[test]
    fn bare_message_vectors() {
        check(&[
            ("04 02 0008 00000000", Message::EchoRequest(Bytes::new())),
            (
                "04 03 000b 00000001 616263",
                Message::EchoReply(Bytes::from_static(b"abc")),
            ),
            ("04 14 0008 00000007", Message::BarrierRequest),
            ("04 15 0008 00000007", Message::BarrierReply),
        ]);
    }

    #[test]
    fn other_versions_and_types_are_refused_with_the_right_answer() {
        for (text, said, answer) in [
            (
                "06 14 0008 00000007",
                "ofp_header.version at byte 0: version is 0x06, expected 0x04",
                "OFPBRC_BAD_VERSION",
            ),
            (
                "04 1e 0008 00000007",
                "ofp_header.type at byte 0: message type 30 is unknown",
                "OFPBRC_BAD_TYPE",
            ),
            (
                "04 14 0009 00000007",
                "ofp_header.length at byte 0: length is 9, expected the length of the frame",
                "OFPBRC_BAD_LEN",
            ),
            (
                "04 14 000a 00000007 0000",
                "OFPT_BARRIER_REQUEST at byte 8: 2 bytes too many",
                "OFPBRC_BAD_LEN",
            ),
            (
                "04 14 00",
                "ofp_header at byte 3: ends too early, 5 more bytes expected",
                "OFPBRC_BAD_LEN",
            ),
        ] {
            let error = Message::decode(&bytes(text).into()).unwrap_err();
            assert_eq!(error.to_string(), said);
            assert_eq!(error.answer.to_string(), answer);
        }
        assert!(
            Message::decode(&bytes("01 02 0008 00000007").into()).is_ok(),
            "an echo has no version"
        );
    }

    #[test]
    fn message_that_is_too_long_leaves_the_buffer_as_it_was() {
        let mut out = BytesMut::from(&b"before"[..]);
        let echo = |length| Message::EchoRequest(Bytes::from(vec![0; length]));
        let error = echo(65_528).encode(Xid(1), &mut out).unwrap_err();
        assert_eq!(
            error.to_string(),
            "OFPT_ECHO_REQUEST would be 65536 bytes long, at most 65535 fit"
        );
        assert_eq!(&out[..], b"before");
        echo(65_527).encode(Xid(1), &mut out).unwrap();
        assert_eq!(out.len(), 6 + 65_535);
    }
}
