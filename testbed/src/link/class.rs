//! Telling packets apart by protocol, ports and DSCP, so that the emulator counts an experiment's own
//! packets apart from ARP, control traffic and everybody else's.

use serde::{Deserialize, Serialize};

/// What the counters look at in a packet. Ports are known for the first fragment of UDP and TCP only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketKey {
    /// IP protocol number.
    pub protocol: u8,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// UDP or TCP source and destination port.
    pub ports: Option<(u16, u16)>,
}

impl PacketKey {
    /// Reads an Ethernet frame that carries IPv4 or IPv6 without a VLAN tag. `None` for anything else
    /// and for a frame that is cut short.
    pub fn of(frame: &[u8]) -> Option<PacketKey> {
        let ethertype = u16::from_be_bytes([*frame.get(12)?, *frame.get(13)?]);
        let packet = frame.get(14..)?;
        match ethertype {
            0x0800 => {
                let header_length = usize::from(packet.first()? & 0x0f) * 4;
                let fragment_offset = u16::from_be_bytes([*packet.get(6)?, *packet.get(7)?]) & 0x1fff;
                let protocol = *packet.get(9)?;
                let ports = if fragment_offset == 0 {
                    ports(protocol, packet.get(header_length..))
                } else {
                    None
                };
                Some(PacketKey {
                    protocol,
                    dscp: packet.get(1)? >> 2,
                    ports,
                })
            }
            0x86dd => {
                let traffic_class = (packet.first()? << 4) | (packet.get(1)? >> 4);
                let protocol = *packet.get(6)?;
                Some(PacketKey {
                    protocol,
                    dscp: traffic_class >> 2,
                    ports: ports(protocol, packet.get(40..)),
                })
            }
            _ => None,
        }
    }
}

fn ports(protocol: u8, payload: Option<&[u8]>) -> Option<(u16, u16)> {
    let payload = payload.filter(|payload| matches!(protocol, TCP | UDP) && payload.len() >= 4)?;
    Some((
        u16::from_be_bytes([payload[0], payload[1]]),
        u16::from_be_bytes([payload[2], payload[3]]),
    ))
}

/// A class of packets that an experiment wants counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClassKey {
    /// IP protocol number.
    pub protocol: u8,
    /// Source port, or any.
    pub source_port: Option<u16>,
    /// Destination port, or any.
    pub destination_port: Option<u16>,
}

impl ClassKey {
    /// UDP to this port.
    pub fn udp_to(port: u16) -> Self {
        ClassKey {
            protocol: UDP,
            source_port: None,
            destination_port: Some(port),
        }
    }

    /// UDP from this port.
    pub fn udp_from(port: u16) -> Self {
        ClassKey {
            protocol: UDP,
            source_port: Some(port),
            destination_port: None,
        }
    }

    /// TCP to this port.
    pub fn tcp_to(port: u16) -> Self {
        ClassKey {
            protocol: TCP,
            source_port: None,
            destination_port: Some(port),
        }
    }

    /// TCP from this port.
    pub fn tcp_from(port: u16) -> Self {
        ClassKey {
            protocol: TCP,
            source_port: Some(port),
            destination_port: None,
        }
    }

    /// Whether the packet belongs to the class.
    pub fn matches(&self, packet: &PacketKey) -> bool {
        let port_matches = |wanted: Option<u16>, port: Option<u16>| wanted.is_none() || wanted == port;
        self.protocol == packet.protocol
            && port_matches(self.source_port, packet.ports.map(|(source, _)| source))
            && port_matches(
                self.destination_port,
                packet.ports.map(|(_, destination)| destination),
            )
    }
}

/// IP protocol number of TCP.
pub const TCP: u8 = 6;
/// IP protocol number of UDP.
pub const UDP: u8 = 17;

#[cfg(test)]
mod tests {
    use super::*;

    fn udp_frame(dscp: u8, fragment_offset: u16) -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend([0x08, 0x00]);
        frame.extend([0x45, dscp << 2 | 0b01, 0, 32, 0, 0]);
        frame.extend(fragment_offset.to_be_bytes());
        frame.extend([64, UDP, 0, 0, 10, 1, 0, 2, 10, 2, 0, 2]);
        frame.extend([0x9c, 0x40, 0x13, 0x89, 0, 12, 0, 0, 1, 2, 3, 4]);
        frame
    }

    #[test]
    fn a_udp_packet_is_read() {
        let key = PacketKey::of(&udp_frame(46, 0)).unwrap();
        assert_eq!(
            key,
            PacketKey {
                protocol: UDP,
                dscp: 46,
                ports: Some((40_000, 5001))
            }
        );
        assert!(ClassKey::udp_to(5001).matches(&key));
        assert!(ClassKey::udp_from(40_000).matches(&key));
        assert!(!ClassKey::udp_to(5002).matches(&key));
        assert!(!ClassKey::tcp_to(5001).matches(&key));
    }

    #[test]
    fn a_later_fragment_has_no_ports() {
        let key = PacketKey::of(&udp_frame(0, 185)).unwrap();
        assert_eq!(key.ports, None);
        assert!(!ClassKey::udp_to(5001).matches(&key));
    }

    #[test]
    fn arp_and_short_frames_have_no_key() {
        let mut arp = vec![0; 12];
        arp.extend([0x08, 0x06, 0, 1]);
        assert_eq!(PacketKey::of(&arp), None);
        let frame = udp_frame(3, 0);
        for length in 0..24 {
            assert_eq!(PacketKey::of(&frame[..length]), None, "{length} bytes");
        }
    }
}
