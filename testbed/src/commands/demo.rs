//! `testbed demo`.

use anyhow::Result;
use std::path::PathBuf;
use std::process::ExitCode;
use testbed::sandbox::{Lifetime, Sandbox};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Seed of the links' losses
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for logs
    #[arg(long, value_name = "DIR", default_value = "target/demo")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    std::fs::create_dir_all(&arguments.out)?;
    let folder = arguments.out.canonicalize()?;
    let (sandbox, ()) = Sandbox::enter(Lifetime::Attached, ())?;
    let passed = testbed::demo::run(&sandbox, arguments.seed, &folder)?;
    Ok(if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
