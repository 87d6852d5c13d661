//! The loss stage: decides, packet by packet, from its own seeded random numbers.

use super::spec::LossModel;
use rand::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A running loss model.
#[derive(Debug, Clone)]
pub struct LossProcess {
    model: LossModel,
    random: Xoshiro256PlusPlus,
    bad: bool,
}

impl LossProcess {
    /// A process in the good state.
    pub fn new(model: LossModel, seed: u64) -> Self {
        LossProcess {
            model,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            bad: false,
        }
    }

    /// Goes on with another model: the random numbers continue, the chain begins in the good state.
    pub fn set_model(&mut self, model: LossModel) {
        if model != self.model {
            self.model = model;
            self.bad = false;
        }
    }

    /// Whether the next packet is lost.
    pub fn lose(&mut self) -> bool {
        match self.model {
            LossModel::None => false,
            LossModel::Bernoulli(p) => self.chance(p),
            LossModel::GilbertElliott { p, r, h, k } => {
                let found_bad = self.bad;
                if self.chance(if found_bad { r } else { p }) {
                    self.bad = !found_bad;
                }
                let survival = if found_bad { h } else { k };
                !self.chance(survival)
            }
        }
    }

    fn chance(&mut self, probability: f64) -> bool {
        fraction(&mut self.random) < probability
    }
}

/// A uniform number in `[0, 1)` with 53 random bits.
pub(crate) fn fraction(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: usize = 1_000_000;

    fn losses(model: LossModel, seed: u64) -> Vec<bool> {
        let mut process = LossProcess::new(model, seed);
        (0..PACKETS).map(|_| process.lose()).collect()
    }

    fn share(losses: &[bool]) -> f64 {
        losses.iter().filter(|lost| **lost).count() as f64 / losses.len() as f64
    }

    fn mean_burst(losses: &[bool]) -> f64 {
        let bursts = losses.chunk_by(|a, b| a == b).filter(|run| run[0]).count();
        losses.iter().filter(|lost| **lost).count() as f64 / bursts as f64
    }

    #[test]
    fn bernoulli_loses_its_share_within_four_standard_errors() {
        for (seed, p) in [(1, 0.001), (2, 0.01), (3, 0.05), (4, 0.2)] {
            let error = (p * (1.0 - p) / PACKETS as f64).sqrt();
            let measured = share(&losses(LossModel::Bernoulli(p), seed));
            assert!((measured - p).abs() < 4.0 * error, "p {p}: measured {measured}");
        }
    }

    #[test]
    fn bernoulli_losses_are_independent() {
        let p = 0.2;
        let losses = losses(LossModel::Bernoulli(p), 5);
        let pairs = losses.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64 / (PACKETS - 1) as f64;
        assert!(
            (pairs - p * p).abs() < 0.001,
            "two in a row {pairs}, expected {}",
            p * p
        );
        assert!((mean_burst(&losses) - 1.0 / (1.0 - p)).abs() < 0.01);
    }

    #[test]
    fn gilbert_elliott_has_its_stationary_loss_and_bursts_of_one_over_r() {
        for (seed, p, r) in [(1, 0.01, 0.25), (2, 0.002, 0.1), (3, 0.05, 0.5)] {
            let model = LossModel::GilbertElliott { p, r, h: 0.0, k: 1.0 };
            let losses = losses(model, seed);
            // Number and length of the bursts each have a relative standard error of 1/√bursts.
            let bursts = PACKETS as f64 * p * r / (p + r);
            let (measured, expected) = (share(&losses), model.mean());
            let tolerance = 4.0 * (2.0 / bursts).sqrt();
            assert!(
                (measured / expected - 1.0).abs() < tolerance,
                "loss {measured}, expected {expected}"
            );
            let (burst, expected) = (mean_burst(&losses), 1.0 / r);
            let tolerance = 4.0 * (1.0 / bursts).sqrt();
            assert!(
                (burst / expected - 1.0).abs() < tolerance,
                "burst {burst}, expected {expected}"
            );
        }
    }

    #[test]
    fn gilbert_elliott_states_have_losses_of_their_own() {
        let model = LossModel::GilbertElliott {
            p: 0.1,
            r: 0.1,
            h: 0.7,
            k: 0.95,
        };
        let measured = share(&losses(model, 6));
        assert!(
            (measured / model.mean() - 1.0).abs() < 0.03,
            "loss {measured}, expected {}",
            model.mean()
        );
    }

    #[test]
    fn a_seed_repeats_its_losses_and_another_does_not() {
        let model = LossModel::Bernoulli(0.1);
        assert_eq!(losses(model, 7), losses(model, 7));
        assert_ne!(losses(model, 7), losses(model, 8));
    }

    #[test]
    fn certain_loss_and_certain_survival_are_certain() {
        assert!(losses(LossModel::Bernoulli(1.0), 1).iter().all(|lost| *lost));
        assert!(losses(LossModel::None, 1).iter().all(|lost| !lost));
    }
}
