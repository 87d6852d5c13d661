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
