//! Generated messages read as the `ovs-ofctl` of this machine prints them; `make setup` installs it.

mod any;
mod plausible;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::process::Command;

use bytes::BytesMut;
use ofproto::{Message, Xid};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

#[test]
fn plausible_messages_read_as_open_vswitch_prints_them() {
    let compared = compare(&plausible::message());
    assert!(compared > MESSAGES / 2, "most generated messages are plausible");
}

#[test]
fn whatever_open_vswitch_takes_reads_as_it_prints_it() {
    // A match in a packet from a switch is read without its prerequisites there, and is printed in other words.
    let strategy =
        any::message().prop_filter("not a packet", |message| !matches!(message, Message::PacketIn(_)));
    let compared = compare(&strategy);
    assert!(compared > MESSAGES / 20, "some generated messages are taken");
}

/// Compares the text of generated messages. Returns how many of them Open vSwitch takes.
fn compare(strategy: &impl Strategy<Value = Message>) -> usize {
    let seed = std::env::var("BICAST_SEED").map_or(1, |seed| seed.parse().expect("BICAST_SEED is a number"));
    let mut runner = runner(seed);
    let (mut compared, mut refused, mut differences) = (0, 0, Vec::new());
    let mut unexplained = BTreeMap::new();
    for _ in 0..MESSAGES {
        let message = strategy
            .new_tree(&mut runner)
            .expect("a generated message")
            .current();
        let mut frame = BytesMut::new();
        message
            .encode(Xid(0x1a), &mut frame)
            .expect("a generated message fits");
        let expected = ofp_print(&frame);
        if expected.contains("***decode error") {
            refused += 1;
            if message.validate().is_ok()
                && !REFUSED.iter().any(|(error, _)| name(&expected).ends_with(error))
            {
                unexplained
                    .entry(name(&expected))
                    .or_insert_with(Vec::new)
                    .push(message);
            }
            continue;
        }
        compared += 1;
        let text = format!("{}\n", message.text(Xid(0x1a)));
        if text != expected {
            differences.push(format!(" ours: {text:?}\ntheir: {expected:?}\n"));
        }
    }
    eprintln!("{compared} messages compared, {refused} that Open vSwitch does not take");
    for (name, messages) in &mut unexplained {
        messages.sort_by_key(|message| format!("{message:?}").len());
        eprintln!("{name}: {} such as {:?}", messages.len(), messages.first());
    }
    assert!(
        unexplained.is_empty(),
        "seed {seed}: Open vSwitch refuses what is good here, and nobody says why"
    );
    differences.sort_by_key(String::len);
    differences.truncate(20);
    assert!(differences.is_empty(), "seed {seed}\n{}", differences.join("\n"));
    compared
}

/// The error for which Open vSwitch refuses a message.
fn name(text: &str) -> String {
    let (heading, rest) = text.split_once("***decode error: ").unwrap_or((text, ""));
    let error = rest.split('*').next().unwrap_or(rest);
    let message = heading.split(' ').next().unwrap_or(heading);
    format!("{message} {error}")
}

/// What `ovs-ofctl ofp-print` says.
fn ofp_print(frame: &[u8]) -> String {
    let hex: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
    let run = Command::new("ovs-ofctl").args(["ofp-print", &hex]).output();
    let missing = matches!(&run, Err(error) if error.kind() == ErrorKind::NotFound);
    assert!(
        !missing,
        "ovs-ofctl is not on this machine and nothing can be compared: `make setup` installs it"
    );
    let output = run.expect("ovs-ofctl can be run");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    TestRunner::new_with_rng(Config::default(), rng)
}

const MESSAGES: usize = 500;
/// Errors for which Open vSwitch refuses messages that are good here, and why they are.
const REFUSED: &[(&str, &str)] = &[
    (
        "OFPBRC_BAD_LEN",
        "a list that may be empty here, or a quotation of any length, is too short there",
    ),
    (
        "OFPBRC_BAD_STAT",
        "multipart messages of unlisted types are kept as bytes",
    ),
    (
        "OFPBRC_BAD_VENDOR",
        "messages of any experimenter are kept as bytes",
    ),
    (
        "OFPBAC_BAD_VENDOR",
        "actions of any experimenter are kept as bytes",
    ),
    ("OFPBAC_BAD_TYPE", "actions of unlisted types are kept as bytes"),
    (
        "OFPBAC_BAD_OUT_PORT",
        "ports have 32 bits; Open vSwitch has those of 16 bits and the reserved ones",
    ),
    ("OFPBAC_BAD_ARGUMENT", "any Ethernet type may be pushed"),
    (
        "OFPBAC_BAD_SET_ARGUMENT",
        "the field cannot be set there, or has more bits here than it may have",
    ),
    (
        "OFPBAC_MATCH_INCONSISTENT",
        "what comes behind a push or a pop is not checked here",
    ),
    (
        "OFPBMC_BAD_PREREQ",
        "only what controllers send is checked for prerequisites, not what switches say",
    ),
    ("OFPBMC_BAD_FIELD", "unlisted fields are kept as bytes"),
    ("OFPBMC_BAD_LEN", "unlisted fields may have any length"),
    ("OFPBMC_BAD_VALUE", "values are as wide as their bytes"),
    (
        "OFPBMC_BAD_WILDCARDS",
        "any field may have a mask, which is kept as bytes",
    ),
    ("OFPBMC_DUP_FIELD", "a field may come twice"),
    ("OFPFMFC_BAD_FLAGS", "flags without a name are kept"),
    ("OFPSCFC_BAD_FLAGS", "flags without a name are kept"),
    (
        "OFPTFFC_BAD_FEATURES",
        "properties of tables may come in any order and number",
    ),
    ("OFPGMFC_BAD_TYPE", "unlisted types of groups are kept"),
    ("OFPGMFC_BAD_WATCH", "groups to watch have 32 bits"),
    ("OFPMMFC_BAD_COMMAND", "unlisted commands are kept"),
    ("NXBRC_BAD_REASON", "unlisted reasons are kept"),
    ("OFPRRFC_BAD_ROLE", "unlisted roles are kept"),
];
