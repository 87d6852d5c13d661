//! Two hosts that know of both paths by themselves, for protocols that do so instead of a bridge: each with a device
//! to either router of its side, past the bridges.
//!
//! ```text
//!                      ╱ 10.51 – a-client ══ link a ══ a-server – 10.61 ╲
//!  multihomed-client                                                     multihomed-server
//!                      ╲ 10.52 – b-client ══ link b ══ b-server – 10.62 ╱
//! ```

use super::topology::{self, Site};
use super::{Lab, LinkName, create_namespace};
use crate::netns::Netns;
use crate::veth::{self, End};
use anyhow::Result;

/// Namespace of the client.
pub const MULTIHOMED_CLIENT: &str = "multihomed-client";
/// Namespace of the server.
pub const MULTIHOMED_SERVER: &str = "multihomed-server";

impl Lab {
    /// Adds them, unless they are there.
    ///
    /// # Errors
    /// When a program fails.
    pub fn add_multihomed_hosts(&mut self) -> Result<()> {
        if self.namespaces.contains_key(MULTIHOMED_CLIENT) {
            return Ok(());
        }
        for (site, name) in [
            (Site::Client, MULTIHOMED_CLIENT),
            (Site::Server, MULTIHOMED_SERVER),
        ] {
            let host = create_namespace(name)?;
            for link in LinkName::ALL {
                connect(&host, self.ns(&site.router(link))?, site, link)?;
            }
            self.namespaces.insert(name.to_owned(), host);
        }
        Ok(())
    }
}

/// Address of a multihomed host on its device toward a link; the router has the same with 1 at the end.
pub fn multihomed_address(site: Site, link: LinkName) -> String {
    network(site, link) + "2"
}

fn network(site: Site, link: LinkName) -> String {
    format!(
        "10.{}{}.0.",
        if site == Site::Client { 5 } else { 6 },
        link.index() + 1
    )
}

fn connect(host: &Netns, router: &Netns, site: Site, link: LinkName) -> Result<()> {
    let side = site.index() + 1;
    veth::connect(
        End {
            netns: host,
            device: link.as_str(),
            mac: &format!("02:00:00:00:5{}:{side:02x}", link.as_str()),
        },
        End {
            netns: router,
            device: ROUTER_DEVICE,
            mac: &format!("02:00:00:00:6{}:{side:02x}", link.as_str()),
        },
    )?;
    let (own, peer) = (network(site, link), network(site.peer(), link));
    host.ip(&format!(
        "address add {own}2/24 dev {link}\nroute add {peer}0/24 via {own}1\n",
        link = link.as_str()
    ))?;
    router.ip(&format!(
        "address add {own}1/24 dev {ROUTER_DEVICE}\nroute add {peer}0/24 via {}\n",
        topology::link_address(site.peer(), link)
    ))
}

const ROUTER_DEVICE: &str = "multi";
