//! The one topology of all labs, with fixed names and addresses.
//!
//! ```text
//!                        a-client ══ link a ══ a-server
//!                       ╱ 10.11/24  10.31/30  10.21/24 ╲
//!  client-host ── client                                server ── server-host
//!    10.1.0.2/24        ╲ 10.12/24  10.32/30  10.22/24 ╱            10.2.0.2/24
//!                        b-client ══ link b ══ b-server
//!
//!  control ── client 10.0.1.1 – 10.0.1.2, control ── server 10.0.2.1 – 10.0.2.2
//! ```
//!
//! Every name is a network namespace. `client` and `server` hold a bridge with the ports `host`, `a` and `b`;
//! the four in the middle are routers with the devices `site` and `link`.

use super::LinkName;
use crate::netns::Netns;
use crate::switch::SwitchPlan;
use crate::veth::{self, End};
use anyhow::Result;

/// All namespaces.
pub const NAMESPACES: [&str; 9] = [
    "client-host",
    "client",
    "a-client",
    "b-client",
    "a-server",
    "b-server",
    "server",
    "server-host",
    "control",
];

/// One of the two sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Site {
    /// The site `client`.
    Client,
    /// The site `server`.
    Server,
}

impl Site {
    /// Both sites.
    pub const ALL: [Site; 2] = [Site::Client, Site::Server];

    /// The site of this name.
    pub fn named(name: &str) -> Option<Site> {
        Site::ALL.into_iter().find(|site| site.name() == name)
    }

    /// Its name, which is also that of its namespace.
    pub fn name(self) -> &'static str {
        match self {
            Site::Client => "client",
            Site::Server => "server",
        }
    }

    /// Namespace of the host behind it.
    pub fn host(self) -> &'static str {
        match self {
            Site::Client => "client-host",
            Site::Server => "server-host",
        }
    }

    /// The site at the other end.
    pub fn peer(self) -> Site {
        match self {
            Site::Client => Site::Server,
            Site::Server => Site::Client,
        }
    }

    /// Position in arrays that hold one entry per site, in the order of [`Site::ALL`].
    pub fn index(self) -> usize {
        match self {
            Site::Client => 0,
            Site::Server => 1,
        }
    }

    /// 1 or 2: the number that tells the sites apart in addresses.
    fn number(self) -> usize {
        self.index() + 1
    }

    /// IPv4 address of the host behind the site.
    pub fn host_address(self) -> String {
        format!("10.{}.0.2", self.number())
    }

    /// Network of the hosts behind the site, with its prefix length.
    pub fn network(self) -> String {
        format!("10.{}.0.0/24", self.number())
    }

    /// MAC address of the host behind the site.
    pub fn host_mac(self) -> String {
        format!("02:00:00:00:20:{:02x}", self.number())
    }

    /// MAC address of the port `host` of the bridge.
    pub fn host_port_mac(self) -> String {
        format!("02:00:00:00:10:{:02x}", self.number())
    }

    /// IPv4 address of the site on its uplink.
    pub fn uplink_address(self, link: LinkName) -> String {
        format!("10.{}{}.0.2", self.number(), link.number())
    }

    /// MAC address of the bridge's uplink port.
    pub fn uplink_mac(self, link: LinkName) -> String {
        format!("02:00:00:00:1{}:{:02x}", link.letter(), self.number())
    }

    /// IPv4 address of the router on the uplink: the site's next hop.
    pub fn next_hop(self, link: LinkName) -> String {
        format!("10.{}{}.0.1", self.number(), link.number())
    }

    /// MAC address of the next hop.
    pub fn next_hop_mac(self, link: LinkName) -> String {
        format!("02:00:00:00:0{}:{:02x}", link.letter(), self.number())
    }

    /// Namespace of the router at this site's end of a link.
    pub fn router(self, link: LinkName) -> String {
        format!("{}-{}", link.as_str(), self.name())
    }

    /// Where the site's switch finds its controller.
    pub fn controller(self) -> String {
        format!("tcp:10.0.{}.1:6653", self.number())
    }

    /// How its switch is made.
    pub fn switch_plan(self, with_controller: bool) -> SwitchPlan {
        SwitchPlan {
            bridge: format!("br-{}", self.name()),
            datapath_id: format!("{:016x}", self.number()),
            ports: ["host", "a", "b"].map(str::to_owned).to_vec(),
            controller: with_controller.then(|| self.controller()),
        }
    }
}

/// Device of a router toward its site.
pub const SITE_DEVICE: &str = "site";
/// Device of a router toward the other router.
pub const LINK_DEVICE: &str = "link";

/// IPv4 address of the router's device on the link.
pub fn link_address(site: Site, link: LinkName) -> String {
    format!("10.3{}.0.{}", link.number(), site.number())
}

/// MAC address of the router's device on the link.
pub fn link_mac(site: Site, link: LinkName) -> String {
    format!("02:00:00:00:3{}:{:02x}", link.letter(), site.number())
}

/// Connects hosts, sites, routers and control, and addresses everything but the links.
///
/// # Errors
/// When a program fails.
pub fn build(namespace: impl Fn(&str) -> Result<Netns>, static_neighbours: bool) -> Result<()> {
    for site in Site::ALL {
        let (site_ns, host_ns, control_ns) = (
            namespace(site.name())?,
            namespace(site.host())?,
            namespace("control")?,
        );
        veth::connect(
            End {
                netns: &host_ns,
                device: "eth0",
                mac: &site.host_mac(),
            },
            End {
                netns: &site_ns,
                device: "host",
                mac: &site.host_port_mac(),
            },
        )?;
        keep_neighbours(&host_ns, "eth0")?;
        host_ns.ip(&host_batch(site, static_neighbours))?;

        let number = site.number();
        veth::connect(
            End {
                netns: &control_ns,
                device: site.name(),
                mac: &format!("02:00:00:00:c0:{number:02x}"),
            },
            End {
                netns: &site_ns,
                device: "control",
                mac: &format!("02:00:00:00:c1:{number:02x}"),
            },
        )?;
        control_ns.ip(&format!("address add 10.0.{number}.1/30 dev {}\n", site.name()))?;
        site_ns.ip(&format!("address add 10.0.{number}.2/30 dev control\n"))?;

        for link in LinkName::ALL {
            let router = namespace(&site.router(link))?;
            for (key, value) in ROUTER_SYSCTLS {
                router.sysctl(key, value)?;
            }
            veth::connect(
                End {
                    netns: &site_ns,
                    device: link.as_str(),
                    mac: &site.uplink_mac(link),
                },
                End {
                    netns: &router,
                    device: SITE_DEVICE,
                    mac: &site.next_hop_mac(link),
                },
            )?;
            keep_neighbours(&router, SITE_DEVICE)?;
            router.ip(&format!(
                "address add {}/24 dev {SITE_DEVICE}\n",
                site.next_hop(link)
            ))?;
        }
    }
    Ok(())
}

/// Addresses a router's device on the link, once it exists, and adds all its routes.
///
/// # Errors
/// When `ip` fails.
pub fn finish_router(router: &Netns, site: Site, link: LinkName, static_neighbours: bool) -> Result<()> {
    let (own, peer) = (site.number(), site.peer().number());
    let number = link.number();
    router.ip(&format!(
        "link set dev {LINK_DEVICE} address {mac} txqueuelen 10000\n\
         link set dev {LINK_DEVICE} up\n\
         address add 10.3{number}.0.{own}/30 dev {LINK_DEVICE}\n\
         neighbour replace 10.3{number}.0.{peer} lladdr {peer_mac} dev {LINK_DEVICE} nud permanent\n\
         route add {peer_network} via 10.3{number}.0.{peer}\n\
         route add 10.{peer}{number}.0.0/24 via 10.3{number}.0.{peer}\n",
        mac = link_mac(site, link),
        peer_mac = link_mac(site.peer(), link),
        peer_network = site.peer().network(),
    ))?;
    router.ip(&site_side_batch(site, link, static_neighbours))
}

/// What a router needs after its device toward the site has come up: the kernel forgets routes and neighbours
/// of a device that goes down.
pub fn site_side_batch(site: Site, link: LinkName, static_neighbours: bool) -> String {
    let mut batch = format!(
        "route replace {} via {}\n",
        site.network(),
        site.uplink_address(link)
    );
    if static_neighbours {
        batch += &format!(
            "neighbour replace {} lladdr {} dev {SITE_DEVICE} nud permanent\n",
            site.uplink_address(link),
            site.uplink_mac(link)
        );
    }
    batch
}

fn host_batch(site: Site, static_neighbours: bool) -> String {
    let number = site.number();
    let mut batch = format!(
        "address add {}/24 dev eth0\nroute add default via 10.{number}.0.1\n",
        site.host_address()
    );
    if static_neighbours {
        batch += &format!(
            "neighbour replace 10.{number}.0.1 lladdr {} dev eth0 nud permanent\n",
            site.host_port_mac()
        );
    }
    batch
}

/// Lets an ARP answer hold for an hour, as routers do. Linux's half a minute would make hosts and routers ask
/// again while an experiment keeps the controller down, and drop packets for want of an answer.
fn keep_neighbours(netns: &Netns, device: &str) -> Result<()> {
    netns.sysctl(
        &format!("net/ipv4/neigh/{device}/base_reachable_time_ms"),
        "3600000",
    )
}

const ROUTER_SYSCTLS: [(&str, &str); 4] = [
    ("net/ipv4/ip_forward", "1"),
    ("net/ipv4/conf/all/rp_filter", "0"),
    ("net/ipv4/conf/default/rp_filter", "0"),
    ("net/ipv4/conf/all/send_redirects", "0"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_follow_the_plan() {
        let a = LinkName::A;
        assert_eq!(Site::Client.uplink_address(a), "10.11.0.2");
        assert_eq!(Site::Server.next_hop(LinkName::B), "10.22.0.1");
        assert_eq!(Site::Client.next_hop_mac(a), "02:00:00:00:0a:01");
        assert_eq!(Site::Server.router(LinkName::B), "b-server");
        assert_eq!(Site::Server.switch_plan(true).datapath_id, "0000000000000002");
    }

    #[test]
    fn every_namespace_of_the_plan_is_listed() {
        for site in Site::ALL {
            assert!(NAMESPACES.contains(&site.name()) && NAMESPACES.contains(&site.host()));
            assert!(
                LinkName::ALL
                    .iter()
                    .all(|link| NAMESPACES.contains(&site.router(*link).as_str()))
            );
        }
    }
}
