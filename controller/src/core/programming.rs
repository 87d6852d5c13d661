//! Making a switch hold what it should: programs, and colour flips.

use std::collections::BTreeSet;

use ofproto::{GroupId, Message, MeterModCommand};
use policies::Timestamp;

use super::site::{Pending, Programmed};
use super::{Core, Key};
use crate::compile::{SiteView, compile, steer};
use crate::datapath::Contents;
use crate::event::Effect;
use crate::pipeline::{Colour, Slot, Table};
use crate::reconcile::reconcile;
use crate::steering::{Steering, SteeringKey};

impl Core {
    /// Sends the difference between what the switch of a site holds and what it should. Says whether it could.
    pub(super) fn program(&mut self, now: Timestamp, name: &str, effects: &mut Vec<Effect>) -> bool {
        let Some(site) = self.sites.get(name) else {
            return true;
        };
        let Some(switch) = site.switch.as_ref().filter(|switch| switch.is_synced()) else {
            return false;
        };
        let here = |steering: &&Steering| steering.sender() == name;
        let view = SiteView {
            site: &site.config,
            ports: &switch.ports,
            neighbors: &site.neighbors,
            sending: self
                .steerings
                .values()
                .filter(here)
                .filter_map(Steering::sending)
                .collect(),
            receiving: self
                .steerings
                .values()
                .filter(|steering| steering.receiver() == name)
                .map(Steering::receiving)
                .collect(),
        };
        let mut desired = compile(&view);
        for waiting in self
            .steerings
            .values()
            .filter(here)
            .filter(|steering| !steering.is_running())
        {
            keep(waiting.slot(), &switch.actual, &mut desired);
        }
        let messages = reconcile(&switch.actual, &desired);
        let of_site = |site: fn(&Steering) -> &str| -> Vec<SteeringKey> {
            let here = self
                .steerings
                .iter()
                .filter(|(_, steering)| site(steering) == name);
            here.map(|(key, _)| key.clone()).collect()
        };
        let done = Programmed {
            sending: of_site(Steering::sender),
            receiving: of_site(Steering::receiver),
        };
        for key in &done.sending {
            if let Some(steering) = self.steerings.get_mut(key) {
                steering.groups_sent();
            }
        }
        if messages.is_empty() {
            self.programmed(now, &done, effects);
            return true;
        }
        self.meters_renewed(now, name, &messages);
        if let Some(switch) = self.sites.get_mut(name).and_then(|site| site.switch.as_mut()) {
            switch.actual = desired;
        }
        self.send_changes(name, messages, Pending::Program(done), effects);
        true
    }

    /// Opens the next colour period of the directions whose time has come.
    pub(super) fn flip_colours(
        &mut self,
        now: Timestamp,
        touched: &BTreeSet<Key>,
        effects: &mut Vec<Effect>,
    ) {
        for key in touched.iter().filter_map(|key| match key {
            Key::Steering(key) => Some(key),
            _ => None,
        }) {
            let Some(steering) = self.steerings.get_mut(key) else {
                continue;
            };
            let name = steering.sender().to_owned();
            let switch = self.sites.get(&name).and_then(|site| site.switch.as_ref());
            let Some(switch) = switch.filter(|switch| switch.is_synced()) else {
                continue;
            };
            if !steering.take_flip(now) {
                continue;
            }
            let Some(sending) = steering.sending() else {
                continue;
            };
            let mut desired = Contents::default();
            steer(&sending, &mut desired);
            let before = Contents {
                flows: desired
                    .flows
                    .keys()
                    .filter_map(|key| switch.actual.flows.get_key_value(key))
                    .map(owned)
                    .collect(),
                ..Contents::default()
            };
            let messages = reconcile(&before, &desired);
            if let Some(switch) = self.sites.get_mut(&name).and_then(|site| site.switch.as_mut()) {
                switch.actual.flows.extend(desired.flows);
            }
            self.send_changes(&name, messages, Pending::Flip(key.clone()), effects);
        }
    }

    /// The one place that sends changes: counts them and puts a barrier behind them.
    pub(super) fn send_changes(
        &mut self,
        name: &str,
        messages: Vec<Message>,
        meaning: Pending,
        effects: &mut Vec<Effect>,
    ) {
        let Some(switch) = self.sites.get_mut(name).and_then(|site| site.switch.as_mut()) else {
            return;
        };
        let Some(session) = self.sessions.get_mut(&switch.conn) else {
            return;
        };
        let conn = switch.conn;
        for message in messages {
            match &message {
                Message::FlowMod(_) => switch.sent.flow_mods += 1,
                Message::GroupMod(_) => switch.sent.group_mods += 1,
                Message::MeterMod(_) => switch.sent.meter_mods += 1,
                _ => {}
            }
            effects.push(Effect::Send {
                conn,
                xid: session.next_xid(),
                message,
            });
        }
        let xid = session.next_xid();
        switch.pending.insert(xid, meaning);
        effects.push(Effect::Send {
            conn,
            xid,
            message: Message::BarrierRequest,
        });
    }

    /// A switch holds what it should.
    pub(super) fn programmed(&mut self, now: Timestamp, done: &Programmed, effects: &mut Vec<Effect>) {
        for key in &done.sending {
            if let Some(steering) = self.steerings.get_mut(key) {
                steering.groups_confirmed(now);
                self.timers.set(Key::Steering(key.clone()), steering.deadline());
            }
        }
        for key in &done.receiving {
            let outputs = self
                .steerings
                .get_mut(key)
                .map(|steering| steering.receiver_programmed(now));
            self.steering_outputs(now, key, outputs.unwrap_or_default(), effects);
            let deadline = self.steerings.get(key).and_then(Steering::deadline);
            self.timers.set(Key::Steering(key.clone()), deadline);
        }
    }

    /// A switch does not hold what we thought: until it has been read and programmed again, neither its groups nor
    /// what it receives says anything about paths.
    pub(super) fn doubt(&mut self, name: &str) {
        for steering in self.steerings.values_mut() {
            if steering.sender() == name {
                steering.doubt_sender();
            }
            if steering.receiver() == name {
                steering.doubt_receiver();
            }
        }
    }

    /// Meters that are added start from zero: the counts of their directions do too.
    fn meters_renewed(&mut self, now: Timestamp, name: &str, messages: &[Message]) {
        let added: BTreeSet<(Slot, bool)> = messages
            .iter()
            .filter_map(|message| match message {
                Message::MeterMod(meter) if meter.command == MeterModCommand::Add => {
                    Slot::of_meter(meter.meter_id)
                }
                _ => None,
            })
            .collect();
        for (key, steering) in &mut self.steerings {
            let sends = steering.sender() == name && added.contains(&(steering.slot(), true));
            let receives = steering.receiver() == name && added.contains(&(steering.slot(), false));
            if sends || receives {
                steering.meters_renewed(now);
                self.timers.set(Key::Steering(key.clone()), steering.deadline());
            }
        }
    }
}

/// Leaves everything of a slot that sends as it is.
fn keep(slot: Slot, actual: &Contents, desired: &mut Contents) {
    let sends = [slot.cookie(Table::Classify), slot.cookie(Table::Steer)];
    let flows = actual
        .flows
        .iter()
        .filter(|(_, entry)| sends.contains(&entry.cookie));
    desired.flows.extend(flows.map(owned));
    let groups: [GroupId; 2] = [slot.main_group(), slot.sample_group()];
    desired.groups.extend(
        groups
            .iter()
            .filter_map(|id| actual.groups.get_key_value(id))
            .map(owned),
    );
    let meters = Colour::ALL.map(|colour| slot.sender_meter(colour));
    desired.meters.extend(
        meters
            .iter()
            .filter_map(|id| actual.meters.get_key_value(id))
            .map(owned),
    );
}

fn owned<K: Clone, V: Clone>((key, value): (&K, &V)) -> (K, V) {
    (key.clone(), value.clone())
}
