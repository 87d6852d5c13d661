//! Joining the messages of one reply.

use std::collections::HashMap;

use bytes::{Bytes, BytesMut};
use thiserror::Error;

use super::{MultipartReply, MultipartReplyBody, MultipartType};
use crate::{Experimenter, Xid};

/// Joins replies that come in several messages (`OFPMPF_REPLY_MORE`), several at a time, told apart by their
/// transaction ids. What it holds is bounded; a reply that is not complete is never handed out.
#[derive(Clone, Debug)]
pub struct MultipartAssembler {
    pending: HashMap<Xid, Vec<MultipartReplyBody>>,
    held_parts: usize,
    max_replies: usize,
    max_parts: usize,
}

impl MultipartAssembler {
    /// Holds at most `max_replies` incomplete replies of `max_parts` messages in sum. A message is at most 64 KiB
    /// on the wire and a small multiple of that in memory.
    #[must_use]
    pub fn new(max_replies: usize, max_parts: usize) -> Self {
        Self {
            pending: HashMap::new(),
            held_parts: 0,
            max_replies,
            max_parts,
        }
    }

    /// Takes the next message; gives the whole body when it was the last one of its reply.
    ///
    /// # Errors
    ///
    /// When the message does not continue what came before it, or a bound is reached. What was held of that reply
    /// is dropped; others are not touched.
    pub fn push(
        &mut self,
        xid: Xid,
        reply: MultipartReply,
    ) -> Result<Option<MultipartReplyBody>, AssembleError> {
        let MultipartReply { more, body } = reply;
        if !more && !self.pending.contains_key(&xid) {
            return Ok(Some(body));
        }
        let mut parts = self.take(xid);
        if let Some(first) = parts.first() {
            let (expected, found) = (first.multipart_type(), body.multipart_type());
            if expected != found {
                return Err(AssembleError::TypeChanged { xid, expected, found });
            }
        }
        parts.push(body);
        if !more {
            return join(parts).map(Some).ok_or(AssembleError::NotAList { xid });
        }
        if self.pending.len() >= self.max_replies {
            return Err(AssembleError::TooManyReplies {
                xid,
                limit: self.max_replies,
            });
        }
        if self.held_parts + parts.len() > self.max_parts {
            return Err(AssembleError::TooManyParts {
                xid,
                limit: self.max_parts,
            });
        }
        self.held_parts += parts.len();
        self.pending.insert(xid, parts);
        Ok(None)
    }

    /// Drops what is held of a reply: its request was refused or given up.
    pub fn discard(&mut self, xid: Xid) {
        self.take(xid);
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        self.pending.clear();
        self.held_parts = 0;
    }

    /// How many replies are incomplete.
    #[must_use]
    pub fn incomplete(&self) -> usize {
        self.pending.len()
    }

    fn take(&mut self, xid: Xid) -> Vec<MultipartReplyBody> {
        let parts = self.pending.remove(&xid).unwrap_or_default();
        self.held_parts -= parts.len();
        parts
    }
}

impl Default for MultipartAssembler {
    /// Room for 32 replies of 2,048 messages in sum: some 500,000 flows.
    fn default() -> Self {
        Self::new(32, 2048)
    }
}

/// A message that is no part of a reply, or too much of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// The type is not that of the messages before.
    #[error("multipart reply {xid} began as {expected} and goes on as {found}")]
    TypeChanged {
        /// Its transaction id.
        xid: Xid,
        /// The type that it began with.
        expected: MultipartType,
        /// The type of this message.
        found: MultipartType,
    },
    /// The reply has several messages though its type has a single body.
    #[error("multipart reply {xid} has several messages though its type has one body")]
    NotAList {
        /// Its transaction id.
        xid: Xid,
    },
    /// Too many replies are incomplete.
    #[error("multipart reply {xid} would be more than {limit} incomplete ones")]
    TooManyReplies {
        /// Its transaction id.
        xid: Xid,
        /// How many there may be.
        limit: usize,
    },
    /// Incomplete replies have too many messages.
    #[error("multipart reply {xid} would make more than {limit} messages of incomplete replies")]
    TooManyParts {
        /// Its transaction id.
        xid: Xid,
        /// How many there may be.
        limit: usize,
    },
}

/// Joins bodies of one type; `None` when several were given of a type that is not a list.
fn join(parts: Vec<MultipartReplyBody>) -> Option<MultipartReplyBody> {
    use MultipartReplyBody as Body;

    let mut parts = parts.into_iter();
    let mut whole = parts.next()?;
    let mut opaque = Vec::new();
    for part in parts {
        match (&mut whole, part) {
            (Body::Flow(whole), Body::Flow(mut part)) => whole.append(&mut part),
            (Body::Table(whole), Body::Table(mut part)) => whole.append(&mut part),
            (Body::PortStats(whole), Body::PortStats(mut part)) => whole.append(&mut part),
            (Body::Queue(whole), Body::Queue(mut part)) => whole.append(&mut part),
            (Body::Group(whole), Body::Group(mut part)) => whole.append(&mut part),
            (Body::GroupDesc(whole), Body::GroupDesc(mut part)) => whole.append(&mut part),
            (Body::Meter(whole), Body::Meter(mut part)) => whole.append(&mut part),
            (Body::MeterConfig(whole), Body::MeterConfig(mut part)) => whole.append(&mut part),
            (Body::TableFeatures(whole), Body::TableFeatures(mut part)) => whole.append(&mut part),
            (Body::PortDesc(whole), Body::PortDesc(mut part)) => whole.append(&mut part),
            (Body::Experimenter(whole), Body::Experimenter(part))
                if (whole.experimenter, whole.exp_type) == (part.experimenter, part.exp_type) =>
            {
                opaque.push(part.data);
            }
            (Body::Unknown { .. }, Body::Unknown { data, .. }) => opaque.push(data),
            _ => return None,
        }
    }
    if let Body::Experimenter(Experimenter { data, .. }) | Body::Unknown { data, .. } = &mut whole
        && !opaque.is_empty()
    {
        *data = concat(data, &opaque);
    }
    Some(whole)
}

fn concat(first: &Bytes, others: &[Bytes]) -> Bytes {
    let mut whole = BytesMut::with_capacity(first.len() + others.iter().map(Bytes::len).sum::<usize>());
    whole.extend_from_slice(first);
    for other in others {
        whole.extend_from_slice(other);
    }
    whole.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SwitchDesc, TableId, TableStats};

    fn part(table: u8, more: bool) -> MultipartReply {
        let stats = TableStats {
            table_id: TableId(table),
            active_count: 0,
            lookup_count: 0,
            matched_count: 0,
        };
        MultipartReply {
            more,
            body: MultipartReplyBody::Table(vec![stats]),
        }
    }

    fn tables(body: Option<MultipartReplyBody>) -> Vec<u8> {
        let Some(MultipartReplyBody::Table(tables)) = body else {
            panic!("tables expected, got {body:?}")
        };
        tables.iter().map(|stats| stats.table_id.0).collect()
    }

    #[test]
    fn parts_are_joined_by_xid_in_order() {
        let mut assembler = MultipartAssembler::default();
        assert_eq!(assembler.push(Xid(1), part(1, true)), Ok(None));
        assert_eq!(assembler.push(Xid(2), part(9, true)), Ok(None));
        assert_eq!(assembler.push(Xid(1), part(2, true)), Ok(None));
        assert_eq!(tables(assembler.push(Xid(1), part(3, false)).unwrap()), [1, 2, 3]);
        assert_eq!(tables(assembler.push(Xid(2), part(8, false)).unwrap()), [9, 8]);
        assert_eq!(tables(assembler.push(Xid(3), part(7, false)).unwrap()), [7]);
        assert_eq!((assembler.incomplete(), assembler.held_parts), (0, 0));
    }

    #[test]
    fn bounds_hold_and_the_refused_reply_is_dropped() {
        let mut assembler = MultipartAssembler::new(2, 3);
        assembler.push(Xid(1), part(1, true)).unwrap();
        assembler.push(Xid(2), part(1, true)).unwrap();
        assert_eq!(
            assembler.push(Xid(3), part(1, true)),
            Err(AssembleError::TooManyReplies {
                xid: Xid(3),
                limit: 2
            })
        );
        assembler.push(Xid(2), part(2, true)).unwrap();
        assert_eq!(
            assembler.push(Xid(1), part(2, true)),
            Err(AssembleError::TooManyParts {
                xid: Xid(1),
                limit: 3
            })
        );
        assert_eq!((assembler.incomplete(), assembler.held_parts), (1, 2));
        assembler.discard(Xid(2));
        assert_eq!((assembler.incomplete(), assembler.held_parts), (0, 0));
    }

    #[test]
    fn a_reply_keeps_its_type_and_single_bodies_stay_single() {
        let mut assembler = MultipartAssembler::default();
        assembler.push(Xid(1), part(1, true)).unwrap();
        let other = MultipartReply {
            more: false,
            body: MultipartReplyBody::Flow(Vec::new()),
        };
        assert!(matches!(
            assembler.push(Xid(1), other),
            Err(AssembleError::TypeChanged { .. })
        ));

        let text = String::new;
        let desc = MultipartReplyBody::Desc(SwitchDesc {
            mfr_desc: text(),
            hw_desc: text(),
            sw_desc: text(),
            serial_num: text(),
            dp_desc: text(),
        });
        assembler
            .push(
                Xid(2),
                MultipartReply {
                    more: true,
                    body: desc.clone(),
                },
            )
            .unwrap();
        assert_eq!(
            assembler.push(
                Xid(2),
                MultipartReply {
                    more: false,
                    body: desc
                }
            ),
            Err(AssembleError::NotAList { xid: Xid(2) })
        );
    }
}
