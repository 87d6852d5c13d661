//! Text of a packet: what its headers say, as far as Open vSwitch looks at them.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::{Ipv6Text, MacText};
use crate::MacAddr;

/// The headers of a packet on one line.
pub(super) fn put_packet(out: &mut String, packet: &[u8]) {
    let Some((ethernet, mut rest)) = split::<14>(packet) else {
        // Too short for an Ethernet header: nothing is known of it.
        out.push_str("vlan_tci=0x0000,dl_src=00:00:00:00:00:00,dl_dst=00:00:00:00:00:00,dl_type=0x0000");
        return;
    };
    let [
        d0,
        d1,
        d2,
        d3,
        d4,
        d5,
        s0,
        s1,
        s2,
        s3,
        s4,
        s5,
        type_high,
        type_low,
    ] = *ethernet;
    let mut type_ = u16::from_be_bytes([type_high, type_low]);
    let mut tags = Vec::new();
    while matches!(type_, 0x8100 | 0x88a8) && tags.len() < MAX_TAGS {
        let Some(([tci_high, tci_low, type_high, type_low], after)) = split::<4>(rest) else {
            break;
        };
        tags.push(u16::from_be_bytes([*tci_high, *tci_low]) | 0x1000);
        type_ = u16::from_be_bytes([*type_high, *type_low]);
        rest = after;
    }
    if type_ < FIRST_ETHERTYPE {
        // A length: what follows is a logical link control header, which has no type.
        type_ = NO_ETHERTYPE;
    }
    let layer3 = Layer3::of(type_, rest);
    put!(out, "{}", layer3.name());
    put_tags(out, &tags);
    put!(out, "dl_src={},", MacText(MacAddr::new(s0, s1, s2, s3, s4, s5)));
    put!(out, "dl_dst={},", MacText(MacAddr::new(d0, d1, d2, d3, d4, d5)));
    layer3.put(out, type_);
    if out.ends_with(',') {
        out.pop();
    }
    layer3.put_checksum(out);
}

/// What follows the Ethernet header.
enum Layer3<'a> {
    Arp {
        op: u16,
        spa: Ipv4Addr,
        tpa: Ipv4Addr,
        sha: MacAddr,
        tha: MacAddr,
    },
    Ipv4 {
        src: Ipv4Addr,
        dst: Ipv4Addr,
        tos: u8,
        ttl: u8,
        fragment: Fragment,
        proto: u8,
        rest: &'a [u8],
    },
    Ipv6 {
        src: Ipv6Addr,
        dst: Ipv6Addr,
        label: u32,
        tos: u8,
        ttl: u8,
        proto: u8,
        rest: &'a [u8],
    },
    Other,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fragment {
    No,
    First,
    Later,
}

impl<'a> Layer3<'a> {
    fn of(type_: u16, rest: &'a [u8]) -> Self {
        // A header that is cut off or makes no sense reads as zeros.
        match type_ {
            0x0806 => Self::arp(rest).unwrap_or(NO_ARP),
            0x0800 => Self::ipv4(rest).unwrap_or(NO_IPV4),
            0x86dd => Self::ipv6(rest).unwrap_or(NO_IPV6),
            _ => Self::Other,
        }
    }

    fn arp(rest: &[u8]) -> Option<Self> {
        let (fixed, rest) = split::<8>(rest)?;
        let (sha, rest) = split::<6>(rest)?;
        let (spa, rest) = split::<4>(rest)?;
        let (tha, rest) = split::<6>(rest)?;
        let (tpa, _) = split::<4>(rest)?;
        let [0, 1, 8, 0, 6, 4, op_high, op_low] = *fixed else {
            return None;
        };
        let op = u16::from_be_bytes([op_high, op_low]);
        Some(Self::Arp {
            op,
            spa: (*spa).into(),
            tpa: (*tpa).into(),
            sha: MacAddr::from(*sha),
            tha: MacAddr::from(*tha),
        })
    }

    fn ipv4(rest: &'a [u8]) -> Option<Self> {
        let (header, _) = split::<20>(rest)?;
        let header_len = usize::from(header[0] & 0x0f) * 4;
        let total_len = usize::from(u16::from_be_bytes([header[2], header[3]]));
        if header[0] >> 4 != 4 || header_len < 20 || total_len < header_len || total_len > rest.len() {
            return None;
        }
        let offset = u16::from_be_bytes([header[6], header[7]]);
        let fragment = match (offset & 0x1fff, offset & 0x2000) {
            (0, 0) => Fragment::No,
            (0, _) => Fragment::First,
            _ => Fragment::Later,
        };
        Some(Self::Ipv4 {
            src: Ipv4Addr::new(header[12], header[13], header[14], header[15]),
            dst: Ipv4Addr::new(header[16], header[17], header[18], header[19]),
            tos: header[1],
            ttl: header[8],
            fragment,
            proto: header[9],
            rest: &rest[header_len..total_len],
        })
    }

    fn ipv6(rest: &'a [u8]) -> Option<Self> {
        let (fixed, rest) = split::<8>(rest)?;
        let (src, rest) = split::<16>(rest)?;
        let (dst, rest) = split::<16>(rest)?;
        let flow = u32::from_be_bytes([fixed[0], fixed[1], fixed[2], fixed[3]]);
        let payload_len = usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
        if flow >> 28 != 6 || payload_len > rest.len() {
            return None;
        }
        Some(Self::Ipv6 {
            src: (*src).into(),
            dst: (*dst).into(),
            label: flow & 0xf_ffff,
            tos: u8::try_from(flow >> 20 & 0xff).unwrap_or(0),
            ttl: fixed[7],
            proto: fixed[6],
            rest: &rest[..payload_len],
        })
    }

    /// The word for the protocol, with a comma.
    fn name(&self) -> &'static str {
        match self {
            Self::Arp { .. } => "arp,",
            Self::Ipv4 { proto: 1, .. } => "icmp,",
            Self::Ipv4 { proto: 2, .. } => "igmp,",
            Self::Ipv4 { proto: 6, .. } => "tcp,",
            Self::Ipv4 { proto: 17, .. } => "udp,",
            Self::Ipv4 { proto: 132, .. } => "sctp,",
            Self::Ipv4 { .. } => "ip,",
            Self::Ipv6 { proto: 58, .. } => "icmp6,",
            Self::Ipv6 { proto: 6, .. } => "tcp6,",
            Self::Ipv6 { proto: 17, .. } => "udp6,",
            Self::Ipv6 { proto: 132, .. } => "sctp6,",
            Self::Ipv6 { .. } => "ipv6,",
            Self::Other => "",
        }
    }

    fn put(&self, out: &mut String, type_: u16) {
        match self {
            Self::Other => put!(out, "dl_type=0x{type_:04x}"),
            Self::Arp {
                op,
                spa,
                tpa,
                sha,
                tha,
            } => {
                put!(out, "arp_spa={spa},arp_tpa={tpa},arp_op={op},");
                put!(out, "arp_sha={},arp_tha={}", MacText(*sha), MacText(*tha));
            }
            Self::Ipv4 {
                src,
                dst,
                tos,
                ttl,
                fragment,
                proto,
                rest,
            } => {
                put!(out, "nw_src={src},nw_dst={dst},");
                if self.name() == "ip," {
                    put!(out, "nw_proto={proto},");
                }
                put!(out, "nw_tos={},nw_ecn={},nw_ttl={ttl},", tos & 0xfc, tos & 3);
                out.push_str(match fragment {
                    Fragment::No => "nw_frag=no,",
                    Fragment::First => "nw_frag=first,",
                    Fragment::Later => "nw_frag=later,",
                });
                put_layer4(out, *proto, *proto == 1, rest, *fragment);
            }
            Self::Ipv6 {
                src,
                dst,
                label,
                tos,
                ttl,
                proto,
                rest,
            } => {
                put!(out, "ipv6_src={},ipv6_dst={},", Ipv6Text(*src), Ipv6Text(*dst));
                put!(out, "ipv6_label=0x{label:05x},");
                if self.name() == "ipv6," {
                    put!(out, "nw_proto={proto},");
                }
                put!(
                    out,
                    "nw_tos={},nw_ecn={},nw_ttl={ttl},nw_frag=no,",
                    tos & 0xfc,
                    tos & 3
                );
                put_layer4(out, *proto, *proto == 58, rest, Fragment::No);
            }
        }
    }

    /// The checksum of the transport header, unless the header is cut off.
    fn put_checksum(&self, out: &mut String) {
        let (Self::Ipv4 { proto, rest, .. } | Self::Ipv6 { proto, rest, .. }) = self else {
            return;
        };
        let (name, at, width, header_len) = match proto {
            1 => (" icmp_csum:", 2, 2, 8),
            6 => (" tcp_csum:", 16, 2, 20),
            17 => (" udp_csum:", 6, 2, 8),
            58 => (" icmp6_csum:", 2, 2, 4),
            132 => (" sctp_csum:", 8, 4, 12),
            _ => return,
        };
        if rest.len() >= header_len {
            let checksum = rest[at..at + width]
                .iter()
                .fold(0u32, |sum, byte| sum << 8 | u32::from(*byte));
            put!(out, "{name}{checksum:x}");
        }
    }
}

/// Ports, or type and code; zeros when the header is cut off, nothing when it is in an earlier fragment.
fn put_layer4(out: &mut String, proto: u8, is_icmp: bool, rest: &[u8], fragment: Fragment) {
    if fragment == Fragment::Later {
        return;
    }
    let needed = match proto {
        6 => 20,
        132 => 12,
        1 | 17 | 58 => 8,
        _ => 0,
    };
    let header = if rest.len() < needed { &[] } else { rest };
    let byte = |at: usize| header.get(at).copied().unwrap_or(0);
    let short = |at: usize| u16::from_be_bytes([byte(at), byte(at + 1)]);
    if is_icmp {
        put!(out, "icmp_type={},icmp_code={},", byte(0), byte(1));
    } else if matches!(proto, 6 | 17 | 132) {
        put!(out, "tp_src={},tp_dst={},", short(0), short(2));
    }
    if proto == 6 {
        out.push_str("tcp_flags=");
        put_tcp_flags(out, short(12) & 0x0fff);
    }
}

fn put_tcp_flags(out: &mut String, flags: u16) {
    if flags == 0 {
        out.push('0');
        return;
    }
    let mut separator = "";
    for (bit, name) in [
        "fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr", "ns", "[200]", "[400]", "[800]",
    ]
    .iter()
    .enumerate()
    {
        if flags >> bit & 1 == 1 {
            put!(out, "{separator}{name}");
            separator = "|";
        }
    }
}

fn put_tags(out: &mut String, tags: &[u16]) {
    for (at, tci) in tags.iter().enumerate() {
        let number = if at == 0 { String::new() } else { at.to_string() };
        put!(
            out,
            "dl_vlan{number}={},dl_vlan_pcp{number}={},",
            tci & 0xfff,
            tci >> 13
        );
    }
    // That there is no further tag is said too, while there is room for one.
    match tags.len() {
        0 => out.push_str("vlan_tci=0x0000,"),
        inner if inner < MAX_TAGS => put!(out, "vlan_tci{inner}=0x0000,"),
        _ => {}
    }
}

fn split<const N: usize>(bytes: &[u8]) -> Option<(&[u8; N], &[u8])> {
    bytes.split_first_chunk()
}

const NO_ARP: Layer3<'static> = Layer3::Arp {
    op: 0,
    spa: Ipv4Addr::UNSPECIFIED,
    tpa: Ipv4Addr::UNSPECIFIED,
    sha: MacAddr::nil(),
    tha: MacAddr::nil(),
};
const NO_IPV4: Layer3<'static> = Layer3::Ipv4 {
    src: Ipv4Addr::UNSPECIFIED,
    dst: Ipv4Addr::UNSPECIFIED,
    tos: 0,
    ttl: 0,
    fragment: Fragment::No,
    proto: 0,
    rest: &[],
};
const NO_IPV6: Layer3<'static> = Layer3::Ipv6 {
    src: Ipv6Addr::UNSPECIFIED,
    dst: Ipv6Addr::UNSPECIFIED,
    label: 0,
    tos: 0,
    ttl: 0,
    proto: 0,
    rest: &[],
};
/// Smaller values of the type field are lengths.
const FIRST_ETHERTYPE: u16 = 0x600;
/// What Open vSwitch takes for the type of a packet that has none.
const NO_ETHERTYPE: u16 = 0x05ff;
/// How many VLAN tags are looked at.
const MAX_TAGS: usize = 2;
