//! Buckets of a group.

use bytes::{BufMut, BytesMut};
use nom::Parser;
use nom::error::context;

use crate::wire::{Parsed, Span, be_u16, be_u32, counted, length_at, pad, patch_length, put_pad8, span};
use crate::{Action, EncodeError, GroupId, PortNo};

/// `ofp_bucket`, OpenFlow 1.3.5 §7.3.4.3.
///
/// ```text
///  0       2       4           8              12       16
/// +-------+-------+-----------+--------------+--------+---------+
/// | length| weight| watch_port| watch_group  | zeros  | actions |
/// +-------+-------+-----------+--------------+--------+---------+
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Share of the traffic, in groups of type select only; else 0.
    pub weight: u16,
    /// The port whose state tells whether the bucket is live; `ANY` for none.
    pub watch_port: PortNo,
    /// The group whose state tells whether the bucket is live; `ANY` for none.
    pub watch_group: GroupId,
    /// What is done to the packet: an action set.
    pub actions: Vec<Action>,
}

impl Default for Bucket {
    /// No weight, nothing watched, no actions.
    fn default() -> Self {
        Self {
            weight: 0,
            watch_port: PortNo::ANY,
            watch_group: GroupId::ANY,
            actions: Vec::new(),
        }
    }
}

impl Bucket {
    pub(crate) fn parse_list(i: Span<'_>) -> Parsed<'_, Vec<Self>> {
        counted(length_at::<0, HEADER_LEN>, Self::parse)(i)
    }

    fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (after, (length, weight, watch_port, watch_group, ())) =
            context("ofp_bucket", (be_u16, be_u16, be_u32, be_u32, pad(4))).parse(i)?;
        let length = usize::from(length);
        if length < HEADER_LEN || !length.is_multiple_of(8) {
            return Err(i.bad_length(length, "a multiple of 8, at least 16", "ofp_bucket.len"));
        }
        let (after, actions) = context("ofp_bucket.len", |i| span(i, length - HEADER_LEN)).parse(after)?;
        let (_, actions) = Action::parse_list(actions)?;
        let bucket = Self {
            weight,
            watch_port: PortNo(watch_port),
            watch_group: GroupId(watch_group),
            actions,
        };
        Ok((after, bucket))
    }

    pub(crate) fn put_list(buckets: &[Self], out: &mut BytesMut) -> Result<(), EncodeError> {
        buckets.iter().try_for_each(|bucket| bucket.put(out))
    }

    fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        let start = out.len();
        out.put_u16(0);
        out.put_u16(self.weight);
        out.put_u32(self.watch_port.0);
        out.put_u32(self.watch_group.0);
        out.put_u32(0);
        Action::put_list(&self.actions, out)?;
        put_pad8(out, start);
        patch_length(out, start, 0, "ofp_bucket")
    }
}

const HEADER_LEN: usize = 16;
