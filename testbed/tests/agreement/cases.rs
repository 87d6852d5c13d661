//! Messages made of pieces: each piece once in good company, then as many more as are asked for, put together by chance.

use crate::pieces::{
    BAD_GROUPS, BAD_INSTRUCTIONS, BAD_MATCHES, BAD_METERS, BAD_ON_IP, GOOD_GROUPS, GOOD_INSTRUCTIONS,
    GOOD_MATCHES, GOOD_METERS, GOOD_ON_IP, Piece,
};
use rand::prelude::IndexedRandom as _;
use rand::{Rng, RngExt as _};

/// A message and how it is called.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) frame: Vec<u8>,
}

/// How a FLOW_MOD begins.
#[derive(Debug, Clone, Copy)]
struct Head {
    name: &'static str,
    command: u8,
    table: u8,
    flags: u16,
    buffer: u32,
}

/// Each piece once.
pub(crate) fn one_by_one() -> Vec<Case> {
    let [add, .., modify_strictly, delete, _, _] = GOOD_HEADS;
    let [any, ..] = GOOD_MATCHES else { return vec![] };
    let [drop, output, ..] = GOOD_INSTRUCTIONS else {
        return vec![];
    };
    let heads = GOOD_HEADS.iter().chain(&BAD_HEADS);
    let matches = GOOD_MATCHES.iter().chain(BAD_MATCHES);
    let instructions = GOOD_INSTRUCTIONS.iter().chain(BAD_INSTRUCTIONS);
    let on_ip = GOOD_ON_IP.iter().chain(BAD_ON_IP);
    let mut cases: Vec<Case> = heads.map(|head| flow_mod(*head, any, drop)).collect();
    cases.extend(matches.map(|match_| flow_mod(add, match_, output)));
    for head in [add, modify_strictly, delete] {
        let instructions = instructions.clone();
        cases.extend(instructions.map(|instructions| flow_mod(head, any, instructions)));
    }
    cases.extend(on_ip.map(|instructions| flow_mod(add, &IP, instructions)));
    cases.extend(GOOD_GROUPS.iter().chain(BAD_GROUPS).map(group_mod));
    cases.extend(GOOD_METERS.iter().chain(BAD_METERS).map(meter_mod));
    cases
}

/// A FLOW_MOD of good pieces, or of good ones and one that is bad: which of two faults a switch names first is its own
/// business.
pub(crate) fn by_chance(rng: &mut impl Rng) -> Case {
    let mut pick = |from: &[Piece]| *from.choose(rng).expect("a list of pieces is not empty");
    let (good_match, bad_match) = (pick(GOOD_MATCHES), pick(BAD_MATCHES));
    let (good, bad) = (pick(GOOD_INSTRUCTIONS), pick(BAD_INSTRUCTIONS));
    let (good_on_ip, bad_on_ip) = (pick(GOOD_ON_IP), pick(BAD_ON_IP));
    let head = *GOOD_HEADS.choose(rng).expect("a list of heads is not empty");
    let bad_head = *BAD_HEADS.choose(rng).expect("a list of heads is not empty");
    match rng.random_range(0..8) {
        0 => flow_mod(bad_head, &good_match, &good),
        1 => flow_mod(head, &bad_match, &good),
        2 => flow_mod(head, &ANY, &bad),
        3 => flow_mod(head, &IP, &bad_on_ip),
        4 => flow_mod(head, &IP, &good_on_ip),
        _ => flow_mod(head, &good_match, &good),
    }
}

fn flow_mod(head: Head, match_: &Piece, instructions: &Piece) -> Case {
    let fields = bytes(match_.hex);
    let length = u16::try_from(4 + fields.len()).expect("a match is short");
    let mut body = vec![0; 16];
    body.extend([head.table, head.command, 0, 0, 0, 0]);
    body.extend(PRIORITY.to_be_bytes());
    body.extend(head.buffer.to_be_bytes());
    body.extend([0xff; 8]);
    body.extend(head.flags.to_be_bytes());
    body.extend([0, 0, 0, 1]);
    body.extend(length.to_be_bytes());
    body.extend(fields);
    body.resize(body.len().next_multiple_of(8), 0);
    body.extend(bytes(instructions.hex));
    message(
        FLOW_MOD,
        format!("flow: {} | {} | {}", head.name, match_.name, instructions.name),
        &body,
    )
}

fn group_mod(piece: &Piece) -> Case {
    message(GROUP_MOD, format!("group: {}", piece.name), &bytes(piece.hex))
}

fn meter_mod(piece: &Piece) -> Case {
    message(METER_MOD, format!("meter: {}", piece.name), &bytes(piece.hex))
}

fn message(type_: u8, name: String, body: &[u8]) -> Case {
    let length = u16::try_from(8 + body.len()).expect("a message is short");
    let mut frame = vec![4, type_];
    frame.extend(length.to_be_bytes());
    frame.extend([0; 4]);
    frame.extend(body);
    Case { name, frame }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<_> = hex
        .chars()
        .filter_map(|digit| digit.to_digit(16))
        .map(|digit| u8::try_from(digit).expect("a digit"))
        .collect();
    let (pairs, []) = digits.as_chunks::<2>() else {
        unreachable!("half a byte in {hex}");
    };
    pairs.iter().map(|[high, low]| high << 4 | low).collect()
}

const fn head(name: &'static str, command: u8, table: u8, flags: u16, buffer: u32) -> Head {
    Head {
        name,
        command,
        table,
        flags,
        buffer,
    }
}

/// The priority of the flow that is there already, too.
const PRIORITY: u16 = 10;
const NO_BUFFER: u32 = u32::MAX;
const GOOD_HEADS: [Head; 10] = [
    head("add", 0, 0, 0, NO_BUFFER),
    head("add to table 1", 0, 1, 0, NO_BUFFER),
    head("add to table 5", 0, 5, 0, NO_BUFFER),
    head("add, send_flow_rem", 0, 0, 1, NO_BUFFER),
    head("add, reset_counts", 0, 0, 4, NO_BUFFER),
    head("modify", 1, 0, 0, NO_BUFFER),
    head("modify strictly", 2, 0, 0, NO_BUFFER),
    head("delete", 3, 0, 0, NO_BUFFER),
    head("delete strictly", 4, 0, 0, NO_BUFFER),
    head("delete in all tables", 3, 255, 0, NO_BUFFER),
];
const BAD_HEADS: [Head; 9] = [
    head("unknown command", 5, 0, 0, NO_BUFFER),
    head("add to table 254", 0, 254, 0, NO_BUFFER),
    head("add to all tables", 0, 255, 0, NO_BUFFER),
    head("modify in table 254", 1, 254, 0, NO_BUFFER),
    head("modify in all tables", 1, 255, 0, NO_BUFFER),
    head("delete in table 254", 3, 254, 0, NO_BUFFER),
    head("unknown flag", 0, 0, 0x8000, NO_BUFFER),
    head("check_overlap", 0, 0, 2, NO_BUFFER),
    head("unknown buffer", 0, 0, 0, 5),
];
const ANY: Piece = Piece { name: "any", hex: "" };
const IP: Piece = Piece {
    name: "ip",
    hex: "80000a02 0800",
};
const FLOW_MOD: u8 = 14;
const GROUP_MOD: u8 = 15;
const METER_MOD: u8 = 29;
