//! Talking to a running lab from outside: JSON lines over an abstract Unix socket `@bicast-lab/NAME`.
//!
//! The socket is bound in the network namespace of whoever started the lab and held open by the lab process
//! alone. It therefore vanishes in the moment in which the lab ends, however it ends; and as long as it is
//! there, no second lab can take the same name.

use super::{Backend, Lab, LabHealth, LinkName, topology};
use crate::link::{Counters, Direction, LinkSpec};
use crate::process::Usage;
use crate::sandbox::Sandbox;
use crate::switch::Datapath;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

/// What can be asked of a lab.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// Everything about it.
    Inspect,
    /// Change a link, in one direction or in both.
    Set {
        /// `a` or `b`.
        link: String,
        /// `None`: both.
        direction: Option<Direction>,
        /// `key=value` each.
        changes: Vec<String>,
    },
    /// Take the carrier of an uplink away or give it back.
    Carrier {
        /// `client` or `server`.
        site: String,
        /// `a` or `b`.
        uplink: String,
        /// Give it back.
        up: bool,
    },
    /// End.
    Down,
}

/// What a lab answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Response {
    /// Done.
    Done,
    /// Refused, with the reason.
    Failed(String),
    /// The answer to [`Request::Inspect`].
    State(Box<State>),
}

/// Everything about a lab.
#[derive(Debug, Serialize, Deserialize)]
pub struct State {
    /// Process id of its init process, as the outside sees it.
    pub init_pid: u32,
    /// What emulates the links.
    pub backend: Backend,
    /// What forwards in the bridges.
    pub datapath: Datapath,
    /// Its network namespaces.
    pub namespaces: Vec<String>,
    /// The links, each in both directions.
    pub links: Vec<LinkState>,
    /// The switches.
    pub switches: Vec<SwitchState>,
    /// What the lab itself did to packets.
    pub health: LabHealth,
}

/// One direction of a link.
#[derive(Debug, Serialize, Deserialize)]
pub struct LinkState {
    /// Which link.
    pub link: LinkName,
    /// Which direction.
    pub direction: Direction,
    /// What it does.
    pub spec: LinkSpec,
    /// What it has done.
    pub counters: Counters,
}

/// One switch.
#[derive(Debug, Serialize, Deserialize)]
pub struct SwitchState {
    /// Its site.
    pub site: String,
    /// Its bridge.
    pub bridge: String,
    /// Seconds of processor time that `ovs-vswitchd` has used; `None` while it is down.
    pub cpu_seconds: Option<f64>,
}

/// Takes the name `name` for a lab. To be done before the sandbox is entered.
///
/// # Errors
/// When a lab of that name runs.
pub fn bind(name: &str) -> Result<UnixListener> {
    match UnixListener::bind_addr(&address(name)?) {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            bail!("a lab named `{name}` runs already: end it with `testbed lab down --name {name}`")
        }
        Err(error) => Err(error).context("cannot take the lab's name"),
    }
}

/// Answers requests until the lab is told to end.
///
/// # Errors
/// When the socket breaks.
pub fn serve(lab: &Lab, sandbox: &Sandbox, listener: &UnixListener) -> Result<()> {
    loop {
        let (stream, _) = listener.accept()?;
        // One short exchange per connection; whoever keeps silent is dropped.
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        let mut line = String::new();
        let Ok(1..) = BufReader::new(&stream).read_line(&mut line) else {
            continue;
        };
        let request = serde_json::from_str(&line);
        let ends = matches!(request, Ok(Request::Down));
        let response = request
            .map_err(anyhow::Error::from)
            .and_then(|request| answer(lab, sandbox, request));
        let response = response.unwrap_or_else(|error| Response::Failed(format!("{error:#}")));
        // Whoever went away before the answer has no use for it.
        let _ = writeln!(&stream, "{}", serde_json::to_string(&response)?);
        if ends {
            return Ok(());
        }
    }
}

/// Asks the lab `name`.
///
/// # Errors
/// When no such lab runs, or it refuses.
pub fn ask(name: &str, request: &Request) -> Result<Response> {
    let stream = UnixStream::connect_addr(&address(name)?)
        .with_context(|| format!("no lab named `{name}` runs: start one with `testbed lab up`"))?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    writeln!(&stream, "{}", serde_json::to_string(request)?)?;
    let mut line = String::new();
    BufReader::new(&stream)
        .read_line(&mut line)
        .context("the lab does not answer")?;
    match serde_json::from_str(&line).context("the lab ended before it answered")? {
        Response::Failed(reason) => bail!(reason),
        response => Ok(response),
    }
}

/// Names of the labs that run.
///
/// # Errors
/// When /proc cannot be read.
pub fn running() -> Result<Vec<String>> {
    let sockets = std::fs::read_to_string("/proc/net/unix")?;
    let mut names: Vec<String> = sockets
        .lines()
        .filter_map(|line| {
            line.split_whitespace()
                .nth(7)?
                .strip_prefix('@')?
                .strip_prefix(PREFIX)
        })
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    Ok(names)
}

fn answer(lab: &Lab, sandbox: &Sandbox, request: Request) -> Result<Response> {
    match request {
        Request::Inspect => Ok(Response::State(Box::new(state(lab, sandbox)?))),
        Request::Set {
            link,
            direction,
            changes,
        } => {
            for direction in direction.map_or(Direction::ALL.to_vec(), |direction| vec![direction]) {
                lab.link(&link, direction)?.change(&changes)?;
            }
            Ok(Response::Done)
        }
        Request::Carrier { site, uplink, up } => {
            lab.set_carrier(&site, &uplink, up)?;
            Ok(Response::Done)
        }
        Request::Down => Ok(Response::Done),
    }
}

fn state(lab: &Lab, sandbox: &Sandbox) -> Result<State> {
    let mut links = Vec::new();
    for link in LinkName::ALL {
        for direction in Direction::ALL {
            let handle = lab.link(link.as_str(), direction)?;
            links.push(LinkState {
                link,
                direction,
                spec: handle.spec()?,
                counters: handle.counters()?,
            });
        }
    }
    let mut switches = Vec::new();
    for site in topology::Site::ALL {
        let switch = lab.site(site.name())?;
        let cpu_seconds = switch.usage().ok().map(|usage: Usage| usage.cpu.as_secs_f64());
        switches.push(SwitchState {
            site: site.name().to_owned(),
            bridge: switch.bridge().to_owned(),
            cpu_seconds,
        });
    }
    Ok(State {
        init_pid: sandbox.init_pid(),
        backend: lab.backend(),
        datapath: lab.datapath(),
        namespaces: topology::NAMESPACES.map(str::to_owned).to_vec(),
        links,
        switches,
        health: lab.self_check()?,
    })
}

fn address(name: &str) -> Result<SocketAddr> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if name.is_empty() || name.len() > 40 || !name.bytes().all(plain) {
        bail!("`{name}` is no name for a lab: expected up to 40 letters, digits, - and _");
    }
    Ok(SocketAddr::from_abstract_name(format!("{PREFIX}{name}"))?)
}

const PREFIX: &str = "bicast-lab/";
