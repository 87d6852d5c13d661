//! Sites, their uplinks, and the paths between them.

use std::net::Ipv4Addr;
use std::time::Duration;

use indexmap::IndexMap;
use ipnet::Ipv4Net;
use macaddr::MacAddr6;

use crate::path::{Direction, PathIndex};

/// One gateway: one OpenFlow switch with an access side and uplinks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The key in the file.
    pub name: String,
    /// The switch's datapath id, unique in the file.
    pub datapath_id: u64,
    /// Where the hosts are.
    pub access: Access,
    /// The ways out, by name.
    pub uplinks: IndexMap<String, Uplink>,
    /// Where traffic goes that no policy claims.
    pub default: DefaultRoute,
}

/// The side of a site where its hosts are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Port name on the switch.
    pub port: String,
    /// The addresses that hosts use as their gateway, each with its prefix length, such as `10.1.0.1/24`. At least
    /// one.
    pub gateways: Vec<Ipv4Net>,
}

/// A port of a site toward one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uplink {
    /// The key in the file.
    pub name: String,
    /// Port name on the switch, unique in the site.
    pub port: String,
    /// The router that packets are handed to.
    pub next_hop: Ipv4Addr,
    /// The site's own address on this uplink with its prefix length. Always present when `mac` is not: the
    /// next hop is then asked for by ARP, and ARP needs a sender address.
    pub address: Option<Ipv4Net>,
    /// The next hop's MAC address, when it is given instead of asked for.
    pub mac: Option<MacAddr6>,
    /// How long the uplink must have been up, after being down, before it is used again.
    pub recovery: Duration,
}

impl Uplink {
    /// `recovery` when the file does not say.
    pub const DEFAULT_RECOVERY: Duration = Duration::from_secs(10);
}

/// Where traffic goes that no policy claims.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DefaultRoute {
    /// Nowhere.
    #[default]
    Drop,
    /// To the next hop of this uplink of the site.
    Uplink(String),
}

/// Two sites that talk to each other over paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peering {
    /// The key in the file.
    pub name: String,
    /// The two sites. Traffic from the first to the second is [`Direction::Forward`].
    pub sites: [String; 2],
    /// The paths, by name; 1 to [`PathSet::CAPACITY`](crate::PathSet::CAPACITY). The position is the [`PathIndex`].
    pub paths: IndexMap<String, Path>,
}

impl Peering {
    /// The names of the paths in the order of their [`PathIndex`], for messages.
    pub fn path_names(&self) -> Vec<String> {
        self.paths.keys().cloned().collect()
    }

    /// The path at `index`.
    pub fn path(&self, index: PathIndex) -> Option<&Path> {
        self.paths.get_index(index.index()).map(|(_, path)| path)
    }

    /// The name of the site that sends in `direction`.
    pub fn sender(&self, direction: Direction) -> &str {
        &self.sites[direction.sender()]
    }

    /// The name of the site that receives in `direction`.
    pub fn receiver(&self, direction: Direction) -> &str {
        &self.sites[direction.receiver()]
    }
}

/// One uplink of the one site joined to one uplink of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The key in the file.
    pub name: String,
    /// The name of the uplink at each site, in the order of `Peering::sites`.
    pub uplinks: [String; 2],
}
