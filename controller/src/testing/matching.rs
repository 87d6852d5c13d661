//! Matches and set-field: what they say of a packet, what they do to it, and which of them a switch refuses.

use std::net::Ipv4Addr;

use ofproto::{ErrorCode, MacAddr, Masked, Match, OxmField, PortNo};

use super::packet::{Body, Ipv4Packet, Packet, TCP, UDP};

/// A packet on its way through the tables, with what a match can see beside its headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InFlight {
    /// Headers and payload.
    pub packet: Packet,
    /// The port that it came in by.
    pub in_port: PortNo,
    /// What one table tells the next.
    pub metadata: u64,
}

/// Whether every field of the match holds.
pub(super) fn matches(match_: &Match, flight: &InFlight) -> bool {
    match_.fields.iter().all(|field| holds(field, flight))
}

fn holds(field: &OxmField, flight: &InFlight) -> bool {
    let packet = &flight.packet;
    let ip = |test: &dyn Fn(&Ipv4Packet) -> bool| packet.ipv4().is_some_and(test);
    let port_of = |protocol: u8, port: fn(&Ipv4Packet) -> u16, wanted: u16| {
        ip(&|ip| ip.protocol == protocol && port(ip) == wanted)
    };
    match field {
        OxmField::InPort(port) => flight.in_port == *port,
        OxmField::Metadata(metadata) => {
            let mask = metadata.mask.unwrap_or(u64::MAX);
            flight.metadata & mask == metadata.value & mask
        }
        OxmField::EthSrc(mac) => covers_mac(mac, packet.eth_src),
        OxmField::EthDst(mac) => covers_mac(mac, packet.eth_dst),
        OxmField::EthType(eth_type) => packet.eth_type() == *eth_type,
        OxmField::IpProto(protocol) => ip(&|ip| ip.protocol == *protocol),
        OxmField::IpDscp(dscp) => ip(&|ip| ip.dscp == *dscp),
        OxmField::IpEcn(ecn) => ip(&|ip| ip.ecn == *ecn),
        OxmField::Ipv4Src(src) => ip(&|ip| covers_ip(src, ip.src)),
        OxmField::Ipv4Dst(dst) => ip(&|ip| covers_ip(dst, ip.dst)),
        OxmField::TcpSrc(port) => port_of(TCP, |ip| ip.src_port, *port),
        OxmField::TcpDst(port) => port_of(TCP, |ip| ip.dst_port, *port),
        OxmField::UdpSrc(port) => port_of(UDP, |ip| ip.src_port, *port),
        OxmField::UdpDst(port) => port_of(UDP, |ip| ip.dst_port, *port),
        OxmField::SctpSrc(port) => port_of(SCTP, |ip| ip.src_port, *port),
        OxmField::SctpDst(port) => port_of(SCTP, |ip| ip.dst_port, *port),
        OxmField::ArpOp(operation) => {
            matches!(&packet.body, Body::Arp(arp) if arp.operation == *operation)
        }
        OxmField::ArpSpa(ip) => matches!(&packet.body, Body::Arp(arp) if covers_ip(ip, arp.sender_ip)),
        OxmField::ArpTpa(ip) => matches!(&packet.body, Body::Arp(arp) if covers_ip(ip, arp.target_ip)),
        _ => false,
    }
}

/// Why a switch refuses a match, if it does.
pub(super) fn check_match(match_: &Match) -> Result<(), ErrorCode> {
    for (index, field) in match_.fields.iter().enumerate() {
        let before = &match_.fields[..index];
        if before
            .iter()
            .any(|other| (other.id().class, other.id().field) == (field.id().class, field.id().field))
        {
            return Err(ErrorCode::BAD_MATCH_DUP_FIELD);
        }
        if !is_known(field) {
            return Err(ErrorCode::BAD_MATCH_BAD_FIELD);
        }
        // A prerequisite comes before the field that needs it (§7.2.3.6).
        if field.missing_prerequisite(before).is_some() {
            return Err(ErrorCode::BAD_MATCH_BAD_PREREQ);
        }
        if matches!(field, OxmField::IpDscp(64..)) || matches!(field, OxmField::IpEcn(4..)) {
            return Err(ErrorCode::BAD_MATCH_BAD_VALUE);
        }
    }
    Ok(())
}

/// Why a switch refuses to set this field on packets of this match, if it does.
pub(super) fn check_set_field(field: &OxmField, match_: &Match) -> Result<(), ErrorCode> {
    let settable = matches!(
        field,
        OxmField::EthSrc(_)
            | OxmField::EthDst(_)
            | OxmField::IpDscp(_)
            | OxmField::IpEcn(_)
            | OxmField::Ipv4Src(_)
            | OxmField::Ipv4Dst(_)
            | OxmField::TcpSrc(_)
            | OxmField::TcpDst(_)
            | OxmField::UdpSrc(_)
            | OxmField::UdpDst(_)
            | OxmField::Metadata(_)
    );
    if !settable || field.id().has_mask {
        return Err(ErrorCode::BAD_ACTION_BAD_SET_TYPE);
    }
    if matches!(field, OxmField::IpDscp(64..)) || matches!(field, OxmField::IpEcn(4..)) {
        return Err(ErrorCode::BAD_ACTION_BAD_SET_ARGUMENT);
    }
    match field.missing_prerequisite(&match_.fields) {
        None => Ok(()),
        Some(_) => Err(ErrorCode::BAD_ACTION_MATCH_INCONSISTENT),
    }
}

/// Sets the field; a packet that has no such field stays as it is.
pub(super) fn set_field(field: &OxmField, flight: &mut InFlight) {
    let packet = &mut flight.packet;
    match field {
        OxmField::EthSrc(mac) => packet.eth_src = mac.value,
        OxmField::EthDst(mac) => packet.eth_dst = mac.value,
        OxmField::Metadata(metadata) => flight.metadata = metadata.value,
        _ => {
            let Some(ip) = packet.ipv4_mut() else { return };
            match field {
                OxmField::IpDscp(dscp) => ip.dscp = *dscp,
                OxmField::IpEcn(ecn) => ip.ecn = *ecn,
                OxmField::Ipv4Src(src) => ip.src = src.value,
                OxmField::Ipv4Dst(dst) => ip.dst = dst.value,
                OxmField::TcpSrc(port) if ip.protocol == TCP => ip.src_port = *port,
                OxmField::TcpDst(port) if ip.protocol == TCP => ip.dst_port = *port,
                OxmField::UdpSrc(port) if ip.protocol == UDP => ip.src_port = *port,
                OxmField::UdpDst(port) if ip.protocol == UDP => ip.dst_port = *port,
                _ => {}
            }
        }
    }
}

/// Whether `outer` matches every packet that `inner` matches, as non-strict commands ask it. Fields are compared one
/// by one; a mask is compared bit by bit.
pub(super) fn contains(outer: &Match, inner: &Match) -> bool {
    outer.fields.iter().all(|wanted| {
        inner
            .fields
            .iter()
            .any(|given| given == wanted || narrower(given, wanted))
    })
}

fn narrower(given: &OxmField, wanted: &OxmField) -> bool {
    let nets = match (given, wanted) {
        (OxmField::Ipv4Src(given), OxmField::Ipv4Src(wanted))
        | (OxmField::Ipv4Dst(given), OxmField::Ipv4Dst(wanted)) => (given, wanted),
        _ => return false,
    };
    let bits = |net: &Masked<Ipv4Addr>| {
        let mask = net.mask.map_or(u32::MAX, u32::from);
        (u32::from(net.value) & mask, mask)
    };
    let ((given, given_mask), (wanted, wanted_mask)) = (bits(nets.0), bits(nets.1));
    given_mask & wanted_mask == wanted_mask && given & wanted_mask == wanted
}

/// Whether this switch knows the field.
fn is_known(field: &OxmField) -> bool {
    matches!(
        field,
        OxmField::InPort(_)
            | OxmField::Metadata(_)
            | OxmField::EthSrc(_)
            | OxmField::EthDst(_)
            | OxmField::EthType(_)
            | OxmField::IpProto(_)
            | OxmField::IpDscp(_)
            | OxmField::IpEcn(_)
            | OxmField::Ipv4Src(_)
            | OxmField::Ipv4Dst(_)
            | OxmField::TcpSrc(_)
            | OxmField::TcpDst(_)
            | OxmField::UdpSrc(_)
            | OxmField::UdpDst(_)
            | OxmField::SctpSrc(_)
            | OxmField::SctpDst(_)
            | OxmField::ArpOp(_)
            | OxmField::ArpSpa(_)
            | OxmField::ArpTpa(_)
    )
}

fn covers_ip(wanted: &Masked<Ipv4Addr>, ip: Ipv4Addr) -> bool {
    let mask = wanted.mask.map_or(u32::MAX, u32::from);
    u32::from(ip) & mask == u32::from(wanted.value) & mask
}

fn covers_mac(wanted: &Masked<MacAddr>, mac: MacAddr) -> bool {
    let mask = wanted.mask.unwrap_or(MacAddr::broadcast()).into_array();
    let pairs = mac.into_array().into_iter().zip(wanted.value.into_array());
    pairs
        .zip(mask)
        .all(|((have, want), mask)| have & mask == want & mask)
}

const SCTP: u8 = 132;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::packet::ETH_TYPE_IPV4;
    use crate::testing::packet::Payload;

    fn flight() -> InFlight {
        let ip = Ipv4Packet::udp(
            (Ipv4Addr::new(10, 1, 0, 2), 4000),
            (Ipv4Addr::new(10, 2, 0, 2), 5001),
            Payload::default(),
        );
        let packet = Packet {
            eth_src: MacAddr::new(2, 0, 0, 0, 0, 1),
            eth_dst: MacAddr::new(2, 0, 0, 0, 0, 2),
            body: Body::Ipv4(ip),
        };
        InFlight {
            packet,
            in_port: PortNo(1),
            metadata: 0x12,
        }
    }

    fn ipv4() -> Match {
        Match::new().with(OxmField::EthType(ETH_TYPE_IPV4))
    }

    fn to_net(third: u8, length: u8) -> OxmField {
        OxmField::Ipv4Dst(Masked::<Ipv4Addr>::prefix(Ipv4Addr::new(10, third, 0, 0), length))
    }

    #[test]
    fn fields_match_with_their_masks() {
        for (field, expected) in [
            (OxmField::InPort(PortNo(1)), true),
            (OxmField::InPort(PortNo(2)), false),
            (OxmField::Metadata(Masked::new(0x32, 0x0f)), true),
            (OxmField::Metadata(Masked::exact(0x32)), false),
            (to_net(2, 24), true),
            (to_net(3, 24), false),
            (to_net(0, 8), true),
            (OxmField::UdpDst(5001), true),
            (OxmField::TcpDst(5001), false),
            (OxmField::ArpOp(1), false),
        ] {
            assert_eq!(
                matches(&Match::new().with(field.clone()), &flight()),
                expected,
                "{field:?}"
            );
        }
    }

    #[test]
    fn a_field_without_its_prerequisite_is_refused() {
        let udp = ipv4().with(OxmField::IpProto(UDP));
        assert_eq!(check_match(&udp.clone().with(OxmField::UdpDst(1))), Ok(()));
        assert_eq!(
            check_match(&udp.with(OxmField::TcpDst(1))),
            Err(ErrorCode::BAD_MATCH_BAD_PREREQ)
        );
        assert_eq!(
            check_match(&ipv4().with(OxmField::EthType(ETH_TYPE_IPV4))),
            Err(ErrorCode::BAD_MATCH_DUP_FIELD)
        );
        assert_eq!(
            check_set_field(&OxmField::IpDscp(3), &Match::new()),
            Err(ErrorCode::BAD_ACTION_MATCH_INCONSISTENT)
        );
        assert_eq!(check_set_field(&OxmField::IpDscp(3), &ipv4()), Ok(()));
    }

    #[test]
    fn a_wider_match_contains_a_narrower_one() {
        let (wide, narrow) = (ipv4().with(to_net(2, 16)), ipv4().with(to_net(2, 24)));
        assert!(contains(&Match::new(), &narrow) && contains(&wide, &narrow) && contains(&wide, &wide));
        assert!(!contains(&narrow, &wide) && !contains(&narrow, &Match::new()));
    }
}
