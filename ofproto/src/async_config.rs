//! SET_ASYNC, GET_ASYNC_REPLY: which messages a switch sends unasked.

use bytes::{BufMut, BytesMut};
use nom::Parser;
use nom::error::context;

use crate::wire::{Parsed, Span, be_u32};

/// `ofp_async_config`, OpenFlow 1.3.5 §7.3.10.
///
/// Each mask has a bit per reason, at the reason's number. Of the two masks the first is for a controller whose
/// role is equal or master, the second for a slave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsyncConfig {
    /// Reasons for PACKET_IN, see [`PacketInReason`](crate::PacketInReason).
    pub packet_in_mask: [u32; 2],
    /// Reasons for PORT_STATUS, see [`PortReason`](crate::PortReason).
    pub port_status_mask: [u32; 2],
    /// Reasons for FLOW_REMOVED, see [`FlowRemovedReason`](crate::FlowRemovedReason).
    pub flow_removed_mask: [u32; 2],
}

impl AsyncConfig {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (a, b, c, d, e, f)) = context(
            "ofp_async_config",
            (be_u32, be_u32, be_u32, be_u32, be_u32, be_u32),
        )
        .parse(i)?;
        Ok((
            i,
            Self {
                packet_in_mask: [a, b],
                port_status_mask: [c, d],
                flow_removed_mask: [e, f],
            },
        ))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) {
        for mask in [self.packet_in_mask, self.port_status_mask, self.flow_removed_mask].as_flattened() {
            out.put_u32(*mask);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use crate::vector::check;

    #[test]
    fn async_config_vectors() {
        let config = AsyncConfig {
            packet_in_mask: [7, 0],
            port_status_mask: [7, 7],
            flow_removed_mask: [15, 0],
        };
        check(&[
            ("04 1a 0008 00000001", Message::GetAsyncRequest),
            (
                "04 1b 0020 00000001 00000007 00000000 00000007 00000007 0000000f 00000000",
                Message::GetAsyncReply(config.clone()),
            ),
            (
                "04 1c 0020 00000001 00000007 00000000 00000007 00000007 0000000f 00000000",
                Message::SetAsync(config),
            ),
        ]);
    }
}
