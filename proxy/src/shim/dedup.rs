//! Exact de-duplication over a window bounded by time and by number.
//!
//! A packet is known by a keyed hash of its sequence number together with every byte of the QUIC packet, never by
//! its sequence number alone. So nobody who cannot produce the very bytes of a packet beforehand can make it look
//! like a duplicate: a forged number with other bytes is another packet. And nobody without the key can find two
//! packets that look alike; by chance it happens once in some 10^14 packets.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use hashbrown::HashTable;

use super::header::Header;
use super::path_stats::PathId;

/// What a packet is known by while it is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity(u64);

/// The packets of the last `window`, by identity.
///
/// What is remembered lies in the order of arrival, and the table holds only where: it is looked into at random, and as
/// it is small it stays in the processor's cache when there are a hundred thousand packets.
#[derive(Debug)]
pub struct Dedup {
    window: Duration,
    capacity: usize,
    /// Oldest first.
    seen: VecDeque<(Identity, Seen)>,
    /// The number of the oldest. Numbers are given by arrival, and wrap.
    oldest: u32,
    /// The numbers of all that is in `seen`. An identity is a keyed hash already: hashing it again would add nothing.
    numbers: HashTable<u32>,
}

/// What is remembered of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// When its first copy came.
    pub first_at: Instant,
    /// By which path its first copy came.
    pub first_path: PathId,
    /// How many copies came.
    pub copies: u32,
}

/// Whether a packet is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The first copy within the window.
    First,
    /// Another copy, which came this much later than the first.
    Copy {
        /// Since the first copy.
        lateness: Duration,
        /// What is known of the packet, this copy included.
        seen: Seen,
    },
}

impl Identity {
    /// The identity of a packet under the key that `keys` holds.
    pub fn new(keys: &impl BuildHasher, header: &Header, packet: &[u8]) -> Self {
        let mut hasher = keys.build_hasher();
        header.stream.hash(&mut hasher);
        header.sequence.hash(&mut hasher);
        hasher.write(packet);
        Self(hasher.finish())
    }
}

impl Dedup {
    /// Remembers a packet for `window`, and at most `capacity` packets: with more, the oldest are forgotten early.
    pub fn new(window: Duration, capacity: usize) -> Self {
        Self {
            window,
            capacity: capacity.clamp(1, MAX_CAPACITY),
            seen: VecDeque::new(),
            oldest: 0,
            numbers: HashTable::new(),
        }
    }

    /// Takes note of a copy that came by `path`, and tells `forgotten` of each packet that leaves the window.
    pub fn observe(
        &mut self,
        now: Instant,
        identity: Identity,
        path: PathId,
        mut forgotten: impl FnMut(Seen),
    ) -> Verdict {
        self.expire(now, &mut forgotten);
        let (all, oldest) = (&self.seen, self.oldest);
        let same = |number: &u32| {
            let found = all.get(place(*number, oldest));
            found.is_some_and(|(other, _)| *other == identity)
        };
        let found = self.numbers.find(identity.0, same).copied();
        if let Some((_, seen)) = found.and_then(|number| self.seen.get_mut(place(number, oldest))) {
            seen.copies = seen.copies.saturating_add(1);
            return Verdict::Copy {
                lateness: now.saturating_duration_since(seen.first_at),
                seen: *seen,
            };
        }
        if self.seen.len() >= self.capacity {
            self.forget_oldest(&mut forgotten);
        }
        let length = u32::try_from(self.seen.len()).unwrap_or(u32::MAX);
        let number = self.oldest.wrapping_add(length);
        self.seen.push_back((
            identity,
            Seen {
                first_at: now,
                first_path: path,
                copies: 1,
            },
        ));
        let (all, oldest) = (&self.seen, self.oldest);
        let hash = |number: &u32| {
            all.get(place(*number, oldest))
                .map_or(0, |(identity, _)| identity.0)
        };
        self.numbers.insert_unique(identity.0, number, hash);
        Verdict::First
    }

    /// Forgets what has left the window.
    pub fn expire(&mut self, now: Instant, mut forgotten: impl FnMut(Seen)) {
        while let Some((_, oldest)) = self.seen.front()
            && now.saturating_duration_since(oldest.first_at) > self.window
        {
            self.forget_oldest(&mut forgotten);
        }
    }

    /// How many packets are remembered.
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether no packet is remembered.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    fn forget_oldest(&mut self, forgotten: &mut impl FnMut(Seen)) {
        let Some((identity, seen)) = self.seen.pop_front() else {
            return;
        };
        if let Ok(entry) = self
            .numbers
            .find_entry(identity.0, |number| *number == self.oldest)
        {
            entry.remove();
        }
        self.oldest = self.oldest.wrapping_add(1);
        forgotten(seen);
    }
}

/// Where the packet of this number lies behind the oldest.
fn place(number: u32, oldest: u32) -> usize {
    usize::try_from(number.wrapping_sub(oldest)).unwrap_or(usize::MAX)
}

/// No two packets that are remembered may have the same number.
const MAX_CAPACITY: usize = 1 << 31;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shim::header::{SequenceNumber, Stream};
    use ahash::RandomState;
    use proptest::prelude::*;

    const WINDOW: Duration = Duration::from_secs(1);
    const A: PathId = PathId::new(0);
    const B: PathId = PathId::new(1);

    fn keys() -> RandomState {
        RandomState::with_seeds(1, 2, 3, 4)
    }

    fn identity(sequence: u64, packet: &[u8]) -> Identity {
        let (stream, echo) = (Stream::Ordered, Duration::ZERO);
        Identity::new(
            &keys(),
            &Header {
                stream,
                echo,
                sequence: SequenceNumber::new(sequence),
            },
            packet,
        )
    }

    #[test]
    fn the_second_copy_is_told_with_its_lateness() {
        let (mut dedup, now) = (Dedup::new(WINDOW, 10), Instant::now());
        assert_eq!(dedup.observe(now, identity(1, b"one"), A, |_| {}), Verdict::First);
        let late = Duration::from_millis(20);
        let seen = Seen {
            first_at: now,
            first_path: A,
            copies: 2,
        };
        assert_eq!(
            dedup.observe(now + late, identity(1, b"one"), B, |_| {}),
            Verdict::Copy { lateness: late, seen }
        );
    }

    #[test]
    fn a_forged_number_with_other_bytes_makes_no_packet_a_duplicate() {
        let (mut dedup, now) = (Dedup::new(WINDOW, 1000), Instant::now());
        for sequence in 0..100 {
            // Right number, wrong bytes; wrong number, right bytes, as one who saw an earlier packet could send.
            dedup.observe(now, identity(sequence, b"forged"), B, |_| {});
            dedup.observe(now, identity(sequence + 100_000, b"genuine"), B, |_| {});
        }
        for sequence in 0..100 {
            assert_eq!(
                dedup.observe(now, identity(sequence, b"genuine"), A, |_| {}),
                Verdict::First
            );
        }
    }

    #[test]
    fn the_echo_is_no_part_of_the_identity_but_the_stream_is() {
        let header = |stream, echo| Header {
            stream,
            echo,
            sequence: SequenceNumber::new(5),
        };
        let of = |header| Identity::new(&keys(), &header, b"packet");
        let plain = of(header(Stream::Ordered, Duration::ZERO));
        assert_eq!(plain, of(header(Stream::Ordered, WINDOW)));
        assert_ne!(plain, of(header(Stream::Unordered, Duration::ZERO)));
    }

    #[test]
    fn identities_differ_by_key_and_by_every_byte() {
        let packet = [7; 1200];
        let own = identity(1, &packet);
        for at in 0..packet.len() {
            let mut other = packet;
            other[at] ^= 1;
            assert_ne!(identity(1, &other), own);
        }
        let (stream, echo, sequence) = (Stream::Ordered, Duration::ZERO, SequenceNumber::new(1));
        let other_key = RandomState::with_seeds(5, 6, 7, 8);
        assert_ne!(
            Identity::new(
                &other_key,
                &Header {
                    stream,
                    echo,
                    sequence
                },
                &packet
            ),
            own
        );
    }

    #[test]
    fn a_flood_of_forgeries_costs_bounded_memory_and_forgets_the_oldest_first() {
        let (mut dedup, now, mut forgotten) = (Dedup::new(WINDOW, 100), Instant::now(), 0);
        for sequence in 0..100_000 {
            let verdict = dedup.observe(now, identity(sequence, b"forged"), A, |_| forgotten += 1);
            assert_eq!(verdict, Verdict::First);
        }
        assert_eq!((dedup.len(), forgotten), (100, 99_900));
        assert!(matches!(
            dedup.observe(now, identity(99_950, b"forged"), A, |_| {}),
            Verdict::Copy { .. }
        ));
    }

    proptest! {
        /// Against a list of everything ever seen.
        #[test]
        fn exactly_the_copies_within_the_window_are_duplicates(arrivals in prop::collection::vec((0u64..30, 0u64..400), 1..200)) {
            let mut dedup = Dedup::new(WINDOW, 1000);
            let mut now = Instant::now();
            let mut model: Vec<(u64, Instant)> = Vec::new();
            let (mut firsts, mut forgotten) = (0, 0);
            for (sequence, millis) in arrivals {
                now += Duration::from_millis(millis);
                let known = model.iter().any(|(number, at)| *number == sequence && now - *at <= WINDOW);
                let verdict = dedup.observe(now, identity(sequence, b"packet"), A, |_| forgotten += 1);
                prop_assert_eq!(matches!(verdict, Verdict::Copy { .. }), known);
                if !known {
                    model.push((sequence, now));
                    firsts += 1;
                }
            }
            prop_assert_eq!(firsts - forgotten, dedup.len());
        }
    }
}
