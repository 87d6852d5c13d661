//! What a run leaves on disk: `manifest.json` says what was run, `results.json` what came out.

use crate::experiment::Outcome;
use crate::machine::Machine;
use crate::process;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// Everything needed to run the same again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Manifest {
    /// Name of the experiment.
    pub experiment: String,
    /// Commit of the sources in the present folder, `+` behind it when files were changed; `None` outside a
    /// repository.
    pub commit: Option<String>,
    /// Seed of everything random.
    pub seed: u64,
    /// Whether it ran with fewer repetitions.
    pub quick: bool,
    /// The machine.
    pub machine: Machine,
    /// What emulated the links.
    pub backend: Option<String>,
    /// The experiment's own parameters.
    pub parameters: Value,
}

impl Manifest {
    /// Writes manifest and results to a folder.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn write(&self, folder: &Path, outcome: &Outcome) -> Result<()> {
        write(&folder.join("manifest.json"), self)?;
        write(&folder.join("results.json"), outcome)
    }
}

/// The commit checked out in the present folder.
pub fn commit() -> Option<String> {
    let git = |arguments: &[&str]| process::run(process::command("git").args(arguments)).ok();
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?.trim().to_owned();
    let changed = !git(&["status", "--porcelain", "--untracked-files=no"])?
        .trim()
        .is_empty();
    Some(if changed { format!("{commit}+") } else { commit })
}

fn write(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value)? + "\n";
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
