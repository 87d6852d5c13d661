//! Messages of Ryu's test suite mean to us what its authors say that they mean.
//!
//! Each `ryu-of13/packets/NAME` below the folder that `BICAST_VECTORS` names has a `ryu-of13/json/NAME.json` beside
//! it. Both sides are brought to a common form: lengths and the names of Python classes are left out.

mod message;
mod multipart;
mod parts;

use std::fs;
use std::path::{Path, PathBuf};

use ofproto::Message;
use serde_json::{Map, Value};

/// What is not compared, and why: part of the file's name, and the keys that are left out on both sides.
const NOT_COMPARED: &[(&str, &str, &[&str])] = &[
    (
        "onf_flow_monitor",
        "we keep the experimenter's body as bytes",
        &["body", "data"],
    ),
    (
        "packet_library",
        "they print the packet header by header",
        &["data"],
    ),
    (
        "truncated64",
        "they read what is left of a message that was cut off, we refuse it",
        &[],
    ),
];

#[test]
fn messages_mean_what_their_authors_say() {
    let Some(folder) =
        std::env::var_os("BICAST_VECTORS").map(|folder| PathBuf::from(folder).join("ryu-of13"))
    else {
        eprintln!("BICAST_VECTORS is not set, nothing was compared");
        return;
    };
    let (mut compared, mut failures) = (0, Vec::new());
    for path in packets(&folder) {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let theirs = fs::read_to_string(folder.join("json").join(format!("{name}.json")));
        let theirs = serde_json::from_str(&theirs.expect("its meaning")).expect("JSON");
        let frame = fs::read(&path).expect("a recorded message");
        let (_, message) = Message::decode(&frame.into()).expect("a message");
        let left_out = NOT_COMPARED.iter().find(|(part, ..)| name.contains(part));
        let (mut ours, mut theirs) = (message::value(&message), plain(theirs));
        for key in left_out.map_or(&[][..], |(_, _, keys)| keys) {
            for side in [&mut ours, &mut theirs] {
                side.as_object_mut().map(|object| object.remove(*key));
            }
        }
        compared += 1;
        if ours != theirs {
            failures.push(format!("{name}\n ours: {ours}\ntheir: {theirs}\n"));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {compared} differ\n{}",
        failures.len(),
        failures.join("\n")
    );
    eprintln!("{compared} messages compared");
    assert!(
        compared > 0 || !folder.exists(),
        "no message below {}",
        folder.display()
    );
}

/// Their form without lengths and class names: `{"OFPActionGroup": {"group_id": 9, "len": 8, "type": 22}}` becomes
/// `{"group_id": 9, "type": 22}`. The outermost name is kept as `message`.
fn plain(theirs: Value) -> Value {
    let Value::Object(outer) = theirs else {
        return theirs;
    };
    let Some((name, body)) = outer.into_iter().next() else {
        return Value::Null;
    };
    let Value::Object(mut body) = stripped(body) else {
        return Value::Null;
    };
    body.insert("message".to_owned(), name.into());
    Value::Object(body)
}

fn stripped(theirs: Value) -> Value {
    match theirs {
        Value::Array(items) => items.into_iter().map(stripped).collect(),
        Value::Object(object) if object.len() == 1 && object.keys().all(|key| is_class(key)) => object
            .into_iter()
            .next()
            .map_or(Value::Null, |(name, body)| of_class(&name, stripped(body))),
        Value::Object(object) => object
            .into_iter()
            .filter(|(key, _)| !LENGTHS.contains(&key.as_str()))
            .map(|(key, value)| (key, stripped(value)))
            .collect::<Map<_, _>>()
            .into(),
        other => other,
    }
}

const LENGTHS: &[&str] = &["len", "length", "actions_len", "match_len"];

fn is_class(key: &str) -> bool {
    key.starts_with(|letter: char| letter.is_ascii_uppercase())
}

fn of_class(name: &str, body: Value) -> Value {
    match name {
        "OFPMatch" => body["oxm_fields"].clone(),
        // Actions of Nicira's are bytes to us, except for what they begin with.
        name if name.starts_with("NXAction") => serde_json::json!({
            "type": body["type"], "experimenter": body["experimenter"], "subtype": body["subtype"],
        }),
        _ => body,
    }
}

fn packets(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder.join("packets")) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("the folder can be listed").path())
        // One more file is a message that was cut off: they read what is left of it, we refuse it.
        .filter(|path| {
            path.extension()
                .is_some_and(|end| end.to_string_lossy().starts_with("packet"))
        })
        .collect();
    paths.sort();
    paths
}
