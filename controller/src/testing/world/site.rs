//! One site: its switch, the host behind it, and the routers of its uplinks.

use std::time::Duration;

use ofproto::{DatapathId, MacAddr, PortNo};

use super::Station;
use crate::event::ConnId;
use crate::testing::datapath::FakeDatapath;

/// One site of a world.
#[derive(Debug)]
pub struct Site {
    /// As in the policy file.
    pub name: String,
    /// Its switch.
    pub switch: FakeDatapath,
    /// The host behind the access port.
    pub host: Station,
    pub(super) access: PortNo,
    pub(super) routers: Vec<Router>,
    pub(super) conn: Option<ConnId>,
    /// Of the control channel, one way.
    pub(super) latency: Duration,
}

/// The provider's router behind an uplink.
#[derive(Debug)]
pub(super) struct Router {
    pub(super) uplink: String,
    pub(super) port: PortNo,
    pub(super) station: Station,
}

impl Site {
    /// The site as configured; its ports are the access port and the uplinks in their order.
    pub(super) fn new(number: u8, config: &policies::Site) -> Site {
        let uplinks = config.uplinks.values();
        let names: Vec<&str> = std::iter::once(config.access.port.as_str())
            .chain(uplinks.clone().map(|uplink| uplink.port.as_str()))
            .collect();
        let switch = FakeDatapath::new(DatapathId(config.datapath_id), &names);
        let gateway = config.access.gateways[0];
        let host = gateway.hosts().find(|ip| *ip != gateway.addr());
        let host = host.expect("a network with room for a host");
        let routers = (2_u8..).zip(uplinks).map(|(port, uplink)| {
            let mac = uplink.mac.unwrap_or(MacAddr::new(2, 0, 1, 0, number, port));
            let site_address = uplink.address.map_or(uplink.next_hop, |address| address.addr());
            Router {
                uplink: uplink.name.clone(),
                port: PortNo(port.into()),
                station: Station::new(mac, uplink.next_hop, site_address),
            }
        });
        Site {
            name: config.name.clone(),
            access: PortNo(1),
            host: Station::new(MacAddr::new(2, 0, 1, 0, number, 1), host, gateway.addr()),
            routers: routers.collect(),
            switch,
            conn: None,
            latency: LATENCY,
        }
    }

    /// The router behind an uplink.
    pub fn router(&self, uplink: &str) -> &Station {
        let router = self.routers.iter().find(|router| router.uplink == uplink);
        &router.expect("an uplink of the policy file").station
    }

    pub(super) fn router_mut(&mut self, uplink: &str) -> &mut Station {
        let router = self.routers.iter_mut().find(|router| router.uplink == uplink);
        &mut router.expect("an uplink of the policy file").station
    }
}

/// Of every control channel at first.
const LATENCY: Duration = Duration::from_micros(500);
