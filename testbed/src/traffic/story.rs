//! Conversations over TCP whose whole course follows from a seed and a number: both ends know which bytes are to come,
//! who ends when, and who breaks off.

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// One of the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Who connects.
    Client,
    /// Who is connected to.
    Server,
}

/// How the two ends take turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// Both send at once; each ends its direction when it has sent all.
    Together,
    /// This end sends and ends its direction; the other begins then.
    First(End),
    /// Both send at once; this end resets the connection in the middle.
    Reset(End),
}

/// What one conversation is to be like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Story {
    /// Bytes that the client sends; if it resets, until then.
    pub up: u64,
    /// Bytes that the server sends; if it resets, until then.
    pub down: u64,
    /// Who does what when.
    pub course: Course,
    key: u64,
}

impl Story {
    /// Conversation `number` of those that follow from `seed`: `mean` bytes each way on average, and twice that at most.
    pub fn new(seed: u64, number: u64, mean: u64) -> Story {
        let key = seed
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add(number.wrapping_mul(0xd1b5_4a32_d192_ed03));
        let mut random = Xoshiro256PlusPlus::seed_from_u64(key);
        let course = match random.random_range(0..10) {
            0 => Course::Reset(End::Client),
            1 => Course::Reset(End::Server),
            2 | 3 => Course::First(End::Client),
            4 | 5 => Course::First(End::Server),
            _ => Course::Together,
        };
        Story {
            up: random.random_range(0..=2 * mean),
            down: random.random_range(0..=2 * mean),
            course,
            key,
        }
    }

    /// How many bytes an end sends.
    pub fn sends(&self, end: End) -> u64 {
        match end {
            End::Client => self.up,
            End::Server => self.down,
        }
    }

    /// The bytes that an end sends.
    pub(super) fn noise(&self, end: End) -> Noise {
        let key = match end {
            End::Client => self.key ^ 1,
            End::Server => self.key ^ 2,
        };
        Noise {
            random: Xoshiro256PlusPlus::seed_from_u64(key),
            block: [0; BLOCK],
            at: BLOCK,
        }
    }
}

impl End {
    /// The end at the other side.
    #[must_use]
    pub fn other(self) -> End {
        match self {
            End::Client => End::Server,
            End::Server => End::Client,
        }
    }
}

/// Random bytes without end, the same however they are cut.
pub(super) struct Noise {
    random: Xoshiro256PlusPlus,
    block: [u8; BLOCK],
    at: usize,
}

impl Noise {
    /// Some of the next bytes, at least one and at most `most`.
    pub(super) fn peek(&mut self, most: usize) -> &[u8] {
        if self.at == BLOCK {
            self.random.fill_bytes(&mut self.block);
            self.at = 0;
        }
        let end = self.at.saturating_add(most).min(BLOCK);
        &self.block[self.at..end]
    }

    /// These many of the bytes that [`Noise::peek`] gave are used.
    pub(super) fn take(&mut self, count: usize) {
        self.at = (self.at + count).min(BLOCK);
    }

    /// Whether these are the next bytes; they are used then.
    pub(super) fn continues_with(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            let next = self.peek(bytes.len());
            let (these, rest) = bytes.split_at(next.len());
            if next != these {
                return false;
            }
            self.take(these.len());
            bytes = rest;
        }
        true
    }
}

const BLOCK: usize = 1 << 14;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_know_the_same_story_and_another_number_is_another_story() {
        assert_eq!(Story::new(1, 7, 1000), Story::new(1, 7, 1000));
        assert_ne!(Story::new(1, 7, 1000), Story::new(1, 8, 1000));
        assert_ne!(Story::new(1, 7, 1000), Story::new(2, 7, 1000));
    }

    #[test]
    fn every_course_is_taken() {
        let courses: Vec<Course> = (0..100).map(|number| Story::new(1, number, 1).course).collect();
        for end in [End::Client, End::Server] {
            assert!(courses.contains(&Course::Reset(end)) && courses.contains(&Course::First(end)));
        }
        assert!(courses.contains(&Course::Together));
    }

    #[test]
    fn noise_is_the_same_however_it_is_cut_and_a_wrong_byte_shows() {
        let story = Story::new(1, 1, 1);
        let mut written = Vec::new();
        let mut writer = story.noise(End::Client);
        for size in (1..400).cycle().take(200) {
            let piece = writer.peek(size).to_vec();
            writer.take(piece.len());
            written.extend(piece);
        }
        assert!(story.noise(End::Client).continues_with(&written));
        assert!(!story.noise(End::Server).continues_with(&written));
        let last = written.len() - 1;
        written[last] ^= 1;
        assert!(!story.noise(End::Client).continues_with(&written));
    }
}
