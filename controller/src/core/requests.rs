//! What API clients ask, answered.

use policies::{Direction, Mode, PathIndex, Timestamp};

use super::{Core, Owner};
use crate::api::{
    DecisionView, ModeRequest, PolicyView, PortView, Request, Response, Status, SwitchState, SwitchView,
};
use crate::core::site::SiteState;
use crate::event::Effect;
use crate::steering::{Steering, SteeringKey};

impl Core {
    pub(super) fn request(
        &mut self,
        now: Timestamp,
        request: Request,
        effects: &mut Vec<Effect>,
    ) -> Response {
        match request {
            Request::Status => Response::Status(Status {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                uptime_ms: u64::try_from(now.as_duration().as_millis()).unwrap_or(u64::MAX),
                sites: self.policies.sites.len(),
                policies: self.policies.policies.len(),
                policy_problems: self.policy_problems.clone(),
            }),
            Request::Switches => Response::Switches(self.switch_views()),
            Request::Paths => {
                let steerings = self.steerings.values();
                Response::Paths(
                    steerings
                        .flat_map(|steering| self.path_views(now, steering))
                        .collect(),
                )
            }
            Request::Policies => {
                let steerings = self.steerings.values();
                Response::Policies(
                    steerings
                        .map(|steering| self.direction_view(now, steering))
                        .collect(),
                )
            }
            Request::Decisions { limit } => Response::Decisions(self.latest_decisions(limit, |_| true)),
            Request::Policy { name } => self.policy_view(now, &name),
            Request::SetMode { policy, from, mode } => self.set_mode(now, &policy, &from, &mode, effects),
            Request::Watch => Response::Done,
        }
    }

    fn latest_decisions(&self, limit: usize, wanted: impl Fn(&DecisionView) -> bool) -> Vec<DecisionView> {
        let mut latest: Vec<DecisionView> = self
            .decisions
            .iter()
            .rev()
            .filter(|decision| wanted(decision))
            .take(limit)
            .cloned()
            .collect();
        latest.reverse();
        latest
    }

    fn switch_views(&self) -> Vec<SwitchView> {
        let configured = self.sites.iter().map(|(name, site)| {
            let peer = site
                .switch
                .as_ref()
                .and_then(|switch| self.sessions.get(&switch.conn));
            site_view(name, site, peer.map(|session| session.peer().to_owned()))
        });
        let others = self.sessions.iter().filter_map(|(conn, session)| {
            let (datapath_id, software, state) = match self.owners.get(conn) {
                Some(Owner::Site(_)) => return None,
                Some(Owner::Unconfigured(identity)) => (
                    identity.features.datapath_id.to_string(),
                    Some(identity.description.sw_desc.clone()),
                    SwitchState::Unconfigured,
                ),
                None => ("?".to_owned(), None, SwitchState::Handshake),
            };
            Some(SwitchView {
                site: None,
                datapath_id,
                state,
                peer: Some(session.peer().to_owned()),
                software,
                ports: vec![],
                flows: 0,
                groups: 0,
                meters: 0,
                sent: Default::default(),
                problems: vec![],
            })
        });
        configured.chain(others).collect()
    }

    fn policy_view(&self, now: Timestamp, name: &str) -> Response {
        let Some(policy) = self.policies.policies.get(name) else {
            return Response::Error(format!("there is no policy `{name}`"));
        };
        let steerings: Vec<&Steering> = Direction::ALL
            .iter()
            .filter_map(|direction| {
                self.steerings.get(&SteeringKey {
                    policy: name.into(),
                    direction: *direction,
                })
            })
            .collect();
        let matches: Vec<String> = policy
            .class
            .matches(Direction::Forward)
            .iter()
            .map(ToString::to_string)
            .collect();
        Response::Policy(Box::new(PolicyView {
            name: name.to_owned(),
            peering: policy.peering.clone(),
            priority: policy.priority,
            class: matches.join("; "),
            directions: steerings
                .iter()
                .map(|steering| self.direction_view(now, steering))
                .collect(),
            paths: steerings
                .iter()
                .flat_map(|steering| self.path_views(now, steering))
                .collect(),
            decisions: self.latest_decisions(20, |decision| decision.policy == name),
        }))
    }

    fn set_mode(
        &mut self,
        now: Timestamp,
        policy: &str,
        from: &str,
        mode: &ModeRequest,
        effects: &mut Vec<Effect>,
    ) -> Response {
        let found = self
            .steerings
            .iter_mut()
            .find(|(key, steering)| *key.policy == *policy && steering.sender() == from);
        let Some((key, steering)) = found else {
            return Response::Error(format!(
                "no policy `{policy}` of which `{from}` sends a direction"
            ));
        };
        if !steering.is_running() {
            return Response::Error(format!("the switch of `{from}` is not connected yet"));
        }
        let names = steering.path_names();
        let mode = match mode {
            ModeRequest::Auto => None,
            ModeRequest::Bicast if names.len() < 2 => {
                return Response::Error("bicast needs two paths".to_owned());
            }
            ModeRequest::Bicast => Some(Mode::Bicast(steering.preferred(2))),
            ModeRequest::Unicast { path: None } => steering.preferred(1).iter().next().map(Mode::Unicast),
            ModeRequest::Unicast { path: Some(path) } => {
                let index = (0_u8..).map(PathIndex).zip(names).find(|(_, name)| *name == path);
                let Some((index, _)) = index else {
                    return Response::Error(format!("no path `{path}`; there are {}", names.join(", ")));
                };
                Some(Mode::Unicast(index))
            }
        };
        let key = key.clone();
        let outputs = steering.pin(now, mode);
        self.steering_outputs(now, &key, outputs, effects);
        Response::Done
    }
}

fn site_view(name: &str, site: &SiteState, peer: Option<String>) -> SwitchView {
    let switch = site.switch.as_ref();
    let mut problems: Vec<String> = switch
        .and_then(|switch| switch.problem.clone())
        .into_iter()
        .collect();
    let mut ports = vec![];
    let access = (
        "access".to_owned(),
        site.config.access.port.clone(),
        site.access_port(),
        None,
    );
    let uplinks = site.config.uplinks.values().map(|uplink| {
        (
            uplink.name.clone(),
            uplink.port.clone(),
            site.uplink_port(&uplink.name),
            Some(&uplink.name),
        )
    });
    for (role, port, info, uplink) in std::iter::once(access).chain(uplinks) {
        if switch.is_some() && info.is_none() {
            problems.push(format!("the switch has no port `{port}` ({role})"));
        }
        let next_hop_mac = uplink.and_then(|uplink| site.next_hop_mac(uplink));
        if switch.is_some() && uplink.is_some() && next_hop_mac.is_none() {
            problems.push(format!("the next hop of uplink `{role}` does not answer ARP"));
        }
        let up = info.is_some_and(|info| info.up);
        let number = info.map(|info| info.number.0);
        let next_hop_mac = next_hop_mac.map(|mac| mac.to_string());
        ports.push(PortView {
            role,
            name: port,
            number,
            up,
            next_hop_mac,
        });
    }
    SwitchView {
        site: Some(name.to_owned()),
        datapath_id: ofproto::DatapathId(site.config.datapath_id).to_string(),
        state: match switch {
            None => SwitchState::Disconnected,
            Some(switch) if switch.is_synced() => SwitchState::Programmed,
            Some(_) => SwitchState::Reading,
        },
        peer,
        software: switch.map(|switch| switch.identity.description.sw_desc.clone()),
        ports,
        flows: switch.map_or(0, |switch| switch.actual.flows.len()),
        groups: switch.map_or(0, |switch| switch.actual.groups.len()),
        meters: switch.map_or(0, |switch| switch.actual.meters.len()),
        sent: switch.map(|switch| switch.sent).unwrap_or_default(),
        problems,
    }
}
