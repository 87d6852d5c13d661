//! What decoding costs in memory: never more than a small multiple of the frame, and nothing at all for the
//! messages that come by the million.

mod any;
mod recorded;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs;

use bytes::{Bytes, BytesMut};
use ofproto::{
    Action, Bucket, BufferId, Cookie, FlowMod, FlowModFlags, FlowStats, GroupId, GroupMod, GroupModCommand,
    GroupType, Instruction, Match, Message, MultipartEntries, MultipartReply, MultipartReplyBody, OxmField,
    PacketIn, PacketInReason, PacketOut, PortNo, TableId, Xid, list,
};
use proptest::prelude::*;
use recorded::files;

/// How many bytes a decoder may hold for each byte of the frame. The dearest of all are short instructions: 8 bytes on
/// the wire, 112 in memory.
const BYTES_PER_BYTE: usize = 14;
/// What may come on top of that.
const BYTES_AT_ALL: usize = 512;

struct Counting;

#[derive(Clone, Copy, Default)]
struct Cost {
    allocations: usize,
    held: usize,
    peak: usize,
}

thread_local! {
    static COST: Cell<Cost> = const { Cell::new(Cost { allocations: 0, held: 0, peak: 0 }) };
}

fn count(taken: usize, given_back: usize) {
    // A thread that is going away has nothing to count.
    let _ = COST.try_with(|cost| {
        let mut now = cost.get();
        now.allocations += usize::from(taken > 0);
        // A reallocation may hold both for a moment.
        now.held += taken;
        now.peak = now.peak.max(now.held);
        now.held = now.held.saturating_sub(given_back);
        cost.set(now);
    });
}

// SAFETY: everything is left to the system's allocator; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn messages_that_come_by_the_million_allocate_nothing() {
    let payload = Bytes::from(vec![0xab; 1400]);
    for message in [
        Message::EchoRequest(payload.clone()),
        Message::EchoReply(payload.clone()),
        Message::BarrierRequest,
        Message::BarrierReply,
        packet_in(Match::new(), &payload),
        packet_in(
            Match::new()
                .with(OxmField::InPort(PortNo(3)))
                .with(OxmField::Metadata(7.into())),
            &payload,
        ),
    ] {
        assert_eq!(decode(&message).allocations, 0, "{}", message.name());
    }
}

#[test]
fn other_messages_allocate_once_at_most() {
    let output = |port| list![Action::output(PortNo(port))];
    let packet_out = Message::PacketOut(PacketOut {
        buffer_id: BufferId::NO_BUFFER,
        in_port: PortNo::CONTROLLER,
        actions: output(2),
        data: Bytes::from(vec![0xab; 1400]),
    });
    assert_eq!(decode(&packet_out).allocations, 0);

    let flow_mod = |match_| {
        Message::FlowMod(FlowMod {
            match_,
            instructions: list![
                Instruction::ApplyActions(output(1).into_iter().chain(output(2)).collect()),
                Instruction::GotoTable(TableId(3)),
            ],
            ..FlowMod::default()
        })
    };
    let cost = decode(&flow_mod(Match::new().with(OxmField::EthType(0x800))));
    assert_eq!(cost.allocations, 0);
    let cost = decode(&flow_mod((0..8).map(OxmField::UdpDst).collect()));
    assert_eq!(cost.allocations, 1, "a match of eight fields");

    let bucket = |port| Bucket {
        actions: output(port),
        ..Bucket::default()
    };
    let group_mod = Message::GroupMod(GroupMod {
        command: GroupModCommand::Add,
        type_: GroupType::All,
        group_id: GroupId(1),
        buckets: (1..=4).map(bucket).collect(),
    });
    assert_eq!(
        decode(&group_mod).allocations,
        1,
        "the buckets; the actions of each are in it"
    );
}

#[test]
fn entries_of_a_reply_allocate_nothing() {
    let flow = |number| FlowStats {
        table_id: TableId(1),
        duration_sec: 60,
        duration_nsec: 0,
        priority: number,
        idle_timeout: 0,
        hard_timeout: 0,
        flags: FlowModFlags::empty(),
        cookie: Cookie(number.into()),
        packet_count: 1000,
        byte_count: 64_000,
        match_: (0..4).map(OxmField::UdpDst).collect(),
        instructions: list![Instruction::ApplyActions(list![Action::output(PortNo(1))])],
    };
    let reply = Message::MultipartReply(MultipartReply {
        more: false,
        body: MultipartReplyBody::Flow((0..400).map(flow).collect()),
    });
    let mut frame = BytesMut::new();
    reply.encode(Xid(1), &mut frame).expect("it fits");
    let frame = frame.freeze();
    let (priorities, cost) = cost_of(|| {
        let entries = MultipartEntries::<FlowStats>::decode(&frame)
            .expect("what was encoded decodes")
            .expect("flows");
        entries
            .map(|flow| u32::from(flow.expect("a flow").priority))
            .sum::<u32>()
    });
    assert_eq!((priorities, cost.allocations), (399 * 400 / 2, 0));
}

#[test]
fn encoding_into_a_buffer_with_room_allocates_nothing() {
    let message = packet_in(
        Match::new().with(OxmField::InPort(PortNo(3))),
        &Bytes::from_static(&[1; 64]),
    );
    let mut out = BytesMut::with_capacity(4096);
    let (_, cost) = cost_of(|| message.encode(Xid(1), &mut out).expect("it fits"));
    assert_eq!(cost.allocations, 0);
}

#[test]
fn recorded_messages_whole_or_broken_stay_within_the_bound() {
    let recorded = [
        files("ovs", "bin"),
        files("ovs-live-of13", "bin"),
        files("ryu-of13/packets", "packet"),
        files("ovs-fuzz-regression", ""),
    ]
    .concat();
    assert!(!recorded.is_empty());
    for path in recorded {
        let frame = fs::read(path).expect("a recorded message");
        check_bound(&frame);
        let mut broken = frame.clone();
        let heads = if frame.len() <= 2048 {
            frame.len().min(256)
        } else {
            0
        };
        for at in 0..heads {
            for value in [0, 8, 0xff] {
                broken[at] = value;
                check_bound(&broken);
            }
            broken[at] = frame[at];
        }
    }
}

#[test]
fn the_dearest_bytes_stay_within_the_bound() {
    let header = |type_: u8, fixed: &[u8]| [&[4, type_, 0, 0, 0, 0, 0, 1], fixed].concat();
    let mut empty_fields = header(10, &[0; 16]);
    empty_fields.extend([0, 1, 0xff, 0xf8]);
    empty_fields.extend([0xff, 0xff, 2, 0].repeat(0xfff4 / 4));
    empty_fields.resize(0xffff, 0);
    let mut empty_buckets = header(15, &[0, 0, 0, 0, 0, 0, 0, 1]);
    empty_buckets.extend([&[0, 16][..], &[0; 14]].concat().repeat(4000));
    let mut empty_actions = header(13, &[0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0, 0, 0, 0, 0, 0, 0]);
    empty_actions.extend([0, 18, 0, 8, 0, 0, 0, 0].repeat(0xffe0 / 8));
    let empty_elements = [header(0, &[]), [0, 2, 0, 4, 0, 0, 0, 0].repeat(8000)].concat();
    let mut short_instructions = header(14, &[0; 40]);
    short_instructions.extend([0, 1, 0, 4, 0, 0, 0, 0]);
    short_instructions.extend([0, 5, 0, 8, 0, 0, 0, 0].repeat(8000));
    let mut empty_flows = header(19, &[0, 1, 0, 0, 0, 0, 0, 0]);
    let empty_flow = [&[0, 56][..], &[0; 46], &[0, 1, 0, 4, 0, 0, 0, 0]].concat();
    empty_flows.extend(empty_flow.repeat(1160));
    for frame in [
        empty_fields,
        empty_buckets,
        empty_actions,
        empty_elements,
        short_instructions,
        empty_flows,
    ] {
        check_bound(&frame);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_message_whole_or_broken_stays_within_the_bound(
        message in any::message(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let mut out = BytesMut::new();
        message.encode(Xid(1), &mut out).expect("a generated message fits");
        for (at, value) in changes {
            let at = at.index(out.len());
            out[at] = value;
        }
        check_bound(&out);
    }
}

fn packet_in(match_: Match, data: &Bytes) -> Message {
    Message::PacketIn(PacketIn {
        buffer_id: BufferId::NO_BUFFER,
        total_len: 1400,
        reason: PacketInReason::Action,
        table_id: TableId(0),
        cookie: Cookie(1),
        match_,
        data: data.clone(),
    })
}

/// What decoding costs when the frame is a part of a receive buffer, as it is behind a `FrameSplitter`.
fn decode(message: &Message) -> Cost {
    let mut buffer = BytesMut::new();
    message.encode(Xid(1), &mut buffer).expect("it fits");
    buffer.extend_from_slice(&[0; 64]);
    let frame = buffer.split_to(buffer.len() - 64).freeze();
    let (decoded, cost) = cost_of(|| Message::decode(&frame).expect("what was encoded decodes").1);
    assert_eq!(&decoded, message);
    cost
}

fn check_bound(bytes: &[u8]) {
    let mut fixed = bytes.to_vec();
    if let (Ok(length), Some(field)) = (u16::try_from(bytes.len()), fixed.get_mut(2..4)) {
        field.copy_from_slice(&length.to_be_bytes());
    }
    for bytes in [bytes, &fixed] {
        let frame = Bytes::copy_from_slice(bytes);
        let (_, cost) = cost_of(|| Message::decode(&frame));
        let limit = BYTES_PER_BYTE * bytes.len() + BYTES_AT_ALL;
        assert!(
            cost.peak <= limit,
            "{} bytes held for {} on the wire: {:02x?}",
            cost.peak,
            bytes.len(),
            &bytes[..bytes.len().min(80)]
        );
    }
}

fn cost_of<T>(run: impl FnOnce() -> T) -> (T, Cost) {
    COST.set(Cost::default());
    let value = run();
    (value, COST.get())
}
