//! `testbed clean`.

use anyhow::Result;
use std::process::ExitCode;
use testbed::clean;
use testbed::lab::control;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only look: exit with 1 when anything was left behind
    #[arg(long)]
    check: bool,
    /// End labs that still run, too
    #[arg(long, conflicts_with = "check")]
    running: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    if !arguments.running {
        for name in control::running()? {
            println!("lab `{name}` is running: end it with `testbed lab down --name {name}`");
        }
    }
    if arguments.check {
        let found = clean::leftovers()?;
        found
            .iter()
            .for_each(|leftover| println!("left behind: {leftover}"));
        println!("{} left behind", count(found.len()));
        return Ok(if found.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        });
    }
    let found = clean::clean(arguments.running)?;
    found.iter().for_each(|leftover| println!("ended: {leftover}"));
    let left = clean::leftovers()?;
    println!("{} ended, {} left behind", count(found.len()), count(left.len()));
    Ok(if left.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn count(processes: usize) -> String {
    match processes {
        0 => "nothing".to_owned(),
        1 => "1 process".to_owned(),
        more => format!("{more} processes"),
    }
}
