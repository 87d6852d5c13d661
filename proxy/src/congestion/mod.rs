//! Congestion control of the QUIC connections between two proxies: CUBIC and three versions of BBR behind
//! noq's `Controller`, one file each.
//!
//! ```text
//! noq ── Controller ──┬── cubic.rs (hystart.rs)
//!                     └── controller.rs ──┬── rate_sample.rs   what the connection did: C, P, RS
//!                                         └── Model: bbr1.rs, bbr2.rs, bbr3.rs
//!                                                    (model.rs, probe_bw.rs, filter.rs, ... what they share)
//! ```
//!
//! The BBR files follow the pseudo-code of their drafts, by its names; where they depart from it the module's
//! comment says how and why. Time is an argument and chance is seeded: nothing here reads a clock.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use noq::congestion::{Controller, ControllerFactory};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::delay_gap::DelayGap;
use bbr1::Bbr1;
use bbr2::Bbr2;
use bbr3::Bbr3;
use controller::ModelController;
use cubic::Cubic;

mod base_gap;
mod bbr1;
mod bbr2;
mod bbr3;
#[cfg(test)]
mod common_tests;
mod controller;
mod cubic;
mod filter;
mod hystart;
#[cfg(test)]
mod ideal_path;
mod loss_model;
mod model;
mod probe_bw;
mod probe_rtt;
mod rate_sample;
mod standing_queue;

/// A congestion control by the name it has in a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Algorithm {
    /// CUBIC, RFC 9438, with HyStart++, RFC 9406.
    Cubic,
    /// BBRv1, draft-cardwell-iccrg-bbr-congestion-control-00.
    Bbr1,
    /// BBRv2, draft-cardwell-iccrg-bbr-congestion-control-02.
    Bbr2,
    /// BBRv3, draft-ietf-ccwg-bbr.
    Bbr3,
}

impl Algorithm {
    /// All of them, in the order in which they came about.
    pub const ALL: [Algorithm; 4] = [
        Algorithm::Cubic,
        Algorithm::Bbr1,
        Algorithm::Bbr2,
        Algorithm::Bbr3,
    ];

    /// Makes the controllers of new connections to a peer. `gap` is how much later copies arrive that the
    /// slower path to that peer has rescued; BBRv2 and BBRv3 allow for it in their window (CUBIC and BBRv1 do not
    /// need it).
    pub fn factory(self, gap: DelayGap) -> Arc<dyn ControllerFactory + Send + Sync> {
        self.factory_with_seed(gap, RandomState::new().build_hasher().finish())
    }

    /// The same with the seed of the random waits by which BBR flows keep out of step: equal seeds make equal
    /// decisions.
    pub fn factory_with_seed(self, gap: DelayGap, seed: u64) -> Arc<dyn ControllerFactory + Send + Sync> {
        Arc::new(Factory {
            algorithm: self,
            gap,
            next_seed: AtomicU64::new(seed),
        })
    }

    fn name(self) -> &'static str {
        match self {
            Algorithm::Cubic => "cubic",
            Algorithm::Bbr1 => "bbr1",
            Algorithm::Bbr2 => "bbr2",
            Algorithm::Bbr3 => "bbr3",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        let known = Algorithm::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == name);
        known.ok_or_else(|| UnknownAlgorithm {
            name: name.to_owned(),
        })
    }
}

/// There is no congestion control of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown congestion control {name:?}: expected cubic, bbr1, bbr2 or bbr3")]
pub struct UnknownAlgorithm {
    name: String,
}

#[derive(Debug)]
struct Factory {
    algorithm: Algorithm,
    gap: DelayGap,
    next_seed: AtomicU64,
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let rng = Xoshiro256PlusPlus::seed_from_u64(self.next_seed.fetch_add(1, Ordering::Relaxed));
        let gap = self.gap.clone();
        match self.algorithm {
            Algorithm::Cubic => Box::new(Cubic::new(current_mtu)),
            Algorithm::Bbr1 => Box::new(ModelController::new(now, current_mtu, |c| Bbr1::new(c, rng, now))),
            Algorithm::Bbr2 => Box::new(ModelController::new(now, current_mtu, |c| {
                Bbr2::new(c, gap, rng, now)
            })),
            Algorithm::Bbr3 => Box::new(ModelController::new(now, current_mtu, |c| {
                Bbr3::new(c, gap, rng, now)
            })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_as_themselves() {
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.to_string().parse(), Ok(algorithm));
        }
        assert_eq!(
            "reno".parse::<Algorithm>().unwrap_err().to_string(),
            r#"unknown congestion control "reno": expected cubic, bbr1, bbr2 or bbr3"#
        );
    }

    #[test]
    fn every_algorithm_starts_with_ten_packets() {
        for algorithm in Algorithm::ALL {
            let controller = algorithm.factory(DelayGap::default()).build(Instant::now(), 1200);
            assert_eq!(controller.initial_window(), 12_000, "{algorithm}");
            assert_eq!(controller.window(), 12_000, "{algorithm}");
        }
    }
}
