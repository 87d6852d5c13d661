//! One engine over simulated paths: packets are sent at a steady rate, each path loses its share, and each colour
//! period is reported a little after its end, as the controller does it.

use std::time::Duration;

use policies::{
    Decision, Direction, Engine, JointCounts, JointSample, LossSample, Measurement, Mode, PathIndex, PathSet,
    Policy, PolicySet, Source, Timestamp, load,
};

use crate::chance::Chance;

pub(crate) struct Simulation {
    pub(crate) engine: Engine,
    pub(crate) names: Vec<String>,
    pub(crate) now: Timestamp,
    pub(crate) packets_per_second: f64,
    /// By path, 0 to 1.
    pub(crate) loss: Vec<f64>,
    pub(crate) usable: PathSet,
    pub(crate) decisions: Vec<Decision>,
    pub(crate) chance: Chance,
    /// Chance of its own for what somebody tells of both paths that has nothing to do with them; none for silence.
    pub(crate) rumours: Option<Chance>,
    policy: Policy,
    measurement: Measurement,
    /// The mode as the decisions tell it.
    told: Mode,
    /// Fraction of a packet that is due.
    due: f64,
    periods: u64,
}

impl Simulation {
    /// A simulation of the policy that `policy` describes in YAML, over paths of these names.
    pub(crate) fn new(paths: &[&str], policy: &str, seed: u64) -> Simulation {
        let set = policy_set(paths, policy);
        let policy = set.policies["story"].clone();
        let measurement = policy.measurement(&set.measurement);
        let direction = policy.direction(Direction::Forward);
        let mut engine = Engine::new(direction, paths.len(), &measurement, Timestamp::ZERO, None);
        let usable = PathSet::all(paths.len());
        engine.set_usable(Timestamp::ZERO, usable);
        let mode = engine.mode();
        Simulation {
            engine,
            names: set.peerings["pair"].path_names(),
            now: Timestamp::ZERO,
            packets_per_second: 2_000.0,
            loss: vec![0.0; paths.len()],
            usable,
            decisions: Vec::new(),
            chance: Chance::new(seed),
            rumours: None,
            policy,
            measurement,
            told: mode,
            due: 0.0,
            periods: 0,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathIndex {
        let index = self.names.iter().position(|known| known == name).unwrap();
        PathIndex(u8::try_from(index).unwrap())
    }

    pub(crate) fn mode(&self) -> String {
        self.engine.mode().display(&self.names)
    }

    pub(crate) fn sentences(&self) -> Vec<String> {
        self.decisions
            .iter()
            .map(|decision| decision.sentence(&self.names))
            .collect()
    }

    /// Sets the usable paths; the controller decides at once.
    pub(crate) fn set_usable(&mut self, usable: PathSet) {
        self.usable = usable;
        self.engine.set_usable(self.now, usable);
        let decision = self.engine.decide(self.now);
        self.note(decision);
    }

    pub(crate) fn pin(&mut self, mode: Option<Mode>) {
        let decision = self.engine.pin(self.now, mode);
        self.note(decision);
    }

    /// The controller is killed and another finds the switch in the same mode.
    pub(crate) fn restart(&mut self) {
        let direction = self.policy.direction(Direction::Forward);
        let mode = Some(self.engine.mode());
        self.engine = Engine::new(direction, self.names.len(), &self.measurement, self.now, mode);
        self.told = self.engine.mode();
        self.set_usable(self.usable);
    }

    /// The operator changes the file.
    pub(crate) fn reconfigure(&mut self, policy: &str) {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let set = policy_set(&names, policy);
        self.policy = set.policies["story"].clone();
        self.measurement = self.policy.measurement(&set.measurement);
        let direction = self.policy.direction(Direction::Forward);
        let decision = self.engine.reconfigure(self.now, direction, &self.measurement);
        self.note(decision);
    }

    /// Lets time pass, at least `duration`, in whole colour periods.
    pub(crate) fn run(&mut self, duration: Duration) {
        let end = self.now + duration;
        while self.now < end {
            self.run_one_period();
        }
    }

    /// Sends for one colour period; its samples are read, and the engine decides, `READ_AFTER` into the next.
    pub(crate) fn run_one_period(&mut self) {
        let (from, until) = (self.now, self.now + self.measurement.period);
        self.due += self.packets_per_second * self.measurement.period.as_secs_f64();
        let sent = self.due.floor();
        self.due -= sent;
        let sent = format!("{sent:.0}").parse().unwrap();

        let in_use = self.engine.mode().paths();
        let sampling = self.measurement.sampling.fraction();
        let sampled = sampling > 0.0 && (self.periods as f64 * sampling).fract() < sampling;
        for path in self
            .usable
            .iter()
            .filter(|&path| sampled || in_use.contains(path))
        {
            let lost = self.chance.lost(sent, self.loss[path.index()]);
            let by = if in_use.contains(path) {
                Source::AlternateMarking
            } else {
                Source::SampledBicast
            };
            self.engine.observe(&LossSample {
                path,
                direction: Direction::Forward,
                from,
                until,
                sent,
                lost,
                by,
            });
        }
        self.hear_rumours(until);
        self.periods += 1;
        self.now = until;
        let decision = self.engine.decide(until + READ_AFTER);
        self.note(decision);
    }

    /// Of any paths, any time and any number of packets.
    fn hear_rumours(&mut self, now: Timestamp) {
        let Some(chance) = &mut self.rumours else { return };
        let paths = match chance.below(2) {
            0 => self.engine.mode().paths(),
            _ => PathSet::all(1 + usize::try_from(chance.below(16)).unwrap()),
        };
        let from = now.saturating_sub(Duration::from_millis(chance.below(20_000)));
        let bits = chance.below(65);
        let mut count = || {
            chance
                .next()
                .checked_shr(u32::try_from(bits).unwrap())
                .unwrap_or(0)
        };
        let counts = JointCounts {
            packets: count(),
            lost: count(),
            rescued: count(),
        };
        self.engine.observe_joint(&JointSample {
            paths,
            direction: Direction::Forward,
            from,
            until: now,
            counts,
        });
    }

    fn note(&mut self, decision: Option<Decision>) {
        if let Some(decision) = decision {
            assert_eq!(decision.from, self.told);
            assert_ne!(decision.from, decision.to);
            self.told = decision.to;
            self.decisions.push(decision);
        }
        assert_eq!(
            self.told,
            self.engine.mode(),
            "no mode changes without a decision"
        );
    }
}

/// The file of a peering with these paths and one policy, `story`.
fn policy_set(paths: &[&str], policy: &str) -> PolicySet {
    let uplinks = |net: usize| {
        let uplink = |(index, name): (usize, &&str)| {
            format!("{name}: {{port: {name}, next_hop: 10.{net}.{index}.1, address: 10.{net}.{index}.2/24}}")
        };
        paths
            .iter()
            .enumerate()
            .map(uplink)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let joined: Vec<String> = paths
        .iter()
        .map(|name| format!("{name}: {{client: {name}, server: {name}}}"))
        .collect();
    let indented: Vec<String> = policy.lines().map(|line| format!("    {line}")).collect();
    let text = format!(
        "sites:
  client:
    datapath: 0x1
    access: {{port: host, gateway: 10.1.0.1/24}}
    uplinks: {{{}}}
  server:
    datapath: 0x2
    access: {{port: host, gateway: 10.2.0.1/24}}
    uplinks: {{{}}}
peerings:
  pair: {{sites: [client, server], paths: {{{}}}}}
policies:
  story:
{}
",
        uplinks(11),
        uplinks(21),
        joined.join(", "),
        indented.join("\n")
    );
    let result = load("story.yaml", &text);
    assert!(result.is_ok(), "{}\n{text}", result.unwrap_err());
    result.unwrap()
}

/// Path delay, jitter and reading.
pub(crate) const READ_AFTER: Duration = Duration::from_millis(50);
