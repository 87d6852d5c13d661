//! The policy file on disk: read, checked, watched.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use policies::PolicySet;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::event::Event;

/// Why a policy file is not in force.
#[derive(Debug, thiserror::Error)]
pub enum PolicyFileError {
    /// It cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is not a valid policy file; one line for each problem, with its place.
    #[error(transparent)]
    Invalid(#[from] Box<policies::LoadError>),
}

/// Reads and checks a policy file.
pub fn load(path: &Path) -> Result<PolicySet, PolicyFileError> {
    let text = std::fs::read_to_string(path).map_err(|source| PolicyFileError::Read {
        path: path.to_owned(),
        source,
    })?;
    policies::load(&path.display().to_string(), &text).map_err(|error| Box::new(error).into())
}

/// Watches the file: on SIGHUP, and when it looks different, it is read again and told of.
pub async fn watch(path: PathBuf, events: mpsc::Sender<Event>) -> anyhow::Result<()> {
    let mut hangup = signal(SignalKind::hangup())?;
    let mut seen = fingerprint(&path);
    loop {
        let asked = tokio::select! {
            _ = hangup.recv() => true,
            () = tokio::time::sleep(LOOK_EVERY) => false,
        };
        let now = fingerprint(&path);
        if !asked && now == seen {
            continue;
        }
        seen = now;
        let event = match load(&path) {
            Ok(policies) => {
                tracing::info!(path = %path.display(), "policy file in force");
                Event::Policies(Arc::new(policies))
            }
            Err(error) => {
                tracing::error!("policy file refused, the old one stays in force:\n{error}");
                Event::PoliciesRejected {
                    report: error.to_string(),
                }
            }
        };
        if events.send(event).await.is_err() {
            return Ok(());
        }
    }
}

/// What changes when an editor, a deployment tool or `mv` changes the file.
fn fingerprint(path: &Path) -> Option<(SystemTime, u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len(), metadata.ino()))
}

const LOOK_EVERY: Duration = Duration::from_secs(1);
