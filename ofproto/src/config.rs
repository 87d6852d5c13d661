//! SET_CONFIG, GET_CONFIG_REPLY: fragments, and how much of a missed packet is sent.

use bytes::{BufMut, BytesMut};
use nom::Parser;
use nom::error::context;

use crate::macros::flags;
use crate::wire::{Parsed, Span, be_u16};

/// `ofp_switch_config`, OpenFlow 1.3.5 §7.3.2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchConfig {
    /// What is done with IP fragments.
    pub flags: ConfigFlags,
    /// Bytes of a packet to send to the controller when no action says how many;
    /// [`MAX_LEN_NO_BUFFER`](crate::MAX_LEN_NO_BUFFER) for all.
    pub miss_send_len: u16,
}

flags! {
    /// `ofp_config_flags`, OpenFlow 1.3.5 §7.3.2. Without a flag fragments are handled as any packet.
    ConfigFlags(u16) {
        /// `OFPC_FRAG_DROP`: drop fragments.
        FRAG_DROP = 1 << 0;
        /// `OFPC_FRAG_REASM`: reassemble fragments.
        FRAG_REASM = 1 << 1;
    }
}

impl SwitchConfig {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (flags, miss_send_len)) = context("ofp_switch_config", (be_u16, be_u16)).parse(i)?;
        Ok((
            i,
            Self {
                flags: ConfigFlags::from_bits_retain(flags),
                miss_send_len,
            },
        ))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) {
        out.put_u16(self.flags.bits());
        out.put_u16(self.miss_send_len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use crate::vector::check;

    #[test]
    fn config_vectors() {
        let config = |flags, miss_send_len| SwitchConfig { flags, miss_send_len };
        check(&[
            ("04 07 0008 00000003", Message::GetConfigRequest),
            (
                "04 08 000c 00000003 0000 0080",
                Message::GetConfigReply(config(ConfigFlags::empty(), 128)),
            ),
            (
                "04 09 000c 00000003 0001 ffff",
                Message::SetConfig(config(ConfigFlags::FRAG_DROP, 0xffff)),
            ),
            (
                "04 09 000c 00000003 8000 0000",
                Message::SetConfig(config(ConfigFlags::from_bits_retain(0x8000), 0)),
            ),
        ]);
    }
}
