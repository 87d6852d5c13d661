//! TCP streams put together again from captured segments. No file formats and no OpenFlow here.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use bytes::{Bytes, BytesMut};
use jiff::Timestamp;

/// Where in a capture something was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// Number of the packet, from 1.
    pub packet: u64,
    /// Its time; some formats have none.
    pub at: Option<Timestamp>,
}

/// A TCP segment (RFC 9293 §3.1) as it was captured: of its data, what is in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// The packet that it came in.
    pub seen: Seen,
    /// Who sent it.
    pub from: SocketAddr,
    /// To whom.
    pub to: SocketAddr,
    /// Sequence number.
    pub sequence: u32,
    /// The first of a connection: the sequence number is that of the SYN, data follows it.
    pub syn: bool,
    /// Its data.
    pub data: Bytes,
}

/// One direction of a TCP connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stream {
    /// Who sends.
    pub from: SocketAddr,
    /// To whom.
    pub to: SocketAddr,
    /// Whether byte 0 is the first of the connection; else it is the first that was captured.
    pub from_start: bool,
    /// What was captured, in order. Between two runs bytes are missing.
    pub runs: Vec<Run>,
}

/// Bytes without a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Place of the first byte in the stream.
    pub at: u64,
    /// How many bytes before it are missing.
    pub missing: u64,
    /// The bytes.
    pub bytes: Bytes,
    /// For each segment that these bytes are of: up to where, and when the receiver could have read that far.
    seen: Vec<(usize, Seen)>,
}

impl Run {
    /// When the receiver could have read the first `end` bytes: the latest packet that any byte up to there came in.
    pub(super) fn seen(&self, end: usize) -> Option<Seen> {
        let index = self.seen.partition_point(|(until, _)| *until < end);
        let (_, seen) = self.seen.get(index).or(self.seen.last())?;
        Some(*seen)
    }
}

/// Puts segments in the order of capture together: out of order, sent twice, overlapping. Of data that was captured
/// twice, that of the segment which begins earlier counts. A SYN with another sequence number begins a new connection.
pub(super) fn reassemble(segments: impl IntoIterator<Item = Segment>) -> Vec<Stream> {
    let mut connections: BTreeMap<(SocketAddr, SocketAddr), Vec<Collected>> = BTreeMap::new();
    for segment in segments {
        let of_pair = connections.entry((segment.from, segment.to)).or_default();
        match of_pair.last_mut() {
            Some(current) if !segment.syn || current.began_with(&segment) => current.add(segment),
            _ => of_pair.push(Collected::new(segment)),
        }
    }
    let of_all = connections.into_iter();
    of_all
        .flat_map(|(peers, of_pair)| {
            of_pair
                .into_iter()
                .map(move |collected| collected.into_stream(peers))
        })
        .collect()
}

/// The segments of one stream.
struct Collected {
    /// Sequence number of the SYN, when that was captured.
    syn: Option<u32>,
    /// A sequence number and the place in the stream that it stands for: that of the latest segment.
    latest: (u32, i64),
    segments: Vec<(i64, Segment)>,
}

impl Collected {
    fn new(segment: Segment) -> Collected {
        let mut collected = Collected {
            syn: segment.syn.then_some(segment.sequence),
            latest: (segment.sequence.wrapping_add(u32::from(segment.syn)), 0),
            segments: vec![],
        };
        collected.add(segment);
        collected
    }

    fn began_with(&self, segment: &Segment) -> bool {
        self.syn == Some(segment.sequence)
    }

    fn add(&mut self, segment: Segment) {
        if segment.data.is_empty() {
            return;
        }
        let sequence = segment.sequence.wrapping_add(u32::from(segment.syn));
        let (latest, place) = self.latest;
        // Sequence numbers wrap; the nearest place that one can mean is meant.
        let place = place + i64::from(sequence.wrapping_sub(latest).cast_signed());
        self.latest = (sequence, place);
        self.segments.push((place, segment));
    }

    fn into_stream(mut self, (from, to): (SocketAddr, SocketAddr)) -> Stream {
        self.segments.sort_by_key(|(place, _)| *place);
        let first = match self.syn {
            Some(_) => 0,
            None => self.segments.first().map_or(0, |(place, _)| *place),
        };
        Stream {
            from,
            to,
            from_start: self.syn.is_some(),
            runs: runs(first, self.segments),
        }
    }
}

/// Joins segments that are sorted by their places, of which `first` is that of byte 0.
fn runs(first: i64, segments: Vec<(i64, Segment)>) -> Vec<Run> {
    let mut runs: Vec<Run> = vec![];
    let mut bytes = BytesMut::new();
    let mut next = first;
    let mut latest: Option<Seen> = None;
    for (place, mut segment) in segments {
        let known = usize::try_from(next - place).unwrap_or(0);
        if known >= segment.data.len() {
            continue;
        }
        let new = segment.data.split_off(known);
        let begin = place.max(next);
        let missing = begin.abs_diff(next);
        if missing > 0 || runs.is_empty() {
            close(&mut runs, &mut bytes);
            runs.push(Run {
                at: begin.abs_diff(first),
                missing,
                bytes: Bytes::new(),
                seen: vec![],
            });
        }
        let seen = latest
            .filter(|latest| latest.packet > segment.seen.packet)
            .unwrap_or(segment.seen);
        latest = Some(seen);
        next = begin.saturating_add_unsigned(new.len() as u64);
        bytes.extend_from_slice(&new);
        if let Some(run) = runs.last_mut() {
            run.seen.push((bytes.len(), seen));
        }
    }
    close(&mut runs, &mut bytes);
    runs
}

fn close(runs: &mut [Run], bytes: &mut BytesMut) {
    if let Some(run) = runs.last_mut() {
        run.bytes = bytes.split().freeze();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(packet: u64, sequence: u32, data: &'static str) -> Segment {
        Segment {
            seen: Seen { packet, at: None },
            from: "192.0.2.1:6653".parse().unwrap(),
            to: "192.0.2.2:41000".parse().unwrap(),
            sequence,
            syn: false,
            data: Bytes::from_static(data.as_bytes()),
        }
    }

    fn syn(packet: u64, sequence: u32) -> Segment {
        Segment {
            syn: true,
            ..segment(packet, sequence, "")
        }
    }

    /// Place, missing before it, bytes.
    fn runs_of(stream: &Stream) -> Vec<(u64, u64, &str)> {
        let runs = stream.runs.iter();
        runs.map(|run| (run.at, run.missing, std::str::from_utf8(&run.bytes).unwrap()))
            .collect()
    }

    fn only(segments: Vec<Segment>) -> Stream {
        let mut streams = reassemble(segments);
        assert_eq!(streams.len(), 1);
        streams.remove(0)
    }

    #[test]
    fn segments_out_of_order_sent_twice_and_overlapping_are_one_run() {
        let stream = only(vec![
            syn(1, 99),
            segment(2, 106, "ghi"),
            segment(3, 100, "abc"),
            segment(4, 100, "abc"),
            segment(5, 101, "bcdefgh"),
            syn(6, 99),
        ]);
        assert!(stream.from_start);
        assert_eq!(runs_of(&stream), [(0, 0, "abcdefghi")]);
    }

    #[test]
    fn bytes_can_be_read_when_all_before_them_have_come() {
        let stream = only(vec![
            syn(1, 99),
            segment(2, 103, "def"),
            segment(3, 100, "abc"),
            segment(4, 106, "ghi"),
        ]);
        let seen = [1, 3, 4, 6, 7, 9].map(|end| stream.runs[0].seen(end).unwrap().packet);
        assert_eq!(seen, [3, 3, 3, 3, 4, 4]);
    }

    #[test]
    fn what_is_missing_is_a_gap() {
        let stream = only(vec![
            syn(1, 99),
            segment(2, 102, "cd"),
            segment(3, 108, "ij"),
            segment(4, 110, "k"),
        ]);
        assert_eq!(runs_of(&stream), [(2, 2, "cd"), (8, 4, "ijk")]);
    }

    #[test]
    fn without_its_beginning_a_stream_starts_with_the_earliest_byte_that_was_captured() {
        let stream = only(vec![
            segment(1, 500, "de"),
            segment(2, 497, "abc"),
            segment(3, 502, "f"),
        ]);
        assert!(!stream.from_start);
        assert_eq!(runs_of(&stream), [(0, 0, "abcdef")]);
    }

    #[test]
    fn sequence_numbers_wrap() {
        let stream = only(vec![
            syn(1, u32::MAX - 2),
            segment(2, u32::MAX - 1, "ab"),
            segment(3, 2, "ef"),
            segment(4, 0, "cd"),
        ]);
        assert_eq!(runs_of(&stream), [(0, 0, "abcdef")]);
    }

    #[test]
    fn a_new_connection_of_the_same_peers_is_another_stream() {
        let streams = reassemble([
            syn(1, 99),
            segment(2, 100, "old"),
            syn(3, 70_000),
            segment(4, 70_001, "new"),
        ]);
        let all: Vec<_> = streams.iter().map(runs_of).collect();
        assert_eq!(all, [[(0, 0, "old")], [(0, 0, "new")]]);
    }

    #[test]
    fn a_sequence_number_from_nowhere_costs_nothing() {
        let stream = only(vec![
            syn(1, 99),
            segment(2, 100, "a"),
            segment(3, 0x7000_0000, "z"),
        ]);
        assert_eq!(
            runs_of(&stream),
            [(0, 0, "a"), (0x7000_0000 - 100, 0x7000_0000 - 101, "z")]
        );
    }
}
