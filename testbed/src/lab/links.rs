//! The lab's two links by one of the two backends.

use super::topology::{self, LINK_DEVICE, Site};
use super::{LabOptions, LinkName, far_server};
use crate::link::netem::{self, NetemDirection};
use crate::link::tap::{Health, TapEmulator, TapLink};
use crate::link::{ClassKey, Counters, Direction, LinkSpec};
use crate::netns::Netns;
use crate::veth::{self, End};
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Which backend a lab should use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum BackendChoice {
    /// netem where the kernel has it, else the emulator.
    #[default]
    Auto,
    /// Our own emulator between TAP devices.
    Emulator,
    /// The kernel's netem; an error where it is missing.
    Netem,
}

/// Which backend a lab uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// Our own emulator between TAP devices.
    Emulator,
    /// The kernel's netem.
    Netem,
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Backend::Emulator => "emulator (userspace, between TAP devices)",
            Backend::Netem => "netem (kernel)",
        })
    }
}

impl BackendChoice {
    /// Decides, trying the kernel where that matters.
    ///
    /// # Errors
    /// When netem is demanded and this kernel has none.
    pub fn resolve(self) -> Result<Backend> {
        match self {
            BackendChoice::Emulator => Ok(Backend::Emulator),
            BackendChoice::Auto => Ok(if netem::usable()? {
                Backend::Netem
            } else {
                Backend::Emulator
            }),
            BackendChoice::Netem if netem::usable()? => Ok(Backend::Netem),
            BackendChoice::Netem => bail!("this kernel has no netem (sch_netem): use --backend emulator"),
        }
    }
}

/// What every link does in every direction: indexed by link, then by direction.
pub type LinkSpecs = [[LinkSpec; 2]; 2];

/// The running links.
#[derive(Debug)]
pub(crate) enum Links {
    Emulator(TapEmulator),
    Netem(Vec<[NetemDirection; 2]>),
}

impl Links {
    /// Makes the devices between the routers and starts the backend.
    pub(crate) fn start(
        backend: Backend,
        options: &LabOptions,
        namespace: impl Fn(&str) -> Result<Netns>,
    ) -> Result<Links> {
        let mut taps = Vec::new();
        let mut netems = Vec::new();
        for link in LinkName::ALL {
            let [client, server] = [
                namespace(&Site::Client.router(link))?,
                namespace(&Site::Server.router(link))?,
            ];
            let specs = options.links[link.index()].clone();
            match backend {
                Backend::Emulator => taps.push(TapLink {
                    client_end: crate::tap::create(&client, LINK_DEVICE)?,
                    server_end: crate::tap::create(&server, LINK_DEVICE)?,
                    specs,
                }),
                Backend::Netem => {
                    let [client_mac, server_mac] = Site::ALL.map(|site| topology::link_mac(site, link));
                    connect_veth([
                        (&client, LINK_DEVICE, &client_mac),
                        (&server, LINK_DEVICE, &server_mac),
                    ])?;
                    let [to_server, to_client] = specs;
                    netems.push([
                        NetemDirection::start(&client, LINK_DEVICE, to_server)?,
                        NetemDirection::start(&server, LINK_DEVICE, to_client)?,
                    ]);
                }
            }
            topology::finish_router(&client, Site::Client, link, options.static_neighbours)?;
            topology::finish_router(&server, Site::Server, link, options.static_neighbours)?;
        }
        if let Some(rtt) = options.far_server {
            let ends = [
                namespace(Site::Server.host())?,
                namespace(far_server::FAR_SERVER)?,
            ];
            let specs = far_server::specs(rtt);
            match backend {
                Backend::Emulator => taps.push(far_server::tap(&ends, specs)?),
                Backend::Netem => netems.push(far_server::netem(&ends, specs)?),
            }
            far_server::finish(&ends)?;
        }
        Ok(match backend {
            Backend::Emulator => Links::Emulator(TapEmulator::start(taps)?),
            Backend::Netem => Links::Netem(netems),
        })
    }

    pub(crate) fn set(&self, link: LinkName, direction: Direction, spec: LinkSpec) -> Result<()> {
        match self {
            Links::Emulator(emulator) => emulator.set(link.index(), direction, spec),
            Links::Netem(links) => links[link.index()][direction.index()].set(spec),
        }
    }

    pub(crate) fn spec(&self, link: LinkName, direction: Direction) -> Result<LinkSpec> {
        match self {
            Links::Emulator(emulator) => emulator.spec(link.index(), direction),
            Links::Netem(links) => Ok(links[link.index()][direction.index()].spec()),
        }
    }

    pub(crate) fn counters(&self, link: LinkName, direction: Direction) -> Result<Counters> {
        match self {
            Links::Emulator(emulator) => emulator.counters(link.index(), direction),
            Links::Netem(links) => links[link.index()][direction.index()].counters(),
        }
    }

    pub(crate) fn register(&self, key: ClassKey) -> Result<()> {
        match self {
            Links::Emulator(emulator) => emulator.register(key),
            Links::Netem(_) => bail!("netem does not count classes apart: use --backend emulator"),
        }
    }

    /// Health of the emulator; the kernel's netem reports none.
    pub(crate) fn health(&self) -> Result<Option<Health>> {
        match self {
            Links::Emulator(emulator) => emulator.health().map(Some),
            Links::Netem(_) => Ok(None),
        }
    }

    pub(crate) fn reset_health(&self) -> Result<()> {
        match self {
            Links::Emulator(emulator) => emulator.reset_health(),
            Links::Netem(_) => Ok(()),
        }
    }

    pub(crate) fn cpu(&self) -> Result<Duration> {
        match self {
            Links::Emulator(emulator) => emulator.cpu(),
            Links::Netem(_) => Ok(Duration::ZERO),
        }
    }

    /// Whether packets are moved under real-time priority.
    pub(crate) fn realtime(&self) -> bool {
        match self {
            Links::Emulator(emulator) => emulator.realtime(),
            Links::Netem(_) => true,
        }
    }
}

/// A veth pair from namespace, device and MAC address of both ends.
pub(super) fn connect_veth(ends: [(&Netns, &str, &str); 2]) -> Result<()> {
    let [one, other] = ends.map(|(netns, device, mac)| End { netns, device, mac });
    veth::connect(one, other)
}
