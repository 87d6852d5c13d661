//! Ports: what a switch says about them.

use bytes::{BufMut, BytesMut};
use nom::Parser;
use nom::error::context;

use crate::macros::flags;
use crate::wire::{Parsed, Span, be_u32, mac, pad, put_text, text};
use crate::{EncodeError, MacAddr, PortNo};

/// `ofp_port`, OpenFlow 1.3.5 §7.2.1.
///
/// ```text
///  0        4       8         14      16      32       36      40
/// +--------+-------+---------+-------+-------+--------+-------+
/// | port_no| zeros | hw_addr | zeros | name  | config | state |
/// +--------+-------+--+------+-------+--+----+---+----+-------+--+
/// | curr | advertised | supported | peer | curr_speed | max_speed |
/// +------+------------+-----------+------+------------+-----------+
///  40     44           48          52     56           60          64
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its number.
    pub port_no: PortNo,
    /// Its Ethernet address.
    pub hw_addr: MacAddr,
    /// Its name, at most 16 bytes.
    pub name: String,
    /// How it is configured.
    pub config: PortConfig,
    /// How it is.
    pub state: PortState,
    /// Features in use.
    pub curr: PortFeatures,
    /// Features that it offers to its peer.
    pub advertised: PortFeatures,
    /// Features that it has.
    pub supported: PortFeatures,
    /// Features that its peer offers.
    pub peer: PortFeatures,
    /// Speed now, in kbit/s.
    pub curr_speed: u32,
    /// Highest speed, in kbit/s.
    pub max_speed: u32,
}

flags! {
    /// `ofp_port_config`, OpenFlow 1.3.5 §7.2.1.
    PortConfig(u32) {
        /// `OFPPC_PORT_DOWN`: taken down by the administrator.
        PORT_DOWN = 1 << 0;
        /// `OFPPC_NO_RECV`: what it receives is dropped.
        NO_RECV = 1 << 2;
        /// `OFPPC_NO_FWD`: what is forwarded to it is dropped.
        NO_FWD = 1 << 5;
        /// `OFPPC_NO_PACKET_IN`: it causes no packet-in.
        NO_PACKET_IN = 1 << 6;
    }
}

flags! {
    /// `ofp_port_state`, OpenFlow 1.3.5 §7.2.1.
    PortState(u32) {
        /// `OFPPS_LINK_DOWN`: no physical link.
        LINK_DOWN = 1 << 0;
        /// `OFPPS_BLOCKED`: blocked by the switch, as by spanning tree.
        BLOCKED = 1 << 1;
        /// `OFPPS_LIVE`: live for fast failover groups.
        LIVE = 1 << 2;
    }
}

flags! {
    /// `ofp_port_features`, OpenFlow 1.3.5 §7.2.1.
    PortFeatures(u32) {
        /// `OFPPF_10MB_HD`: 10 Mbit/s, half duplex.
        SPEED_10MB_HD = 1 << 0;
        /// `OFPPF_10MB_FD`: 10 Mbit/s, full duplex.
        SPEED_10MB_FD = 1 << 1;
        /// `OFPPF_100MB_HD`: 100 Mbit/s, half duplex.
        SPEED_100MB_HD = 1 << 2;
        /// `OFPPF_100MB_FD`: 100 Mbit/s, full duplex.
        SPEED_100MB_FD = 1 << 3;
        /// `OFPPF_1GB_HD`: 1 Gbit/s, half duplex.
        SPEED_1GB_HD = 1 << 4;
        /// `OFPPF_1GB_FD`: 1 Gbit/s, full duplex.
        SPEED_1GB_FD = 1 << 5;
        /// `OFPPF_10GB_FD`: 10 Gbit/s, full duplex.
        SPEED_10GB_FD = 1 << 6;
        /// `OFPPF_40GB_FD`: 40 Gbit/s, full duplex.
        SPEED_40GB_FD = 1 << 7;
        /// `OFPPF_100GB_FD`: 100 Gbit/s, full duplex.
        SPEED_100GB_FD = 1 << 8;
        /// `OFPPF_1TB_FD`: 1 Tbit/s, full duplex.
        SPEED_1TB_FD = 1 << 9;
        /// `OFPPF_OTHER`: another speed.
        OTHER = 1 << 10;
        /// `OFPPF_COPPER`: copper.
        COPPER = 1 << 11;
        /// `OFPPF_FIBER`: fibre.
        FIBER = 1 << 12;
        /// `OFPPF_AUTONEG`: negotiated by itself.
        AUTONEG = 1 << 13;
        /// `OFPPF_PAUSE`: pause frames.
        PAUSE = 1 << 14;
        /// `OFPPF_PAUSE_ASYM`: asymmetric pause frames.
        PAUSE_ASYM = 1 << 15;
    }
}

impl Port {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (port_no, (), hw_addr, (), name, config, state)) = context(
            "ofp_port",
            (be_u32, pad(4), mac, pad(2), text(NAME_LEN), be_u32, be_u32),
        )
        .parse(i)?;
        let (i, (curr, advertised, supported, peer, curr_speed, max_speed)) =
            context("ofp_port", (be_u32, be_u32, be_u32, be_u32, be_u32, be_u32)).parse(i)?;
        let port = Self {
            port_no: PortNo(port_no),
            hw_addr,
            name,
            config: PortConfig::from_bits_retain(config),
            state: PortState::from_bits_retain(state),
            curr: PortFeatures::from_bits_retain(curr),
            advertised: PortFeatures::from_bits_retain(advertised),
            supported: PortFeatures::from_bits_retain(supported),
            peer: PortFeatures::from_bits_retain(peer),
            curr_speed,
            max_speed,
        };
        Ok((i, port))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        out.put_u32(self.port_no.0);
        out.put_u32(0);
        out.put_slice(self.hw_addr.as_bytes());
        out.put_u16(0);
        put_text(out, &self.name, NAME_LEN, "ofp_port.name")?;
        out.put_u32(self.config.bits());
        out.put_u32(self.state.bits());
        out.put_u32(self.curr.bits());
        out.put_u32(self.advertised.bits());
        out.put_u32(self.supported.bits());
        out.put_u32(self.peer.bits());
        out.put_u32(self.curr_speed);
        out.put_u32(self.max_speed);
        Ok(())
    }
}

/// `OFP_MAX_PORT_NAME_LEN`.
const NAME_LEN: usize = 16;
