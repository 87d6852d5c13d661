//! Messages recorded from real peers: what is decoded must encode to the same bytes.

mod recorded;

use std::fs;
use std::path::{Path, PathBuf};

use bytes::{Bytes, BytesMut};
use ofproto::{Message, Xid};
use recorded::files;

/// Messages that have more than one form on the wire and were recorded in another one than ours, or that no peer
/// would send: file, and why it does not come back the same.
const NOT_CANONICAL: &[(&str, &str)] = &[];

#[test]
fn recorded_messages_encode_to_the_bytes_they_came_in() {
    let mut checked = 0;
    let mut failures = Vec::new();
    for path in recorded() {
        let name = name_of(&path);
        let frame = Bytes::from(fs::read(&path).unwrap());
        let outcome = round_trip(&frame);
        let excuse = NOT_CANONICAL.iter().find(|(file, _)| *file == name);
        match (outcome, excuse) {
            (Ok(()), None) => {}
            (Ok(()), Some((_, why))) => {
                failures.push(format!("{name}: comes back the same after all, though {why}"))
            }
            (Err(_), Some(_)) => {}
            (Err(error), None) => failures.push(format!("{name}: {error}")),
        }
        checked += 1;
    }
    assert!(
        failures.is_empty(),
        "{} of {checked} messages:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(checked > 0, "no recorded message");
}

#[test]
fn malformed_messages_give_an_error_or_a_message() {
    for path in files("ovs-fuzz-regression", "") {
        decode_all_parts(&fs::read(path).unwrap());
    }
    // Each recorded message, cut off anywhere and with any bit flipped.
    for path in recorded() {
        let frame = fs::read(path).unwrap();
        if frame.len() > 4096 {
            continue;
        }
        for end in 0..frame.len() {
            decode_all_parts(&frame[..end]);
        }
        let mut flipped = frame.clone();
        for bit in 0..frame.len() * 8 {
            flipped[bit / 8] ^= 1 << (bit % 8);
            decode_all_parts(&flipped);
            flipped[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

fn round_trip(frame: &Bytes) -> Result<(), String> {
    let (header, message) = Message::decode(frame).map_err(|error| error.to_string())?;
    let mut again = BytesMut::new();
    message
        .encode(header.xid, &mut again)
        .map_err(|error| error.to_string())?;
    if again == frame {
        return Ok(());
    }
    let at = again.iter().zip(frame).take_while(|(a, b)| a == b).count();
    let (_, second) =
        Message::decode(&again.clone().freeze()).map_err(|error| format!("second decode: {error}"))?;
    let same = if second == message {
        "same value"
    } else {
        "ANOTHER VALUE"
    };
    Err(format!(
        "{} bytes became {}, first difference at byte {at} ({same})",
        frame.len(),
        again.len()
    ))
}

/// Decodes the bytes as they are and with the length of the header put right, so that decoding gets further.
fn decode_all_parts(bytes: &[u8]) {
    let _ = Message::decode(&Bytes::copy_from_slice(bytes));
    let mut fixed = bytes.to_vec();
    if let (Ok(length), Some(field)) = (u16::try_from(bytes.len()), fixed.get_mut(2..4)) {
        field.copy_from_slice(&length.to_be_bytes());
        if let Ok((_, message)) = Message::decode(&Bytes::from(fixed)) {
            let mut again = BytesMut::new();
            message
                .encode(Xid(0), &mut again)
                .expect("what was decoded has a form on the wire");
            // Not always the same value, for bits outside a mask are cleared; but the same bytes ever after.
            let (_, second) = Message::decode(&again.clone().freeze()).expect("what was encoded decodes");
            let mut once_more = BytesMut::new();
            second
                .encode(Xid(0), &mut once_more)
                .expect("what was encoded encodes");
            assert_eq!(once_more, again, "{message:?}");
        }
    }
}

fn recorded() -> Vec<PathBuf> {
    let mut paths = files("ovs", "bin");
    paths.extend(files("ovs-live-of13", "bin"));
    paths.extend(files("ryu-of13/packets", "packet"));
    paths
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
