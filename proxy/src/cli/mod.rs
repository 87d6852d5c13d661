//! What the program needs besides the proxy: exit codes and how mistakes are shown.

pub mod table;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::config::ConfigError;

/// Failure of what was asked.
pub const EXIT_FAILURE: u8 = 1;
/// The command line is wrong (`EX_USAGE` of sysexits.h).
pub const EXIT_USAGE: u8 = 64;
/// A file's contents are wrong (`EX_DATAERR`).
pub const EXIT_DATA: u8 = 65;

/// Parses the command line; help and version go to standard output with 0, a wrong line to standard error with 64.
pub fn parse<T: Parser>() -> Result<T, ExitCode> {
    T::try_parse().map_err(|error| {
        // A closed pipe is nothing to complain about.
        let _ = error.print();
        match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
            _ => ExitCode::from(EXIT_USAGE),
        }
    })
}

/// Shows what is wrong with a configuration file, and gives the exit code for it.
pub fn report(error: ConfigError) -> ExitCode {
    match error {
        ConfigError::Read { .. } => {
            eprintln!("{error}");
            ExitCode::from(EXIT_FAILURE)
        }
        ConfigError::Invalid(invalid) => {
            if std::io::IsTerminal::is_terminal(&std::io::stderr()) {
                eprintln!("{:?}", miette::Report::new(*invalid));
            } else {
                eprintln!("{invalid}");
            }
            ExitCode::from(EXIT_DATA)
        }
    }
}
