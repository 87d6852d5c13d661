//! Which mode follows from the policy, the samples, and the state of the paths.

use crate::decision::{Decision, Evidence};
use crate::estimate::Estimate;
use crate::mode::Mode;
use crate::path::{PathIndex, PathSet};
use crate::policy::{DirectionPolicy, Measurement, ModePolicy};
use crate::sample::LossSample;
use crate::time::Timestamp;

/// Decides the mode of one policy in one direction.
#[derive(Clone, Debug)]
pub struct Engine {
    policy: DirectionPolicy,
    path_count: usize,
    mode: Mode,
    pinned: bool,
    usable: PathSet,
}

impl Engine {
    /// An engine for a peering of `path_count` paths.
    ///
    /// `measurement` is the one in force for the policy ([`Policy::measurement`](crate::Policy::measurement)).
    /// `initial` is the mode that the switch was found in; it is kept where the policy allows it. Without it the
    /// policy's own first mode holds: adaptive and unicast start on the most preferred path, bicast on the two most
    /// preferred. Until [`set_usable`](Self::set_usable) says otherwise no path is usable and nothing is decided.
    pub fn new(
        policy: &DirectionPolicy,
        path_count: usize,
        measurement: &Measurement,
        now: Timestamp,
        initial: Option<Mode>,
    ) -> Engine {
        let _ = (measurement, now);
        let first = match policy.mode {
            ModePolicy::Bicast => Mode::Bicast(policy.prefer.iter().copied().take(2).collect()),
            ModePolicy::Unicast | ModePolicy::Adaptive => {
                Mode::Unicast(policy.prefer.first().copied().unwrap_or(PathIndex(0)))
            }
        };
        Engine {
            policy: policy.clone(),
            path_count,
            mode: initial.unwrap_or(first),
            pinned: false,
            usable: PathSet::EMPTY,
        }
    }

    /// Takes a changed policy; keeps the estimates and, where the new policy allows it, the mode.
    pub fn reconfigure(
        &mut self,
        now: Timestamp,
        policy: &DirectionPolicy,
        measurement: &Measurement,
    ) -> Option<Decision> {
        let _ = (now, measurement);
        self.policy = policy.clone();
        None
    }

    /// Takes a measurement. Samples of the other direction or of unknown paths are ignored.
    pub fn observe(&mut self, sample: &LossSample) {
        let _ = sample;
    }

    /// Says which paths can be used: both uplinks up and their next hops known.
    pub fn set_usable(&mut self, now: Timestamp, usable: PathSet) {
        let _ = now;
        self.usable = usable.intersection(PathSet::all(self.path_count));
    }

    /// Fixes the mode by the operator's order; `None` gives it back to the policy.
    pub fn pin(&mut self, now: Timestamp, mode: Option<Mode>) -> Option<Decision> {
        self.pinned = mode.is_some();
        let to = mode.filter(|mode| *mode != self.mode)?;
        let from = std::mem::replace(&mut self.mode, to);
        Some(Decision {
            at: now,
            direction: self.policy.direction,
            from,
            to,
            evidence: Evidence::Operator,
        })
    }

    /// Evaluates; on `Some` the engine's mode has changed.
    pub fn decide(&mut self, now: Timestamp) -> Option<Decision> {
        let _ = now;
        None
    }

    /// The mode in force.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether the operator fixed the mode.
    pub fn pinned(&self) -> bool {
        self.pinned
    }

    /// When [`decide`](Self::decide) should be called again even if nothing happens until then.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        None
    }

    /// The loss of a path for display: over about the last 2 s of samples, or the last sample when they are older.
    pub fn estimate(&self, path: PathIndex) -> Option<Estimate> {
        let _ = path;
        None
    }
}
