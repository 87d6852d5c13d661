//! A class as an OpenFlow match.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use ofproto::{Masked, Match, OxmField};
use policies::ClassMatch;

/// `eth_type` of IPv4.
pub(super) const IPV4: u16 = 0x0800;

/// The match fields of a class, with their prerequisites.
pub(super) fn class_match(class: &ClassMatch) -> Match {
    let mut fields = Match::new().with(OxmField::EthType(IPV4));
    if let Some(protocol) = class.protocol {
        fields = fields.with(OxmField::IpProto(protocol));
    }
    if let Some(dscp) = class.dscp {
        fields = fields.with(OxmField::IpDscp(dscp));
    }
    if let Some(src) = class.src {
        fields = fields.with(OxmField::Ipv4Src(masked(src)));
    }
    if let Some(dst) = class.dst {
        fields = fields.with(OxmField::Ipv4Dst(masked(dst)));
    }
    if let Some(port) = class.src_port {
        fields.fields.extend(port_field(
            class.protocol,
            port,
            [OxmField::TcpSrc, OxmField::UdpSrc, OxmField::SctpSrc],
        ));
    }
    if let Some(port) = class.dst_port {
        fields.fields.extend(port_field(
            class.protocol,
            port,
            [OxmField::TcpDst, OxmField::UdpDst, OxmField::SctpDst],
        ));
    }
    fields
}

/// A port is a field of its protocol. A policy file with ports of any other protocol is refused when it is loaded.
fn port_field(
    protocol: Option<u8>,
    port: u16,
    [tcp, udp, sctp]: [fn(u16) -> OxmField; 3],
) -> Option<OxmField> {
    match protocol {
        Some(TCP) => Some(tcp(port)),
        Some(UDP) => Some(udp(port)),
        Some(SCTP) => Some(sctp(port)),
        _ => None,
    }
}

/// A network as a masked address; a whole address has no mask.
pub(super) fn masked(net: Ipv4Net) -> Masked<Ipv4Addr> {
    if net.prefix_len() == 32 {
        Masked::from(net.addr())
    } else {
        Masked::new(net.network(), net.netmask())
    }
}

const TCP: u8 = 6;
const UDP: u8 = 17;
const SCTP: u8 = 132;
