//! FEATURES_REPLY: who a switch is and what it can do.

use bytes::{BufMut, BytesMut};
use nom::Parser;
use nom::error::context;

use crate::DatapathId;
use crate::macros::flags;
use crate::wire::{Parsed, Span, be_u8, be_u32, be_u64, pad};

/// `ofp_switch_features`, OpenFlow 1.3.5 §7.3.1.
///
/// ```text
///  0             8         12       13           14      16             20         24
/// +-------------+---------+--------+------------+-------+--------------+----------+
/// | datapath_id |n_buffers|n_tables|auxiliary_id| zeros | capabilities | reserved |
/// +-------------+---------+--------+------------+-------+--------------+----------+
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeaturesReply {
    /// The switch.
    pub datapath_id: DatapathId,
    /// How many packets it can keep for the controller.
    pub n_buffers: u32,
    /// How many flow tables it has.
    pub n_tables: u8,
    /// Which of the switch's connections this is; 0 is the main one.
    pub auxiliary_id: u8,
    /// What it can do.
    pub capabilities: Capabilities,
}

flags! {
    /// `ofp_capabilities`, OpenFlow 1.3.5 §7.3.1.
    Capabilities(u32) {
        /// `OFPC_FLOW_STATS`: flow statistics.
        FLOW_STATS = 1 << 0;
        /// `OFPC_TABLE_STATS`: table statistics.
        TABLE_STATS = 1 << 1;
        /// `OFPC_PORT_STATS`: port statistics.
        PORT_STATS = 1 << 2;
        /// `OFPC_GROUP_STATS`: group statistics.
        GROUP_STATS = 1 << 3;
        /// `OFPC_IP_REASM`: can reassemble IP fragments.
        IP_REASM = 1 << 5;
        /// `OFPC_QUEUE_STATS`: queue statistics.
        QUEUE_STATS = 1 << 6;
        /// `OFPC_PORT_BLOCKED`: blocks looping ports by itself.
        PORT_BLOCKED = 1 << 8;
    }
}

impl FeaturesReply {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (datapath_id, n_buffers, n_tables, auxiliary_id, (), capabilities, ())) = context(
            "ofp_switch_features",
            (be_u64, be_u32, be_u8, be_u8, pad(2), be_u32, pad(4)),
        )
        .parse(i)?;
        let reply = Self {
            datapath_id: DatapathId(datapath_id),
            n_buffers,
            n_tables,
            auxiliary_id,
            capabilities: Capabilities::from_bits_retain(capabilities),
        };
        Ok((i, reply))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) {
        out.put_u64(self.datapath_id.0);
        out.put_u32(self.n_buffers);
        out.put_u8(self.n_tables);
        out.put_u8(self.auxiliary_id);
        out.put_u16(0);
        out.put_u32(self.capabilities.bits());
        out.put_u32(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use crate::vector::check;

    #[test]
    fn features_vectors() {
        check(&[
            ("04 05 0008 00000002", Message::FeaturesRequest),
            (
                "04 06 0020 00000002      # header
                 00000000000000b1         # datapath id
                 00000100 fe 01 0000      # 256 buffers, 254 tables, auxiliary connection 1
                 0000004f 00000000        # capabilities, reserved",
                Message::FeaturesReply(FeaturesReply {
                    datapath_id: DatapathId(0xb1),
                    n_buffers: 256,
                    n_tables: 254,
                    auxiliary_id: 1,
                    capabilities: Capabilities::FLOW_STATS
                        | Capabilities::TABLE_STATS
                        | Capabilities::PORT_STATS
                        | Capabilities::GROUP_STATS
                        | Capabilities::QUEUE_STATS,
                }),
            ),
        ]);
    }
}
