//! Packets of pcap and pcapng files, and the TCP segments in them.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use etherparse::err::Layer;
use etherparse::{EtherType, IpNumber, LaxNetSlice, LaxSlicedPacket, TransportSlice};
use jiff::Timestamp;
use pcap_parser::nom;
use pcap_parser::pcapng::{Block, InterfaceDescriptionBlock, parse_block_be, parse_block_le};
use pcap_parser::{
    Linktype, PcapError, PcapHeader, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified,
    parse_pcap_header,
};

use super::ofp_streams::{Seen, Segment};

/// What a capture file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Capture {
    /// The TCP segments from or to one of the ports, in the order of the file.
    pub segments: Vec<Segment>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// A part of a capture file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    /// Number of the packet, from 1; of the one that would have come next when the file itself is damaged.
    pub packet: u64,
    /// What is wrong.
    pub text: String,
}

/// Whether a file begins as pcap or pcapng files do.
pub(super) fn is_capture(file: &[u8]) -> bool {
    parse_pcap_header(file).is_ok() || file.starts_with(&SECTION_HEADER)
}

/// Reads a pcap or pcapng file; `ports` are those of the TCP connections that matter.
pub(super) fn read(file: &Bytes, ports: &[u16]) -> Capture {
    let mut reader = Reader {
        file,
        ports,
        packets: 0,
        capture: Capture::default(),
    };
    match parse_pcap_header(file) {
        Ok((rest, header)) => reader.pcap(&header, rest),
        Err(_) => reader.pcapng(file),
    }
    reader.capture
}

struct Reader<'a> {
    file: &'a Bytes,
    ports: &'a [u16],
    packets: u64,
    capture: Capture,
}

/// An interface of a pcapng file.
struct Interface {
    link: Linktype,
    ticks_per_second: u128,
    offset_seconds: i64,
}

impl<'a> Reader<'a> {
    /// <https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-03.html>
    fn pcap(&mut self, header: &PcapHeader, mut rest: &'a [u8]) {
        let parse = match (header.is_bigendian(), header.is_modified_format()) {
            (true, _) => parse_pcap_frame_be,
            (false, true) => parse_pcap_frame_modified,
            (false, false) => parse_pcap_frame,
        };
        let ticks_per_second = if header.is_nanosecond_precision() {
            1_000_000_000
        } else {
            1_000_000
        };
        // The upper half holds the length of a frame check sequence.
        let link = Linktype(header.network.0 & 0xffff);
        while !rest.is_empty() {
            match parse(rest) {
                Ok((after, packet)) => {
                    let ticks = u128::from(packet.ts_sec) * ticks_per_second + u128::from(packet.ts_usec);
                    self.packet(link, timestamp(ticks, ticks_per_second, 0), packet.data);
                    rest = after;
                }
                Err(error) => return self.damaged(rest, &error),
            }
        }
    }

    /// <https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-02.html>
    fn pcapng(&mut self, mut rest: &'a [u8]) {
        let mut big_endian = false;
        let mut interfaces: Vec<Interface> = vec![];
        while !rest.is_empty() {
            let parse = if big_endian {
                parse_block_be
            } else {
                parse_block_le
            };
            let (after, block) = match parse(rest) {
                Ok(parsed) => parsed,
                Err(error) => return self.damaged(rest, &error),
            };
            match block {
                Block::SectionHeader(section) => {
                    big_endian = section.big_endian();
                    interfaces.clear();
                }
                Block::InterfaceDescription(interface) => interfaces.push(Interface::of(&interface)),
                Block::EnhancedPacket(packet) => {
                    let interface = usize::try_from(packet.if_id)
                        .ok()
                        .and_then(|id| interfaces.get(id));
                    let ticks = u128::from(packet.ts_high) << 32 | u128::from(packet.ts_low);
                    self.packet_of(
                        interface,
                        Some(ticks),
                        without_padding(packet.data, packet.caplen),
                    );
                }
                Block::SimplePacket(packet) => {
                    self.packet_of(
                        interfaces.first(),
                        None,
                        without_padding(packet.data, packet.origlen),
                    );
                }
                _ => {}
            }
            rest = after;
        }
    }

    fn packet_of(&mut self, interface: Option<&Interface>, ticks: Option<u128>, data: &'a [u8]) {
        match interface {
            Some(interface) => {
                let at = ticks
                    .and_then(|ticks| timestamp(ticks, interface.ticks_per_second, interface.offset_seconds));
                self.packet(interface.link, at, data);
            }
            None => {
                self.packets += 1;
                self.problem("is of an interface that the file does not describe");
            }
        }
    }

    fn packet(&mut self, link: Linktype, at: Option<Timestamp>, data: &'a [u8]) {
        self.packets += 1;
        let sliced = match slice(link, data) {
            Ok(Some(sliced)) => sliced,
            Ok(None) => return,
            Err(problem) => return self.problem(&problem),
        };
        let peers = match &sliced.net {
            Some(LaxNetSlice::Ipv4(ip)) => {
                let header = ip.header();
                Some((
                    IpAddr::V4(header.source_addr()),
                    IpAddr::V4(header.destination_addr()),
                ))
            }
            Some(LaxNetSlice::Ipv6(ip)) => {
                let header = ip.header();
                Some((
                    IpAddr::V6(header.source_addr()),
                    IpAddr::V6(header.destination_addr()),
                ))
            }
            _ => None,
        };
        match (&sliced.transport, peers) {
            (Some(TransportSlice::Tcp(tcp)), Some((from, to))) => {
                let ports = [tcp.source_port(), tcp.destination_port()];
                if ports.iter().any(|port| self.ports.contains(port)) && !tcp.rst() {
                    self.capture.segments.push(Segment {
                        seen: Seen {
                            packet: self.packets,
                            at,
                        },
                        from: SocketAddr::new(from, ports[0]),
                        to: SocketAddr::new(to, ports[1]),
                        sequence: tcp.sequence_number(),
                        syn: tcp.syn(),
                        data: self.file.slice_ref(tcp.payload()),
                    });
                }
            }
            (None, _) if is_tcp_fragment(&sliced) => {
                self.problem("is a fragment of an IP packet and left out");
            }
            _ => match &sliced.stop_err {
                Some((error, layer)) if may_hide_tcp(*layer) => {
                    self.problem(&format!("is damaged or cut off: {error}"));
                }
                _ => {}
            },
        }
    }

    fn problem(&mut self, text: &str) {
        self.capture.problems.push(Problem {
            packet: self.packets,
            text: text.to_owned(),
        });
    }

    fn damaged(&mut self, rest: &[u8], error: &nom::Err<PcapError<&[u8]>>) {
        self.packets += 1;
        let at = self.file.len() - rest.len();
        let what = match error {
            nom::Err::Incomplete(_) => "is cut off",
            nom::Err::Error(_) | nom::Err::Failure(_) => "cannot be read",
        };
        self.problem(&format!("{what}: the file ends here, at byte {at}"));
    }
}

impl Interface {
    fn of(block: &InterfaceDescriptionBlock<'_>) -> Interface {
        let (base, exponent) = if block.if_tsresol & 0x80 == 0 {
            (10_u128, block.if_tsresol)
        } else {
            (2, block.if_tsresol & 0x7f)
        };
        Interface {
            link: block.linktype,
            ticks_per_second: base.checked_pow(u32::from(exponent)).unwrap_or(0),
            offset_seconds: block.if_tsoffset,
        }
    }
}

/// The headers of a packet; `None` when nothing in it can be TCP.
fn slice(link: Linktype, data: &[u8]) -> Result<Option<LaxSlicedPacket<'_>>, String> {
    match link {
        Linktype::ETHERNET => LaxSlicedPacket::from_ethernet(data)
            .map(Some)
            .map_err(|error| error.to_string()),
        Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 => LaxSlicedPacket::from_ip(data)
            .map(Some)
            .map_err(|error| error.to_string()),
        // <https://www.tcpdump.org/linktypes/LINKTYPE_LINUX_SLL.html>
        Linktype::LINUX_SLL => cooked(data, 14, 16),
        // <https://www.tcpdump.org/linktypes/LINKTYPE_LINUX_SLL2.html>
        Linktype::LINUX_SLL2 => cooked(data, 0, 20),
        Linktype(other) => Err(format!("is of link type {other}, which is not known here")),
    }
}

/// A packet with a cooked header of `header_len` bytes, in which `protocol_at` is the place of its EtherType.
fn cooked(data: &[u8], protocol_at: usize, header_len: usize) -> Result<Option<LaxSlicedPacket<'_>>, String> {
    match (data.get(protocol_at..protocol_at + 2), data.get(header_len..)) {
        (Some(&[high, low]), Some(payload)) => {
            let ether_type = EtherType(u16::from_be_bytes([high, low]));
            Ok(Some(LaxSlicedPacket::from_ether_type(ether_type, payload)))
        }
        _ => Err("is cut off within its link header".to_owned()),
    }
}

fn is_tcp_fragment(packet: &LaxSlicedPacket<'_>) -> bool {
    let payload = match &packet.net {
        Some(LaxNetSlice::Ipv4(ip)) => ip.payload(),
        Some(LaxNetSlice::Ipv6(ip)) => ip.payload(),
        _ => return false,
    };
    payload.fragmented && payload.ip_number == IpNumber::TCP
}

/// Whether what cannot be read from this layer on may have been a TCP segment.
fn may_hide_tcp(layer: Layer) -> bool {
    !matches!(
        layer,
        Layer::Arp | Layer::Igmp | Layer::Icmpv4 | Layer::Icmpv6 | Layer::UdpHeader | Layer::UdpPayload
    )
}

/// The packet in a block: the block is filled up to a multiple of four bytes.
fn without_padding(data: &[u8], packet_len: u32) -> &[u8] {
    let packet = usize::try_from(packet_len).ok().and_then(|len| data.get(..len));
    packet.unwrap_or(data)
}

fn timestamp(ticks: u128, per_second: u128, offset_seconds: i64) -> Option<Timestamp> {
    let nanoseconds = ticks.checked_mul(1_000_000_000)?.checked_div(per_second)?;
    let offset = i128::from(offset_seconds) * 1_000_000_000;
    Timestamp::from_nanosecond(i128::try_from(nanoseconds).ok()?.checked_add(offset)?).ok()
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "packet {} {}", self.packet, self.text)
    }
}

/// Block type of a pcapng file's section header, the same in both byte orders.
const SECTION_HEADER: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
