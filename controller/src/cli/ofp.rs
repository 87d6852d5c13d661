//! OpenFlow messages from files as text, and text as messages: `ofp-print` and `ofp-parse`.

use std::fmt::Write as _;
use std::io::{self, Read as _};
use std::path::Path;

use bytes::{Bytes, BytesMut};
use ofproto::text::{ParseTextError, parse_flow_mod, parse_group_mod, parse_meter_mod};
use ofproto::{EncodeError, FrameSplitter, Message, Xid};
use thiserror::Error;

use super::ofp_streams::{Seen, Stream, reassemble};
use super::{ofp_capture, ofp_conversation};

/// What a specification describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// A FLOW_MOD.
    Flow,
    /// A GROUP_MOD.
    Group,
    /// A METER_MOD.
    Meter,
}

/// Messages as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// A message after the other; with a note in the place of each that cannot be read.
    pub text: String,
    /// Could everything be read?
    pub complete: bool,
}

/// A specification that no message can be made of.
#[derive(Debug, Error)]
pub enum SpecError {
    /// It is written wrongly.
    #[error("{error}\n  {spec}\n  {:>1$}", "^", error.column)]
    Text {
        /// The specification.
        spec: String,
        /// Where it is wrong.
        error: ParseTextError,
    },
    /// It has no form on the wire.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// Reads a file; standard input in the place of `-`.
///
/// # Errors
///
/// When it cannot be read.
pub fn read(file: &Path) -> io::Result<Vec<u8>> {
    if file != Path::new("-") {
        return std::fs::read(file);
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Prints the messages of a file: a capture (pcap or pcapng), bytes as they are on the wire, or hexadecimal digits with
/// blanks between them and comments from `#` to the end of the line. `ports` are the TCP ports that carry OpenFlow in
/// a capture.
#[must_use]
pub fn print(file: impl Into<Bytes>, ports: &[u16]) -> Printed {
    let file = file.into();
    match from_hex(&file) {
        Some(bytes) => print_stream(&bytes),
        None if ofp_capture::is_capture(&file) => print_capture(&file, ports),
        None => print_stream(&file),
    }
}

/// Prints what is said on the TCP connections of a capture, in the order in which it could be read: a line with time
/// (UTC) and peers, then the message.
fn print_capture(file: &Bytes, ports: &[u16]) -> Printed {
    let capture = ofp_capture::read(file, ports);
    let problems = capture.problems.iter();
    let mut paragraphs: Vec<(u64, String, bool)> = problems
        .map(|problem| (problem.packet, format!("*** {problem}\n"), false))
        .collect();
    for stream in reassemble(capture.segments) {
        for said in ofp_conversation::read(&stream) {
            let heading = heading(said.seen, &stream);
            let (text, complete) = match &said.what {
                Ok((header, message)) => (
                    message.text(header.xid).at_version(header.version).to_string(),
                    true,
                ),
                Err(note) => (format!("*** {note}"), false),
            };
            let packet = said.seen.map_or(0, |seen| seen.packet);
            paragraphs.push((packet, format!("{heading}\n{text}\n"), complete));
        }
    }
    paragraphs.sort_by_key(|(packet, ..)| *packet);
    Printed {
        complete: paragraphs.iter().all(|(_, _, complete)| *complete),
        text: paragraphs.into_iter().map(|(_, text, _)| text).collect(),
    }
}

fn heading(seen: Option<Seen>, stream: &Stream) -> String {
    let time = match seen.and_then(|seen| seen.at) {
        Some(time) => format!("{time:.6}"),
        None => "(no time)".to_owned(),
    };
    format!("{time} {} > {}", stream.from, stream.to)
}

/// Prints one message after the other.
fn print_stream(bytes: &[u8]) -> Printed {
    let mut printed = Printed {
        text: String::new(),
        complete: true,
    };
    let mut splitter = FrameSplitter::new(usize::from(u16::MAX));
    let mut left = BytesMut::from(bytes);
    loop {
        let at = bytes.len() - left.len();
        let note = match splitter.next(&mut left) {
            Ok(Some(frame)) => match Message::decode(&frame) {
                Ok((header, message)) => {
                    let text = message.text(header.xid).at_version(header.version);
                    let _ = writeln!(printed.text, "{text}");
                    continue;
                }
                Err(error) => format!("message at byte {at}: {error}"),
            },
            Ok(None) if left.is_empty() => break,
            Ok(None) => format!("message at byte {at}: ends after {} bytes", left.len()),
            Err(error) => format!("message at byte {at}: {error}"),
        };
        printed.complete = false;
        let _ = writeln!(printed.text, "*** {note}");
        // Of a message that is whole only its contents are wrong; else nothing tells where the next one begins.
        if bytes.len() - left.len() == at {
            break;
        }
    }
    printed
}

/// The message that a specification describes, in hexadecimal.
///
/// # Errors
///
/// When there is none.
pub fn parse(kind: Kind, spec: &str, xid: Xid) -> Result<String, SpecError> {
    let message = match kind {
        Kind::Flow => parse_flow_mod(spec).map(Message::FlowMod),
        Kind::Group => parse_group_mod(spec).map(Message::GroupMod),
        Kind::Meter => parse_meter_mod(spec).map(Message::MeterMod),
    }
    .map_err(|error| SpecError::Text {
        spec: spec.to_owned(),
        error,
    })?;
    let mut bytes = BytesMut::new();
    message.encode(xid, &mut bytes)?;
    Ok(bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}

/// The bytes that hexadecimal digits stand for; `None` when there is anything else.
fn from_hex(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    let digits: String = text
        .lines()
        .map(|line| line.split_once('#').map_or(line, |(digits, _)| digits))
        .flat_map(str::chars)
        .filter(|c| !c.is_ascii_whitespace())
        .collect();
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else {
        return None;
    };
    pairs
        .iter()
        .map(|pair| {
            let is_hex = pair.iter().all(u8::is_ascii_hexdigit);
            let pair = std::str::from_utf8(pair).ok().filter(|_| is_hex)?;
            u8::from_str_radix(pair, 16).ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ECHO: &str = "04 02 000a 00000001 # header\n 6869\n";

    #[test]
    fn bytes_and_hexadecimal_digits_print_the_same() {
        let raw = from_hex(ECHO.as_bytes()).unwrap();
        let printed = print(ECHO, &[]);
        assert!(printed.complete);
        assert_eq!(print(raw, &[]), printed);
        assert_eq!(
            printed.text,
            "OFPT_ECHO_REQUEST (OF1.3) (xid=0x1): 2 bytes of payload\n\
             00000000  68 69                                           |hi              |\n"
        );
    }

    #[test]
    fn a_message_that_cannot_be_read_does_not_hide_the_next_one() {
        let printed = print(
            "04 14 0009 00000001 00\n 04 15 0008 00000001\n 04 02 00ff 00000001",
            &[],
        );
        assert!(!printed.complete);
        assert_eq!(
            printed.text,
            "*** message at byte 0: OFPT_BARRIER_REQUEST at byte 8: 1 bytes too many\n\
             OFPT_BARRIER_REPLY (OF1.3) (xid=0x1):\n\
             *** message at byte 17: ends after 8 bytes\n"
        );
    }

    #[test]
    fn what_is_parsed_prints_as_it_was_written() {
        for (kind, spec, text) in [
            (
                Kind::Flow,
                "table=0,priority=10,udp,tp_dst=5001,actions=meter:1,set_field:8->ip_dscp,group:1",
                "OFPT_FLOW_MOD (OF1.3) (xid=0x1): ADD priority=10,udp,tp_dst=5001 \
                 actions=meter:1,set_field:8->ip_dscp,group:1\n",
            ),
            (
                Kind::Group,
                "group_id=1,type=all,bucket=output:2",
                "OFPT_GROUP_MOD (OF1.3) (xid=0x1):\n ADD group_id=1,type=all,bucket=actions=output:2\n",
            ),
            (
                Kind::Meter,
                "meter=1,pktps,stats,bands=type=drop,rate=1000",
                "OFPT_METER_MOD (OF1.3) (xid=0x1): ADD meter=1 pktps stats bands=\ntype=drop rate=1000\n",
            ),
        ] {
            let hex = parse(kind, spec, Xid(1)).unwrap();
            assert_eq!(print(hex, &[]).text, text);
        }
    }

    #[test]
    fn an_error_is_shown_below_its_place() {
        let error = parse(Kind::Flow, "udp,tp_dst=x,actions=1", Xid(1)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "column 12: expected a number from 0 to 65535, found `x`\n  udp,tp_dst=x,actions=1\n             ^"
        );
    }
}
