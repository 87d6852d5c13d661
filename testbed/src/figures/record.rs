//! What a figure is made of: samples, and the manifest that says where they come from.

use crate::machine::Machine;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// One transfer (or one moment of measurement) of a figure: what was set, what was measured.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Name of the experiment, as in `testbed run`.
    pub experiment: String,
    /// What makes a line of a figure: `{"congestion": "bbr3", "scheme": "bidirectional", "via": "proxies"}`.
    pub labels: BTreeMap<String, String>,
    /// Where on the axes it stands, units in the names: `{"loss_percent": 1.0}`.
    pub at: BTreeMap<String, f64>,
    /// Which repetition of the same point, from 0.
    pub repetition: u32,
    /// Seed of what was random in it.
    pub seed: u64,
    /// What was measured, units in the names: `{"seconds": 8.9}`.
    pub values: BTreeMap<String, f64>,
    /// Time series: seconds since the beginning, value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub traces: BTreeMap<String, Vec<(f64, f64)>>,
    /// Whether it was stopped at the time cap: `values` hold what was reached by then.
    #[serde(default)]
    pub capped: bool,
    /// Self-checks of the lab that failed, a sentence each. Not empty: left out of the figures.
    #[serde(default)]
    pub faults: Vec<String>,
}

/// What identifies a sample within a recording: experiment, labels, place and repetition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

/// How often and how long an experiment measures.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Length {
    /// A look at the whole within minutes; no evidence.
    Quick,
    /// Three repetitions.
    #[default]
    Default,
    /// Ten repetitions, for results that are published.
    Full,
}

/// Everything needed to measure the same again.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Name of the experiment.
    pub experiment: String,
    /// Commit of the sources, `+` behind it when files were changed; `None` outside a repository.
    pub commit: Option<String>,
    /// Seed of everything random.
    pub seed: u64,
    /// How long it was to measure.
    pub length: Length,
    /// What emulated the links.
    pub backend: String,
    /// The machine.
    pub machine: Machine,
    /// What samples must have in common to stand in one figure: sizes, rates, round trips, time caps. Not the number
    /// of repetitions or points: a recording may be continued with more of them.
    pub parameters: Value,
    /// When it began, UTC, RFC 3339.
    pub started: String,
    /// By whom it was continued after an interruption.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub continued: Vec<Continuation>,
}

/// A later run that added samples to a recording.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Continuation {
    /// Its commit.
    pub commit: Option<String>,
    /// Its length.
    pub length: Length,
    /// Its machine.
    pub machine: Machine,
    /// When it began.
    pub started: String,
}

impl Sample {
    /// What identifies it.
    pub fn key(&self) -> Key {
        Key::new(&self.experiment, &self.labels, &self.at, self.repetition)
    }

    /// Whether it may stand in a figure.
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }

    /// The value of a label, or nothing.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.get(name).map(String::as_str)
    }

    /// The first number that JSON cannot hold, by name.
    pub(super) fn not_finite(&self) -> Option<&str> {
        let numbers = self.at.iter().chain(&self.values);
        let single = numbers
            .filter(|(_, number)| !number.is_finite())
            .map(|(name, _)| name);
        let series = self
            .traces
            .iter()
            .filter(|(_, points)| points.iter().any(|(at, value)| !(at + value).is_finite()))
            .map(|(name, _)| name);
        single.chain(series).map(String::as_str).next()
    }
}

impl Key {
    /// The key that a sample of these labels at this place has.
    pub fn new(
        experiment: &str,
        labels: &BTreeMap<String, String>,
        at: &BTreeMap<String, f64>,
        repetition: u32,
    ) -> Self {
        let mut key = experiment.to_owned();
        for (name, value) in labels {
            key += &format!(" {name}={value}");
        }
        for (name, value) in at {
            // Numbers may change in their last digit on their way through a file.
            key += &format!(" {name}={}", (value * 1e6).round() / 1e6);
        }
        Key(format!("{key} #{repetition}"))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Display for Length {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Length::Quick => "quick",
            Length::Default => "default",
            Length::Full => "full",
        })
    }
}

impl Manifest {
    /// The manifest of a run that begins now on this machine. `commit` is asked for by the caller, outside any
    /// sandbox.
    ///
    /// # Errors
    /// As [`Machine::describe`].
    pub fn now(
        experiment: &str,
        commit: Option<String>,
        seed: u64,
        length: Length,
        backend: &str,
        parameters: Value,
    ) -> Result<Self> {
        Ok(Manifest {
            experiment: experiment.to_owned(),
            commit,
            seed,
            length,
            backend: backend.to_owned(),
            machine: Machine::describe()?,
            parameters,
            started: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            continued: Vec::new(),
        })
    }

    /// What keeps samples of a run described by `other` out of this recording, a line for each difference.
    pub(super) fn differences(&self, other: &Manifest) -> Vec<String> {
        let mut differences = Vec::new();
        let mut compare = |what: &str, recorded: &Value, wanted: &Value| {
            if recorded != wanted {
                differences.push(format!("{what}: recorded {recorded}, wanted {wanted}"));
            }
        };
        compare(
            "experiment",
            &self.experiment.as_str().into(),
            &other.experiment.as_str().into(),
        );
        compare("seed", &self.seed.into(), &other.seed.into());
        compare(
            "backend",
            &self.backend.as_str().into(),
            &other.backend.as_str().into(),
        );
        match (&self.parameters, &other.parameters) {
            (Value::Object(recorded), Value::Object(wanted)) => {
                let names: std::collections::BTreeSet<&String> =
                    recorded.keys().chain(wanted.keys()).collect();
                for name in names {
                    let (recorded, wanted) = (recorded.get(name), wanted.get(name));
                    compare(
                        name,
                        recorded.unwrap_or(&Value::Null),
                        wanted.unwrap_or(&Value::Null),
                    );
                }
            }
            (recorded, wanted) => compare("parameters", recorded, wanted),
        }
        differences
    }
}
