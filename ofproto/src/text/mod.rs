//! Messages as text, in the words of `ovs-ofctl ofp-print`.
//!
//! Everything is printed character for character as Open vSwitch 3.1 prints it, but for the newline at the very
//! end. Messages that are read here but refused there (fields and actions that it does not implement,
//! experimenters that it does not know) are printed in the same manner with the names of the specification.

/// Appends formatted text to a `String`, which cannot fail.
macro_rules! put {
    ($out:expr, $($format:tt)*) => {{
        let _ = ::std::fmt::Write::write_fmt($out, format_args!($($format)*));
    }};
}

mod actions;
mod async_config;
mod extended;
mod extensions;
mod fields;
mod flow;
mod group;
mod hex;
mod matching;
mod meter;
mod multipart;
mod nicira;
mod packet;
mod parse;
mod port;
mod queue;
mod session;
mod table;
mod value;

pub use self::parse::{ParseTextError, parse_flow_mod, parse_group_mod, parse_match, parse_meter_mod};

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::{Action, Instruction, MacAddr, Match, Message, VERSION, Xid};

/// A message to be displayed, see [`Message::text`].
#[derive(Clone, Copy, Debug)]
#[must_use = "this is only a view of the message"]
pub struct Text<'a> {
    message: &'a Message,
    version: u8,
    xid: Xid,
    /// How many messages this one is inside of.
    depth: u8,
}

impl Message {
    /// The message as `ovs-ofctl ofp-print` prints it, without the newline at the end.
    pub fn text(&self, xid: Xid) -> Text<'_> {
        let version = match self {
            Self::Hello(hello) => hello.header_version,
            _ => VERSION,
        };
        Text {
            message: self,
            version,
            xid,
            depth: 0,
        }
    }
}

impl Text<'_> {
    /// The same with another version in the header.
    pub const fn at_version(self, version: u8) -> Self {
        Self { version, ..self }
    }

    fn put(self, out: &mut String) {
        put_heading(out, multipart::name(self.message), self.version, self.xid);
        self.put_body(out);
        if out.ends_with(' ') {
            out.pop();
        }
    }

    fn put_body(self, out: &mut String) {
        match self.message {
            Message::Hello(hello) => session::put_hello(out, hello, self.version, self.xid),
            Message::Error(error) => session::put_error(out, error, self.depth),
            Message::EchoRequest(data) | Message::EchoReply(data) => session::put_echo(out, data),
            Message::FeaturesReply(features) => session::put_features(out, features),
            Message::GetConfigReply(config) | Message::SetConfig(config) => session::put_config(out, config),
            Message::RoleRequest(role) => session::put_role_request(out, role),
            Message::RoleReply(role) => session::put_role_reply(out, role),
            Message::Experimenter(experimenter) => session::put_experimenter(out, experimenter, self.depth),
            Message::PacketIn(packet_in) => flow::put_packet_in(out, packet_in),
            Message::PacketOut(packet_out) => flow::put_packet_out(out, packet_out),
            Message::FlowMod(flow_mod) => flow::put_flow_mod(out, flow_mod),
            Message::FlowRemoved(removed) => flow::put_flow_removed(out, removed),
            Message::GroupMod(group_mod) => group::put_group_mod(out, group_mod),
            Message::MeterMod(meter_mod) => meter::put_meter_mod(out, meter_mod),
            Message::PortStatus(status) => port::put_port_status(out, status),
            Message::MultipartRequest(request) => multipart::put_request(out, request),
            Message::MultipartReply(reply) => multipart::put_reply(out, reply),
            Message::FeaturesRequest
            | Message::GetConfigRequest
            | Message::BarrierRequest
            | Message::BarrierReply
            | Message::GetAsyncRequest => {}
            Message::PortMod(port_mod) => port::put_port_mod(out, port_mod),
            Message::TableMod(table_mod) => table::put_table_mod(out, table_mod),
            Message::QueueGetConfigRequest(request) => queue::put_config_request(out, request),
            Message::QueueGetConfigReply(reply) => queue::put_config_reply(out, reply),
            Message::GetAsyncReply(config) | Message::SetAsync(config) => {
                async_config::put_async_config(out, config);
            }
        }
    }
}

/// What every message begins with; version 1.0 goes without saying.
fn put_heading(out: &mut String, name: &str, version: u8, xid: Xid) {
    out.push_str(name);
    match version {
        0x01 => {}
        0x02..=0x06 => put!(out, " (OF1.{})", version - 1),
        other => put!(out, " (OF 0x{other:02x})"),
    }
    put!(out, " (xid={xid}):");
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.put(&mut text);
        f.write_str(text.strip_suffix('\n').unwrap_or(&text))
    }
}

impl fmt::Display for Match {
    /// The match as `ovs-ofctl` prints it, e.g. `udp,in_port=1,tp_dst=53`; empty when everything matches.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        matching::put_match(&mut text, self, None);
        f.write_str(&text)
    }
}

impl fmt::Display for Action {
    /// The action as `ovs-ofctl` prints it, e.g. `output:2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        actions::put_action(&mut text, self);
        f.write_str(&text)
    }
}

impl fmt::Display for Instruction {
    /// The instruction as `ovs-ofctl` prints it, e.g. `goto_table:5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        actions::put_instruction(&mut text, self);
        f.write_str(&text)
    }
}

/// Names of the bits that are set, with blanks between; unnamed ones together in hexadecimal; `0` for none.
fn put_bits(out: &mut String, bits: u32, names: &[(u32, &str)]) {
    if bits == 0 {
        out.push('0');
        return;
    }
    let mut left = bits;
    let mut separator = "";
    for (bit, name) in names {
        if left & bit != 0 {
            left &= !bit;
            put!(out, "{separator}{name}");
            separator = " ";
        }
    }
    if left != 0 {
        put!(out, "{separator}{left:#x}");
    }
}

/// Seconds with decimals: none, three, or as many as are not zero.
fn put_duration(out: &mut String, seconds: u32, nanoseconds: u32) {
    put!(out, "{seconds}");
    if nanoseconds.is_multiple_of(1_000_000) {
        if nanoseconds > 0 {
            put!(out, ".{:03}", nanoseconds / 1_000_000);
        }
    } else {
        let decimals = format!("{nanoseconds:09}");
        put!(out, ".{}", decimals.trim_end_matches('0'));
    }
    out.push('s');
}

/// A number in hexadecimal; zero has no prefix, as with `%#x` of C.
struct Hex(u64);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            f.write_str("0")
        } else {
            write!(f, "{:#x}", self.0)
        }
    }
}

/// An IPv6 address; one that is an IPv4 address after 96 zero bits ends in that.
struct Ipv6Text(Ipv6Addr);

impl fmt::Display for Ipv6Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.segments() {
            [0, 0, 0, 0, 0, 0, high, low] if high != 0 => {
                write!(f, "::{}", Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)))
            }
            _ => write!(f, "{}", self.0),
        }
    }
}

/// An Ethernet address in lower case.
struct MacText(MacAddr);

impl fmt::Display for MacText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0.into_array();
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

#[cfg(test)]
mod tests {
    use bytes::{Bytes, BytesMut};

    use super::*;
    use crate::{ErrorCode, ErrorMsg};

    #[test]
    fn errors_about_errors_are_read_to_a_bounded_depth() {
        let mut data = Bytes::new();
        for _ in 0..5_000 {
            let mut out = BytesMut::new();
            let error = ErrorCode::BAD_REQUEST_BAD_TYPE;
            Message::Error(ErrorMsg { error, data })
                .encode(Xid(1), &mut out)
                .unwrap();
            data = out.freeze();
        }
        let (_, message) = Message::decode(&data).unwrap();
        assert_eq!(message.text(Xid(1)).to_string().matches("OFPT_ERROR").count(), 5);
    }

    #[test]
    fn parts_of_messages_have_texts_of_their_own() {
        use crate::{OxmField, PortNo, TableId};

        let match_ = Match::new()
            .with(OxmField::UdpDst(53))
            .with(OxmField::EthType(0x800));
        assert_eq!(match_.with(OxmField::IpProto(17)).to_string(), "udp,tp_dst=53");
        assert_eq!(Match::new().to_string(), "");
        assert_eq!(Action::output(PortNo(2)).to_string(), "output:2");
        assert_eq!(Instruction::GotoTable(TableId(5)).to_string(), "goto_table:5");
    }
}
