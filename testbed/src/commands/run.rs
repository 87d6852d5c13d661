//! `testbed run`, `testbed selftest` and `testbed list`.

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use comfy_table::{Table, presets};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use testbed::experiment::{Check, Context};
use testbed::experiments;
use testbed::experiments::series::{self, Series};
use testbed::figures::{self, Length, Store};
use testbed::lab::BackendChoice;
use testbed::machine::Machine;
use testbed::record::{self, Manifest};
use testbed::sandbox::{Lifetime, Sandbox};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Names of the experiments, see `testbed list`
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for manifest, results and logs, with a folder per name when there are several
    /// [default: target/experiments/NAME, target/figures/NAME for what ends in figures]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// What emulates the links
    #[arg(long, value_enum, default_value_t)]
    backend: BackendChoice,
    /// Fewer repetitions: for tests, not for numbers
    #[arg(long)]
    quick: bool,
    /// More repetitions and longer transfers, of what ends in figures
    #[arg(long, conflicts_with = "quick")]
    full: bool,
}

impl Options {
    fn length(&self) -> Length {
        match (self.quick, self.full) {
            (true, _) => Length::Quick,
            (_, true) => Length::Full,
            _ => Length::Default,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    match arguments.names.as_slice() {
        [name] => run_named(name, &arguments.options),
        names => run_one_after_another(names, &arguments.options),
    }
}

/// Each experiment in a process of its own: each has a sandbox of its own.
fn run_one_after_another(names: &[String], options: &Options) -> Result<ExitCode> {
    for name in names {
        if experiments::named(name).is_none() && series::named(name).is_none() {
            return Ok(unknown(name));
        }
    }
    let mut failed = Vec::new();
    for name in names {
        let mut command = std::process::Command::new(std::env::current_exe()?);
        command.args(["run", name, "--seed", &options.seed.to_string()]);
        if let Some(choice) = options.backend.to_possible_value() {
            command.args(["--backend", choice.get_name()]);
        }
        for (given, word) in [(options.quick, "--quick"), (options.full, "--full")] {
            if given {
                command.arg(word);
            }
        }
        if let Some(out) = &options.out {
            command.arg("--out").arg(out.join(name));
        }
        if !command.status()?.success() {
            failed.push(name.as_str());
        }
    }
    if failed.is_empty() {
        println!("all {} experiments passed", names.len());
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "{} of {} experiments FAILED: {}",
        failed.len(),
        names.len(),
        failed.join(", ")
    );
    Ok(ExitCode::FAILURE)
}

fn unknown(name: &str) -> ExitCode {
    let names: Vec<&str> = descriptions().into_iter().map(|(name, _)| name).collect();
    eprintln!(
        "testbed: no experiment `{name}`: expected one of {}",
        names.join(", ")
    );
    ExitCode::from(crate::EXIT_USAGE)
}

pub(crate) fn selftest(options: &Options) -> Result<ExitCode> {
    run_named("emulator", options)
}

pub(crate) fn list() -> ExitCode {
    for (name, shows) in descriptions() {
        println!("{name:20} {shows}");
    }
    ExitCode::SUCCESS
}

/// Name and purpose of everything that can be run.
fn descriptions() -> Vec<(&'static str, &'static str)> {
    let experiments = experiments::all();
    let experiments = experiments.iter().map(|one| (one.name(), one.shows()));
    let series = series::all();
    let series = series.iter().map(|one| (one.name(), one.shows()));
    experiments.chain(series).collect()
}

fn run_named(name: &str, options: &Options) -> Result<ExitCode> {
    if let Some(series) = series::named(name) {
        return run_series(series, options);
    }
    let Some(experiment) = experiments::named(name) else {
        return Ok(unknown(name));
    };
    let backend = match options.backend {
        BackendChoice::Netem if experiment.needs_emulator() => {
            eprintln!(
                "testbed: `{name}` counts what the links drop to the packet: it needs --backend emulator"
            );
            return Ok(ExitCode::from(crate::EXIT_USAGE));
        }
        BackendChoice::Auto if experiment.needs_emulator() => BackendChoice::Emulator,
        choice => choice,
    };
    // Asked outside, where the repository and its safe.directory settings are as the user has them.
    let commit = record::commit();
    let folder = make_folder(options, "target/experiments", name)?;

    let (sandbox, ()) = Sandbox::enter(Lifetime::Attached, ())?;
    println!("{name}: {}", experiment.shows());
    for attempt in 1..=ATTEMPTS {
        let mut context = Context::new(&sandbox, options.seed, options.quick, backend, &folder);
        let outcome = experiment.run(&mut context)?;
        let manifest = Manifest {
            experiment: name.to_owned(),
            commit: commit.clone(),
            seed: options.seed,
            quick: options.quick,
            machine: Machine::describe()?,
            backend: context.used_backend().map(str::to_owned),
            parameters: experiment.parameters(),
        };
        manifest.write(&folder, &outcome)?;
        print_checks(name, &outcome.checks);
        println!("recorded in {}", folder.display());
        if outcome.passed() {
            return Ok(ExitCode::SUCCESS);
        }
        if outcome.doubts.is_empty() {
            return Ok(ExitCode::FAILURE);
        }
        println!(
            "{name}: run {attempt} of at most {ATTEMPTS} is no evidence, for the lab itself was at fault: {}",
            outcome.doubts.join("; ")
        );
    }
    Ok(ExitCode::FAILURE)
}

/// What ends in figures: recorded point by point, continued where an earlier run was interrupted.
fn run_series(mut series: Box<dyn Series>, options: &Options) -> Result<ExitCode> {
    let (name, length) = (series.name(), options.length());
    let commit = record::commit();
    let folder = make_folder(options, "target/figures", name)?;
    let (sandbox, ()) = Sandbox::enter(Lifetime::Attached, ())?;
    println!("{name}: {}", series.shows());
    let backend = options.backend.resolve()?.to_string();
    let parameters = series.parameters(length);
    let manifest = figures::Manifest::now(name, commit, options.seed, length, &backend, parameters)?;
    let mut store = Store::open(&folder, manifest)?;
    for note in store.notes() {
        println!("  {note}");
    }
    let mut context = Context::new(&sandbox, options.seed, options.quick, options.backend, &folder);
    series::run(&mut *series, &mut context, length, &mut store)?;
    let checks = series.checks(store.samples());
    if !checks.is_empty() {
        print_checks(name, &checks);
    }
    println!("recorded in {}", folder.display());
    let passed = checks.iter().all(|check| check.passed);
    Ok(if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn make_folder(options: &Options, default: &str, name: &str) -> Result<PathBuf> {
    let folder = options
        .out
        .clone()
        .unwrap_or_else(|| Path::new(default).join(name));
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let folder = folder.canonicalize()?;
    anyhow::ensure!(
        !folder.starts_with("/run"),
        "{} would vanish with the lab: choose another --out",
        folder.display()
    );
    Ok(folder)
}

fn print_checks(name: &str, checks: &[Check]) {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(["check", "measured", "expected", ""]);
    for check in checks {
        let verdict = if check.passed { "pass" } else { "FAIL" };
        table.add_row([&check.name, &check.measured, &check.expected, verdict]);
    }
    println!("{table}");
    let failed = checks.iter().filter(|check| !check.passed).count();
    match failed {
        0 => println!("{name}: all {} checks passed", checks.len()),
        failed => println!("{name}: {failed} of {} checks FAILED", checks.len()),
    }
}

/// Runs of one experiment, while the lab itself is at fault.
const ATTEMPTS: u32 = 3;
