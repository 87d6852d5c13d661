//! OpenFlow messages in reassembled TCP streams: where they begin, and where to go on behind what cannot be read.

use bytes::{Buf as _, Bytes, BytesMut};
use ofproto::{FrameError, FrameSplitter, HEADER_LEN, Header, Message, MessageType, VERSION};

use super::ofp_streams::{Run, Seen, Stream};

/// What a stream says at one moment.
#[derive(Debug)]
pub(super) struct Said {
    /// When it could be read.
    pub seen: Option<Seen>,
    /// The message, or why there is none.
    pub what: Result<(Header, Message), String>,
}

/// Reads a stream. Behind a gap, in a stream whose beginning was not captured, and behind bytes that are no message,
/// it goes on at the next place from which whole messages can be read.
pub(super) fn read(stream: &Stream) -> Vec<Said> {
    let mut conversation = Conversation::default();
    for (index, run) in stream.runs.iter().enumerate() {
        let aligned = stream.from_start && run.at == 0;
        if run.missing > 0 {
            let note = format!("{} bytes before byte {} were not captured", run.missing, run.at);
            conversation.note(run, 1, note);
        }
        let is_last = index + 1 == stream.runs.len();
        if !conversation.read_run(run, aligned, is_last) {
            break;
        }
    }
    conversation.said
}

#[derive(Default)]
struct Conversation {
    said: Vec<Said>,
}

impl Conversation {
    /// Returns whether to go on with the next run.
    fn read_run(&mut self, run: &Run, aligned: bool, is_last: bool) -> bool {
        let mut splitter = FrameSplitter::new(usize::from(u16::MAX));
        let mut left = BytesMut::from(&run.bytes[..]);
        let mut synchronized = aligned;
        while !left.is_empty() {
            let done = run.bytes.len() - left.len();
            let at = run.at + done as u64;
            if !synchronized {
                let skipped = next_message(&run.bytes.slice(done..)).unwrap_or(left.len());
                if skipped > 0 {
                    let note = format!("{skipped} bytes at byte {at} are no whole message");
                    self.note(run, done + skipped, note);
                }
                left.advance(skipped);
                synchronized = true;
                continue;
            }
            match splitter.next(&mut left) {
                Ok(Some(frame)) => {
                    let end = done + frame.len();
                    let what =
                        Message::decode(&frame).map_err(|error| format!("message at byte {at}: {error}"));
                    self.say(run, end, what);
                }
                Ok(None) => {
                    let why = if is_last {
                        "the capture ends"
                    } else {
                        "a gap follows"
                    };
                    let note = format!("message at byte {at}: {why} after {} bytes of it", left.len());
                    self.note(run, run.bytes.len(), note);
                    break;
                }
                Err(error) => {
                    self.note(run, done + 1, format!("message at byte {at}: {error}"));
                    if matches!(error, FrameError::Foreign { .. }) {
                        return false;
                    }
                    left.advance(1);
                    synchronized = false;
                }
            }
        }
        true
    }

    fn note(&mut self, run: &Run, end: usize, note: String) {
        self.say(run, end, Err(note));
    }

    fn say(&mut self, run: &Run, end: usize, what: Result<(Header, Message), String>) {
        let seen = run.seen(end);
        self.said.push(Said { seen, what });
    }
}

/// How many bytes are before the first whole message that is followed by another one or by nothing.
fn next_message(bytes: &Bytes) -> Option<usize> {
    (0..bytes.len()).find(|at| is_message(&bytes.slice(*at..)))
}

fn is_message(bytes: &Bytes) -> bool {
    let Some(length) = message_length(bytes).filter(|length| *length <= bytes.len()) else {
        return false;
    };
    let behind = bytes.slice(length..);
    (behind.len() < HEADER_LEN || message_length(&behind).is_some())
        && Message::decode(&bytes.slice(..length)).is_ok()
}

/// The length that a header gives, when it may be a header.
fn message_length(bytes: &[u8]) -> Option<usize> {
    let [version, type_, high, low] = *bytes.first_chunk()?;
    let length = usize::from(u16::from_be_bytes([high, low]));
    let is_header = version == VERSION && type_ <= HIGHEST_TYPE && length >= HEADER_LEN;
    is_header.then_some(length)
}

/// Of the message types of OpenFlow 1.3.
const HIGHEST_TYPE: u8 = MessageType::MeterMod.to_wire();
