//! `testbed demo`: the main job, on real bridges, in three passes: always unicast, always bicast, adaptive.
//!
//! ```text
//!  loss on path a, both directions:   0 ────────┐ 5 % ┌──────── 0
//!  traffic throughout: numbered UDP, 2,000 packets a second each way, and a TCP download of 20 Mbit/s
//! ```

mod pass;
mod verdict;
mod view;

use crate::experiment::Check;
use crate::lab::{BackendChoice, Lab, LabOptions, default_links};
use crate::link::ClassKey;
use crate::machine::Machine;
use crate::sandbox::Sandbox;
use anyhow::{Result, ensure};
use std::path::Path;

pub use pass::{Mode, PassReport};

/// Runs the demo and prints what it shows. True when every check at its end passed.
///
/// # Errors
/// When it could not be carried out.
pub fn run(sandbox: &Sandbox, seed: u64, folder: &Path) -> Result<bool> {
    let machine = Machine::describe()?;
    println!("bicast demo: two sites, two paths (a: 10 ms RTT, b: 14 ms RTT, 100 Mbit/s each)");
    println!("  traffic: UDP, 2,000 numbered packets a second each way, and a TCP download of 20 Mbit/s");
    println!("  loss on path a, both ways: 0, then 5 %, then 0; seed {seed}");
    println!("  {}, kernel {}", machine.open_vswitch, machine.kernel);
    let mut reports = Vec::new();
    for mode in Mode::ALL {
        reports.push(evidence(sandbox, seed, folder, mode)?);
    }
    println!("\n{}", verdict::table(&reports));
    let checks = verdict::checks(&reports);
    println!("{}", verdict::check_table(&checks));
    let passed = checks.iter().all(|check| check.passed);
    println!(
        "{}",
        if passed {
            "demo: all checks passed"
        } else {
            "demo: a check FAILED"
        }
    );
    Ok(passed)
}

/// A pass in which the lab itself lost or delayed packets is no evidence: it is made again, a few times.
fn evidence(sandbox: &Sandbox, seed: u64, folder: &Path, mode: Mode) -> Result<PassReport> {
    for _ in 0..TRIES {
        let lab = start_lab(sandbox, seed, folder, mode)?;
        let report = pass::run(lab, folder, mode)?;
        if report.problems.is_empty() {
            return Ok(report);
        }
        println!(
            "  the machine was too busy, this pass is made again: {}",
            report.problems.join("; ")
        );
    }
    anyhow::bail!(
        "the machine is too busy for the demo: {TRIES} tries at `{}` were no evidence",
        mode.name()
    )
}

fn start_lab(sandbox: &Sandbox, seed: u64, folder: &Path, mode: Mode) -> Result<Lab> {
    let options = LabOptions {
        // The end of the demo compares with what the links dropped of each class: netem cannot tell.
        backend: BackendChoice::Emulator,
        links: default_links(seed),
        folder: folder.to_owned(),
        ..LabOptions::default()
    };
    let lab = Lab::start(sandbox, options)?;
    ensure!(
        lab.realtime() || cfg!(debug_assertions),
        "the emulator needs real-time priority: run as root"
    );
    for class in classes() {
        lab.count_class(class)?;
    }
    println!(
        "\n{}: links by {}, {:?} datapath",
        mode.title(),
        lab.backend(),
        lab.datapath()
    );
    Ok(lab)
}

/// The classes whose drops are accounted for, in both directions.
fn classes() -> [ClassKey; 4] {
    [
        ClassKey::udp_to(pass::UDP_PORT),
        ClassKey::udp_from(pass::BACK_PORT),
        ClassKey::tcp_to(pass::TCP_PORT),
        ClassKey::tcp_from(pass::TCP_PORT),
    ]
}

const TRIES: usize = 3;
