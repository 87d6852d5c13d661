//! `testbed record-vectors`.

use anyhow::Result;
use std::path::PathBuf;
use std::process::ExitCode;
use testbed::sandbox::{Lifetime, Sandbox};
use testbed::vectors;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Folder for the messages; those that are there are replaced
    #[arg(long, value_name = "DIR", default_value = "ofproto/tests/vectors/ovs")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    std::fs::create_dir_all(&arguments.out)?;
    let folder = arguments.out.canonicalize()?;
    anyhow::ensure!(
        !folder.starts_with("/run"),
        "{} would vanish with the lab: choose another --out",
        folder.display()
    );
    let (sandbox, ()) = Sandbox::enter(Lifetime::Attached, ())?;
    let recorded = vectors::record(&sandbox, &folder)?;
    println!("{recorded} messages recorded in {}", folder.display());
    Ok(ExitCode::SUCCESS)
}
