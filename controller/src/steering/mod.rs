//! One direction of one policy: its engine, its marking, and the groups that carry its mode.
//!
//! A mode that adds paths, or that answers a dead path or an operator, is applied at once. One that only saves
//! copies waits for a period that runs over the sample group, and changes the main group while nothing flows through
//! it: so every period before and after has exact counts for every path.

mod counting;
mod modes;
mod plan;
mod reports;
mod view;

use std::sync::Arc;
use std::time::Duration;

use policies::{
    Decision, Direction, DirectionPolicy, Engine, Measurement, Mode, PathIndex, PathSet, Peering, Policy,
    Timestamp,
};

use crate::api::TotalView;
use crate::compile::GroupPlan;
use crate::measure::{Marking, SettlingPaths};
use crate::pipeline::{Colour, Slot};

pub use plan::Found;

/// Names one direction of one policy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SteeringKey {
    /// The policy's name.
    pub policy: Arc<str>,
    /// The direction.
    pub direction: Direction,
}

/// One direction of one policy, sans I/O.
#[derive(Debug)]
pub struct Steering {
    key: SteeringKey,
    slot: Slot,
    policy: Policy,
    measurement: Measurement,
    peering: Peering,
    path_names: Vec<String>,
    totals: Vec<TotalView>,
    sent: u64,
    changes: u64,
    reason: Option<String>,
    receiver: Receiver,
    running: Option<Running>,
}

/// What is known of the receiving site's entries for the direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Receiver {
    /// Nothing yet: packets must not be marked, since nobody may be there to take the mark off.
    Unknown,
    /// They are in force.
    Ready,
    /// Somebody took them away, or the switch refused them: what is missing there is not the paths' loss.
    Doubted,
}

/// What there is once the sender's switch has been read.
#[derive(Debug)]
struct Running {
    engine: Engine,
    marking: Marking,
    usable: PathSet,
    /// Whether packets are marked. Once they are they stay so.
    marked: bool,
    /// The mode that the main group carries.
    applied: Mode,
    /// A mode that waits until the main group is out of use.
    parked: Option<Parked>,
    main: Group,
    sample: Group,
    periods_since_sample: u32,
    standby_turn: usize,
    flip_due: bool,
}

#[derive(Debug)]
struct Parked {
    mode: Mode,
    since: Timestamp,
}

/// A group as planned, and how far the datapath has followed.
#[derive(Debug)]
struct Group {
    plan: GroupPlan,
    paths: SettlingPaths,
    unconfirmed: u32,
}

/// What a steering wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum SteeringOutput {
    /// Read the meters of the sending site's switch.
    ReadSender,
    /// Read the meters of the receiving site's switch.
    ReadReceiver,
    /// Groups are to be other than they were: program the sending site.
    Program,
    /// The mode changes, and why.
    Decided(Decision),
}

impl Steering {
    /// A direction of which nothing is known yet. It runs from [`Steering::start`] on.
    pub fn new(
        key: SteeringKey,
        slot: Slot,
        policy: &Policy,
        peering: &Peering,
        measurement: &Measurement,
    ) -> Steering {
        Steering {
            key,
            slot,
            policy: policy.clone(),
            measurement: policy.measurement(measurement),
            peering: peering.clone(),
            path_names: peering.path_names(),
            totals: vec![TotalView::default(); peering.paths.len()],
            sent: 0,
            changes: 0,
            reason: None,
            receiver: Receiver::Unknown,
            running: None,
        }
    }

    /// The sending site.
    pub fn sender(&self) -> &str {
        self.peering.sender(self.key.direction)
    }

    /// The receiving site.
    pub fn receiver(&self) -> &str {
        self.peering.receiver(self.key.direction)
    }

    /// The policy's ids.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// Whether the sender's switch was read.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// The peering that the direction belongs to.
    pub fn peering(&self) -> &Peering {
        &self.peering
    }

    /// The names of its paths.
    pub fn path_names(&self) -> &[String] {
        &self.path_names
    }

    /// The sender's switch was read: begins with the mode and colour that were found there, if any.
    pub fn start(&mut self, now: Timestamp, found: Option<&Found>, usable: PathSet) {
        let mode = found.map(|found| found.mode);
        let engine = Engine::new(
            self.direction_policy(),
            self.path_names.len(),
            &self.measurement,
            now,
            mode,
        );
        let applied = engine.mode();
        let kept = found.is_some_and(|found| found.mode == applied);
        let (colour, sampled) = found
            .as_ref()
            .map_or((Colour::Zero, false), |found| (found.colour, found.sampled));
        let main = plan::main(applied, usable, &self.direction_policy().prefer);
        let sample = plan::sample(applied, usable, &self.direction_policy().prefer, 0);
        let group = |paths: &plan::Paths| Group {
            plan: paths.plan(&self.peering, self.key.direction),
            paths: if kept {
                SettlingPaths::found(paths.carried().intersection(usable))
            } else {
                SettlingPaths::unknown()
            },
            unconfirmed: 0,
        };
        let mut running = Running {
            engine,
            marking: Marking::new(now, self.measurement.period, colour, sampled),
            usable,
            marked: found.is_some_and(|found| found.marked) || self.receiver != Receiver::Unknown,
            applied,
            parked: None,
            main: group(&main),
            sample: group(&sample),
            periods_since_sample: 0,
            standby_turn: 0,
            flip_due: false,
        };
        running.engine.set_usable(now, usable);
        running.main.paths.change(main.carried().intersection(usable));
        running.sample.paths.change(sample.carried().intersection(usable));
        self.running = Some(running);
    }

    /// Takes a changed policy of the same name on the same paths.
    pub fn reconfigure(
        &mut self,
        now: Timestamp,
        policy: &Policy,
        measurement: &Measurement,
    ) -> Vec<SteeringOutput> {
        let measurement = policy.measurement(measurement);
        let marks_changed =
            measurement.colours != self.measurement.colours || policy.class != self.policy.class;
        self.policy = policy.clone();
        self.measurement = measurement;
        let direction_policy = self.direction_policy().clone();
        let Some(running) = &mut self.running else {
            return vec![];
        };
        running.marking.set_period(self.measurement.period);
        if marks_changed {
            running.marking.reset(now);
        }
        let decision = running
            .engine
            .reconfigure(now, &direction_policy, &self.measurement);
        self.settle_decisions(now, decision)
    }

    /// Whether the same policy can go on on that peering: neither sites nor paths changed.
    pub fn fits(&self, slot: Slot, peering: &Peering) -> bool {
        self.slot == slot && self.peering == *peering
    }

    /// Says which paths can be used.
    pub fn set_usable(&mut self, now: Timestamp, usable: PathSet) -> Vec<SteeringOutput> {
        let Some(running) = &mut self.running else {
            return vec![];
        };
        if running.usable == usable {
            return vec![];
        }
        let first = running.main.paths.current().intersection(running.usable);
        running.usable = usable;
        running.engine.set_usable(now, usable);
        if first.intersection(usable) != first && matches!(running.main.plan, GroupPlan::FastFailover(_)) {
            // A dead port moves the packets of an `ff` group before we hear of it.
            running.main.paths.disturbed(now);
        }
        self.settle_decisions(now, None)
    }

    /// Holds a mode by an operator's order, or gives it back to the policy.
    pub fn pin(&mut self, now: Timestamp, mode: Option<Mode>) -> Vec<SteeringOutput> {
        let Some(running) = &mut self.running else {
            return vec![];
        };
        let decision = running.engine.pin(now, mode);
        self.settle_decisions(now, decision)
    }

    /// The mode that "unicast" or "bicast" without names means now: by preference, usable paths first.
    pub fn preferred(&self, count: usize) -> PathSet {
        let usable = self
            .running
            .as_ref()
            .map_or(PathSet::EMPTY, |running| running.usable);
        let prefer = &self.direction_policy().prefer;
        let (good, bad): (Vec<PathIndex>, Vec<PathIndex>) =
            prefer.iter().partition(|path| usable.contains(**path));
        good.into_iter().chain(bad).take(count).collect()
    }

    /// Called when [`Steering::deadline`] has come.
    pub fn tick(&mut self, now: Timestamp) -> Vec<SteeringOutput> {
        let Some(running) = &mut self.running else {
            return vec![];
        };
        running.main.paths.tick(now);
        running.sample.paths.tick(now);
        let outputs = if running.marked {
            running.marking.tick(now)
        } else {
            vec![]
        };
        let mut outputs = self.marking_outputs(now, outputs);
        if let Some(running) = &mut self.running
            && let Some(parked) = running.parked.take_if(|parked| now >= parked.since + PARKED_MAX)
        {
            outputs.extend(self.apply(parked.mode));
        }
        outputs.extend(self.settle_decisions(now, None));
        outputs
    }

    /// When [`Steering::tick`] wants to be called.
    pub fn deadline(&self) -> Option<Timestamp> {
        let running = self.running.as_ref()?;
        [
            running.marking.deadline().filter(|_| running.marked),
            running.main.paths.deadline(),
            running.sample.paths.deadline(),
            running.engine.next_deadline(),
            running.parked.as_ref().map(|parked| parked.since + PARKED_MAX),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Group changes were sent, if there were any, and a barrier after them: to be confirmed once.
    pub fn groups_sent(&mut self) {
        for group in self
            .running
            .iter_mut()
            .flat_map(|running| [&mut running.main, &mut running.sample])
        {
            group.unconfirmed += 1;
        }
    }

    /// A barrier after group changes was answered, or nothing had to be sent.
    pub fn groups_confirmed(&mut self, now: Timestamp) {
        for group in self
            .running
            .iter_mut()
            .flat_map(|running| [&mut running.main, &mut running.sample])
        {
            group.unconfirmed = group.unconfirmed.saturating_sub(1);
            if group.unconfirmed == 0 {
                group.paths.confirmed(now);
            }
        }
    }

    /// The sending site's switch refused something: what its groups do is to be confirmed anew.
    pub fn doubt_sender(&mut self) {
        if let Some(running) = &mut self.running {
            for group in [&mut running.main, &mut running.sample] {
                group.unconfirmed = 0;
                group.paths.doubt();
            }
            running.marking.restrict(PathSet::EMPTY, PathSet::EMPTY);
        }
    }

    /// The receiving site's switch refused something, or somebody took entries away there.
    pub fn doubt_receiver(&mut self) {
        if self.receiver == Receiver::Ready {
            self.receiver = Receiver::Doubted;
        }
        if let Some(running) = &mut self.running {
            running.marking.spoil();
        }
    }

    /// The receiving site's entries are in force: packets can be marked, and what is missing is lost.
    pub fn receiver_programmed(&mut self, now: Timestamp) -> Vec<SteeringOutput> {
        self.receiver = Receiver::Ready;
        match &mut self.running {
            Some(running) if !running.marked => {
                running.marked = true;
                running.marking.reset(now);
                vec![SteeringOutput::Program]
            }
            _ => vec![],
        }
    }

    /// A meter was made anew: counts start over.
    pub fn meters_renewed(&mut self, now: Timestamp) {
        if let Some(running) = &mut self.running {
            running.marking.reset(now);
            running.flip_due = false;
        }
    }

    /// The connection to a switch is gone: what was under way will not be confirmed.
    pub fn interrupted(&mut self) {
        if let Some(running) = &mut self.running {
            running.marking.interrupt();
            running.flip_due = false;
            running.main.unconfirmed = 0;
            running.sample.unconfirmed = 0;
        }
    }

    fn direction_policy(&self) -> &DirectionPolicy {
        self.policy.direction(self.key.direction)
    }
}

/// A mode that saves copies is applied after this even if the traffic gives no occasion to do it unseen.
const PARKED_MAX: Duration = Duration::from_secs(5);
