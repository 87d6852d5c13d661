//! Numbers that must not be mixed up.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::macros::number;

/// An Ethernet address.
pub use macaddr::MacAddr6 as MacAddr;

number! {
    /// Identity of a switch: `ofp_switch_features.datapath_id`, OpenFlow 1.3.5 §7.3.1.
    DatapathId(u64) {}
}

number! {
    /// A port of a switch: `ofp_port_no`, OpenFlow 1.3.5 §7.2.1.
    PortNo(u32) {
        /// `OFPP_MAX`: the highest number of a physical or logical port.
        MAX = 0xffff_ff00;
        /// `OFPP_IN_PORT`: back out of the port that the packet came in by.
        IN_PORT = 0xffff_fff8;
        /// `OFPP_TABLE`: submit a packet-out to the first flow table.
        TABLE = 0xffff_fff9;
        /// `OFPP_NORMAL`: forward as a plain switch would.
        NORMAL = 0xffff_fffa;
        /// `OFPP_FLOOD`: all ports but the ingress port and those with `NO_FLOOD`.
        FLOOD = 0xffff_fffb;
        /// `OFPP_ALL`: all ports but the ingress port.
        ALL = 0xffff_fffc;
        /// `OFPP_CONTROLLER`: send to the controller.
        CONTROLLER = 0xffff_fffd;
        /// `OFPP_LOCAL`: the switch's own network stack.
        LOCAL = 0xffff_fffe;
        /// `OFPP_ANY`: no port given, a wildcard in requests.
        ANY = 0xffff_ffff;
    }
}

number! {
    /// A group: `ofp_group`, OpenFlow 1.3.5 §7.3.4.3.
    GroupId(u32) {
        /// `OFPG_MAX`: the highest number of a usable group.
        MAX = 0xffff_ff00;
        /// `OFPG_ALL`: every group, for deletion.
        ALL = 0xffff_fffc;
        /// `OFPG_ANY`: no group given, a wildcard in requests.
        ANY = 0xffff_ffff;
    }
}

number! {
    /// A meter: `ofp_meter`, OpenFlow 1.3.5 §7.3.4.4.
    MeterId(u32) {
        /// `OFPM_MAX`: the highest number of a usable meter.
        MAX = 0xffff_0000;
        /// `OFPM_SLOWPATH`: the meter of the slow path.
        SLOWPATH = 0xffff_fffd;
        /// `OFPM_CONTROLLER`: the meter of the controller connection.
        CONTROLLER = 0xffff_fffe;
        /// `OFPM_ALL`: every meter, in statistics requests and deletion.
        ALL = 0xffff_ffff;
    }
}

number! {
    /// A flow table: `ofp_table`, OpenFlow 1.3.5 §7.3.4.2.
    TableId(u8) {
        /// `OFPTT_MAX`: the highest number of a table.
        MAX = 0xfe;
        /// `OFPTT_ALL`: every table, in requests and deletion.
        ALL = 0xff;
    }
}

number! {
    /// A queue of a port: OpenFlow 1.3.5 §7.2.2.
    QueueId(u32) {
        /// `OFPQ_ALL`: every queue of the port.
        ALL = 0xffff_ffff;
    }
}

number! {
    /// Transaction id: a reply carries its request's, OpenFlow 1.3.5 §7.1.
    Xid(u32) {}
}

number! {
    /// A packet kept by the switch: OpenFlow 1.3.5 §7.3.4.2, §7.4.1.
    BufferId(u32) {
        /// `OFP_NO_BUFFER`: the packet is not kept, it travels whole.
        NO_BUFFER = 0xffff_ffff;
    }
}

number! {
    /// The controller's own mark on a flow: OpenFlow 1.3.5 §7.3.4.2.
    Cookie(u64) {}
}

impl fmt::Display for DatapathId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A text that is not a datapath id.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expected 16 hexadecimal digits, 0x followed by up to 16, or eight bytes joined by colons")]
pub struct ParseDatapathIdError;

impl FromStr for DatapathId {
    type Err = ParseDatapathIdError;

    /// Reads `00000000000000b1`, `0xb1` or `00:00:00:00:00:00:00:b1`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            return hex(digits, 1..=16);
        }
        if !text.contains(':') {
            return hex(text, 16..=16);
        }
        let mut id = 0;
        let mut bytes = 0;
        for byte in text.split(':') {
            let Self(value) = hex(byte, 2..=2)?;
            bytes += 1;
            if bytes > 8 {
                return Err(ParseDatapathIdError);
            }
            id = id << 8 | value;
        }
        if bytes == 8 {
            Ok(Self(id))
        } else {
            Err(ParseDatapathIdError)
        }
    }
}

fn hex(digits: &str, allowed: std::ops::RangeInclusive<usize>) -> Result<DatapathId, ParseDatapathIdError> {
    // `from_str_radix` would take a sign.
    if !allowed.contains(&digits.len()) || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(ParseDatapathIdError);
    }
    u64::from_str_radix(digits, 16)
        .map(DatapathId)
        .map_err(|_| ParseDatapathIdError)
}

impl fmt::Display for PortNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Self::IN_PORT => "IN_PORT",
            Self::TABLE => "TABLE",
            Self::NORMAL => "NORMAL",
            Self::FLOOD => "FLOOD",
            Self::ALL => "ALL",
            Self::CONTROLLER => "CONTROLLER",
            Self::LOCAL => "LOCAL",
            Self::ANY => "ANY",
            Self(number) => return write!(f, "{number}"),
        })
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Self::ALL => "ALL",
            Self::ANY => "ANY",
            Self(number) => return write!(f, "{number}"),
        })
    }
}

impl fmt::Display for MeterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Self::SLOWPATH => "slowpath",
            Self::CONTROLLER => "controller",
            Self::ALL => "all",
            Self(number) => return write!(f, "{number}"),
        })
    }
}

impl fmt::Display for TableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ALL => f.write_str("ALL"),
            Self(number) => write!(f, "{number}"),
        }
    }
}

impl fmt::Display for QueueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ALL => f.write_str("ALL"),
            Self(number) => write!(f, "{number}"),
        }
    }
}

impl fmt::Display for Xid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::Display for BufferId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NO_BUFFER => f.write_str("NO_BUFFER"),
            Self(number) => write!(f, "{number:#010x}"),
        }
    }
}

impl fmt::Display for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datapath_id_reads_three_forms_and_prints_one() {
        for text in [
            "00000000000000b1",
            "0xb1",
            "00:00:00:00:00:00:00:b1",
            "00:00:00:00:00:00:00:B1",
        ] {
            assert_eq!(text.parse(), Ok(DatapathId(0xb1)), "{text}");
        }
        assert_eq!(DatapathId(0xb1).to_string(), "00000000000000b1");
    }

    #[test]
    fn other_texts_are_no_datapath_id() {
        for text in [
            "",
            "b1",
            "0x",
            "0x+1",
            "0x00000000000000001",
            "00:b1",
            "00:00:00:00:00:00:00:00:b1",
            "zz:",
            "ü",
        ] {
            assert_eq!(text.parse::<DatapathId>(), Err(ParseDatapathIdError), "{text}");
        }
    }

    #[test]
    fn reserved_numbers_print_their_names() {
        assert_eq!(PortNo::CONTROLLER.to_string(), "CONTROLLER");
        assert_eq!(PortNo(3).to_string(), "3");
        assert_eq!(GroupId::ANY.to_string(), "ANY");
        assert_eq!(MeterId::ALL.to_string(), "all");
        assert_eq!(TableId::ALL.to_string(), "ALL");
        assert_eq!(Xid(16).to_string(), "0x10");
        assert_eq!(BufferId(1).to_string(), "0x00000001");
    }
}
