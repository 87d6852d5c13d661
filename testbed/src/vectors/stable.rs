//! What differs from one recording to the next is replaced, so that recording again changes nothing.

use anyhow::{Context, Result, ensure};
use bytes::{Bytes, BytesMut};
use ofproto::{Header, Message, MultipartReplyBody, Xid};

use super::wiretap::Direction;
use std::ops::Range;

/// What [`stable`] does, for those who read the recording.
pub(super) const REPLACED: &str = "\
- Durations (flow, port, queue, group and meter statistics, FLOW_REMOVED) are 1.5 s.
- The transaction id of the bridge's HELLO is 1; all others are as they were.
- Groups are in the order of their numbers.
- Of a reply in several parts the first and the last are kept, and of the features of tables those of one table a part.
- Datapath id and MAC addresses are given by the recorder.
";

/// The message as it is written to the folder.
///
/// # Errors
/// When it cannot be decoded, or encodes to other bytes than it came in: then it cannot be replaced in part.
pub(super) fn stable(direction: Direction, frame: &Bytes) -> Result<Bytes> {
    let (mut header, mut message) = Message::decode(frame)?;
    ensure!(
        encoded(header, &message)? == frame,
        "{} is not written as it came in",
        message.name()
    );
    match &mut message {
        Message::Hello(_) if direction == Direction::FromSwitch => header.xid = Xid(1),
        Message::FlowRemoved(removed) => {
            (removed.duration_sec, removed.duration_nsec) = DURATION;
        }
        Message::MultipartReply(reply) => replace_in_statistics(&mut reply.body),
        _ => {}
    }
    encoded(header, &message)
}

/// What makes a message another one than those before: all but its transaction id. Parts of a reply, but for the last,
/// are the same.
pub(super) fn content(frame: &Bytes) -> Vec<u8> {
    let is_part = matches!(Message::decode(frame), Ok((_, Message::MultipartReply(reply))) if reply.more);
    let kept = if is_part { MULTIPART_HEADER } else { frame.len() };
    let skipped = if is_part { LENGTH_AND_XID } else { XID };
    let bytes = frame.iter().take(kept).enumerate();
    bytes
        .filter(|(at, _)| !skipped.contains(at))
        .map(|(_, byte)| *byte)
        .collect()
}

fn replace_in_statistics(body: &mut MultipartReplyBody) {
    match body {
        MultipartReplyBody::Flow(flows) => {
            for flow in flows {
                (flow.duration_sec, flow.duration_nsec) = DURATION;
            }
        }
        MultipartReplyBody::PortStats(ports) => {
            for port in ports {
                (port.duration_sec, port.duration_nsec) = DURATION;
            }
        }
        MultipartReplyBody::Queue(queues) => {
            for queue in queues {
                (queue.duration_sec, queue.duration_nsec) = DURATION;
            }
        }
        MultipartReplyBody::Group(groups) => {
            groups.sort_by_key(|group| group.group_id);
            for group in groups {
                (group.duration_sec, group.duration_nsec) = DURATION;
            }
        }
        MultipartReplyBody::GroupDesc(groups) => groups.sort_by_key(|group| group.group_id),
        MultipartReplyBody::Meter(meters) => {
            for meter in meters {
                (meter.duration_sec, meter.duration_nsec) = DURATION;
            }
        }
        MultipartReplyBody::TableFeatures(tables) => tables.truncate(1),
        _ => {}
    }
}

fn encoded(header: Header, message: &Message) -> Result<Bytes> {
    let mut frame = BytesMut::new();
    message
        .encode_at(header.version, header.xid, &mut frame)
        .with_context(|| format!("{} has no form on the wire", message.name()))?;
    Ok(frame.freeze())
}

/// Places in the header.
const XID: Range<usize> = 4..8;
const LENGTH_AND_XID: Range<usize> = 2..8;
/// Header, type and flags.
const MULTIPART_HEADER: usize = 12;
/// Seconds and nanoseconds.
const DURATION: (u32, u32) = (1, 500_000_000);
