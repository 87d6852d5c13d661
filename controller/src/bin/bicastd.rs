//! The daemon: arguments and exit codes.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use controller::cli::{self, EXIT_FAILURE};
use controller::{policy_file, tasks};
use tracing_subscriber::EnvFilter;

/// OpenFlow controller that sends each packet of a class on one uplink or on two, by measured loss.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
struct Arguments {
    /// Policy file (YAML). Read again on SIGHUP and when it changes.
    #[arg(short, long, value_name = "FILE")]
    config: PathBuf,
    /// Address at which switches connect.
    #[arg(short, long, value_name = "ADDRESS", default_value = "0.0.0.0:6653")]
    listen: SocketAddr,
    /// Unix socket of the API, for bicastctl.
    #[arg(short, long, value_name = "PATH", default_value = controller::api::DEFAULT_SOCKET)]
    socket: PathBuf,
    /// Unix socket at which proxies report; `report.sock` beside the API's unless given.
    #[arg(long, value_name = "PATH")]
    report_socket: Option<PathBuf>,
    /// Address at which proxies report over TCP; off unless given. Anyone who reaches it can report.
    #[arg(long, value_name = "ADDRESS")]
    report_listen: Option<SocketAddr>,
    /// Check the policy file and exit: 0 good, 65 bad.
    #[arg(long)]
    check_config: bool,
    /// Format of the log, which goes to standard error.
    #[arg(long, value_enum, default_value = "text")]
    log_format: LogFormat,
    /// What to log, as for tracing's EnvFilter: `info`, `debug`, `controller=trace` …
    #[arg(long, env = "BICASTD_LOG", default_value = "info")]
    log: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

fn main() -> ExitCode {
    let arguments: Arguments = match cli::parse() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let policies = match policy_file::load(&arguments.config) {
        Ok(policies) => policies,
        Err(error) => return cli::report(error),
    };
    if arguments.check_config {
        println!("{}: good", arguments.config.display());
        return ExitCode::SUCCESS;
    }
    let filter = match EnvFilter::try_new(&arguments.log) {
        Ok(filter) => filter,
        Err(error) => {
            eprintln!("--log {}: {error}", arguments.log);
            return ExitCode::from(cli::EXIT_USAGE);
        }
    };
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false);
    match arguments.log_format {
        LogFormat::Text => log
            .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
            .init(),
        LogFormat::Json => log.json().init(),
    }
    let beside_the_api = arguments.socket.with_file_name(controller::api::REPORT_SOCKET);
    let options = tasks::Options {
        policy_file: arguments.config,
        listen: arguments.listen,
        socket: arguments.socket,
        report_socket: arguments.report_socket.unwrap_or(beside_the_api),
        report_listen: arguments.report_listen,
    };
    // One thread carries the sockets of thousands of switches; the core is one task anyway.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = runtime
        .map_err(Into::into)
        .and_then(|runtime| runtime.block_on(tasks::run(options, policies)));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::from(EXIT_FAILURE)
        }
    }
}
