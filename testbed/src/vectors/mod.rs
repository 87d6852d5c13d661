//! Records what a real bridge and `ovs-ofctl` say to each other: the vectors that the codec is tested with.
//!
//! ```text
//! ovs-ofctl, scripted client ──▶ wiretap ──▶ ovs-vswitchd      each message: bytes (.bin) and what
//!                                  │                           ovs-ofctl ofp-print says (.txt)
//!                                  └──▶ stable ──▶ folder
//! ```

mod script;
mod stable;
mod wiretap;

use crate::netns::Netns;
use crate::openflow::Client;
use crate::process;
use crate::sandbox::Sandbox;
use crate::switch::{Datapath, Switch, SwitchPlan};
use crate::veth::{self, End};
use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;
use wiretap::{Direction, Wiretap};

/// Starts a bridge, plays the script and writes each message that is not there yet to `folder`; returns how many.
///
/// # Errors
/// When Open vSwitch does not do what the script expects of it.
pub fn record(_inside: &Sandbox, folder: &Path) -> Result<usize> {
    let netns = Netns::create("vectors")?;
    for port in 1..=PORTS {
        let (inner, outer) = (format!("p{port}"), format!("x{port}"));
        let [inner_mac, outer_mac] = ["00", "01"].map(|end| format!("02:00:00:00:{end}:0{port}"));
        let end = |device, mac| End {
            netns: &netns,
            device,
            mac,
        };
        veth::connect(end(&inner, &inner_mac), end(&outer, &outer_mac))?;
    }
    let plan = SwitchPlan {
        bridge: "br0".to_owned(),
        datapath_id: "00000000000000b1".to_owned(),
        // The last one is added by the script.
        ports: (1..PORTS).map(|port| format!("p{port}")).collect(),
        controller: None,
    };
    let switch = Switch::start(&netns, plan, Datapath::Netdev)?;
    switch.vsctl(&["set", "bridge", "br0", "other-config:hwaddr=02:00:00:00:00:b1"])?;
    let wiretap = Wiretap::listen(
        &switch.folder().join("wiretap"),
        &switch.folder().join("br0.mgmt"),
    )?;
    let mut recorder = Recorder {
        switch: &switch,
        wiretap,
        open: 0,
        recorded: vec![],
        known: HashSet::new(),
    };
    script::play(&mut recorder)?;
    recorder.write(folder)?;
    Ok(recorder.recorded.len())
}

/// A message of the recording.
struct Recorded {
    /// What the script was doing, in words that fit a file name.
    label: String,
    /// The same as a command.
    command: String,
    direction: Direction,
    frame: Bytes,
}

/// Does things with the bridge and keeps what is said.
struct Recorder<'a> {
    switch: &'a Switch,
    wiretap: Wiretap,
    /// Scripted clients that are connected.
    open: usize,
    recorded: Vec<Recorded>,
    /// Messages without their transaction ids: whatever has been said before is not recorded again.
    known: HashSet<(Direction, Vec<u8>)>,
}

impl Recorder<'_> {
    /// Runs `ovs-ofctl VERB BRIDGE …`.
    fn ofctl(&mut self, label: &str, verb_and_arguments: &[&str]) -> Result<()> {
        self.ofctl_with(label, verb_and_arguments, "")
    }

    /// As [`ofctl`](Self::ofctl) with these lines as the file `-`.
    fn ofctl_with(&mut self, label: &str, verb_and_arguments: &[&str], lines: &str) -> Result<()> {
        self.run(verb_and_arguments, lines)?;
        self.keep(label, &words(verb_and_arguments, lines))
    }

    /// Runs `ovs-ofctl` and keeps nothing yet: the bridge will say more.
    fn run(&self, verb_and_arguments: &[&str], lines: &str) -> Result<()> {
        process::run_with_input(&mut self.ofctl_command(verb_and_arguments)?, lines)
    }

    /// As [`ofctl`](Self::ofctl), for what the bridge refuses.
    fn refused(&mut self, label: &str, verb_and_arguments: &[&str]) -> Result<()> {
        self.refused_with(label, verb_and_arguments, "")
    }

    /// As [`ofctl_with`](Self::ofctl_with), for what the bridge refuses.
    fn refused_with(&mut self, label: &str, verb_and_arguments: &[&str], lines: &str) -> Result<()> {
        let outcome = process::run_with_input(&mut self.ofctl_command(verb_and_arguments)?, lines);
        ensure!(
            outcome.is_err(),
            "Open vSwitch takes `{}`",
            words(verb_and_arguments, lines)
        );
        self.keep(label, &words(verb_and_arguments, lines))
    }

    fn ofctl_command(&self, verb_and_arguments: &[&str]) -> Result<std::process::Command> {
        let verb = verb_and_arguments.iter().position(|word| !word.starts_with("--"));
        let (before, arguments) = verb_and_arguments.split_at(verb.context("no command")? + 1);
        let mut command = process::command("ovs-ofctl");
        // Without names it does not first ask for the features of all tables.
        command
            .args(["-O", "OpenFlow13", "--no-names"])
            .args(before)
            .arg(format!("unix:{}", self.wiretap.path().display()))
            .args(arguments);
        Ok(command)
    }

    /// A scripted client, connected until [`hang_up`](Self::hang_up).
    fn connect(&mut self) -> Result<Client> {
        let client = Client::connect(self.wiretap.path())?;
        self.open += 1;
        Ok(client)
    }

    /// Ends a scripted client's connection.
    fn hang_up(&mut self, client: Client) {
        drop(client);
        self.open -= 1;
    }

    /// Keeps what was said since the last time.
    fn keep(&mut self, label: &str, command: &str) -> Result<()> {
        for overheard in self.wiretap.take(self.open)? {
            let frame = stable::stable(overheard.direction, &overheard.frame)
                .with_context(|| format!("in `{label}`"))?;
            let content = stable::content(&frame);
            if self.known.insert((overheard.direction, content)) {
                self.recorded.push(Recorded {
                    label: label.to_owned(),
                    command: command.to_owned(),
                    direction: overheard.direction,
                    frame,
                });
            }
        }
        Ok(())
    }

    /// Replaces the recording in a folder.
    fn write(&self, folder: &Path) -> Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let extension = path.extension().unwrap_or_default();
            if extension == "bin" || extension == "txt" {
                std::fs::remove_file(path)?;
            }
        }
        let mut index = format!(
            "# What Open vSwitch says\n\nRecorded by `testbed record-vectors` with {}. Each message is there as bytes \
             (`.bin`) and as\n`ovs-ofctl ofp-print` prints it (`.txt`); what was said before is not recorded again. \
             `c2s` is to the switch, `s2c` from\nit, `t14` the message type. Replaced, so that recording again gives \
             the same:\n\n{}\n| file | made by | bytes |\n|---|---|---|\n",
            version()?,
            stable::REPLACED
        );
        for (number, recorded) in self.recorded.iter().enumerate() {
            let way = match recorded.direction {
                Direction::ToSwitch => "c2s",
                Direction::FromSwitch => "s2c",
            };
            let type_ = recorded.frame.get(1).copied().unwrap_or_default();
            let name = format!("{number:03}-{}-{way}-t{type_:02}", recorded.label);
            let hex = hex(&recorded.frame);
            let text = process::run(process::command("ovs-ofctl").args(["ofp-print", &hex]))?;
            std::fs::write(folder.join(format!("{name}.bin")), &recorded.frame)?;
            std::fs::write(folder.join(format!("{name}.txt")), text)?;
            let shown = match hex.get(..SHOWN) {
                Some(beginning) if hex.len() > SHOWN => format!("`{beginning}`… ({})", recorded.frame.len()),
                _ => format!("`{hex}`"),
            };
            let command = recorded.command.replace('|', "\\|");
            writeln!(index, "| {name} | `{command}` | {shown} |")?;
        }
        std::fs::write(folder.join("README.md"), index)?;
        Ok(())
    }
}

fn words(verb_and_arguments: &[&str], lines: &str) -> String {
    let command = verb_and_arguments.join(" ");
    let lines: Vec<_> = lines.lines().collect();
    match lines.as_slice() {
        [] => command,
        lines => format!("{command}: {}", lines.join("; ")),
    }
}

fn version() -> Result<String> {
    let said = process::run(process::command("ovs-vswitchd").arg("--version"))?;
    Ok(said.lines().next().unwrap_or_default().to_owned())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Devices that the bridge has or gets as ports.
const PORTS: u32 = 3;
/// Hexadecimal digits of a message that the index shows.
const SHOWN: usize = 320;
