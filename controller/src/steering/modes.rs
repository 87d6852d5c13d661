//! From decisions to groups.

use policies::{Decision, Direction, Evidence, Mode, PathSet, Peering, Timestamp};

use super::{Group, Parked, Steering, SteeringOutput, plan};

impl Steering {
    /// Lets the engine decide, and applies or parks the mode that comes out of it.
    pub(super) fn settle_decisions(
        &mut self,
        now: Timestamp,
        first: Option<Decision>,
    ) -> Vec<SteeringOutput> {
        let mut outputs = vec![];
        let Some(running) = &mut self.running else {
            return outputs;
        };
        let mut decision = first.or_else(|| running.engine.decide(now));
        let mut saves_copies = false;
        while let Some(decided) = decision {
            saves_copies = matches!(decided.evidence, Evidence::LossBelow { .. });
            self.changes += 1;
            self.reason = Some(decided.sentence(&self.path_names));
            outputs.push(SteeringOutput::Decided(decided));
            decision = running.engine.decide(now);
        }
        let wanted = running.engine.mode();
        if wanted == running.applied {
            running.parked = None;
        } else if saves_copies {
            running.parked = Some(Parked {
                mode: wanted,
                since: now,
            });
        } else if running.parked.as_ref().is_none_or(|parked| parked.mode != wanted) {
            running.parked = None;
            outputs.extend(self.apply(wanted));
            return outputs;
        }
        outputs.extend(self.replan());
        outputs
    }

    pub(super) fn apply(&mut self, mode: Mode) -> Vec<SteeringOutput> {
        if let Some(running) = &mut self.running {
            running.applied = mode;
        }
        self.replan()
    }

    /// Works out both groups anew. A sample group in use is left alone unless one of its paths died.
    pub(super) fn replan(&mut self) -> Vec<SteeringOutput> {
        let (peering, direction) = (&self.peering, self.key.direction);
        let prefer = &self.policy.direction(direction).prefer;
        let Some(running) = &mut self.running else {
            return vec![];
        };
        let main = plan::main(running.applied, running.usable, prefer);
        let mut changed = running.main.change(&main, running.usable, peering, direction);
        let sample_paths = running.sample.paths.current();
        let sample_dead = sample_paths.intersection(running.usable) != sample_paths;
        if sample_dead || !running.marking.sample_pending() {
            let sample = plan::sample(running.applied, running.usable, prefer, running.standby_turn);
            changed |= running.sample.change(&sample, running.usable, peering, direction);
        }
        running
            .marking
            .restrict(running.main.paths.certain(), running.sample.paths.certain());
        if changed {
            vec![SteeringOutput::Program]
        } else {
            vec![]
        }
    }

    /// The last packet of a period left the sender. If that was the main group's and the sample group carries the
    /// present one, the main group can be changed unseen.
    pub(super) fn main_out_of_use(&mut self, sampled: bool) -> Vec<SteeringOutput> {
        let Some(running) = &mut self.running else {
            return vec![];
        };
        if sampled || !running.marking.sampled() {
            return vec![];
        }
        let parked = running.parked.take();
        parked.map(|parked| self.apply(parked.mode)).unwrap_or_default()
    }
}

impl Group {
    /// A path that cannot be used may still be in the group, where there is no other; nothing is counted on it.
    fn change(
        &mut self,
        paths: &plan::Paths,
        usable: PathSet,
        peering: &Peering,
        direction: Direction,
    ) -> bool {
        self.paths.change(paths.carried().intersection(usable));
        let plan = paths.plan(peering, direction);
        let changed = plan != self.plan;
        self.plan = plan;
        changed
    }
}
