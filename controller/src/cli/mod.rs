//! What both programs share: exit codes and how errors are shown.

pub mod ofp;
mod ofp_capture;
mod ofp_conversation;
mod ofp_streams;
pub mod table;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::policy_file::PolicyFileError;

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

/// Shows what is wrong with a policy file, and gives the exit code for it.
pub fn report(error: PolicyFileError) -> ExitCode {
    match error {
        PolicyFileError::Read { .. } => {
            eprintln!("{error}");
            ExitCode::from(EXIT_FAILURE)
        }
        PolicyFileError::Invalid(invalid) => {
            if std::io::IsTerminal::is_terminal(&std::io::stderr()) {
                eprintln!("{:?}", miette::Report::new(*invalid));
            } else {
                eprintln!("{invalid}");
            }
            ExitCode::from(EXIT_DATA)
        }
    }
}
