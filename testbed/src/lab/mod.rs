//! A running lab, inside its sandbox.

pub mod control;
mod controller;
pub mod enter;
mod far_server;
mod forwarding;
mod health;
mod links;
mod multihomed;
mod promptness;
mod proxies;
mod proxy;
pub mod topology;
mod trace;

pub use controller::Controller;
pub use far_server::{FAR_SERVER, FAR_SERVER_ADDRESS};
pub use forwarding::Forwarding;
pub use health::{DeviceDrops, LabHealth};
pub use links::{Backend, BackendChoice, LinkSpecs};
pub use multihomed::{MULTIHOMED_CLIENT, MULTIHOMED_SERVER, multihomed_address};
pub use promptness::Promptness;
pub use proxies::{
    Copies, FORWARD_PORT, HTTP_PORT, PATH_B_PORT, PROXY_POLICY, Proxies, ProxyPlan, QUIC_PORT,
};
pub use proxy::ProxyProgram;
pub use topology::Site;
pub use trace::{Trace, TracePoint};

use crate::link::{ClassKey, Counters, Direction, LinkSpec};
use crate::netns::Netns;
use crate::process;
use crate::sandbox::Sandbox;
use crate::switch::{self, Datapath, Switch};
use anyhow::{Context, Result, bail, ensure};
use links::Links;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// One of the two links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkName {
    /// Link `a`.
    A,
    /// Link `b`.
    B,
}

impl LinkName {
    /// Both links.
    pub const ALL: [LinkName; 2] = [LinkName::A, LinkName::B];

    /// The link of this name.
    pub fn named(name: &str) -> Option<LinkName> {
        LinkName::ALL.into_iter().find(|link| link.as_str() == name)
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            LinkName::A => "a",
            LinkName::B => "b",
        }
    }

    /// Position in arrays that hold one entry per link, in the order of [`LinkName::ALL`].
    pub fn index(self) -> usize {
        match self {
            LinkName::A => 0,
            LinkName::B => 1,
        }
    }

    fn letter(self) -> char {
        match self {
            LinkName::A => 'a',
            LinkName::B => 'b',
        }
    }

    fn number(self) -> usize {
        self.index() + 1
    }
}

/// What a lab is made from.
#[derive(Debug, Clone)]
pub struct LabOptions {
    /// How the links are emulated.
    pub backend: BackendChoice,
    /// How the bridges forward.
    pub datapath: Datapath,
    /// What the links do.
    pub links: LinkSpecs,
    /// Whether the switches are told where their controller is.
    pub controller: bool,
    /// Whether hosts and routers know the MAC addresses of gateways and sites without asking: for labs
    /// without a controller, which would answer.
    pub static_neighbours: bool,
    /// Round trip between the server's host and one more server behind it, [`FAR_SERVER`]; `None`: there is none.
    pub far_server: Option<Duration>,
    /// Folder for logs of programs that an experiment wants to keep.
    pub folder: PathBuf,
}

impl Default for LabOptions {
    /// 100 Mbit/s each, link `a` with 5 ms and link `b` with 7 ms of delay per direction, no loss, for a
    /// controller that is yet to come.
    fn default() -> Self {
        LabOptions {
            backend: BackendChoice::Auto,
            datapath: Datapath::Netdev,
            links: default_links(1),
            controller: true,
            static_neighbours: false,
            far_server: None,
            folder: PathBuf::from("/run/lab"),
        }
    }
}

/// The links of [`LabOptions::default`] with seeds that follow from `seed` and differ from one another.
pub fn default_links(seed: u64) -> LinkSpecs {
    LinkName::ALL.map(|link| {
        Direction::ALL.map(|direction| LinkSpec {
            delay: Duration::from_millis(if link == LinkName::A { 5 } else { 7 }),
            seed: seed
                .wrapping_mul(4)
                .wrapping_add((2 * link.index() + direction.index()) as u64),
            ..LinkSpec::default()
        })
    })
}

/// A running lab. Dropping it ends its programs and frees its names.
#[derive(Debug)]
pub struct Lab {
    // Dropped in this order: the switches let go of their ports before these vanish.
    switches: [Switch; 2],
    links: Links,
    backend: Backend,
    namespaces: BTreeMap<String, Netns>,
    options: LabOptions,
    baseline: health::Baseline,
}

impl Lab {
    /// Makes the namespaces, starts the links and both switches.
    ///
    /// # Errors
    /// When any of it fails; what was made goes with the sandbox.
    pub fn start(_inside: &Sandbox, options: LabOptions) -> Result<Lab> {
        std::fs::create_dir_all(&options.folder)
            .with_context(|| format!("cannot make the folder {}", options.folder.display()))?;
        let backend = options.backend.resolve()?;
        let mut namespaces = BTreeMap::new();
        let far_server = options.far_server.map(|_| FAR_SERVER);
        for name in topology::NAMESPACES.into_iter().chain(far_server) {
            namespaces.insert(name.to_owned(), create_namespace(name)?);
        }
        let namespace = |name: &str| {
            namespaces
                .get(name)
                .cloned()
                .with_context(|| unknown_namespace(name))
        };
        topology::build(namespace, options.static_neighbours)?;
        let links = Links::start(backend, &options, namespace)?;
        let [client, server] = std::thread::scope(|scope| {
            let started = Site::ALL.map(|site| {
                let (netns, plan) = (namespace(site.name()), site.switch_plan(options.controller));
                scope.spawn(move || Switch::start(&netns?, plan, options.datapath))
            });
            started.map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|_| bail!("starting a switch panicked"))
            })
        });
        let switches = [client?, server?];
        let mut lab = Lab {
            switches,
            links,
            backend,
            namespaces,
            options,
            baseline: health::Baseline::default(),
        };
        lab.reset_self_check()?;
        Ok(lab)
    }

    /// A direction of a link.
    ///
    /// # Errors
    /// When there is no link of that name.
    pub fn link(&self, name: &str, direction: Direction) -> Result<LinkHandle<'_>> {
        let link = LinkName::named(name).with_context(|| format!("no link `{name}`: expected a or b"))?;
        Ok(LinkHandle {
            links: &self.links,
            link,
            direction,
        })
    }

    /// A namespace, to open sockets and run commands in.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn ns(&self, name: &str) -> Result<&Netns> {
        self.namespaces.get(name).with_context(|| unknown_namespace(name))
    }

    /// The switch of a site.
    ///
    /// # Errors
    /// When there is no site of that name.
    pub fn site(&self, name: &str) -> Result<&Switch> {
        let site =
            Site::named(name).with_context(|| format!("no site `{name}`: expected client or server"))?;
        Ok(&self.switches[site.index()])
    }

    /// Counts a class apart from now on, on every link and direction.
    ///
    /// # Errors
    /// Where links are netem's.
    pub fn count_class(&self, key: ClassKey) -> Result<()> {
        self.links.register(key)
    }

    /// Takes the carrier of a site's uplink port away, or gives it back and waits until both ends have noticed.
    ///
    /// # Errors
    /// When there is no such site or uplink.
    pub fn set_carrier(&self, site: &str, uplink: &str, up: bool) -> Result<()> {
        let site =
            Site::named(site).with_context(|| format!("no site `{site}`: expected client or server"))?;
        let link =
            LinkName::named(uplink).with_context(|| format!("no uplink `{uplink}`: expected a or b"))?;
        let router = self.ns(&site.router(link))?;
        // The router's end goes down: the switch's end of the veth pair loses its carrier.
        let state = if up { "up" } else { "down" };
        router.ip(&format!("link set dev {} {state}\n", topology::SITE_DEVICE))?;
        if up {
            router.ip(&topology::site_side_batch(
                site,
                link,
                self.options.static_neighbours,
            ))?;
            // The kernel activates a device some time after its carrier has come; what is sent before is lost.
            for (netns, device) in [(router, topology::SITE_DEVICE), (self.ns(site.name())?, uplink)] {
                switch::wait_until(&format!("device `{device}` works"), || {
                    let shown =
                        process::run(netns.command("ip").args(["-o", "link", "show", "dev", device]))?;
                    ensure!(shown.contains("state UP"), "{}", shown.trim());
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    /// Bytes of Ethernet frames that a site has put on its uplinks, both together.
    ///
    /// # Errors
    /// When the backend is gone.
    pub fn uplink_bytes(&self, site: Site) -> Result<u64> {
        let direction = match site {
            Site::Client => Direction::ClientToServer,
            Site::Server => Direction::ServerToClient,
        };
        let bytes = |link| Ok(self.links.counters(link, direction)?.total.received_bytes);
        LinkName::ALL.into_iter().map(bytes).sum()
    }

    /// Lets no TCP connection inherit from earlier ones what these found out about the path, so that points of an
    /// experiment do not depend on their order; and gives those within a namespace, between an application and a proxy,
    /// this congestion control. (What the kernel takes by default in new namespaces cannot be changed from inside.)
    ///
    /// # Errors
    /// When the kernel does not have it.
    pub fn set_local_congestion(&self, congestion: &str) -> Result<()> {
        for netns in self.namespaces.values() {
            netns.sysctl("net/ipv4/tcp_no_metrics_save", "1")?;
            let route = |prefix| {
                format!(
                    "route replace local {prefix} dev lo table local proto kernel scope host src 127.0.0.1 \
                     congctl {congestion}\n"
                )
            };
            netns.ip(&(route("127.0.0.0/8") + &route("127.0.0.1")))?;
        }
        Ok(())
    }

    /// Which backend emulates the links.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Which datapath the bridges use.
    pub fn datapath(&self) -> Datapath {
        self.options.datapath
    }

    /// Whether the emulator runs under real-time priority.
    pub fn realtime(&self) -> bool {
        self.links.realtime()
    }

    /// Processor time of the emulator.
    ///
    /// # Errors
    /// When it is gone.
    pub fn emulator_cpu(&self) -> Result<Duration> {
        self.links.cpu()
    }

    /// Folder for logs that an experiment keeps.
    pub fn folder(&self) -> &std::path::Path {
        &self.options.folder
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // The names become free for the next lab in this sandbox; the namespaces themselves end with the
        // last process and device in them. An error leaves a name to the end of the sandbox.
        for name in self.namespaces.keys() {
            let _ = process::run(process::command("ip").args(["netns", "delete", name]));
        }
    }
}

/// One direction of one link.
#[derive(Debug, Clone, Copy)]
pub struct LinkHandle<'a> {
    links: &'a Links,
    link: LinkName,
    direction: Direction,
}

impl LinkHandle<'_> {
    /// Changes what it does; in force when this returns.
    ///
    /// # Errors
    /// When the backend refuses it.
    pub fn set(&self, spec: LinkSpec) -> Result<()> {
        self.links.set(self.link, self.direction, spec)
    }

    /// Applies `key=value` changes to what it does; returns the result.
    ///
    /// # Errors
    /// When a change is malformed or the backend refuses it.
    pub fn change<S: AsRef<str>>(&self, changes: &[S]) -> Result<LinkSpec> {
        let spec = self.spec()?.with_changes(changes).map_err(anyhow::Error::msg)?;
        self.set(spec.clone())?;
        Ok(spec)
    }

    /// What it does at present.
    ///
    /// # Errors
    /// When the backend is gone.
    pub fn spec(&self) -> Result<LinkSpec> {
        self.links.spec(self.link, self.direction)
    }

    /// What it has done to packets.
    ///
    /// # Errors
    /// When the backend is gone.
    pub fn counters(&self) -> Result<Counters> {
        self.links.counters(self.link, self.direction)
    }
}

/// A namespace in which Open vSwitch's programs find the site's own switch.
fn create_namespace(name: &str) -> Result<Netns> {
    let netns = Netns::create(name)?;
    Ok(site_environment(name)
        .into_iter()
        .fold(netns, |netns, (key, value)| netns.with_env(key, &value)))
}

/// Variables that let `ovs-vsctl`, `ovs-ofctl` and `ovs-appctl` find the switch of the namespace `name`.
pub fn site_environment(name: &str) -> Vec<(&'static str, String)> {
    let folder = switch::folder(name).display().to_string();
    match Site::named(name) {
        Some(_) => ["OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR"]
            .map(|key| (key, folder.clone()))
            .to_vec(),
        None => Vec::new(),
    }
}

fn unknown_namespace(name: &str) -> String {
    format!(
        "no namespace `{name}` in the lab: expected one of {}",
        topology::NAMESPACES.join(", ")
    )
}
