//! Each file in `tests/scenarios` is a story: what happens to the paths and which mode is expected.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use policies::{Decision, Mode, PathSet};
use serde::Deserialize;

use crate::chance::{Chance, seed};
use crate::simulation::Simulation;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    /// What it is about.
    story: String,
    paths: Vec<String>,
    /// The policy, as in a policy file.
    policy: String,
    events: Vec<Event>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Event {
    /// Packets per second from now on; 2000 at the beginning.
    Rate(f64),
    /// Loss of paths from now on, in percent, by name; 0 at the beginning.
    Loss(BTreeMap<String, f64>),
    /// Paths that cannot be used from now on.
    Down(String),
    /// A path that can be used again.
    Up(String),
    /// The operator fixes a mode, or lifts it with `policy`.
    Pin(String),
    /// The operator changes the policy.
    Policy(String),
    /// The controller is restarted.
    Restart,
    /// Seconds pass.
    Run(f64),
    /// The mode now.
    Expect(String),
    /// The mode changes to this in at most so many seconds, which pass only as far as needed.
    Becomes { mode: String, within: f64 },
    /// The latest decision says this.
    Because(String),
    /// So many decisions were made up to now.
    Decisions(usize),
}

#[test]
fn every_story_ends_as_told() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() >= 10);
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        let parsed = serde_saphyr::from_str::<Scenario>(&text);
        assert!(parsed.is_ok(), "{name}: {}", parsed.unwrap_err());
        for seed in seed()..seed() + 5 {
            let told = tell(name, parsed.as_ref().unwrap(), seed, None);
            let rumours = Some(Chance::new(seed + 1));
            let despite_rumours = tell(name, parsed.as_ref().unwrap(), seed, rumours);
            assert_eq!(told, despite_rumours, "{name}, seed {seed}");
        }
    }
}

/// Tells a story and returns its decisions, without what was said of both paths.
fn tell(name: &str, scenario: &Scenario, seed: u64, rumours: Option<Chance>) -> Vec<Decision> {
    assert!(!scenario.story.is_empty());
    let paths: Vec<&str> = scenario.paths.iter().map(String::as_str).collect();
    let mut simulation = Simulation::new(&paths, &scenario.policy, seed);
    simulation.rumours = rumours;
    for (index, event) in scenario.events.iter().enumerate() {
        let place = |simulation: &Simulation| {
            format!(
                "{name}, seed {seed}, event {} {event:?} at {:?}; decisions:\n  {}",
                index + 1,
                simulation.now.as_duration(),
                simulation.sentences().join("\n  ")
            )
        };
        match event {
            Event::Rate(rate) => simulation.packets_per_second = *rate,
            Event::Loss(losses) => {
                for (path, percent) in losses {
                    let path = simulation.path(path).index();
                    simulation.loss[path] = percent / 100.0;
                }
            }
            Event::Down(path) => simulation.set_usable(simulation.usable.without(simulation.path(path))),
            Event::Up(path) => simulation.set_usable(simulation.usable.with(simulation.path(path))),
            Event::Pin(mode) => simulation.pin(mode_named(&simulation, mode)),
            Event::Policy(policy) => simulation.reconfigure(policy),
            Event::Restart => simulation.restart(),
            Event::Run(seconds) => simulation.run(Duration::from_secs_f64(*seconds)),
            Event::Expect(mode) => assert_eq!(simulation.mode(), *mode, "{}", place(&simulation)),
            Event::Becomes { mode, within } => {
                let end = simulation.now + Duration::from_secs_f64(*within);
                while simulation.mode() != *mode && simulation.now < end {
                    simulation.run_one_period();
                }
                assert_eq!(simulation.mode(), *mode, "{}", place(&simulation));
            }
            Event::Because(text) => {
                let latest = simulation.sentences().pop().unwrap_or_default();
                assert!(latest.contains(text.as_str()), "{}", place(&simulation));
            }
            Event::Decisions(count) => {
                assert_eq!(simulation.decisions.len(), *count, "{}", place(&simulation));
            }
        }
    }
    let decisions = simulation.decisions.into_iter();
    let alone = decisions.map(|decision| Decision {
        joint: None,
        ..decision
    });
    alone.collect()
}

/// `unicast a`, `bicast a+b`; `policy` is none.
fn mode_named(simulation: &Simulation, text: &str) -> Option<Mode> {
    let (mode, paths) = text.split_once(' ').unwrap_or((text, ""));
    match mode {
        "unicast" => Some(Mode::Unicast(simulation.path(paths))),
        "bicast" => {
            let paths: PathSet = paths.split('+').map(|path| simulation.path(path)).collect();
            Some(Mode::Bicast(paths))
        }
        _ => None,
    }
}
