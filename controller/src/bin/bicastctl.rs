//! The client: arguments and exit codes.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use controller::api::{Client, ClientError, DEFAULT_SOCKET, ModeRequest, Request};
use controller::cli::{self, EXIT_DATA, EXIT_FAILURE, ofp, table};
use controller::policy_file;
use ofproto::Xid;

/// Ask and steer a running bicastd.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
struct Arguments {
    /// Unix socket of bicastd.
    #[arg(short, long, global = true, value_name = "PATH", default_value = DEFAULT_SOCKET)]
    socket: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Check a policy file: 0 good, 65 bad.
    Check {
        /// The file.
        file: PathBuf,
    },
    /// Show a table.
    Get {
        /// Of what.
        what: What,
        #[command(flatten)]
        output: OutputOption,
    },
    /// Show all about one thing.
    #[command(subcommand)]
    Describe(Describe),
    /// Change something until bicastd stops.
    #[command(subcommand)]
    Set(Set),
    /// Print decisions and the coming and going of switches as they happen.
    Watch {
        #[command(flatten)]
        output: OutputOption,
    },
    /// The daemon itself: version, policy file in force.
    Status {
        #[command(flatten)]
        output: OutputOption,
    },
    /// Print OpenFlow messages as `ovs-ofctl ofp-print` does: 0 all read, 65 not all.
    OfpPrint {
        /// Bytes as on the wire, hexadecimal digits, or a capture (pcap, pcapng); `-` is standard input.
        #[arg(default_value = "-")]
        file: PathBuf,
        /// TCP port that carries OpenFlow in a capture; may be given more than once.
        #[arg(short, long = "port", value_name = "PORT", default_values_t = OPENFLOW_PORTS)]
        ports: Vec<u16>,
    },
    /// Make the OpenFlow message of a specification in the syntax of `ovs-ofctl`, in hexadecimal: 0 good, 65 bad.
    OfpParse {
        /// What is specified.
        kind: ofp::Kind,
        /// E.g. `priority=10,udp,tp_dst=5001,actions=meter:1,group:1`.
        spec: String,
        /// Transaction id.
        #[arg(long, default_value_t = 1)]
        xid: u32,
    },
}

#[derive(Debug, Subcommand)]
enum Describe {
    /// A policy: class, modes, paths, latest decisions.
    Policy {
        /// Its name in the policy file.
        name: String,
        #[command(flatten)]
        output: OutputOption,
    },
}

#[derive(Debug, Subcommand)]
enum Set {
    /// Hold the mode of what a site sends, or give it back to the policy.
    Mode {
        /// The policy.
        policy: String,
        /// The sending site.
        #[arg(long, value_name = "SITE")]
        from: String,
        /// `auto`, `bicast`, `unicast`, or `unicast:PATH`.
        #[arg(value_parser = parse_mode)]
        mode: ModeRequest,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    Switches,
    Paths,
    Policies,
    Decisions,
}

#[derive(Debug, clap::Args)]
struct OutputOption {
    /// How to print.
    #[arg(short, long, value_enum, default_value = "table")]
    output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    Table,
    Json,
}

fn main() -> ExitCode {
    let arguments: Arguments = match cli::parse() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    match &arguments.command {
        Command::Check { file } => check(file),
        Command::OfpPrint { file, ports } => ofp_print(file, ports),
        Command::OfpParse { kind, spec, xid } => ofp_parse(*kind, spec, Xid(*xid)),
        command => match ask(&arguments.socket, command) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::from(EXIT_FAILURE)
            }
        },
    }
}

fn check(file: &Path) -> ExitCode {
    match policy_file::load(file) {
        Ok(_) => {
            println!("{}: good", file.display());
            ExitCode::SUCCESS
        }
        Err(error) => cli::report(error),
    }
}

fn ofp_print(file: &Path, ports: &[u16]) -> ExitCode {
    match ofp::read(file) {
        Ok(bytes) => {
            let printed = ofp::print(bytes, ports);
            print!("{}", printed.text);
            if printed.complete {
                ExitCode::SUCCESS
            } else {
                ExitCode::from(EXIT_DATA)
            }
        }
        Err(error) => {
            eprintln!("{}: {error}", file.display());
            ExitCode::from(EXIT_FAILURE)
        }
    }
}

fn ofp_parse(kind: ofp::Kind, spec: &str, xid: Xid) -> ExitCode {
    match ofp::parse(kind, spec, xid) {
        Ok(hex) => {
            println!("{hex}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(EXIT_DATA)
        }
    }
}

fn ask(socket: &Path, command: &Command) -> Result<(), ClientError> {
    let (request, output) = match command {
        // These need no daemon; `main` answers them.
        Command::Check { .. } | Command::OfpPrint { .. } | Command::OfpParse { .. } => return Ok(()),
        Command::Get { what, output } => {
            let request = match what {
                What::Switches => Request::Switches,
                What::Paths => Request::Paths,
                What::Policies => Request::Policies,
                What::Decisions => Request::Decisions { limit: 1000 },
            };
            (request, output.output)
        }
        Command::Describe(Describe::Policy { name, output }) => {
            (Request::Policy { name: name.clone() }, output.output)
        }
        Command::Set(Set::Mode { policy, from, mode }) => {
            let request = Request::SetMode {
                policy: policy.clone(),
                from: from.clone(),
                mode: mode.clone(),
            };
            (request, Output::Table)
        }
        Command::Watch { output } => (Request::Watch, output.output),
        Command::Status { output } => (Request::Status, output.output),
    };
    let mut client = Client::connect(socket)?;
    let response = client.ask(&request)?;
    if request == Request::Watch {
        loop {
            let notice = client.notice()?;
            match output {
                Output::Table => println!("{}", table::render_notice(&notice)),
                Output::Json => println!("{}", serde_json::to_string(&notice)?),
            }
        }
    }
    match output {
        Output::Table => println!("{}", table::render(&response)),
        Output::Json => println!("{}", serde_json::to_string_pretty(&response)?),
    }
    Ok(())
}

fn parse_mode(word: &str) -> Result<ModeRequest, String> {
    match word.split_once(':') {
        None if word == "auto" => Ok(ModeRequest::Auto),
        None if word == "bicast" => Ok(ModeRequest::Bicast),
        None if word == "unicast" => Ok(ModeRequest::Unicast { path: None }),
        Some(("unicast", path)) if !path.is_empty() => Ok(ModeRequest::Unicast {
            path: Some(path.to_owned()),
        }),
        _ => Err("expected `auto`, `bicast`, `unicast` or `unicast:PATH`".to_owned()),
    }
}

/// The one that IANA has registered, and the one in use before.
const OPENFLOW_PORTS: [u16; 2] = [6653, 6633];
