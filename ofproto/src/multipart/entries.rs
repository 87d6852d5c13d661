//! Multipart replies that are lists, read entry by entry.

use std::iter::FusedIterator;
use std::marker::PhantomData;

use bytes::Bytes;

use super::{
    GroupDesc, GroupStats, MeterConfig, MultipartReply, MultipartType, PortStats, QueueStats, TableFeatures,
    TableStats,
};
use crate::wire::{Fault, Parsed, Span, count_alike, length_at};
use crate::{DecodeError, Header, MessageType, Port};

/// The entries of a multipart reply, each read from the frame when it is asked for: no memory is taken for a list of
/// them, and who needs only some can stop early. The entries before a broken one are good; nothing comes after it.
///
/// [`Message::decode`](crate::Message::decode) gives the same entries in a `Vec`, or the same error.
///
/// ```
/// use bytes::Bytes;
/// use ofproto::{MultipartEntries, TableStats};
///
/// let mut frame = vec![4, 19, 0, 40, 0, 0, 0, 7, 0, 3, 0, 0, 0, 0, 0, 0]; // OFPMP_TABLE
/// frame.extend([5, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 8]);
/// let frame = Bytes::from(frame);
///
/// let tables = MultipartEntries::<TableStats>::decode(&frame)?.expect("a reply about tables");
/// assert!(!tables.more());
/// for table in tables {
///     assert_eq!(table?.active_count, 2);
/// }
/// # Ok::<(), ofproto::DecodeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MultipartEntries<'a, T> {
    header: Header,
    more: bool,
    frame: &'a Bytes,
    left: &'a [u8],
    entries: PhantomData<T>,
}

impl<'a, T: MultipartEntry> MultipartEntries<'a, T> {
    /// The entries of a whole frame; `None` when it is another message, or a reply about something else.
    ///
    /// # Errors
    ///
    /// When the bytes before the first entry are not those of a message, as
    /// [`Message::decode`](crate::Message::decode) says it.
    #[inline]
    pub fn decode(frame: &'a Bytes) -> Result<Option<Self>, DecodeError> {
        let (i, header) = Header::parse(Span::new(frame))?;
        if MessageType::from_wire(header.type_) != MessageType::MultipartReply {
            return Ok(None);
        }
        let (left, (type_, more)) = MultipartReply::parse_head(i)?;
        Ok((type_ == T::TYPE).then_some(Self {
            header,
            more,
            frame,
            left: left.bytes(),
            entries: PhantomData,
        }))
    }

    /// The header of the message.
    #[must_use]
    pub const fn header(&self) -> Header {
        self.header
    }

    /// Do more messages of this reply follow (`OFPMPF_REPLY_MORE`)?
    #[must_use]
    pub const fn more(&self) -> bool {
        self.more
    }

    /// The next entry, read into `place`, where the one before it may be; `None` at the end. What only looks at entries
    /// is quicker so than with the iterator, which has to move each to its new owner.
    ///
    /// # Errors
    ///
    /// When the entry is broken. It is the last one, and `place` is empty.
    #[inline]
    pub fn pull<'p>(&mut self, place: &'p mut Option<T>) -> Result<Option<&'p T>, DecodeError> {
        if self.left.is_empty() {
            return Ok(None);
        }
        if let Some((after, entry)) = T::usual(Span::of(self.frame, self.left)) {
            self.left = after.bytes();
            return Ok(Some(place.insert(entry)));
        }
        match read_any(self.frame, self.left, place) {
            Ok(after) => {
                self.left = after;
                Ok(place.as_ref())
            }
            Err(error) => {
                (self.left, *place) = (&[], None);
                Err(error.into())
            }
        }
    }
}

impl<T: MultipartEntry> Iterator for MultipartEntries<'_, T> {
    type Item = Result<T, DecodeError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let mut place = None;
        match self.pull(&mut place) {
            Ok(_) => place.map(Ok),
            Err(error) => Some(Err(error)),
        }
    }
}

impl<T: MultipartEntry> FusedIterator for MultipartEntries<'_, T> {}

/// Reads an entry of any size into `place`, and gives the bytes after it. A span in two parts, for registers.
fn read_any<'a, T: Entry>(
    frame: &'a Bytes,
    bytes: &'a [u8],
    place: &mut Option<T>,
) -> Result<&'a [u8], nom::Err<Fault>> {
    // First: with the old entry gone, nothing can go wrong between reading the new one and putting it there, and it is
    // put together where it stays.
    *place = None;
    let (after, (entry, lists)) = T::begin(Span::of(frame, bytes))?;
    place.insert(entry).fill(lists)?;
    Ok(after.bytes())
}

/// All entries to the end of the span.
pub(super) fn all<T: Entry>(mut i: Span<'_>) -> Parsed<'_, Vec<T>> {
    let mut entries = Vec::with_capacity(T::count(i));
    while !i.is_empty() {
        if let Some((after, entry)) = T::usual(i) {
            entries.push(entry);
            i = after;
            continue;
        }
        let (after, (entry, lists)) = T::begin(i)?;
        let index = entries.len();
        entries.push(entry);
        entries[index].fill(lists)?;
        i = after;
    }
    Ok((i, entries))
}

/// What a multipart reply can be a list of: [`FlowStats`](crate::FlowStats), [`TableStats`], [`PortStats`],
/// [`QueueStats`], [`GroupStats`], [`GroupDesc`], [`MeterStats`](crate::MeterStats), [`MeterConfig`],
/// [`TableFeatures`] and [`Port`].
pub trait MultipartEntry: Entry {}

impl<T: Entry> MultipartEntry for T {}

/// How an entry is read: in two steps, so that what is large is filled where it stays.
pub trait Entry: Sized {
    /// The replies that are lists of it.
    const TYPE: MultipartType;

    /// How many there are, as far as their lengths make sense.
    fn count(i: Span<'_>) -> usize;

    /// Reads an entry whose own lists are still empty, and gives the bytes that they are in.
    fn begin(i: Span<'_>) -> Parsed<'_, (Self, Span<'_>)>;

    /// Reads its own lists.
    fn fill(&mut self, lists: Span<'_>) -> Result<(), nom::Err<Fault>>;

    /// Reads an entry of the size that nearly all have, at once; `None` when it has another.
    #[inline]
    fn usual(_: Span<'_>) -> Option<(Span<'_>, Self)> {
        None
    }
}

/// Entries that are read in one step.
macro_rules! plain {
    ($($entry:ty = $type_:ident, $count:expr;)*) => {$(
        impl Entry for $entry {
            const TYPE: MultipartType = MultipartType::$type_;

            fn count(i: Span<'_>) -> usize {
                $count(i)
            }

            #[inline]
            fn begin(i: Span<'_>) -> Parsed<'_, (Self, Span<'_>)> {
                let (after, entry) = Self::parse(i)?;
                Ok((after, (entry, after.end())))
            }

            #[inline]
            fn fill(&mut self, _: Span<'_>) -> Result<(), nom::Err<Fault>> {
                Ok(())
            }
        }
    )*};
}

plain! {
    TableStats = Table, |i: Span<'_>| i.len() / 24;
    PortStats = PortStats, |i: Span<'_>| i.len() / 112;
    QueueStats = Queue, |i: Span<'_>| i.len() / 40;
    GroupStats = Group, |i| count_alike(i, length_at::<0, 40>);
    GroupDesc = GroupDesc, |i| count_alike(i, length_at::<0, 8>);
    MeterConfig = MeterConfig, |i| count_alike(i, length_at::<0, 8>);
    TableFeatures = TableFeatures, |i| count_alike(i, length_at::<0, 64>);
    Port = PortDesc, |i: Span<'_>| i.len() / 64;
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::*;
    use crate::{FlowStats, Message, MeterBandStats, MeterId, MeterStats, MultipartReplyBody, Xid};

    fn meter(number: u32, bands: usize) -> MeterStats {
        let band = MeterBandStats {
            packet_band_count: 10,
            byte_band_count: number.into(),
        };
        MeterStats {
            meter_id: MeterId(number),
            flow_count: 3,
            packet_in_count: 1000,
            byte_in_count: 64_000,
            duration_sec: 60,
            duration_nsec: 7,
            band_stats: vec![band; bands].into(),
        }
    }

    fn frame(meters: Vec<MeterStats>) -> BytesMut {
        let mut frame = BytesMut::new();
        Message::MultipartReply(MultipartReply {
            more: true,
            body: MultipartReplyBody::Meter(meters),
        })
        .encode(Xid(9), &mut frame)
        .unwrap();
        frame
    }

    #[test]
    fn entries_come_one_by_one() {
        let meters: Vec<_> = (1..=5).map(|number| meter(number, number as usize)).collect();
        let frame = frame(meters.clone()).freeze();
        let entries = MultipartEntries::<MeterStats>::decode(&frame).unwrap().unwrap();
        assert_eq!((entries.header().xid, entries.more()), (Xid(9), true));
        assert_eq!(entries.collect::<Result<Vec<_>, _>>(), Ok(meters));
    }

    #[test]
    fn entries_are_read_in_place() {
        // Lists grow and shrink from one to the next.
        let meters = [1, 3, 0, 1, 1, 4, 2].map(|bands| meter(10 + bands, bands as usize));
        let frame = frame(meters.to_vec()).freeze();
        let mut entries = MultipartEntries::<MeterStats>::decode(&frame).unwrap().unwrap();
        let (mut place, mut read) = (None, Vec::new());
        while let Some(meter) = entries.pull(&mut place).unwrap() {
            read.push(meter.clone());
        }
        assert_eq!(read, meters);
        assert!(entries.next().is_none());
    }

    #[test]
    fn a_broken_entry_is_the_last_and_the_error_is_that_of_the_message() {
        let mut frame = frame(vec![meter(1, 1), meter(2, 1), meter(3, 1)]);
        // The length of the second: neither its end nor that of a band.
        frame[16 + 56 + 5] = 55;
        let frame = frame.freeze();
        let entries: Vec<_> = MultipartEntries::<MeterStats>::decode(&frame)
            .unwrap()
            .unwrap()
            .collect();
        let error = Message::decode(&frame).unwrap_err();
        assert_eq!(entries, [Ok(meter(1, 1)), Err(error.clone())]);

        let mut entries = MultipartEntries::<MeterStats>::decode(&frame).unwrap().unwrap();
        let mut place = None;
        assert_eq!(entries.pull(&mut place), Ok(Some(&meter(1, 1))));
        assert_eq!(entries.pull(&mut place), Err(error));
        assert_eq!(entries.pull(&mut place), Ok(None));
        assert_eq!(place, None);
    }

    #[test]
    fn other_messages_have_no_such_entries() {
        let meters = frame(vec![]).freeze();
        assert!(MultipartEntries::<FlowStats>::decode(&meters).unwrap().is_none());
        let mut echo = BytesMut::new();
        Message::EchoRequest(Bytes::new())
            .encode(Xid(1), &mut echo)
            .unwrap();
        assert!(
            MultipartEntries::<MeterStats>::decode(&echo.freeze())
                .unwrap()
                .is_none()
        );
        let cut = meters.slice(..12);
        assert_eq!(
            MultipartEntries::<MeterStats>::decode(&cut).err(),
            Message::decode(&cut).err()
        );
    }
}
