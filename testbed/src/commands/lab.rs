//! `testbed lab up|inspect|set|carrier|exec|down`.

use anyhow::Result;
use clap::{Subcommand, ValueEnum};
use comfy_table::{CellAlignment, Table, presets};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use testbed::lab::control::{self, Request, Response, State};
use testbed::lab::{BackendChoice, Forwarding, Lab, LabOptions, LinkName, default_links, enter};
use testbed::link::Direction;
use testbed::process;
use testbed::sandbox::{Lifetime, Sandbox};
use testbed::switch::Datapath;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start a lab; it lives until this command ends, or with --detach until `lab down`
    Up {
        #[command(flatten)]
        name: Name,
        /// Return as soon as the lab is ready
        #[arg(long)]
        detach: bool,
        /// What emulates the links
        #[arg(long, value_enum, default_value_t)]
        backend: BackendChoice,
        /// What forwards in the bridges
        #[arg(long, value_enum, default_value = "netdev")]
        datapath: DatapathChoice,
        /// Seed of the links' random numbers
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Forward by static flows instead of waiting for a controller
        #[arg(long, value_enum)]
        forward: Option<ForwardChoice>,
        /// Run bicastd in the namespace `control` with this policy file
        #[arg(long, value_name = "FILE", conflicts_with = "forward")]
        policy: Option<PathBuf>,
    },
    /// Show a lab: links and what they did to packets, switches, the lab's own faults
    Inspect {
        #[command(flatten)]
        name: Name,
        /// How to print it
        #[arg(short, long, value_enum, default_value = "table")]
        output: Output,
    },
    /// Change a link: rate=100mbit delay=5ms jitter=1ms loss=5% loss=ge:1%,25% queue=125000 seed=1
    Set {
        #[command(flatten)]
        name: Name,
        /// a or b
        link: String,
        /// client-to-server, server-to-client or both
        direction: String,
        /// What to change
        #[arg(required = true, value_name = "KEY=VALUE")]
        changes: Vec<String>,
    },
    /// Pull the cable of a site's uplink, or plug it in again
    Carrier {
        #[command(flatten)]
        name: Name,
        /// client or server
        site: String,
        /// a or b
        uplink: String,
        /// up or down
        #[arg(value_enum)]
        state: CarrierState,
    },
    /// Run a command in a namespace of the lab
    Exec {
        #[command(flatten)]
        name: Name,
        /// client-host, client, a-client, b-client, a-server, b-server, server, server-host or control
        namespace: String,
        /// The command and its arguments
        #[arg(last = true, required = true)]
        command: Vec<OsString>,
    },
    /// End a lab
    Down {
        #[command(flatten)]
        name: Name,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Name {
    /// The lab's name
    #[arg(long, default_value = "lab")]
    name: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum DatapathChoice {
    Netdev,
    System,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ForwardChoice {
    A,
    B,
    Bicast,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum CarrierState {
    Up,
    Down,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Output {
    Table,
    Json,
}

pub(crate) fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Up {
            name,
            detach,
            backend,
            datapath,
            seed,
            forward,
            policy,
        } => {
            let forwarding = forward.map(|choice| match choice {
                ForwardChoice::A => Forwarding::Unicast(LinkName::A),
                ForwardChoice::B => Forwarding::Unicast(LinkName::B),
                ForwardChoice::Bicast => Forwarding::Bicast,
            });
            let options = LabOptions {
                backend,
                datapath: match datapath {
                    DatapathChoice::Netdev => Datapath::Netdev,
                    DatapathChoice::System => Datapath::System,
                },
                links: default_links(seed),
                controller: forwarding.is_none(),
                static_neighbours: forwarding.is_some(),
                ..LabOptions::default()
            };
            up(&name.name, detach, options, forwarding, policy.as_deref())
        }
        Command::Inspect { name, output } => {
            let state = inspect(&name.name)?;
            match output {
                Output::Json => println!("{}", serde_json::to_string_pretty(&state)?),
                Output::Table => print_state(&name.name, &state),
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Set {
            name,
            link,
            direction,
            changes,
        } => {
            let direction = match direction.as_str() {
                "both" => None,
                one => Some(one.parse::<Direction>().map_err(anyhow::Error::msg)?),
            };
            control::ask(
                &name.name,
                &Request::Set {
                    link,
                    direction,
                    changes,
                },
            )?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Carrier {
            name,
            site,
            uplink,
            state,
        } => {
            let up = matches!(state, CarrierState::Up);
            control::ask(&name.name, &Request::Carrier { site, uplink, up })?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Exec {
            name,
            namespace,
            command,
        } => {
            let code = enter::exec(inspect(&name.name)?.init_pid, &namespace, &command)?;
            Ok(u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from))
        }
        Command::Down { name } => {
            let init = process::open(inspect(&name.name)?.init_pid)?;
            control::ask(&name.name, &Request::Down)?;
            process::wait_for_end(&init)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn up(
    name: &str,
    detach: bool,
    options: LabOptions,
    forwarding: Option<Forwarding>,
    policy: Option<&Path>,
) -> Result<ExitCode> {
    let listener = control::bind(name)?;
    let lifetime = if detach {
        Lifetime::Detached
    } else {
        Lifetime::Attached
    };
    let (mut sandbox, listener) = Sandbox::enter(lifetime, listener)?;
    let lab = Lab::start(&sandbox, options)?;
    if let Some(forwarding) = forwarding {
        lab.forward_statically(forwarding)?;
    }
    let controller = policy
        .map(|policy| lab.spawn_controller(policy, &[]))
        .transpose()?;
    println!(
        "lab `{name}` is up: links by {}, datapath {:?}",
        lab.backend(),
        lab.datapath()
    );
    if !lab.realtime() {
        println!("the emulator runs without real-time priority: expect it to be late");
    }
    if let Some(controller) = &controller {
        println!(
            "bicastd runs in `control`; its log is {} inside the lab",
            controller.log().display()
        );
    }
    sandbox.detach()?;
    control::serve(&lab, &sandbox, &listener)?;
    Ok(ExitCode::SUCCESS)
}

fn inspect(name: &str) -> Result<State> {
    match control::ask(name, &Request::Inspect)? {
        Response::State(state) => Ok(*state),
        other => anyhow::bail!("the lab answered {other:?}"),
    }
}

fn print_state(name: &str, state: &State) {
    println!(
        "lab `{name}`: links by {}, datapath {:?}",
        state.backend, state.datapath
    );
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header([
        "link",
        "direction",
        "does",
        "received",
        "forwarded",
        "lost",
        "overflowed",
        "on the link",
    ]);
    for link in &state.links {
        let total = &link.counters.total;
        table.add_row([
            link.link.as_str().to_owned(),
            link.direction.to_string(),
            link.spec.to_string(),
            total.received.to_string(),
            total.forwarded.to_string(),
            total.lost.to_string(),
            total.overflowed.to_string(),
            total.in_flight().to_string(),
        ]);
    }
    for column in table.column_iter_mut().skip(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    println!("{table}");
    for switch in &state.switches {
        match switch.cpu_seconds {
            Some(cpu) => println!(
                "{} at {}: ovs-vswitchd has used {cpu:.2} s of a processor",
                switch.bridge, switch.site
            ),
            None => println!("{} at {}: ovs-vswitchd is down", switch.bridge, switch.site),
        }
    }
    if let Some(emulator) = &state.health.emulator {
        let lateness = emulator.lateness;
        println!(
            "emulator: {} packets, late by {:?} (median), {:?} (99 %), {:?} (worst)",
            lateness.packets, lateness.median, lateness.p99, lateness.max
        );
    }
    let problems = state.health.problems();
    if problems.is_empty() {
        println!("the lab itself lost nothing");
    }
    problems.iter().for_each(|problem| println!("PROBLEM: {problem}"));
}
