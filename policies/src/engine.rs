//! Which mode follows from the policy, the samples, and the state of the paths.

mod choice;
mod damping;
mod joint;

use std::time::Duration;

use crate::decision::{Decision, Evidence};
use crate::estimate::{Estimate, Window};
use crate::joint::{JointCounts, JointSample};
use crate::mode::Mode;
use crate::path::{PathIndex, PathSet};
use crate::policy::{DirectionPolicy, Measurement, ModePolicy};
use crate::probability::Probability;
use crate::sample::LossSample;
use crate::time::Timestamp;
use crate::trigger::Statement;
use crate::trigger::enter::Enter;
use crate::trigger::exit::{Coverage, Exit, certainly_below};
use choice::Choice;
use damping::Damping;
use joint::Joint;

/// Decides the mode of one policy in one direction.
///
/// The rules of an adaptive policy, in the order in which they are tried:
///
/// 1. The path in use is down and another is usable: unicast on the best usable one. Without any usable path the
///    mode stays.
/// 2. The path in use is certainly above `enter` for its hold, and another is usable: bicast on it and the best other.
/// 3. In unicast, a more preferred path is usable again: back to it, at once when it had been left because it was
///    down; when it had been left because of its loss, it is *suspect* and must be certainly below `exit` first,
///    which copies sampled onto it show.
/// 4. In bicast, the most preferred path is certainly below `exit`, or else another one is: unicast on that. The
///    preferred paths that are left are suspect from then on.
///
/// Bicast that comes again soon after it ended lasts longer each time. A policy of mode unicast follows the usable
/// paths only; one of mode bicast always has the two best usable paths.
#[derive(Clone, Debug)]
pub struct Engine {
    policy: DirectionPolicy,
    measurement: Measurement,
    mode: Mode,
    mode_since: Timestamp,
    pinned: bool,
    usable: PathSet,
    suspect: PathSet,
    /// Indexed by path.
    windows: Vec<Window>,
    enter: Enter,
    damping: Damping,
    joint: Joint,
    decided_at: Timestamp,
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
        let path_count = path_count.min(PathSet::CAPACITY);
        let first = Mode::Unicast(policy.prefer.first().copied().unwrap_or(PathIndex(0)));
        let mut engine = Engine {
            policy: policy.clone(),
            measurement: measurement.clone(),
            mode: first,
            mode_since: now,
            pinned: false,
            usable: PathSet::EMPTY,
            suspect: PathSet::EMPTY,
            windows: vec![Window::default(); path_count],
            enter: Enter::default(),
            damping: Damping::new(now),
            joint: Joint::default(),
            decided_at: now,
        };
        let initial = initial.and_then(|mode| engine.existing(mode));
        engine.mode = engine.choice().allowed(policy, initial.unwrap_or(first));
        engine.suspect = engine.left_before(initial);
        engine
    }

    /// Takes a changed policy; keeps the estimates and, where the new policy allows it, the mode. Not for a change of
    /// the peering's paths, whose indices then mean something else: that takes a new engine.
    pub fn reconfigure(
        &mut self,
        now: Timestamp,
        policy: &DirectionPolicy,
        measurement: &Measurement,
    ) -> Option<Decision> {
        self.measurement = measurement.clone();
        if self.policy == *policy {
            return None;
        }
        self.policy = policy.clone();
        self.enter.reset();
        if policy.mode != ModePolicy::Adaptive {
            self.suspect = PathSet::EMPTY;
        }
        if self.pinned {
            return None;
        }
        let to = self.choice().allowed(policy, self.mode);
        self.change(now, to, Evidence::PolicyChanged)
    }

    /// Takes a measurement. Samples of the other direction or of unknown paths are ignored.
    pub fn observe(&mut self, sample: &LossSample) {
        if sample.direction != self.policy.direction {
            return;
        }
        if let Some(window) = self.windows.get_mut(sample.path.index()) {
            window.push(sample.from, sample.until, sample.sent, sample.lost);
        }
    }

    /// Takes what proxies say of packets that were sent on several paths. It is kept while it speaks of the mode in
    /// force; it is told with the decision that ends the mode, and changes no decision: whoever reports may be wrong,
    /// or somebody else.
    pub fn observe_joint(&mut self, sample: &JointSample) {
        if sample.direction == self.policy.direction {
            self.joint.observe(sample, self.mode, self.mode_since);
        }
    }

    /// Says which paths can be used: both uplinks up and their next hops known. What follows from it,
    /// [`decide`](Self::decide) says; so while a controller starts, it should wait until it knows all paths.
    ///
    /// A suspect path that goes down is suspect no more if no copies are sampled onto it: being repaired is the only
    /// way then in which it can prove itself.
    pub fn set_usable(&mut self, _now: Timestamp, usable: PathSet) {
        self.usable = usable.intersection(PathSet::all(self.windows.len()));
        if !self.sampling() {
            self.suspect = self.suspect.intersection(self.usable);
        }
    }

    /// Fixes the mode by the operator's order; `None` gives it back to the policy. A mode that names no path of the
    /// peering is ignored.
    pub fn pin(&mut self, now: Timestamp, mode: Option<Mode>) -> Option<Decision> {
        let to = match mode {
            Some(mode) => self.existing(mode)?,
            None if !self.pinned => return None,
            None => self.choice().allowed(&self.policy, self.mode),
        };
        self.pinned = mode.is_some();
        self.enter.reset();
        self.change(now, to, Evidence::Operator)
    }

    /// Evaluates; on `Some` the engine's mode has changed. To be called after samples, after a change of the usable
    /// paths, and at [`next_deadline`](Self::next_deadline).
    pub fn decide(&mut self, now: Timestamp) -> Option<Decision> {
        self.decided_at = now;
        self.damping.relax(now, self.policy.exit.hold);
        if self.pinned {
            return None;
        }
        let (to, evidence) = match (self.policy.mode, self.mode) {
            (ModePolicy::Adaptive, Mode::Unicast(path)) => self
                .leave_dead(path)
                .or_else(|| self.enter_bicast(now, path))
                .or_else(|| self.return_to_better(path)),
            (ModePolicy::Adaptive, Mode::Bicast(paths)) => {
                self.pair_up(paths).or_else(|| self.leave_bicast(now, paths))
            }
            (ModePolicy::Unicast, Mode::Unicast(path)) => {
                self.leave_dead(path).or_else(|| self.return_to_better(path))
            }
            (ModePolicy::Bicast, Mode::Bicast(paths)) => self.pair_up(paths),
            (ModePolicy::Unicast, Mode::Bicast(_)) | (ModePolicy::Bicast, Mode::Unicast(_)) => Some((
                self.choice().allowed(&self.policy, self.mode),
                Evidence::PolicyChanged,
            )),
        }?;
        self.change(now, to, evidence)
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
        self.enter
            .deadline(&self.policy.enter)
            .filter(|&deadline| !self.pinned && deadline > self.decided_at)
    }

    /// The loss of a path for display: over about the last 2 s of samples, or the last sample when it is longer.
    pub fn estimate(&self, path: PathIndex) -> Option<Estimate> {
        self.windows.get(path.index())?.estimate(self.measurement.alpha())
    }

    /// The share of packets that all paths of the bicast in force lost, as proxies report it; over about the last 2 s.
    pub fn joint_estimate(&self) -> Option<Estimate> {
        self.joint.estimate(self.measurement.alpha())
    }

    /// What proxies reported since the bicast in force began.
    pub fn joint_counts(&self) -> Option<JointCounts> {
        self.joint.total()
    }

    /// The share of packets that all paths of the bicast in force would lose if they lost them independently of one
    /// another, 0 to 1. A guess, and often too low.
    pub fn independent_loss(&self) -> Option<f64> {
        match self.mode {
            Mode::Unicast(_) => None,
            Mode::Bicast(paths) => paths
                .iter()
                .try_fold(1.0, |product, path| Some(product * self.estimate(path)?.loss())),
        }
    }

    /// The path in use is down and another is usable.
    fn leave_dead(&self, path: PathIndex) -> Option<(Mode, Evidence)> {
        if self.usable.contains(path) {
            return None;
        }
        Some((Mode::Unicast(self.choice().best()?), Evidence::PathDown { path }))
    }

    /// The path in use loses too much and another is usable.
    fn enter_bicast(&mut self, now: Timestamp, path: PathIndex) -> Option<(Mode, Evidence)> {
        let (alpha, gap) = (self.measurement.alpha(), self.gap());
        let window = self.windows.get(path.index())?;
        let Statement {
            lost,
            sent,
            span,
            bound,
        } = self.enter.evaluate(now, window, &self.policy.enter, alpha, gap)?;
        let other = self.choice().best_beside(path)?;
        self.damping.bicast_begins(now, self.policy.exit.hold);
        let (bound, confidence) = (Probability::saturating(bound), self.measurement.confidence);
        let threshold = self.policy.enter.loss;
        let evidence = Evidence::LossAbove {
            path,
            lost,
            sent,
            span,
            bound,
            confidence,
            threshold,
        };
        Some((Mode::Bicast(PathSet::single(path).with(other)), evidence))
    }

    /// A path that is preferred to the one in use is usable again, and either not suspect or proven good.
    fn return_to_better(&mut self, path: PathIndex) -> Option<(Mode, Evidence)> {
        let better: Vec<PathIndex> = self.choice().better_than(path).collect();
        better.into_iter().find_map(|better| {
            let evidence = if self.suspect.contains(better) {
                self.below_exit(better, Coverage::Sampled)?
            } else {
                Evidence::PathBack { path: better }
            };
            self.suspect = self.suspect.without(better);
            Some((Mode::Unicast(better), evidence))
        })
    }

    /// Bicast is on the two best usable paths; with fewer than two usable it stays as it is.
    fn pair_up(&self, paths: PathSet) -> Option<(Mode, Evidence)> {
        let two = self.choice().best_two().filter(|&two| two != paths)?;
        let down = self
            .choice()
            .in_order(paths)
            .find(|&path| !self.usable.contains(path));
        let back = two.iter().find(|&path| !paths.contains(path));
        let evidence = match (down, back) {
            (Some(path), _) => Evidence::PathDown { path },
            (None, Some(path)) => Evidence::PathBack { path },
            (None, None) => Evidence::PolicyChanged,
        };
        Some((Mode::Bicast(two), evidence))
    }

    /// One of the paths is good enough alone, the most preferred if possible.
    fn leave_bicast(&mut self, now: Timestamp, paths: PathSet) -> Option<(Mode, Evidence)> {
        let candidates: Vec<PathIndex> = self.choice().in_order(paths.intersection(self.usable)).collect();
        let gap = self.gap();
        let (path, evidence) = candidates
            .into_iter()
            .find_map(|path| Some((path, self.below_exit(path, Coverage::Continuous { gap })?)))?;
        let left = self
            .choice()
            .better_than(path)
            .filter(|&better| paths.contains(better))
            .collect();
        self.suspect = self.suspect.union(left).without(path);
        self.damping.bicast_ends(now);
        Some((Mode::Unicast(path), evidence))
    }

    fn below_exit(&self, path: PathIndex, coverage: Coverage) -> Option<Evidence> {
        let exit = Exit {
            threshold: self.policy.exit.loss.fraction(),
            hold: self.damping.hold(self.policy.exit.hold),
            since: self.mode_since,
            coverage,
        };
        let window = self.windows.get(path.index())?;
        let Statement {
            lost,
            sent,
            span,
            bound,
        } = certainly_below(window, &exit, self.measurement.alpha())?;
        let (bound, confidence) = (Probability::saturating(bound), self.measurement.confidence);
        let threshold = self.policy.exit.loss;
        Some(Evidence::LossBelow {
            path,
            lost,
            sent,
            span,
            bound,
            confidence,
            threshold,
        })
    }

    /// Changes the mode; nothing when it is the same.
    fn change(&mut self, now: Timestamp, to: Mode, evidence: Evidence) -> Option<Decision> {
        if to == self.mode {
            return None;
        }
        let from = std::mem::replace(&mut self.mode, to);
        self.mode_since = now;
        self.enter.reset();
        Some(Decision {
            at: now,
            direction: self.policy.direction,
            from,
            to,
            evidence,
            joint: std::mem::take(&mut self.joint).total(),
        })
    }

    fn choice(&self) -> Choice<'_> {
        Choice {
            prefer: &self.policy.prefer,
            usable: self.usable,
            suspect: self.suspect,
        }
    }

    /// `mode` with those of its paths that the peering has; `None` when there are none.
    fn existing(&self, mode: Mode) -> Option<Mode> {
        let paths = mode.paths().intersection(PathSet::all(self.windows.len()));
        match (mode, paths.len()) {
            (_, 0) => None,
            (Mode::Bicast(_), 2..) => Some(Mode::Bicast(paths)),
            _ => paths.iter().next().map(Mode::Unicast),
        }
    }

    /// The paths that a switch found in unicast on another path must have left. An engine that starts does not know
    /// why; if copies are sampled onto them it waits until these prove them good, so that a restart changes nothing.
    fn left_before(&self, initial: Option<Mode>) -> PathSet {
        match initial {
            Some(Mode::Unicast(path))
                if self.policy.mode == ModePolicy::Adaptive
                    && self.measurement.sampling > Probability::ZERO =>
            {
                self.policy
                    .prefer
                    .iter()
                    .copied()
                    .take_while(|&better| better != path)
                    .collect()
            }
            _ => PathSet::EMPTY,
        }
    }

    /// Whether paths that are not in use are measured.
    fn sampling(&self) -> bool {
        self.measurement.sampling > Probability::ZERO
    }

    /// How long samples may stop without interrupting.
    fn gap(&self) -> Duration {
        (self.measurement.period * 4).max(Duration::from_secs(2))
    }
}
