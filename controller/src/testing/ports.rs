//! The ports of a fake switch.

use ofproto::{
    DatapathId, MacAddr, Port, PortConfig, PortFeatures, PortNo, PortReason, PortState, PortStatus,
};

/// The ports, as PORT_DESC and PORT_STATUS tell of them.
#[derive(Debug, Clone)]
pub struct SwitchPorts {
    ports: Vec<Port>,
}

impl SwitchPorts {
    /// Ports of these names, numbered from 1, all of them up, and the bridge's own LOCAL port.
    pub fn new(datapath_id: DatapathId, names: &[&str]) -> SwitchPorts {
        let physical = (1..).map(PortNo).zip(names.iter().copied());
        let ports = physical.chain([(PortNo::LOCAL, "local")]);
        SwitchPorts {
            ports: ports
                .map(|(number, name)| port(datapath_id, number, name))
                .collect(),
        }
    }

    /// All of them.
    pub fn all(&self) -> &[Port] {
        &self.ports
    }

    /// The port of that name.
    pub fn by_name(&self, name: &str) -> Option<&Port> {
        self.ports.iter().find(|port| port.name == name)
    }

    /// Whether the port exists and can carry traffic.
    pub fn is_live(&self, number: PortNo) -> bool {
        self.ports
            .iter()
            .any(|port| port.port_no == number && port.state.contains(PortState::LIVE))
    }

    /// Takes the link of a port up or down. Returns what the switch says about it, if that is news.
    pub fn set_up(&mut self, name: &str, up: bool) -> Option<PortStatus> {
        let port = self.ports.iter_mut().find(|port| port.name == name)?;
        let state = if up { PortState::LIVE } else { PortState::LINK_DOWN };
        if port.state == state {
            return None;
        }
        port.state = state;
        Some(PortStatus {
            reason: PortReason::Modify,
            desc: port.clone(),
        })
    }

    /// Takes a port off the switch. Returns what the switch says about it.
    pub fn remove(&mut self, name: &str) -> Option<PortStatus> {
        let place = self.ports.iter().position(|port| port.name == name)?;
        Some(PortStatus {
            reason: PortReason::Delete,
            desc: self.ports.remove(place),
        })
    }

    /// Puts a port on the switch, under a number that has not been used. Returns what the switch says about it.
    pub fn add(&mut self, datapath_id: DatapathId, number: PortNo, name: &str) -> PortStatus {
        let port = port(datapath_id, number, name);
        self.ports.push(port.clone());
        PortStatus {
            reason: PortReason::Add,
            desc: port,
        }
    }
}

/// The MAC address of a port follows from the switch and the port number, so that it can be told in a trace.
fn port(datapath_id: DatapathId, number: PortNo, name: &str) -> Port {
    let [.., site] = datapath_id.0.to_be_bytes();
    let [.., low] = number.0.to_be_bytes();
    Port {
        port_no: number,
        hw_addr: MacAddr::new(0x02, 0, 0, 0, site, low),
        name: name.to_owned(),
        config: PortConfig::empty(),
        state: PortState::LIVE,
        curr: PortFeatures::SPEED_10GB_FD,
        advertised: PortFeatures::empty(),
        supported: PortFeatures::empty(),
        peer: PortFeatures::empty(),
        curr_speed: 10_000_000,
        max_speed: 0,
    }
}
