//! PORT_STATUS: a port has changed.

use bytes::{BufMut, BytesMut};
use nom::Parser;
use nom::error::context;

use crate::macros::open_enum;
use crate::wire::{Parsed, Span, be_u8, pad};
use crate::{EncodeError, Port};

/// `ofp_port_status`, OpenFlow 1.3.5 §7.4.3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortStatus {
    /// What happened to the port.
    pub reason: PortReason,
    /// The port as it is now.
    pub desc: Port,
}

open_enum! {
    /// `ofp_port_reason`, OpenFlow 1.3.5 §7.4.3.
    PortReason(u8) {
        /// It is new
        Add = 0, "OFPPR_ADD";
        /// It is gone
        Delete = 1, "OFPPR_DELETE";
        /// It has changed
        Modify = 2, "OFPPR_MODIFY";
    }
}

impl PortStatus {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (reason, (), desc)) = context("ofp_port_status", (be_u8, pad(7), Port::parse)).parse(i)?;
        Ok((
            i,
            Self {
                reason: PortReason::from_wire(reason),
                desc,
            },
        ))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        out.put_u8(self.reason.to_wire());
        out.put_bytes(0, 7);
        self.desc.put(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::check;
    use crate::{MacAddr, Message, PortConfig, PortFeatures, PortNo, PortState};

    #[test]
    fn port_status_vectors() {
        check(&[(
            "04 0c 0050 00000000              # header
             02 00000000000000                # modified
             00000003 00000000                 # port 3
             c28f9decde24 0000                 # hw_addr
             68316f33000000000000000000000000  # h1o3
             00000001 00000005                 # down; no link, live
             00000840 00000000 00000000 00000000  # 10 Gbit/s copper
             00989680 00000001                 # 10,000,000 and 1 kbit/s",
            Message::PortStatus(PortStatus {
                reason: PortReason::Modify,
                desc: port(),
            }),
        )]);
    }

    #[test]
    fn port_name_that_is_too_long_is_no_port_name() {
        let mut status = PortStatus {
            reason: PortReason::Add,
            desc: port(),
        };
        status.desc.name = "seventeen letters".to_owned();
        let mut out = bytes::BytesMut::from(&b"before"[..]);
        let error = Message::PortStatus(status)
            .encode(crate::Xid(0), &mut out)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "ofp_port.name would be 17 bytes long, at most 16 fit"
        );
        assert_eq!(&out[..], b"before");
    }

    fn port() -> Port {
        Port {
            port_no: PortNo(3),
            hw_addr: MacAddr::new(0xc2, 0x8f, 0x9d, 0xec, 0xde, 0x24),
            name: "h1o3".to_owned(),
            config: PortConfig::PORT_DOWN,
            state: PortState::LINK_DOWN | PortState::LIVE,
            curr: PortFeatures::SPEED_10GB_FD | PortFeatures::COPPER,
            advertised: PortFeatures::empty(),
            supported: PortFeatures::empty(),
            peer: PortFeatures::empty(),
            curr_speed: 10_000_000,
            max_speed: 1,
        }
    }
}
