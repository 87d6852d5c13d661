//! QUEUE_GET_CONFIG: the queues of a port.

use bytes::{BufMut, Bytes, BytesMut};
use nom::Parser;
use nom::combinator::map;
use nom::error::context;

use crate::wire::{Parsed, Span, be_u16, be_u32, end, list, pad, part, patch_length, rest};
use crate::{EncodeError, PortNo, QueueId};

/// `ofp_queue_get_config_request`, OpenFlow 1.3.5 §7.3.6.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueGetConfigRequest {
    /// The port; `ANY` for all.
    pub port: PortNo,
}

/// `ofp_queue_get_config_reply`, OpenFlow 1.3.5 §7.3.6.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueGetConfigReply {
    /// The port that was asked for.
    pub port: PortNo,
    /// Its queues.
    pub queues: Vec<PacketQueue>,
}

/// `ofp_packet_queue`, OpenFlow 1.3.5 §7.2.2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketQueue {
    /// The queue.
    pub queue_id: QueueId,
    /// Its port.
    pub port: PortNo,
    /// How it is configured.
    pub properties: Vec<QueueProperty>,
}

/// `ofp_queue_prop_header` and what follows it, OpenFlow 1.3.5 §7.2.2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueProperty {
    /// `OFPQT_MIN_RATE`: rate that is guaranteed, in tenths of a percent; above 1000 none is.
    MinRate(u16),
    /// `OFPQT_MAX_RATE`: rate that is not exceeded, in tenths of a percent; above 1000 there is none.
    MaxRate(u16),
    /// `OFPQT_EXPERIMENTER`: an experimenter's own property.
    Experimenter {
        /// The experimenter.
        experimenter: u32,
        /// What follows its id and four bytes of padding.
        data: Bytes,
    },
    /// A type that is not listed.
    Unknown {
        /// The type.
        type_: u16,
        /// What follows the eight bytes of header.
        data: Bytes,
    },
}

impl QueueGetConfigRequest {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (port, ())) = context("ofp_queue_get_config_request", (be_u32, pad(4))).parse(i)?;
        Ok((i, Self { port: PortNo(port) }))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) {
        out.put_u32(self.port.0);
        out.put_u32(0);
    }
}

impl QueueGetConfigReply {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (port, ())) = context("ofp_queue_get_config_reply", (be_u32, pad(4))).parse(i)?;
        let (i, queues) = list(PacketQueue::parse)(i)?;
        Ok((
            i,
            Self {
                port: PortNo(port),
                queues,
            },
        ))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        out.put_u32(self.port.0);
        out.put_u32(0);
        self.queues.iter().try_for_each(|queue| queue.put(out))
    }
}

impl PacketQueue {
    fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (after, (queue_id, port, length, ())) =
            context("ofp_packet_queue", (be_u32, be_u32, be_u16, pad(6))).parse(i)?;
        let length = usize::from(length);
        let Some(properties) = length.checked_sub(QUEUE_HEADER_LEN) else {
            return Err(i.bad_length(length, "at least 16", "ofp_packet_queue.len"));
        };
        let (after, properties) = part(after, properties, "ofp_packet_queue.len")?;
        let (_, properties) = list(QueueProperty::parse)(properties)?;
        Ok((
            after,
            Self {
                queue_id: QueueId(queue_id),
                port: PortNo(port),
                properties,
            },
        ))
    }

    fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        let start = out.len();
        out.put_u32(self.queue_id.0);
        out.put_u32(self.port.0);
        out.put_bytes(0, 8);
        self.properties
            .iter()
            .try_for_each(|property| property.put(out))?;
        patch_length(out, start, 8, "ofp_packet_queue")
    }
}

impl QueueProperty {
    fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (after, (type_, length, ())) =
            context("ofp_queue_prop_header", (be_u16, be_u16, pad(4))).parse(i)?;
        let length = usize::from(length);
        let Some(body) = length.checked_sub(PROPERTY_HEADER_LEN) else {
            return Err(i.bad_length(length, "at least 8", "ofp_queue_prop_header.len"));
        };
        let (after, body) = part(after, body, "ofp_queue_prop_header.len")?;
        let (left, property) = match type_ {
            MIN_RATE => context(
                "ofp_queue_prop_min_rate",
                map((be_u16, pad(6)), |(rate, ())| Self::MinRate(rate)),
            )
            .parse(body)?,
            MAX_RATE => context(
                "ofp_queue_prop_max_rate",
                map((be_u16, pad(6)), |(rate, ())| Self::MaxRate(rate)),
            )
            .parse(body)?,
            EXPERIMENTER => context(
                "ofp_queue_prop_experimenter",
                map((be_u32, pad(4), rest), |(experimenter, (), data)| {
                    Self::Experimenter { experimenter, data }
                }),
            )
            .parse(body)?,
            type_ => map(rest, |data| Self::Unknown { type_, data }).parse(body)?,
        };
        end(left, "ofp_queue_prop_header.len")?;
        Ok((after, property))
    }

    fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        let start = out.len();
        out.put_u16(match self {
            Self::MinRate(_) => MIN_RATE,
            Self::MaxRate(_) => MAX_RATE,
            Self::Experimenter { .. } => EXPERIMENTER,
            Self::Unknown { type_, .. } => *type_,
        });
        out.put_bytes(0, 6);
        match self {
            Self::MinRate(rate) | Self::MaxRate(rate) => {
                out.put_u16(*rate);
                out.put_bytes(0, 6);
            }
            Self::Experimenter { experimenter, data } => {
                out.put_u32(*experimenter);
                out.put_u32(0);
                out.put_slice(data);
            }
            Self::Unknown { data, .. } => out.put_slice(data),
        }
        patch_length(out, start, 2, "ofp_queue_prop_header")
    }
}

const QUEUE_HEADER_LEN: usize = 16;
const PROPERTY_HEADER_LEN: usize = 8;
/// `OFPQT_MIN_RATE`.
const MIN_RATE: u16 = 1;
/// `OFPQT_MAX_RATE`.
const MAX_RATE: u16 = 2;
/// `OFPQT_EXPERIMENTER`.
const EXPERIMENTER: u16 = 0xffff;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use crate::vector::check;

    #[test]
    fn queue_config_vectors() {
        check(&[
            (
                "04 16 0010 00000001 ffffffff 00000000",
                Message::QueueGetConfigRequest(QueueGetConfigRequest { port: PortNo::ANY }),
            ),
            (
                "04 17 0062 00000001               # header
                 00000002 00000000                 # port 2
                 00000007 00000002 0042 000000000000  # queue 7
                   0001 0010 00000000 0064 000000000000  # at least 10 %
                   0002 0010 00000000 03e8 000000000000  # at most 100 %
                   ffff 0012 00000000 00002320 00000000 abcd  # an experimenter's, two bytes
                 00000008 00000002 0010 000000000000  # queue 8, no properties",
                Message::QueueGetConfigReply(QueueGetConfigReply {
                    port: PortNo(2),
                    queues: vec![
                        PacketQueue {
                            queue_id: QueueId(7),
                            port: PortNo(2),
                            properties: vec![
                                QueueProperty::MinRate(100),
                                QueueProperty::MaxRate(1000),
                                QueueProperty::Experimenter {
                                    experimenter: 0x2320,
                                    data: Bytes::from_static(&[0xab, 0xcd]),
                                },
                            ],
                        },
                        PacketQueue {
                            queue_id: QueueId(8),
                            port: PortNo(2),
                            properties: vec![],
                        },
                    ],
                }),
            ),
        ]);
    }
}
