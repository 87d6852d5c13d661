//! Paths as users have them: a population drawn from a seed.

use super::ground::{link_seed, loss};
use crate::lab::{LinkName, LinkSpecs};
use crate::link::loss::fraction;
use crate::link::{Direction, LinkSpec};
use rand::rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Duration;

/// One user's path to the server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Path {
    /// Round trip without queues.
    pub(super) rtt: Duration,
    /// Bits per second of the bottleneck.
    pub(super) rate_bps: u64,
    /// Of the packets to the user and back, each way.
    pub(super) loss_percent: f64,
    /// Bytes that the bottleneck queues.
    pub(super) queue_bytes: u64,
    /// The user's receive window, if it is smaller than the proxy's own limit.
    pub(super) window: Option<u64>,
}

/// So many paths; the first ones are the same however many are asked for.
pub(super) fn draw(seed: u64, count: usize) -> Vec<Path> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..count).map(|_| path(&mut random)).collect()
}

/// Round trips and rates are spread evenly over their orders of magnitude, as they are over users of a service. Two
/// thirds of the paths lose packets; queues hold a quarter to twice of what is under way; one user in five has a small
/// window.
fn path(random: &mut Xoshiro256PlusPlus) -> Path {
    let mut unit = || fraction(random);
    let spread = |share: f64, from: f64, to: f64| from * (to / from).powf(share);
    let rtt = spread(unit(), 0.010, 0.300);
    let mbit = spread(unit(), 2.0, 100.0);
    let lossy = unit() < 2.0 / 3.0;
    let loss_percent = if lossy { spread(unit(), 0.05, 3.0) } else { 0.0 };
    let under_way = mbit * 1e6 / 8.0 * rtt;
    let queue = spread(unit(), 0.25, 2.0) * under_way;
    let window = (unit() < 0.2).then(|| (under_way * 0.5).clamp(32e3, 1e6));
    Path {
        rtt: Duration::from_secs_f64(rtt),
        rate_bps: whole(mbit * 1e6),
        loss_percent,
        queue_bytes: whole(queue.max(SMALLEST_QUEUE)),
        window: window.map(whole),
    }
}

impl Path {
    /// What both links of a lab do to be this path.
    pub(super) fn links(&self, seed: u64) -> LinkSpecs {
        LinkName::ALL.map(|link| {
            Direction::ALL.map(|direction| LinkSpec {
                rate_bps: Some(self.rate_bps),
                delay: self.rtt / 2,
                loss: loss(self.loss_percent),
                queue_bytes: self.queue_bytes,
                seed: link_seed(seed, link, direction),
                ..LinkSpec::default()
            })
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates and sizes of links are positive and far below 2^53"
)]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// Ten packets.
const SMALLEST_QUEUE: f64 = 15_000.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_population_follows_from_its_seed_and_grows_at_its_end() {
        let few = draw(7, 10);
        assert_eq!(few, draw(7, 300)[..10]);
        assert_ne!(few, draw(8, 10));
    }

    #[test]
    fn paths_lie_within_their_bounds_and_differ() {
        let paths = draw(1, 300);
        for path in &paths {
            assert!((0.0099..0.3001).contains(&path.rtt.as_secs_f64()));
            assert!((1_990_000..100_100_000).contains(&path.rate_bps));
            assert!((0.0..3.001).contains(&path.loss_percent));
        }
        let limited = paths.iter().filter(|path| path.window.is_some()).count();
        let lossless = paths.iter().filter(|path| path.loss_percent == 0.0).count();
        assert!((30..90).contains(&limited), "{limited}");
        assert!((60..140).contains(&lossless), "{lossless}");
    }
}
