//! What an experiment is: something that runs in a lab and ends in checks.

use crate::lab::{BackendChoice, Lab, LabOptions};
use crate::sandbox::Sandbox;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// An experiment. To add one: a file in `experiments/` and a line in its `mod.rs`.
pub trait Experiment {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// What it shows, in one sentence.
    fn shows(&self) -> &'static str;

    /// Its parameters, for the manifest.
    fn parameters(&self) -> Value {
        Value::Null
    }

    /// Whether it compares with what the links dropped to the packet, or foretells it from the seed: only the
    /// emulator counts classes apart and repeats its losses.
    fn needs_emulator(&self) -> bool {
        false
    }

    /// Runs it.
    ///
    /// # Errors
    /// When it could not be carried out. That is no verdict: verdicts are the checks of the outcome.
    fn run(&self, context: &mut Context<'_>) -> Result<Outcome>;
}

/// What an experiment is given.
#[derive(Debug)]
pub struct Context<'a> {
    /// Seed of everything random in it.
    pub seed: u64,
    /// Whether to repeat less often, for less long, at a lower rate: for tests, not for numbers.
    pub quick: bool,
    sandbox: &'a Sandbox,
    backend: BackendChoice,
    folder: PathBuf,
    used_backend: Option<String>,
}

/// How an experiment ended.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// The verdicts.
    pub checks: Vec<Check>,
    /// What was measured, in whatever form fits.
    pub measurements: Value,
    /// What the lab itself lost or delayed, a sentence each: if there is any, the run says nothing about the product,
    /// neither good nor bad, and is repeated. Empty where the lab is what is checked.
    pub doubts: Vec<String>,
}

/// One verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What was checked.
    pub name: String,
    /// What was measured.
    pub measured: String,
    /// What was expected.
    pub expected: String,
    /// Whether the two agree.
    pub passed: bool,
}

impl<'a> Context<'a> {
    /// A context whose logs and results go to `folder`.
    pub fn new(sandbox: &'a Sandbox, seed: u64, quick: bool, backend: BackendChoice, folder: &Path) -> Self {
        Context {
            seed,
            quick,
            sandbox,
            backend,
            folder: folder.to_owned(),
            used_backend: None,
        }
    }

    /// Starts a lab with the backend that the user chose and logs in the run's folder. An experiment has one
    /// lab at a time.
    ///
    /// # Errors
    /// As [`Lab::start`].
    pub fn start_lab(&mut self, options: LabOptions) -> Result<Lab> {
        let lab = Lab::start(
            self.sandbox,
            LabOptions {
                backend: self.backend,
                folder: self.folder.clone(),
                ..options
            },
        )?;
        self.say(format!(
            "links by {}, datapath {:?}",
            lab.backend(),
            lab.datapath()
        ));
        if !lab.realtime() {
            self.say("no real-time priority: the emulator may be late");
        }
        self.used_backend = Some(lab.backend().to_string());
        Ok(lab)
    }

    /// Prints a line of progress.
    pub fn say(&self, line: impl Display) {
        println!("  {line}");
    }

    /// The run's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The backend of the last lab, for the manifest.
    pub fn used_backend(&self) -> Option<&str> {
        self.used_backend.as_deref()
    }
}

impl Outcome {
    /// Whether every check passed, and in a lab that gives no cause for doubt.
    pub fn passed(&self) -> bool {
        self.doubts.is_empty() && self.checks.iter().all(|check| check.passed)
    }
}

impl Check {
    /// A verdict.
    pub fn new(
        name: impl Into<String>,
        measured: impl Display,
        expected: impl Display,
        passed: bool,
    ) -> Self {
        Check {
            name: name.into(),
            measured: measured.to_string(),
            expected: expected.to_string(),
            passed,
        }
    }

    /// The measured value must be exactly the expected one.
    pub fn equal<T: PartialEq + Display>(name: impl Into<String>, measured: T, expected: T) -> Self {
        let passed = measured == expected;
        Check::new(name, measured, expected, passed)
    }

    /// The measured value must not exceed a limit.
    pub fn at_most<T: PartialOrd + Display + Copy>(name: impl Into<String>, measured: T, limit: T) -> Self {
        let passed = measured <= limit;
        Check::new(name, measured, format!("≤ {limit}"), passed)
    }

    /// The measured number must lie within `tolerance` of the expected one. `digits` behind the point are shown.
    pub fn near(
        name: impl Into<String>,
        measured: f64,
        expected: f64,
        tolerance: f64,
        digits: usize,
    ) -> Self {
        let passed = (measured - expected).abs() <= tolerance;
        Check::new(
            name,
            format!("{measured:.digits$}"),
            format!("{expected:.digits$} ± {tolerance:.digits$}"),
            passed,
        )
    }

    /// The lab itself must have lost and delayed nothing.
    pub fn healthy(lab: &Lab) -> Result<Self> {
        let problems = lab.self_check()?.problems();
        let measured = if problems.is_empty() {
            "nothing".to_owned()
        } else {
            problems.join("; ")
        };
        Ok(Check::new(
            "the lab itself lost or delayed",
            measured,
            "nothing",
            problems.is_empty(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_compare_and_show_what_they_compared() {
        assert!(Check::equal("lost", 0, 0).passed);
        assert!(!Check::equal("lost", 1, 0).passed);
        assert!(Check::at_most("copies", 2, 2).passed);
        assert_eq!(Check::at_most("copies", 3, 2).expected, "≤ 2");
        let near = Check::near("loss in %", 5.12, 5.0, 0.1, 2);
        assert_eq!(
            (near.measured.as_str(), near.expected.as_str(), near.passed),
            ("5.12", "5.00 ± 0.10", false)
        );
    }

    #[test]
    fn an_outcome_passes_with_all_of_its_checks() {
        let mut outcome = Outcome {
            checks: vec![Check::equal("a", 1, 1)],
            ..Outcome::default()
        };
        assert!(outcome.passed());
        outcome.checks.push(Check::equal("b", 1, 2));
        assert!(!outcome.passed());
    }

    #[test]
    fn a_doubtful_outcome_does_not_pass() {
        let outcome = Outcome {
            doubts: vec!["the emulator was late".to_owned()],
            ..Outcome::default()
        };
        assert!(!outcome.passed());
    }
}
