//! Reproducible chance.

/// A small generator of pseudo-random numbers (SplitMix64), the same on every machine.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// A number in 0..1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// How many of `sent` packets are lost when each is with this probability. Jumps from loss to loss, so that a
    /// simulated day with few losses takes little time.
    pub(crate) fn lost(&mut self, sent: u64, probability: f64) -> u64 {
        if probability <= 0.0 {
            return 0;
        }
        if probability >= 1.0 {
            return sent;
        }
        let (mut lost, mut position) = (0, 0.0);
        loop {
            position += ((1.0 - self.unit()).ln() / (-probability).ln_1p()).floor() + 1.0;
            if position > sent as f64 {
                return lost;
            }
            lost += 1;
        }
    }
}

/// The first seed of a test.
pub(crate) fn seed() -> u64 {
    std::env::var("BICAST_SEED")
        .ok()
        .map_or(DEFAULT_SEED, |text| text.parse().unwrap())
}

/// Whether results can be compared with recorded ones.
pub(crate) fn seed_is_default() -> bool {
    seed() == DEFAULT_SEED
}

const DEFAULT_SEED: u64 = 1;

#[test]
fn losses_have_the_right_mean_and_variance() {
    let mut chance = Chance::new(seed());
    for probability in [0.001, 0.05, 0.5] {
        let (sent, rounds) = (500, 20_000_u32);
        let counts: Vec<f64> = (0..rounds)
            .map(|_| chance.lost(sent, probability) as f64)
            .collect();
        let mean = counts.iter().sum::<f64>() / f64::from(rounds);
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / f64::from(rounds);
        let expected = sent as f64 * probability;
        assert!(
            (mean / expected - 1.0).abs() < 0.05,
            "seed {}: {mean} {expected}",
            seed()
        );
        assert!(
            (variance / (expected * (1.0 - probability)) - 1.0).abs() < 0.1,
            "seed {}: {variance}",
            seed()
        );
    }
}
