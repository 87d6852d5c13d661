//! Buckets of a group.

use crate::wire::{Parsed, Span, built, fixed, length_at, part, patch_length, put_pad8};
use crate::{Action, Actions, EncodeError, GroupId, PortNo};
use bytes::{BufMut, BytesMut};

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
    pub actions: Actions,
}

impl Default for Bucket {
    /// No weight, nothing watched, no actions.
    fn default() -> Self {
        Self {
            weight: 0,
            watch_port: PortNo::ANY,
            watch_group: GroupId::ANY,
            actions: Actions::new(),
        }
    }
}

impl Bucket {
    #[inline]
    pub(crate) fn parse_list(i: Span<'_>) -> Parsed<'_, Vec<Self>> {
        built(length_at::<0, HEADER_LEN>, Self::append)(i)
    }

    /// Reads one where it stays.
    #[inline]
    fn append<'a>(i: Span<'a>, buckets: &mut Vec<Self>) -> Parsed<'a, ()> {
        let (after, head) = fixed::<HEADER_LEN>(i, "ofp_bucket")?;
        let length = usize::from(head.u16::<0>());
        if length < HEADER_LEN || !length.is_multiple_of(8) {
            return Err(i.bad_length(length, "a multiple of 8, at least 16", "ofp_bucket.len"));
        }
        let (after, actions) = part(after, length - HEADER_LEN, "ofp_bucket.len")?;
        let index = buckets.len();
        buckets.push(Self {
            weight: head.u16::<2>(),
            watch_port: PortNo(head.u32::<4>()),
            watch_group: GroupId(head.u32::<8>()),
            actions: Actions::new(),
        });
        Action::fill_list(&mut buckets[index].actions, actions)?;
        Ok((after, ()))
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
