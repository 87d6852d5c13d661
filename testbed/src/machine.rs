//! The machine that a lab runs on: what a manifest says about it, and how busy it is.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// What a manifest says about the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// `uname -sr`.
    pub kernel: String,
    /// Processors that may be used.
    pub processors: usize,
    /// What /proc/cpuinfo calls the first of them.
    #[serde(default)]
    pub processor: String,
    /// First line of `ovs-vswitchd --version`.
    pub open_vswitch: String,
}

impl Machine {
    /// Asks the system.
    ///
    /// # Errors
    /// When Open vSwitch is not installed.
    pub fn describe() -> Result<Machine> {
        let uname = nix::sys::utsname::uname()?;
        let version = crate::process::run(crate::process::command("ovs-vswitchd").arg("--version"))?;
        Ok(Machine {
            kernel: format!(
                "{} {}",
                uname.sysname().to_string_lossy(),
                uname.release().to_string_lossy()
            ),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            processor: model(&std::fs::read_to_string("/proc/cpuinfo")?),
            open_vswitch: version.lines().next().unwrap_or_default().to_owned(),
        })
    }
}

/// A reading of how busy all processors have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    busy: u64,
    total: u64,
}

impl Load {
    /// Reads it now.
    ///
    /// # Errors
    /// When /proc/stat has an unknown form.
    pub fn now() -> Result<Load> {
        let stat = std::fs::read_to_string("/proc/stat")?;
        parse(&stat).context("/proc/stat has an unknown form")
    }

    /// Share of all processors that was busy since `earlier`, 0 to 1, everybody's work included.
    pub fn busy_since(&self, earlier: &Load) -> f64 {
        let total = self.total.saturating_sub(earlier.total).max(1);
        self.busy.saturating_sub(earlier.busy) as f64 / total as f64
    }
}

/// The model of the first processor; some architectures have none to tell.
fn model(cpuinfo: &str) -> String {
    let model = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or("unknown", |(_, name)| name.trim()).to_owned()
}

fn parse(stat: &str) -> Option<Load> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line
        .split_whitespace()
        .map_while(|number| number.parse().ok())
        .take(8)
        .collect();
    let total = ticks.iter().sum();
    // Columns 4 and 5 are idle and waiting for a disk.
    Some(Load {
        busy: total - ticks.get(3)? - ticks.get(4)?,
        total,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_is_the_share_that_was_neither_idle_nor_waiting() {
        let before = parse("cpu  100 0 100 1000 100 0 0 0 0 0\n").unwrap();
        let after = parse("cpu  150 0 150 1080 120 0 0 0 0 0\n").unwrap();
        assert!((after.busy_since(&before) - 0.5).abs() < 1e-12);
        assert_eq!(parse("mem 1"), None);
    }

    #[test]
    fn the_model_of_the_processor_is_found_where_there_is_one() {
        let text = "processor\t: 0\nmodel name\t: A CPU @ 2.50GHz\nprocessor\t: 1\nmodel name\t: B\n";
        assert_eq!(model(text), "A CPU @ 2.50GHz");
        assert_eq!(model("processor : 0\n"), "unknown");
    }
}
