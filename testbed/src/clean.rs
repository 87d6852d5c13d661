//! Looks for what labs have left behind.
//!
//! A lab lives in namespaces that end with its processes, so only processes can be left: those of a lab whose
//! keeper is gone. Labs with a living keeper are not left over, they run.

use crate::process::MARK;
use crate::sandbox::{INIT, KEEPER, LAB};
use anyhow::Result;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A process of a lab, by its number outside.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leftover {
    /// Process id.
    pub pid: i32,
    /// Its name.
    pub name: String,
    /// Its PID namespace, as /proc names it.
    pub namespace: PathBuf,
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "process {} `{}` in {}",
            self.pid,
            self.name,
            self.namespace.display()
        )
    }
}

/// Processes of labs whose keeper is gone. The kernel takes a moment to end the processes of a namespace:
/// what is still there after two seconds counts.
///
/// # Errors
/// When /proc cannot be read.
pub fn leftovers() -> Result<Vec<Leftover>> {
    let start = Instant::now();
    loop {
        let found = scan(false)?;
        if found.is_empty() || start.elapsed() > PATIENCE {
            return Ok(found);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Ends processes of labs by SIGKILL: the leftovers, or those of running labs as well. Returns what it found.
///
/// # Errors
/// When /proc cannot be read.
pub fn clean(running_too: bool) -> Result<Vec<Leftover>> {
    let found = if running_too { scan(true)? } else { leftovers()? };
    for process in &found {
        // An error means that it has ended with its namespace in the meantime.
        let _ = kill(Pid::from_raw(process.pid), Signal::SIGKILL);
    }
    Ok(found)
}

fn scan(running_too: bool) -> Result<Vec<Leftover>> {
    let mut processes = Vec::new();
    let mut kept: BTreeSet<PathBuf> = BTreeSet::new();
    for entry in std::fs::read_dir("/proc")? {
        let entry = entry?;
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<i32>().ok())
        else {
            continue;
        };
        // Processes may end while they are looked at.
        let Some(name) = read(&entry.path().join("comm")) else {
            continue;
        };
        if name == KEEPER {
            kept.extend(std::fs::read_link(entry.path().join("ns/pid_for_children")));
        } else if (name == INIT || name == LAB || is_marked(&entry.path())) && !is_zombie(&entry.path()) {
            let Ok(namespace) = std::fs::read_link(entry.path().join("ns/pid")) else {
                continue;
            };
            processes.push(Leftover { pid, name, namespace });
        }
    }
    let own = std::fs::read_link("/proc/self/ns/pid")?;
    processes
        .retain(|process| process.namespace != own && (running_too || !kept.contains(&process.namespace)));
    processes.sort();
    Ok(processes)
}

fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path)
        .ok()
        .map(|text| text.trim_end().to_owned())
}

fn is_marked(process: &Path) -> bool {
    let mark = format!("{MARK}=");
    std::fs::read(process.join("environ")).is_ok_and(|environment| {
        environment
            .split(|byte| *byte == 0)
            .any(|entry| entry.starts_with(mark.as_bytes()))
    })
}

fn is_zombie(process: &Path) -> bool {
    let state = read(&process.join("stat")).and_then(|stat| stat.rsplit(") ").next()?.chars().next());
    state == Some('Z')
}

const PATIENCE: Duration = Duration::from_secs(2);
