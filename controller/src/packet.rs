//! The few packets that the controller itself reads and writes: ARP, and the destination of an IPv4 packet.

use std::net::Ipv4Addr;

use bytes::Bytes;
use etherparse::{
    ArpEthIpv4Packet, ArpOperation, EtherType, Ethernet2Header, LinkSlice, NetSlice, SlicedPacket,
};
use ofproto::MacAddr;

/// What a packet-in is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Punted {
    /// An ARP packet.
    Arp(Arp),
    /// An IPv4 packet to a host whose MAC address we should find out.
    Ipv4 {
        /// Its destination.
        destination: Ipv4Addr,
    },
}

/// The parts of an Ethernet/IPv4 ARP packet that matter (RFC 826).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arp {
    /// Request or reply.
    pub request: bool,
    /// Who sends it.
    pub sender_mac: MacAddr,
    /// Its protocol address; 0.0.0.0 in a probe (RFC 5227).
    pub sender_ip: Ipv4Addr,
    /// Who is meant; unknown in a request.
    pub target_mac: MacAddr,
    /// The protocol address that is meant.
    pub target_ip: Ipv4Addr,
}

impl Punted {
    /// Reads a packet from the wire; `None` when it is nothing that we deal with.
    pub fn parse(data: &[u8]) -> Option<Punted> {
        let packet = SlicedPacket::from_ethernet(data).ok()?;
        match packet.net? {
            NetSlice::Arp(arp) => {
                let arp = ArpEthIpv4Packet::try_from(arp.to_packet()).ok()?;
                let request = match arp.operation {
                    ArpOperation::REQUEST => true,
                    ArpOperation::REPLY => false,
                    _ => return None,
                };
                matches!(packet.link, Some(LinkSlice::Ethernet2(_))).then_some(Punted::Arp(Arp {
                    request,
                    sender_mac: MacAddr::from(arp.sender_mac),
                    sender_ip: arp.sender_ipv4.into(),
                    target_mac: MacAddr::from(arp.target_mac),
                    target_ip: arp.target_ipv4.into(),
                }))
            }
            NetSlice::Ipv4(ip) => Some(Punted::Ipv4 {
                destination: ip.header().destination_addr(),
            }),
            NetSlice::Ipv6(_) => None,
        }
    }
}

impl Arp {
    /// Who has `target_ip`? Asked of everyone, or of `known` when we only want to hear that it is still there.
    pub fn question(
        sender_mac: MacAddr,
        sender_ip: Ipv4Addr,
        target_ip: Ipv4Addr,
        known: Option<MacAddr>,
    ) -> Bytes {
        let arp = Arp {
            request: true,
            sender_mac,
            sender_ip,
            target_mac: MacAddr::nil(),
            target_ip,
        };
        arp.frame(known.unwrap_or(MacAddr::broadcast()))
    }

    /// `mac` has the address that this request asks for.
    pub fn answer(&self, mac: MacAddr) -> Bytes {
        let reply = Arp {
            request: false,
            sender_mac: mac,
            sender_ip: self.target_ip,
            target_mac: self.sender_mac,
            target_ip: self.sender_ip,
        };
        reply.frame(self.sender_mac)
    }

    fn frame(&self, destination: MacAddr) -> Bytes {
        let link = Ethernet2Header {
            source: self.sender_mac.into_array(),
            destination: destination.into_array(),
            ether_type: EtherType::ARP,
        };
        let arp = ArpEthIpv4Packet {
            operation: if self.request {
                ArpOperation::REQUEST
            } else {
                ArpOperation::REPLY
            },
            sender_mac: self.sender_mac.into_array(),
            sender_ipv4: self.sender_ip.octets(),
            target_mac: self.target_mac.into_array(),
            target_ipv4: self.target_ip.octets(),
        };
        let mut frame = link.to_bytes().to_vec();
        frame.extend_from_slice(&arp.to_bytes());
        frame.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: MacAddr = MacAddr::new(2, 0, 0, 0, 0, 1);
    const GATEWAY: MacAddr = MacAddr::new(2, 0, 0, 0, 0, 2);

    #[test]
    fn a_question_is_answered_to_the_one_who_asked() {
        let question = Arp::question(HOST, Ipv4Addr::new(10, 1, 0, 2), Ipv4Addr::new(10, 1, 0, 1), None);
        let Some(Punted::Arp(asked)) = Punted::parse(&question) else {
            panic!("no ARP")
        };
        assert!(asked.request);
        let answer = asked.answer(GATEWAY);
        assert_eq!(answer[..6], HOST.into_array());
        let Some(Punted::Arp(answered)) = Punted::parse(&answer) else {
            panic!("no ARP")
        };
        assert!(!answered.request);
        assert_eq!(
            (answered.sender_ip, answered.sender_mac),
            (Ipv4Addr::new(10, 1, 0, 1), GATEWAY)
        );
        assert_eq!(
            (answered.target_ip, answered.target_mac),
            (Ipv4Addr::new(10, 1, 0, 2), HOST)
        );
    }

    #[test]
    fn a_cut_off_packet_is_nothing() {
        let question = Arp::question(HOST, Ipv4Addr::new(10, 1, 0, 2), Ipv4Addr::new(10, 1, 0, 1), None);
        for length in 0..question.len() {
            assert_eq!(Punted::parse(&question[..length]), None);
        }
    }
}
