//! Reproducible chance.

/// A small generator of pseudo-random numbers (SplitMix64), the same on every machine.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// The numbers of this seed.
    pub fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in 0..1.
    pub fn fraction(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_spread_evenly() {
        let mut chance = Chance::new(1);
        let hits = (0..100_000).filter(|_| chance.fraction() < 0.05).count();
        assert!((4_700..5_300).contains(&hits), "{hits}");
    }
}
