//! `testbed`: labs, experiments and what cleans up after them.

mod commands;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Labs in network namespaces with real Open vSwitch, emulated links and experiments.
#[derive(Debug, Parser)]
#[command(name = "testbed", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start, inspect, change, enter and end a lab.
    #[command(subcommand)]
    Lab(commands::lab::Command),
    /// Run an experiment; exits with 1 when one of its checks fails
    Run(commands::run::Arguments),
    /// List the experiments
    List,
    /// Draw figures from recordings, as SVG and PNG
    Plot(commands::report::Arguments),
    /// Draw figures from recordings and make one page of them, with published numbers beside ours
    Report(commands::report::Arguments),
    /// Check that the emulated links do what they are told: the experiment `emulator`
    Selftest(commands::run::Options),
    /// The main job on real bridges: unicast, bicast and adaptive side by side
    Demo(commands::demo::Arguments),
    /// Record what a real bridge and ovs-ofctl say to each other, for the tests of the codec
    RecordVectors(commands::record_vectors::Arguments),
    /// Remove what labs have left behind and list it.
    Clean(commands::clean::Arguments),
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Nothing can be done about a closed terminal.
            let _ = error.print();
            return if error.use_stderr() {
                ExitCode::from(EXIT_USAGE)
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    let result = match arguments.command {
        Command::Lab(command) => commands::lab::run(command),
        Command::Run(arguments) => commands::run::run(&arguments),
        Command::List => Ok(commands::run::list()),
        Command::Plot(arguments) => commands::report::plot(&arguments),
        Command::Report(arguments) => commands::report::report(&arguments),
        Command::Selftest(options) => commands::run::selftest(&options),
        Command::Demo(arguments) => commands::demo::run(&arguments),
        Command::RecordVectors(arguments) => commands::record_vectors::run(&arguments),
        Command::Clean(arguments) => commands::clean::run(&arguments),
    };
    result.unwrap_or_else(|error| {
        eprintln!("testbed: {error:#}");
        ExitCode::FAILURE
    })
}

/// `EX_USAGE` of sysexits.h.
const EXIT_USAGE: u8 = 64;
