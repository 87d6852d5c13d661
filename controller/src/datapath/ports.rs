//! The ports of a switch by name, as PORT_DESC and PORT_STATUS tell of them.

use std::collections::BTreeMap;

use ofproto::{MacAddr, Port, PortConfig, PortNo, PortReason, PortState, PortStatus};

/// The ports that a switch has.
#[derive(Debug, Clone, Default)]
pub struct Ports {
    by_name: BTreeMap<String, PortInfo>,
}

/// What we need to know of one port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortInfo {
    /// OpenFlow port number.
    pub number: PortNo,
    /// Its own MAC address.
    pub mac: MacAddr,
    /// Whether it can carry traffic: administratively up and the link not down.
    pub up: bool,
}

impl Ports {
    /// Takes the whole list, as OFPMP_PORT_DESC gives it.
    pub fn replace(&mut self, ports: &[Port]) {
        self.by_name = ports
            .iter()
            .map(|port| (port.name.clone(), PortInfo::from(port)))
            .collect();
    }

    /// Takes one change. Returns whether anything that we need to know is different now.
    pub fn update(&mut self, status: &PortStatus) -> bool {
        let name = status.desc.name.clone();
        if status.reason == PortReason::Delete {
            return self.by_name.remove(&name).is_some();
        }
        let new = PortInfo::from(&status.desc);
        self.by_name.insert(name, new) != Some(new)
    }

    /// The port of that name.
    pub fn by_name(&self, name: &str) -> Option<PortInfo> {
        self.by_name.get(name).copied()
    }
}

impl From<&Port> for PortInfo {
    fn from(port: &Port) -> PortInfo {
        PortInfo {
            number: port.port_no,
            mac: port.hw_addr,
            up: !port.config.contains(PortConfig::PORT_DOWN) && !port.state.contains(PortState::LINK_DOWN),
        }
    }
}
