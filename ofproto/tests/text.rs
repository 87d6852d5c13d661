//! Recorded messages read as `ovs-ofctl ofp-print` prints them: each `.bin` has a `.txt` beside it.

use std::fs;
use std::path::{Path, PathBuf};

use ofproto::Message;

#[test]
fn recorded_messages_read_as_open_vswitch_prints_them() {
    let mut failures = Vec::new();
    let mut checked = 0;
    for path in recorded() {
        let name = path.display().to_string();
        let frame = fs::read(&path).expect("a recorded message");
        let expected = fs::read_to_string(path.with_extension("txt")).expect("its text");
        let (header, message) = Message::decode(frame.into()).expect("a message");
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
        let (header, message) = Message::decode(frame.into()).expect("a message");
        assert_eq!(message.text(header.xid).to_string(), *text);
    }
    assert!(!pairs.is_empty());
}

fn recorded() -> Vec<PathBuf> {
    let folder = std::env::var_os("BICAST_VECTORS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors"),
        PathBuf::from,
    );
    assert!(
        folder.is_dir(),
        "the folder of recorded messages {} does not exist",
        folder.display()
    );
    let mut paths = Vec::new();
    for subfolder in ["ovs", "ovs-live-of13"] {
        let Ok(entries) = fs::read_dir(folder.join(subfolder)) else {
            continue;
        };
        paths.extend(entries.map(|entry| entry.expect("the folder can be listed").path()));
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "bin"));
    paths.sort();
    paths
}
