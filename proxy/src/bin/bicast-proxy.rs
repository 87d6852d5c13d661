//! The program: arguments and exit codes.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Parser, Subcommand, ValueEnum};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use proxy::cli::{self, EXIT_FAILURE, EXIT_USAGE, table};
use proxy::{Config, PrivateKey, Proxy, config, stats};
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

/// Carry TCP and UDP to another bicast-proxy inside QUIC.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run until SIGINT or SIGTERM. At SIGHUP the configuration is read again.
    Run {
        /// Configuration file (YAML).
        #[arg(short, long, value_name = "FILE")]
        config: PathBuf,
        /// Format of the log, which goes to standard error.
        #[arg(long, value_enum, default_value = "text")]
        log_format: LogFormat,
        /// What to log, as for tracing's EnvFilter: `info`, `debug`, `proxy=trace` …
        #[arg(long, env = "BICAST_PROXY_LOG", default_value = "info")]
        log: String,
    },
    /// Check a configuration file: 0 good, 65 bad.
    Check {
        /// The file.
        file: PathBuf,
    },
    /// Make a key: the private one goes to a file, the public one to standard output. For a file that exists, only
    /// show its public key.
    Keygen {
        /// The private key's file.
        file: PathBuf,
    },
    /// Show what a running proxy counts.
    Stats {
        /// Its Unix socket.
        #[arg(short, long, value_name = "PATH", default_value = config::DEFAULT_SOCKET)]
        socket: PathBuf,
        /// Again every second.
        #[arg(short, long)]
        watch: bool,
        /// How to print.
        #[arg(short, long, value_enum, default_value = "table")]
        output: Output,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Output {
    Table,
    Json,
}

fn main() -> ExitCode {
    let arguments: Arguments = match cli::parse() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let result = match arguments.command {
        Command::Run {
            config,
            log_format,
            log,
        } => {
            let file = config;
            let config = match config::load(&file) {
                Ok(config) => config,
                Err(error) => return cli::report(error),
            };
            if let Err(error) = start_log(&log, log_format) {
                eprintln!("--log {log}: {error}");
                return ExitCode::from(EXIT_USAGE);
            }
            run(config, &file)
        }
        Command::Check { file } => match config::load(&file) {
            Ok(_) => {
                println!("{}: good", file.display());
                Ok(())
            }
            Err(error) => return cli::report(error),
        },
        Command::Keygen { file } => keygen(&file),
        Command::Stats {
            socket,
            watch,
            output,
        } => show(&socket, watch, output),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::from(EXIT_FAILURE)
        }
    }
}

fn start_log(log: &str, format: LogFormat) -> Result<(), tracing_subscriber::filter::ParseError> {
    let log = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::try_new(log)?)
        .with_writer(std::io::stderr)
        .with_target(false);
    match format {
        LogFormat::Text => log
            .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
            .init(),
        LogFormat::Json => log.json().init(),
    }
    Ok(())
}

fn run(config: Config, file: &Path) -> anyhow::Result<()> {
    let key = PrivateKey::read(&config.key)?;
    allow_files();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let mut hang_up = signal(SignalKind::hangup())?;
        let public = key.public();
        let mut proxy = Proxy::start(config, key).await?;
        tracing::info!(key = %public, "running");
        loop {
            tokio::select! {
                _ = interrupt.recv() => break,
                _ = terminate.recv() => break,
                // What is wrong with it is in the log.
                _ = hang_up.recv() => drop(proxy.reload(file).await),
            }
        }
        tracing::info!("stopping");
        proxy.shutdown().await;
        Ok(())
    })
}

/// A stream is a file at each side: as many as the system lets us have.
fn allow_files() {
    let limit = getrlimit(Resource::RLIMIT_NOFILE);
    let raised = limit.and_then(|(_, most)| setrlimit(Resource::RLIMIT_NOFILE, most, most));
    if let Err(error) = raised {
        tracing::warn!(%error, "the limit of open files stays as it is");
    }
}

fn keygen(file: &Path) -> anyhow::Result<()> {
    let key = match PrivateKey::read(file) {
        Ok(key) => key,
        Err(_) if !file.exists() => {
            let key = PrivateKey::generate()?;
            let mut options = std::fs::OpenOptions::new();
            let created = options.write(true).create_new(true).mode(0o600).open(file);
            let mut created = created.with_context(|| format!("cannot make {}", file.display()))?;
            writeln!(created, "{}", key.to_text())?;
            key
        }
        Err(error) => return Err(error.into()),
    };
    println!("{}", key.public());
    Ok(())
}

fn show(socket: &Path, watch: bool, output: Output) -> anyhow::Result<()> {
    loop {
        let stats = stats::ask(socket)?;
        let text = match output {
            Output::Table => table::render(&stats),
            Output::Json => serde_json::to_string(&stats)?,
        };
        let mut out = std::io::stdout().lock();
        if watch && matches!(output, Output::Table) && std::io::IsTerminal::is_terminal(&out) {
            write!(out, "\x1b[H\x1b[2J")?;
        }
        writeln!(out, "{text}")?;
        if !watch {
            return Ok(());
        }
        drop(out);
        std::thread::sleep(Duration::from_secs(1));
    }
}
