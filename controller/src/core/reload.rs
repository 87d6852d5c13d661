//! A policy file comes into force.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::Arc;

use policies::{Direction, PolicySet, Timestamp};

use super::site::{Pending, Programmed, SiteState, hosts_of};
use super::{Core, Key, Owner};
use crate::api::Notice;
use crate::datapath::Contents;
use crate::event::Effect;
use crate::pipeline::Slot;
use crate::reconcile::reconcile;
use crate::steering::{Steering, SteeringKey};

impl Core {
    pub(super) fn reload(&mut self, now: Timestamp, policies: &Arc<PolicySet>, effects: &mut Vec<Effect>) {
        self.policies = Arc::clone(policies);
        self.policy_problems = None;
        self.slots = Slot::assign(policies.policies.keys().map(String::as_str));
        self.reload_sites(now, policies, effects);
        self.reload_steerings(now, policies, effects);
        for name in policies.sites.keys() {
            self.start_steerings(now, name, false);
            self.refresh_usable(now, name, effects);
            self.dirty.insert(name.clone());
            self.touched.insert(Key::Site(name.clone()));
        }
        effects.push(Effect::Publish(Notice::Policies { problems: None }));
    }

    fn reload_sites(&mut self, now: Timestamp, policies: &PolicySet, effects: &mut Vec<Effect>) {
        let gone: Vec<String> = self
            .sites
            .iter()
            .filter(|(name, site)| {
                policies
                    .sites
                    .get(*name)
                    .is_none_or(|new| new.datapath_id != site.config.datapath_id)
            })
            .map(|(name, _)| name.clone())
            .collect();
        for name in gone {
            self.release(&name, effects);
        }
        let hosts: BTreeSet<Ipv4Addr> = policies
            .policies
            .values()
            .flat_map(|policy| hosts_of(&policy.class))
            .collect();
        for (name, config) in &policies.sites {
            let site = self
                .sites
                .entry(name.clone())
                .or_insert_with(|| SiteState::new(config.clone()));
            site.configure(now, config.clone(), &hosts);
            site.refresh_uplinks(now);
        }
        // Switches that waited for somebody to name them.
        let waiting: Vec<_> = self
            .owners
            .iter()
            .filter_map(|(conn, owner)| match owner {
                Owner::Unconfigured(identity) => Some((*conn, identity.clone())),
                Owner::Site(_) => None,
            })
            .filter(|(_, identity)| {
                policies
                    .sites
                    .values()
                    .any(|site| site.datapath_id == identity.features.datapath_id.0)
            })
            .collect();
        for (conn, identity) in waiting {
            self.identified(now, conn, *identity, effects);
        }
    }

    /// A site is no longer ours: takes everything of ours off its switch and lets it be.
    fn release(&mut self, name: &str, effects: &mut Vec<Effect>) {
        if let Some(switch) = self.sites.get(name).and_then(|site| site.switch.as_ref()) {
            let messages = reconcile(&switch.actual, &Contents::default());
            let owner = Owner::Unconfigured(Box::new(switch.identity.clone()));
            let conn = switch.conn;
            self.send_changes(name, messages, Pending::Program(Programmed::default()), effects);
            self.owners.insert(conn, owner);
        }
        self.interrupt(name);
        self.sites.remove(name);
        self.timers.set(Key::Site(name.to_owned()), None);
    }

    fn reload_steerings(&mut self, now: Timestamp, policies: &PolicySet, effects: &mut Vec<Effect>) {
        let mut old = std::mem::take(&mut self.steerings);
        let mut all_outputs = vec![];
        let mut steerings = BTreeMap::new();
        for policy in policies.policies.values() {
            let (Some(peering), Some(slot)) = (
                policies.peerings.get(&policy.peering),
                self.slots.get(&policy.name),
            ) else {
                continue;
            };
            for direction in Direction::ALL {
                let key = SteeringKey {
                    policy: policy.name.as_str().into(),
                    direction,
                };
                let steering = match old.remove(&key).filter(|steering| steering.fits(*slot, peering)) {
                    Some(mut steering) => {
                        all_outputs.push((
                            key.clone(),
                            steering.reconfigure(now, policy, &policies.measurement),
                        ));
                        steering
                    }
                    None => Steering::new(key.clone(), *slot, policy, peering, &policies.measurement),
                };
                self.touched.insert(Key::Steering(key.clone()));
                steerings.insert(key, steering);
            }
        }
        let gone: Vec<SteeringKey> = old.into_keys().collect();
        self.touched.extend(gone.iter().cloned().map(Key::Steering));
        self.steerings = steerings;
        self.reload_reports(&gone);
        for (key, outputs) in all_outputs {
            self.steering_outputs(now, &key, outputs, effects);
        }
    }
}
