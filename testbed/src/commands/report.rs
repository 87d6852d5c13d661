//! `testbed plot` and `testbed report`.

use anyhow::Result;
use std::path::PathBuf;
use std::process::ExitCode;
use testbed::figures::{Data, report};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Folder with recordings, one folder for each experiment
    #[arg(value_name = "DIR", default_value = "target/figures")]
    dir: PathBuf,
}

/// Only the figures: `DIR/figures/*.svg` and `*.png`.
pub(crate) fn plot(arguments: &Arguments) -> Result<ExitCode> {
    let drawn = report::draw(&Data::read(&arguments.dir)?);
    write_figures(arguments, &drawn)
}

/// The figures, `DIR/report.html` and `DIR/summary.json`.
pub(crate) fn report(arguments: &Arguments) -> Result<ExitCode> {
    let data = Data::read(&arguments.dir)?;
    let drawn = report::draw(&data);
    write_figures(arguments, &drawn)?;
    let page = report::write_report(&arguments.dir, &data, &drawn)?;
    println!("{}", page.display());
    Ok(ExitCode::SUCCESS)
}

fn write_figures(arguments: &Arguments, drawn: &[report::Drawn]) -> Result<ExitCode> {
    let folder = arguments.dir.join("figures");
    report::write_figures(&folder, drawn)?;
    println!("{} figures in {}", drawn.len(), folder.display());
    Ok(ExitCode::SUCCESS)
}
