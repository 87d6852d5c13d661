//! Generated messages read as the `ovs-ofctl` of this machine prints them; `make setup` installs it.

mod any;
mod plausible;

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
            continue;
        }
        compared += 1;
        let text = format!("{}\n", message.text(Xid(0x1a)));
        if text != expected {
            differences.push(format!(" ours: {text:?}\ntheir: {expected:?}\n"));
        }
    }
    eprintln!("{compared} messages compared, {refused} that Open vSwitch does not take");
    differences.sort_by_key(String::len);
    differences.truncate(20);
    assert!(differences.is_empty(), "seed {seed}\n{}", differences.join("\n"));
    compared
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
