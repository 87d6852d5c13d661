//! PORT_MOD: configure a port.

use bytes::{BufMut, BytesMut};
use nom::Parser;
use nom::error::context;

use crate::wire::{Parsed, Span, be_u32, mac, pad};
use crate::{MacAddr, PortConfig, PortFeatures, PortNo};

/// `ofp_port_mod`, OpenFlow 1.3.5 §7.3.4.5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortMod {
    /// The port.
    pub port_no: PortNo,
    /// Its Ethernet address, as a check that the right port is meant.
    pub hw_addr: MacAddr,
    /// The configuration.
    pub config: PortConfig,
    /// Which bits of the configuration to change.
    pub mask: PortConfig,
    /// The features to offer to the peer; none leaves them as they are.
    pub advertise: PortFeatures,
}

impl PortMod {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (port_no, (), hw_addr, (), config, mask, advertise, ())) = context(
            "ofp_port_mod",
            (be_u32, pad(4), mac, pad(2), be_u32, be_u32, be_u32, pad(4)),
        )
        .parse(i)?;
        let port_mod = Self {
            port_no: PortNo(port_no),
            hw_addr,
            config: PortConfig::from_bits_retain(config),
            mask: PortConfig::from_bits_retain(mask),
            advertise: PortFeatures::from_bits_retain(advertise),
        };
        Ok((i, port_mod))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) {
        out.put_u32(self.port_no.0);
        out.put_u32(0);
        out.put_slice(self.hw_addr.as_bytes());
        out.put_u16(0);
        out.put_u32(self.config.bits());
        out.put_u32(self.mask.bits());
        out.put_u32(self.advertise.bits());
        out.put_u32(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use crate::vector::check;

    #[test]
    fn port_mod_vectors() {
        check(&[(
            "04 10 0028 00000009          # header
             00000003 00000000            # port 3
             020000000003 0000            # hw_addr
             00000001 00000041            # take down, let it cause packet-ins
             00002000 00000000            # offer autonegotiation",
            Message::PortMod(PortMod {
                port_no: PortNo(3),
                hw_addr: MacAddr::new(2, 0, 0, 0, 0, 3),
                config: PortConfig::PORT_DOWN,
                mask: PortConfig::PORT_DOWN | PortConfig::NO_PACKET_IN,
                advertise: PortFeatures::AUTONEG,
            }),
        )]);
    }
}
