//! Packets as values: the headers that the pipeline looks at, and a payload that tells one packet from another.

use std::net::Ipv4Addr;

use bytes::Bytes;
use etherparse::{
    ArpEthIpv4Packet, ArpOperation, EtherType, Ethernet2Header, IpDscp, IpEcn, IpNumber, Ipv4Header,
    NetSlice, SlicedPacket,
};
use ofproto::MacAddr;

/// An Ethernet frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Packet {
    /// Who put it on this wire.
    pub eth_src: MacAddr,
    /// For whom it is on this wire.
    pub eth_dst: MacAddr,
    /// What is in it.
    pub body: Body,
}

/// What is in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Body {
    /// ARP over Ethernet for IPv4 (RFC 826).
    Arp(ArpPacket),
    /// IPv4 without options and fragments.
    Ipv4(Ipv4Packet),
    /// Anything else, by its `eth_type`.
    Other(u16),
}

/// The fields of an ARP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ArpPacket {
    /// 1 asks, 2 answers.
    pub operation: u16,
    /// Hardware address of the sender.
    pub sender_mac: MacAddr,
    /// Protocol address of the sender.
    pub sender_ip: Ipv4Addr,
    /// Hardware address of the target; nil in a question.
    pub target_mac: MacAddr,
    /// Protocol address of the target.
    pub target_ip: Ipv4Addr,
}

/// The fields of an IPv4 packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ipv4Packet {
    /// Source address.
    pub src: Ipv4Addr,
    /// Destination address.
    pub dst: Ipv4Addr,
    /// Protocol number.
    pub protocol: u8,
    /// Source port; 0 where the protocol has none.
    pub src_port: u16,
    /// Destination port; 0 where the protocol has none.
    pub dst_port: u16,
    /// Differentiated services code point.
    pub dscp: u8,
    /// Explicit congestion notification bits.
    pub ecn: u8,
    /// Time to live.
    pub ttl: u8,
    /// What the sender put in.
    pub payload: Payload,
}

/// Tells one packet from all others; no switch looks at it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Payload {
    /// The stream that it belongs to.
    pub stream: u16,
    /// Its number in the stream.
    pub sequence: u64,
}

impl Packet {
    /// The `eth_type` field.
    pub fn eth_type(&self) -> u16 {
        match self.body {
            Body::Arp(_) => ETH_TYPE_ARP,
            Body::Ipv4(_) => ETH_TYPE_IPV4,
            Body::Other(eth_type) => eth_type,
        }
    }

    /// The IPv4 packet in it, if there is one.
    pub fn ipv4(&self) -> Option<&Ipv4Packet> {
        match &self.body {
            Body::Ipv4(ip) => Some(ip),
            _ => None,
        }
    }

    /// The same to change it.
    pub fn ipv4_mut(&mut self) -> Option<&mut Ipv4Packet> {
        match &mut self.body {
            Body::Ipv4(ip) => Some(ip),
            _ => None,
        }
    }

    /// The payload; the default one where there is none.
    pub fn payload(&self) -> Payload {
        self.ipv4().map_or(Payload::default(), |ip| ip.payload)
    }

    /// The same headers around another payload.
    #[must_use]
    pub fn with_payload(mut self, payload: Payload) -> Packet {
        if let Some(ip) = self.ipv4_mut() {
            ip.payload = payload;
        }
        self
    }

    /// The frame as bytes, as PACKET_IN carries it.
    pub fn to_bytes(&self) -> Bytes {
        let link = Ethernet2Header {
            source: self.eth_src.into_array(),
            destination: self.eth_dst.into_array(),
            ether_type: EtherType(self.eth_type()),
        };
        let mut frame = link.to_bytes().to_vec();
        match &self.body {
            Body::Arp(arp) => frame.extend_from_slice(&arp.header().to_bytes()),
            Body::Ipv4(ip) => ip.put(&mut frame),
            Body::Other(_) => {}
        }
        frame.into()
    }

    /// Reads a frame, as PACKET_OUT carries it; `None` when it is cut off or malformed.
    pub fn from_bytes(data: &[u8]) -> Option<Packet> {
        let (link, rest) = Ethernet2Header::from_slice(data).ok()?;
        let body = match SlicedPacket::from_ethernet(data).ok()?.net {
            Some(NetSlice::Arp(arp)) => Body::Arp(ArpPacket::from_header(
                &ArpEthIpv4Packet::try_from(arp.to_packet()).ok()?,
            )),
            Some(NetSlice::Ipv4(_)) => Body::Ipv4(Ipv4Packet::from_slice(rest)?),
            _ => Body::Other(link.ether_type.0),
        };
        Some(Packet {
            eth_src: link.source.into(),
            eth_dst: link.destination.into(),
            body,
        })
    }
}

impl ArpPacket {
    /// Asks everyone who has `target_ip`.
    pub fn question(sender_mac: MacAddr, sender_ip: Ipv4Addr, target_ip: Ipv4Addr) -> Packet {
        let body = Body::Arp(ArpPacket {
            operation: ARP_REQUEST,
            sender_mac,
            sender_ip,
            target_mac: MacAddr::nil(),
            target_ip,
        });
        Packet {
            eth_src: sender_mac,
            eth_dst: MacAddr::broadcast(),
            body,
        }
    }

    /// Answers this question: `mac` has the address.
    pub fn answer(&self, mac: MacAddr) -> Packet {
        let body = Body::Arp(ArpPacket {
            operation: ARP_REPLY,
            sender_mac: mac,
            sender_ip: self.target_ip,
            target_mac: self.sender_mac,
            target_ip: self.sender_ip,
        });
        Packet {
            eth_src: mac,
            eth_dst: self.sender_mac,
            body,
        }
    }

    /// Whether it asks.
    pub fn is_question(&self) -> bool {
        self.operation == ARP_REQUEST
    }

    fn header(&self) -> ArpEthIpv4Packet {
        ArpEthIpv4Packet {
            operation: ArpOperation(self.operation),
            sender_mac: self.sender_mac.into_array(),
            sender_ipv4: self.sender_ip.octets(),
            target_mac: self.target_mac.into_array(),
            target_ipv4: self.target_ip.octets(),
        }
    }

    fn from_header(header: &ArpEthIpv4Packet) -> ArpPacket {
        ArpPacket {
            operation: header.operation.0,
            sender_mac: header.sender_mac.into(),
            sender_ip: header.sender_ipv4.into(),
            target_mac: header.target_mac.into(),
            target_ip: header.target_ipv4.into(),
        }
    }
}

impl Ipv4Packet {
    /// A UDP packet with DSCP 0.
    pub fn udp(src: (Ipv4Addr, u16), dst: (Ipv4Addr, u16), payload: Payload) -> Ipv4Packet {
        Ipv4Packet {
            src: src.0,
            dst: dst.0,
            protocol: UDP,
            src_port: src.1,
            dst_port: dst.1,
            dscp: 0,
            ecn: 0,
            ttl: 64,
            payload,
        }
    }

    /// Header, ports and payload.
    fn put(&self, frame: &mut Vec<u8>) {
        let mut content = vec![];
        content.extend_from_slice(&self.src_port.to_be_bytes());
        content.extend_from_slice(&self.dst_port.to_be_bytes());
        match self.protocol {
            TCP => content.extend_from_slice(&TCP_REST),
            UDP => content.extend_from_slice(&UDP_REST),
            _ => {}
        }
        content.extend_from_slice(&self.payload.stream.to_be_bytes());
        content.extend_from_slice(&self.payload.sequence.to_be_bytes());
        let mut header = Ipv4Header {
            dscp: IpDscp::try_new(self.dscp).unwrap_or_default(),
            ecn: IpEcn::try_new(self.ecn).unwrap_or_default(),
            time_to_live: self.ttl,
            protocol: IpNumber(self.protocol),
            source: self.src.octets(),
            destination: self.dst.octets(),
            ..Ipv4Header::default()
        };
        header
            .set_payload_len(content.len())
            .expect("a few dozen bytes fit");
        header.header_checksum = header.calc_header_checksum();
        frame.extend_from_slice(&header.to_bytes());
        frame.extend_from_slice(&content);
    }

    fn from_slice(data: &[u8]) -> Option<Ipv4Packet> {
        let (header, content) = Ipv4Header::from_slice(data).ok()?;
        let ([s0, s1, d0, d1], rest) = content.split_first_chunk()?;
        let rest = match header.protocol.0 {
            TCP => rest.get(TCP_REST.len()..)?,
            UDP => rest.get(UDP_REST.len()..)?,
            _ => rest,
        };
        let ([n0, n1], rest) = rest.split_first_chunk()?;
        Some(Ipv4Packet {
            src: header.source.into(),
            dst: header.destination.into(),
            protocol: header.protocol.0,
            src_port: u16::from_be_bytes([*s0, *s1]),
            dst_port: u16::from_be_bytes([*d0, *d1]),
            dscp: header.dscp.value(),
            ecn: header.ecn.value(),
            ttl: header.time_to_live,
            payload: Payload {
                stream: u16::from_be_bytes([*n0, *n1]),
                sequence: u64::from_be_bytes(*rest.first_chunk()?),
            },
        })
    }
}

/// `eth_type` of IPv4.
pub const ETH_TYPE_IPV4: u16 = 0x0800;
/// `eth_type` of ARP.
pub const ETH_TYPE_ARP: u16 = 0x0806;
/// IP protocol number of TCP.
pub const TCP: u8 = 6;
/// IP protocol number of UDP.
pub const UDP: u8 = 17;
const ARP_REQUEST: u16 = 1;
const ARP_REPLY: u16 = 2;
/// What follows the ports in a UDP header: the length with ten bytes of payload, and no checksum.
const UDP_REST: [u8; 4] = [0, 18, 0, 0];
/// What follows the ports in a TCP header: only the data offset is set.
const TCP_REST: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 5 << 4, 0, 0, 0, 0, 0, 0, 0];

#[cfg(test)]
mod tests {
    use super::*;

    const A: MacAddr = MacAddr::new(2, 0, 0, 0, 0, 1);
    const B: MacAddr = MacAddr::new(2, 0, 0, 0, 0, 2);

    fn udp() -> Packet {
        let payload = Payload {
            stream: 3,
            sequence: 0x0102_0304_0506_0708,
        };
        let ip = Ipv4Packet {
            dscp: 46,
            ecn: 1,
            ttl: 63,
            ..Ipv4Packet::udp(
                (Ipv4Addr::new(10, 1, 0, 2), 4000),
                (Ipv4Addr::new(10, 2, 0, 2), 5001),
                payload,
            )
        };
        Packet {
            eth_src: A,
            eth_dst: B,
            body: Body::Ipv4(ip),
        }
    }

    #[test]
    fn packets_come_back_from_their_bytes() {
        let question = ArpPacket::question(A, Ipv4Addr::new(10, 1, 0, 2), Ipv4Addr::new(10, 1, 0, 1));
        let Body::Arp(asked) = question.body else {
            panic!("no ARP")
        };
        let other = Packet {
            body: Body::Other(0x88cc),
            ..question
        };
        for packet in [udp(), question, asked.answer(B), other] {
            assert_eq!(Packet::from_bytes(&packet.to_bytes()), Some(packet));
        }
    }

    #[test]
    fn the_controller_reads_them_the_same_way() {
        use crate::packet::{Arp, Punted};
        let destination = Ipv4Addr::new(10, 2, 0, 2);
        assert_eq!(
            Punted::parse(&udp().to_bytes()),
            Some(Punted::Ipv4 { destination })
        );
        let (asker, asked) = (Ipv4Addr::new(10, 1, 0, 1), Ipv4Addr::new(10, 1, 0, 2));
        let ours = Packet::from_bytes(&Arp::question(A, asker, asked, None));
        assert_eq!(ours, Some(ArpPacket::question(A, asker, asked)));
    }

    #[test]
    fn a_cut_off_frame_is_no_packet() {
        let bytes = udp().to_bytes();
        for length in 0..bytes.len() {
            assert_eq!(Packet::from_bytes(&bytes[..length]), None, "{length}");
        }
    }
}
