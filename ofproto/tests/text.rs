//! Recorded messages read as `ovs-ofctl ofp-print` prints them: each `.bin` has a `.txt` beside it.

mod recorded;

use std::fs;

use ofproto::Message;
use recorded::files;

#[test]
fn recorded_messages_read_as_open_vswitch_prints_them() {
    let mut failures = Vec::new();
    let mut checked = 0;
    for path in [files("ovs", "bin"), files("ovs-live-of13", "bin")].concat() {
        let name = path.display().to_string();
        let frame = fs::read(&path).expect("a recorded message");
        let expected = fs::read_to_string(path.with_extension("txt")).expect("its text");
        let (header, message) = Message::decode(&frame.into()).expect("a message");
        let text = format!("{}\n", message.text(header.xid).at_version(header.version));
        checked += 1;
        if text != expected {
            failures.push(format!("{name}\n got: {text:?}\nwant: {expected:?}"));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {checked} differ\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(checked > 0);
}

#[test]
fn extensions_of_open_vswitch_read_as_it_prints_them() {
    let recorded = include_str!("extensions/flows.txt");
    let lines: Vec<_> = recorded.lines().filter(|line| !line.starts_with('#')).collect();
    let (pairs, []) = lines.as_chunks::<2>() else {
        panic!("bytes, then text")
    };
    for [hex, text] in pairs {
        let frame: Vec<u8> = (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal digits"))
            .collect();
        let (header, message) = Message::decode(&frame.into()).expect("a message");
        assert_eq!(message.text(header.xid).to_string(), *text);
    }
    assert!(!pairs.is_empty());
}
