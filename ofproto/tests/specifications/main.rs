//! Flows, groups and meters in words become the bytes that the `ovs-ofctl` of this machine sends for the same words,
//! and what it sends reads as it prints it; `make setup` installs it.

mod ofctl;

use bytes::BytesMut;
use ofproto::text::{ParseTextError, parse_flow_mod, parse_group_mod, parse_meter_mod};
use ofproto::{Message, Xid};

#[test]
fn flows_become_the_bytes_that_ovs_ofctl_sends() {
    check("add-flows", include_str!("flows.txt"), |line| {
        parse_flow_mod(line).map(Message::FlowMod)
    });
}

#[test]
fn groups_become_the_bytes_that_ovs_ofctl_sends() {
    check("add-groups", include_str!("groups.txt"), |line| {
        parse_group_mod(line).map(Message::GroupMod)
    });
}

#[test]
fn meters_become_the_bytes_that_ovs_ofctl_sends() {
    for (command, lines) in [
        ("add-meter", include_str!("meters.txt")),
        ("mod-meter", include_str!("meters.txt")),
        (
            "del-meter",
            "meter=3\nmeter=all\nmeter=controller\nmeter=slowpath",
        ),
    ] {
        let word = match command {
            "add-meter" => "add",
            "mod-meter" => "modify",
            _ => "delete",
        };
        for line in specifications(lines) {
            let sent = ofctl::sent_for(command, line);
            compare(&[line], &sent, |line| {
                parse_meter_mod(&format!("{word} {line}")).map(Message::MeterMod)
            });
        }
    }
}

#[test]
fn what_ovs_ofctl_sends_reads_as_it_prints_it() {
    let mut differences = Vec::new();
    for (command, lines) in [
        ("add-flows", include_str!("flows.txt")),
        ("add-groups", include_str!("groups.txt")),
    ] {
        let lines = specifications(lines);
        let sent = ofctl::sent_for_file(command, &lines);
        assert_eq!(sent.len(), lines.len());
        for (line, frame) in lines.iter().zip(&sent) {
            let expected = ofctl::ofp_print(frame);
            if expected.contains("***decode error") {
                continue;
            }
            let (header, message) = Message::decode(&frame.clone().into()).expect("a message");
            let text = format!("{}\n", message.text(header.xid));
            if text != expected {
                differences.push(format!("{line}\n ours: {text:?}\ntheir: {expected:?}\n"));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn what_ovs_ofctl_refuses_is_refused_here() {
    let mut taken = Vec::new();
    for line in specifications(include_str!("refused.txt")) {
        assert!(ofctl::refuses(line), "ovs-ofctl takes {line}");
        if let Ok(flow) = parse_flow_mod(line) {
            taken.push(format!("{line}: {}", Message::FlowMod(flow).text(Xid(1))));
        }
    }
    assert!(taken.is_empty(), "{}", taken.join("\n"));
}

#[test]
fn what_is_read_and_printed_is_read_as_it_was_printed() {
    for line in specifications(include_str!("flows.txt")) {
        let printed = |text: &str| {
            let flow = parse_flow_mod(text).unwrap_or_else(|error| panic!("{error}: {text:?} of {line:?}"));
            let text = Message::FlowMod(flow).text(Xid(1)).to_string();
            let (_, body) = text.split_once("):").expect("a heading");
            body.to_owned()
        };
        let once = printed(line);
        assert_eq!(printed(&once), once, "{line}");
    }
}

fn check(command: &str, lines: &str, parse: impl Fn(&str) -> Result<Message, ParseTextError>) {
    let lines = specifications(lines);
    let sent = ofctl::sent_for_file(command, &lines);
    compare(&lines, &sent, parse);
}

fn compare(lines: &[&str], sent: &[Vec<u8>], parse: impl Fn(&str) -> Result<Message, ParseTextError>) {
    assert_eq!(sent.len(), lines.len(), "one message for each of {lines:?}");
    let mut differences = Vec::new();
    for (line, sent) in lines.iter().zip(sent) {
        let ours = match parse(line) {
            Ok(message) => encoded(&message),
            Err(error) => {
                differences.push(format!("{line}\n{error}\n"));
                continue;
            }
        };
        // The transaction is of no interest.
        if ours[..4] != sent[..4] || ours[8..] != sent[8..] {
            let (ours, theirs) = (hex(&ours), hex(sent));
            differences.push(format!("{line}\n ours: {ours}\ntheir: {theirs}\n"));
        }
    }
    assert!(
        differences.is_empty(),
        "{} of {} differ\n{}",
        differences.len(),
        lines.len(),
        differences.join("\n")
    );
}

fn encoded(message: &Message) -> Vec<u8> {
    let mut frame = BytesMut::new();
    message.encode(Xid(1), &mut frame).expect("a message that fits");
    frame.to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Lines without comments.
fn specifications(text: &str) -> Vec<&str> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}
