//! Generators of packets.

use bytes::Bytes;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// A packet of a protocol that Open vSwitch looks into, or of none; sometimes cut off.
pub(crate) fn packet() -> impl Strategy<Value = Bytes> {
    let vlan = option::weighted(0.3, any::<u16>());
    let upper = prop_oneof![
        arp().prop_map(|data| (0x0806u16, data)),
        ipv4().prop_map(|data| (0x0800, data)),
        ipv6().prop_map(|data| (0x86dd, data)),
        vec(any::<u8>(), 46).prop_map(|data| (0x88b5, data)),
    ];
    (any::<[u8; 12]>(), vlan, upper, option::weighted(0.1, 0usize..60)).prop_map(
        |(macs, vlan, (type_, data), cut)| {
            let mut packet = macs.to_vec();
            if let Some(tci) = vlan {
                packet.extend(0x8100u16.to_be_bytes());
                packet.extend(tci.to_be_bytes());
            }
            packet.extend(type_.to_be_bytes());
            packet.extend(data);
            if let Some(cut) = cut {
                packet.truncate(cut.max(1));
            }
            packet.into()
        },
    )
}

fn arp() -> impl Strategy<Value = Vec<u8>> {
    (0u8..5, any::<[u8; 20]>()).prop_map(|(op, rest)| [&[0, 1, 8, 0, 6, 4, 0, op][..], &rest].concat())
}

fn ipv4() -> impl Strategy<Value = Vec<u8>> {
    let fragment = prop_oneof![4 => Just(0x4000u16), 1 => Just(0x2000), 1 => Just(0x2010), 1 => Just(0x0010)];
    (
        any::<(u8, u16, u8, u16)>(),
        fragment,
        any::<[u8; 8]>(),
        transport(1),
    )
        .prop_map(|((tos, id, ttl, checksum), fragment, addresses, (proto, data))| {
            let mut packet = vec![0x45, tos];
            packet.extend(u16::try_from(20 + data.len()).unwrap_or(0).to_be_bytes());
            packet.extend(id.to_be_bytes());
            packet.extend(fragment.to_be_bytes());
            packet.extend([ttl, proto]);
            packet.extend(checksum.to_be_bytes());
            packet.extend(addresses);
            packet.extend(data);
            packet
        })
}

fn ipv6() -> impl Strategy<Value = Vec<u8>> {
    (0u32..1 << 28, any::<u8>(), any::<[u8; 32]>(), transport(58)).prop_map(
        |(flow, ttl, addresses, (proto, data))| {
            let mut packet = (6 << 28 | flow).to_be_bytes().to_vec();
            packet.extend(u16::try_from(data.len()).unwrap_or(0).to_be_bytes());
            packet.extend([proto, ttl]);
            packet.extend(addresses);
            packet.extend(data);
            packet
        },
    )
}

/// A protocol and its header with some payload, sometimes cut off.
fn transport(icmp: u8) -> impl Strategy<Value = (u8, Vec<u8>)> {
    (
        select(vec![6u8, 17, 132, icmp, 89]),
        vec(any::<u8>(), 32),
        option::weighted(0.2, 0usize..24),
    )
        .prop_map(move |(proto, mut data, cut)| {
            match proto {
                // The length of the TCP header, and that of the UDP datagram.
                6 => data[12] = 0x50 | data[12] & 0x0f,
                17 => data[4..6].copy_from_slice(&[0, 32]),
                // Neither router advertisement nor neighbour discovery, whose options are another matter.
                58 => data[0] = 128,
                _ => {}
            }
            if let Some(cut) = cut {
                data.truncate(cut);
            }
            (proto, data)
        })
}
