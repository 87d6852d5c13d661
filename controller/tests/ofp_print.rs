//! Captures, built here packet by packet, printed as `bicastctl ofp-print` prints them.

use bytes::BytesMut;
use controller::cli::ofp::{Printed, print};
use etherparse::{PacketBuilder, TcpHeader};
use ofproto::{Hello, Message, Xid};

const CONTROLLER: ([u8; 4], u16) = ([192, 0, 2, 1], 6653);
const SWITCH: ([u8; 4], u16) = ([192, 0, 2, 2], 41_000);

#[test]
fn each_message_is_printed_with_its_time_and_peers() {
    let mut capture = Pcap::new(ETHERNET);
    let hello = encoded(&Message::Hello(Hello::v1_3()), 1);
    capture.add(from_controller(99, SYN, &[]));
    capture.add(from_switch(499, SYN, &[]));
    capture.add(from_controller(100, DATA, &hello));
    capture.add(from_switch(500, DATA, &barrier(7)));
    let printed = print(capture.file, PORTS);
    assert_eq!(
        printed.text,
        "2026-01-02T03:04:05.000003Z 192.0.2.1:6653 > 192.0.2.2:41000\n\
         OFPT_HELLO (OF1.3) (xid=0x1):\n version bitmap: 0x04\n\
         2026-01-02T03:04:05.000004Z 192.0.2.2:41000 > 192.0.2.1:6653\n\
         OFPT_BARRIER_REQUEST (OF1.3) (xid=0x7):\n"
    );
    assert!(printed.complete);
}

#[test]
fn every_kind_of_file_link_and_address_prints_the_same() {
    let tcp = TcpHeader::new(6653, 41_000, 100, 1000);
    let ip = || PacketBuilder::ipv4([192, 0, 2, 1], [192, 0, 2, 2], 64).tcp_header(tcp.clone());
    let raw = written(|out, data| ip().write(out, data), &barrier(7));
    let tagged = PacketBuilder::ethernet2([2; 6], [4; 6])
        .single_vlan(etherparse::VlanId::try_new(12).unwrap())
        .ipv4([192, 0, 2, 1], [192, 0, 2, 2], 64);
    let tagged = written(
        |out, data| tagged.tcp_header(tcp.clone()).write(out, data),
        &barrier(7),
    );
    let cooked = [&[0, 0, 0, 1, 0, 6, 2, 2, 2, 2, 2, 2, 0, 0, 8, 0][..], &raw].concat();
    let cooked2 = [
        &[8, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 2, 2, 2, 2, 2, 2, 0, 0][..],
        &raw,
    ]
    .concat();
    let links = [
        (ETHERNET, from_controller(100, DATA, &barrier(7))),
        (ETHERNET, tagged),
        (RAW, raw),
        (LINUX_SLL, cooked),
        (LINUX_SLL2, cooked2),
    ];
    let wanted = "2026-01-02T03:04:05.000001Z 192.0.2.1:6653 > 192.0.2.2:41000\n\
                  OFPT_BARRIER_REQUEST (OF1.3) (xid=0x7):\n";
    for (link, packet) in links {
        let mut pcap = Pcap::new(link);
        pcap.add(packet.clone());
        assert_eq!(print(pcap.file, PORTS).text, wanted, "link type {link}");
        // Microseconds, nanoseconds, and 2^-20 s.
        for (resolution, ticks) in [
            (6, MICROSECONDS + 1),
            (9, (MICROSECONDS + 1) * 1000),
            (0x80 | 20, (u64::from(SECONDS) << 20) + 2),
        ] {
            let file = pcapng(link, resolution, ticks, &packet);
            assert_eq!(print(file, PORTS).text, wanted, "link {link}, {resolution:#x}");
        }
    }

    let ip6 = PacketBuilder::ipv6(address6(1), address6(2), 64).tcp_header(tcp);
    let mut pcap = Pcap::new(RAW);
    pcap.add(written(|out, data| ip6.write(out, data), &barrier(7)));
    assert_eq!(
        print(pcap.file, PORTS).text,
        "2026-01-02T03:04:05.000001Z [2001:db8::1]:6653 > [2001:db8::2]:41000\n\
         OFPT_BARRIER_REQUEST (OF1.3) (xid=0x7):\n"
    );
}

#[test]
fn other_ports_are_printed_when_they_are_asked_for() {
    let mut capture = Pcap::new(ETHERNET);
    let tcp = TcpHeader::new(16_653, 41_000, 100, 1000);
    let packet = PacketBuilder::ethernet2([2; 6], [4; 6])
        .ipv4([192, 0, 2, 1], [192, 0, 2, 2], 64)
        .tcp_header(tcp);
    capture.add(written(|out, data| packet.write(out, data), &barrier(7)));
    assert_eq!(print(capture.file.clone(), PORTS), all_read(""));
    assert!(print(capture.file, &[16_653]).text.contains("BARRIER_REQUEST"));
}

#[test]
fn messages_are_read_from_segments_that_are_cut_swapped_and_sent_twice() {
    let stream = [barrier(1), barrier(2), barrier(3)].concat();
    let mut capture = Pcap::new(ETHERNET);
    capture.add(from_controller(99, SYN, &[]));
    capture.add(from_controller(111, DATA, &stream[11..]));
    capture.add(from_controller(100, DATA, &stream[..5]));
    capture.add(from_controller(100, DATA, &stream[..5]));
    capture.add(from_controller(103, DATA, &stream[3..14]));
    let printed = print(capture.file, PORTS);
    let xids = [1, 2, 3].map(|xid| format!("OFPT_BARRIER_REQUEST (OF1.3) (xid={xid:#x}):"));
    assert_eq!(texts(&printed), xids);
    // None of them could be read before the last packet came.
    let packets: Vec<_> = printed
        .text
        .lines()
        .step_by(2)
        .map(|heading| &heading[25..26])
        .collect();
    assert_eq!(packets, ["5", "5", "5"]);
    assert!(printed.complete);
}

#[test]
fn after_a_gap_it_goes_on_with_the_next_whole_message() {
    let echo = encoded(&Message::EchoRequest(vec![0xff; 100].into()), 2);
    let stream = [barrier(1), echo, barrier(3), barrier(4)].concat();
    let mut capture = Pcap::new(ETHERNET);
    capture.add(from_controller(99, SYN, &[]));
    capture.add(from_controller(100, DATA, &stream[..20]));
    // The bytes from 20 to 50, in the middle of the echo, were not captured.
    capture.add(from_controller(150, DATA, &stream[50..]));
    let printed = print(capture.file, PORTS);
    assert_eq!(
        texts(&printed),
        [
            "OFPT_BARRIER_REQUEST (OF1.3) (xid=0x1):",
            "*** message at byte 8: a gap follows after 12 bytes of it",
            "*** 30 bytes before byte 50 were not captured",
            "*** 66 bytes at byte 50 are no whole message",
            "OFPT_BARRIER_REQUEST (OF1.3) (xid=0x3):",
            "OFPT_BARRIER_REQUEST (OF1.3) (xid=0x4):",
        ]
    );
    assert!(!printed.complete);
}

#[test]
fn a_capture_may_begin_and_end_in_the_middle_of_a_message() {
    let echo = encoded(&Message::EchoRequest(vec![0xff; 20].into()), 2);
    let stream = [echo.clone(), barrier(3), echo].concat();
    let mut capture = Pcap::new(ETHERNET);
    capture.add(from_controller(110, DATA, &stream[10..50]));
    assert_eq!(
        texts(&print(capture.file, PORTS)),
        [
            "*** 18 bytes at byte 0 are no whole message",
            "OFPT_BARRIER_REQUEST (OF1.3) (xid=0x3):",
            "*** message at byte 26: the capture ends after 14 bytes of it",
        ]
    );
}

#[test]
fn what_is_no_message_is_reported_and_the_rest_is_read() {
    let bad_contents = [4, 20, 0, 9, 0, 0, 0, 1, 0];
    let bad_length = [4, 20, 0, 7, 0, 0, 0, 1];
    let stream = [&bad_contents[..], &barrier(2), &bad_length, &barrier(3)].concat();
    let mut capture = Pcap::new(ETHERNET);
    capture.add(from_controller(99, SYN, &[]));
    capture.add(from_controller(100, DATA, &stream));
    assert_eq!(
        texts(&print(capture.file, PORTS)),
        [
            "*** message at byte 0: OFPT_BARRIER_REQUEST at byte 8: 1 bytes too many",
            "OFPT_BARRIER_REQUEST (OF1.3) (xid=0x2):",
            "*** message at byte 17: header gives a length of 7 bytes, less than the 8 of the header itself",
            "*** 7 bytes at byte 18 are no whole message",
            "OFPT_BARRIER_REQUEST (OF1.3) (xid=0x3):",
        ]
    );
}

#[test]
fn another_protocol_is_named_once() {
    let mut capture = Pcap::new(ETHERNET);
    capture.add(from_controller(99, SYN, &[]));
    capture.add(from_controller(
        100,
        DATA,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
    ));
    capture.add(from_controller(109, DATA, &[0x5a; 500]));
    let printed = print(capture.file, PORTS);
    assert_eq!(texts(&printed).len(), 1, "{}", printed.text);
    assert!(printed.text.contains("TLS"), "{}", printed.text);
}

#[test]
fn damaged_packets_and_files_are_reported_with_their_place() {
    let mut capture = Pcap::new(ETHERNET);
    let mut cut = from_controller(100, DATA, &barrier(1));
    cut.truncate(40);
    capture.add(cut);
    let mut fragment = from_controller(100, DATA, &barrier(1));
    fragment[20] = 0x20;
    capture.add(fragment);
    capture.add(from_controller(100, DATA, &barrier(2)));
    let whole = capture.file.len();
    capture.add(from_controller(108, DATA, &barrier(3)));
    capture.file.truncate(whole + 30);
    let printed = print(capture.file, PORTS);
    let lines: Vec<_> = printed.text.lines().collect();
    assert!(
        lines[0].starts_with("*** packet 1 is damaged or cut off"),
        "{lines:?}"
    );
    assert_eq!(
        lines[1],
        "*** packet 2 is a fragment of an IP packet and left out"
    );
    assert_eq!(lines[3], "OFPT_BARRIER_REQUEST (OF1.3) (xid=0x2):");
    assert_eq!(
        lines[4],
        format!("*** packet 4 is cut off: the file ends here, at byte {whole}")
    );
    assert!(!printed.complete);
}

#[test]
fn no_file_stops_the_printer() {
    let mut capture = Pcap::new(ETHERNET);
    capture.add(from_controller(99, SYN, &[]));
    capture.add(from_controller(100, DATA, &barrier(1)));
    let ng = pcapng(
        ETHERNET,
        6,
        MICROSECONDS,
        &from_controller(100, DATA, &barrier(7)),
    );
    for file in [capture.file, ng] {
        for end in 0..file.len() {
            let _ = print(file[..end].to_vec(), PORTS);
        }
        for bit in 0..file.len() * 8 {
            let mut flipped = file.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let _ = print(flipped, PORTS);
        }
    }
}

/// A little-endian pcap file with a packet per microsecond.
struct Pcap {
    file: Vec<u8>,
    packets: u32,
}

impl Pcap {
    fn new(link: u32) -> Pcap {
        let header = [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, link];
        Pcap {
            file: header.into_iter().flat_map(u32::to_le_bytes).collect(),
            packets: 0,
        }
    }

    fn add(&mut self, packet: Vec<u8>) {
        self.packets += 1;
        let length = u32::try_from(packet.len()).expect("a short packet");
        let header = [SECONDS, self.packets, length, length];
        self.file.extend(header.into_iter().flat_map(u32::to_le_bytes));
        self.file.extend(packet);
    }
}

/// A big-endian pcapng file of one packet.
fn pcapng(link: u32, resolution: u8, ticks: u64, packet: &[u8]) -> Vec<u8> {
    let section = block(
        0x0a0d_0d0a,
        &words(&[0x1a2b_3c4d, 0x0001_0000, u32::MAX, u32::MAX]),
    );
    let options = [0, 9, 0, 1, resolution, 0, 0, 0, 0, 0, 0, 0];
    let interface = block(1, &[&words(&[link << 16, 0]), &options[..]].concat());
    let length = u32::try_from(packet.len()).expect("a short packet");
    let high = u32::try_from(ticks >> 32).expect("half of it");
    let low = u32::try_from(ticks & 0xffff_ffff).expect("half of it");
    let mut padded = packet.to_vec();
    padded.resize(packet.len().next_multiple_of(4), 0);
    let packet = block(6, &[words(&[0, high, low, length, length]), padded].concat());
    [section, interface, packet].concat()
}

fn block(type_: u32, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 12).expect("a short block");
    [&words(&[type_, length]), body, &words(&[length])].concat()
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().copied().flat_map(u32::to_be_bytes).collect()
}

const SYN: bool = true;
const DATA: bool = false;

fn from_controller(sequence: u32, syn: bool, data: &[u8]) -> Vec<u8> {
    ethernet(CONTROLLER, SWITCH, sequence, syn, data)
}

fn from_switch(sequence: u32, syn: bool, data: &[u8]) -> Vec<u8> {
    ethernet(SWITCH, CONTROLLER, sequence, syn, data)
}

fn ethernet(from: ([u8; 4], u16), to: ([u8; 4], u16), sequence: u32, syn: bool, data: &[u8]) -> Vec<u8> {
    let tcp = TcpHeader {
        syn,
        ..TcpHeader::new(from.1, to.1, sequence, 1000)
    };
    let packet = PacketBuilder::ethernet2([2; 6], [4; 6])
        .ipv4(from.0, to.0, 64)
        .tcp_header(tcp);
    written(|out, data| packet.write(out, data), data)
}

fn written<E: std::fmt::Debug>(
    write: impl FnOnce(&mut Vec<u8>, &[u8]) -> Result<(), E>,
    data: &[u8],
) -> Vec<u8> {
    let mut out = vec![];
    write(&mut out, data).expect("a vector takes it");
    out
}

fn address6(last: u8) -> [u8; 16] {
    [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]
}

fn encoded(message: &Message, xid: u32) -> Vec<u8> {
    let mut out = BytesMut::new();
    message.encode(Xid(xid), &mut out).expect("a short message");
    out.to_vec()
}

fn barrier(xid: u32) -> Vec<u8> {
    encoded(&Message::BarrierRequest, xid)
}

/// The second line of each pair of lines, when every message is one line.
fn texts(printed: &Printed) -> Vec<&str> {
    printed.text.lines().skip(1).step_by(2).collect()
}

fn all_read(text: &str) -> Printed {
    Printed {
        text: text.to_owned(),
        complete: true,
    }
}

const PORTS: &[u16] = &[6653, 6633];
const ETHERNET: u32 = 1;
const RAW: u32 = 101;
const LINUX_SLL: u32 = 113;
const LINUX_SLL2: u32 = 276;
/// 2026-01-02T03:04:05Z.
const SECONDS: u32 = 1_767_323_045;
const MICROSECONDS: u64 = 1_767_323_045_000_000;
