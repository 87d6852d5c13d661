//! Connections and switches: who connected, what it holds, making it hold what it should.

use std::collections::BTreeSet;
use std::time::Duration;

use ofproto::{
    Action, Cookie, FlowStatsRequest, GroupId, Header, Message, MeterId, MeterModCommand, MeterStats,
    MultipartReplyBody, MultipartRequest, MultipartRequestBody, OxmField, Xid,
};
use policies::Timestamp;

use super::site::{MeterReads, Pending, Role, SiteState, Switch, Sync};
use super::{Core, Key, Owner, usable_paths};
use crate::api::{Notice, SwitchState};
use crate::compile::{SiteView, compile, steer};
use crate::datapath::{Contents, FlowKey, Identity, Session, SessionOutput};
use crate::event::{ConnId, Effect};
use crate::neighbor::Side;
use crate::pipeline::{COOKIE_MASK, COOKIE_PREFIX, Colour, Slot, Table};
use crate::reconcile::reconcile;
use crate::steering::{Steering, SteeringKey};

impl Core {
    pub(super) fn connected(
        &mut self,
        now: Timestamp,
        conn: ConnId,
        peer: String,
        effects: &mut Vec<Effect>,
    ) {
        tracing::info!(%conn, peer, "connected");
        let (session, outputs) = Session::new(peer, now);
        self.sessions.insert(conn, session);
        self.session_outputs(now, conn, outputs, effects);
    }

    pub(super) fn message(
        &mut self,
        now: Timestamp,
        conn: ConnId,
        header: Header,
        message: Message,
        effects: &mut Vec<Effect>,
    ) {
        if let Some(session) = self.sessions.get_mut(&conn) {
            let outputs = session.message(now, header, message);
            self.session_outputs(now, conn, outputs, effects);
        }
    }

    pub(super) fn tick_session(&mut self, now: Timestamp, conn: ConnId, effects: &mut Vec<Effect>) {
        if let Some(session) = self.sessions.get_mut(&conn) {
            let outputs = session.tick(now);
            self.session_outputs(now, conn, outputs, effects);
        }
    }

    pub(super) fn disconnected(&mut self, conn: ConnId, reason: &str, effects: &mut Vec<Effect>) {
        if self.sessions.remove(&conn).is_some() {
            tracing::info!(%conn, reason, "disconnected");
        }
        self.touched.insert(Key::Session(conn));
        let Some(owner) = self.owners.remove(&conn) else {
            return;
        };
        let (site, datapath_id) = match owner {
            Owner::Unconfigured(identity) => (None, identity.features.datapath_id),
            Owner::Site(name) => {
                let Some(site) = self.sites.get_mut(&name) else {
                    return;
                };
                site.switch = None;
                let datapath_id = ofproto::DatapathId(site.config.datapath_id);
                self.interrupt(&name);
                (Some(name), datapath_id)
            }
        };
        let state = SwitchState::Disconnected;
        effects.push(Effect::Publish(Notice::Switch {
            site,
            datapath_id: datapath_id.to_string(),
            state,
        }));
    }

    fn session_outputs(
        &mut self,
        now: Timestamp,
        conn: ConnId,
        outputs: Vec<SessionOutput>,
        effects: &mut Vec<Effect>,
    ) {
        self.touched.insert(Key::Session(conn));
        for output in outputs {
            match output {
                SessionOutput::Send(xid, message) => effects.push(Effect::Send { conn, xid, message }),
                SessionOutput::Identified(identity) => self.identified(now, conn, *identity, effects),
                SessionOutput::Message(xid, message) => {
                    if let Some(Owner::Site(site)) = self.owners.get(&conn) {
                        self.switch_message(now, &site.clone(), xid, message, effects);
                    }
                }
                SessionOutput::Multipart(xid, body) => {
                    if let Some(Owner::Site(site)) = self.owners.get(&conn) {
                        self.multipart(now, &site.clone(), xid, body, effects);
                    }
                }
                SessionOutput::Close(reason) => {
                    tracing::warn!(%conn, reason, "closing the connection");
                    effects.push(Effect::Close {
                        conn,
                        reason: reason.clone(),
                    });
                    self.disconnected(conn, &reason, effects);
                }
            }
        }
    }

    /// A switch said who it is. A second connection of the same one takes the place of the first.
    pub(super) fn identified(
        &mut self,
        now: Timestamp,
        conn: ConnId,
        identity: Identity,
        effects: &mut Vec<Effect>,
    ) {
        let id = identity.features.datapath_id;
        let found = self
            .sites
            .iter()
            .find(|(_, site)| site.config.datapath_id == id.0);
        let Some(name) = found.map(|(name, _)| name.clone()) else {
            tracing::warn!(%conn, datapath_id = %id, "no site has this datapath id");
            self.owners.insert(conn, Owner::Unconfigured(Box::new(identity)));
            let state = SwitchState::Unconfigured;
            effects.push(Effect::Publish(Notice::Switch {
                site: None,
                datapath_id: id.to_string(),
                state,
            }));
            return;
        };
        tracing::info!(%conn, site = name, datapath_id = %id, software = identity.description.sw_desc, "switch");
        let old = self
            .sites
            .get(&name)
            .and_then(|site| site.switch.as_ref())
            .map(|switch| switch.conn);
        if let Some(old) = old {
            let reason = format!("datapath {id} connected again");
            effects.push(Effect::Close {
                conn: old,
                reason: reason.clone(),
            });
            self.disconnected(old, &reason, effects);
        }
        self.owners.insert(conn, Owner::Site(name.clone()));
        let Some(site) = self.sites.get_mut(&name) else {
            return;
        };
        site.switch = Some(Switch::new(conn, identity));
        site.refresh_uplinks(now);
        site.neighbors.ask_all(now);
        self.touched.insert(Key::Site(name.clone()));
        self.read_contents(&name, effects);
    }

    /// Asks the switch for everything of ours that it holds.
    fn read_contents(&mut self, name: &str, effects: &mut Vec<Effect>) {
        let Some(switch) = self.sites.get_mut(name).and_then(|site| site.switch.as_mut()) else {
            return;
        };
        let Some(session) = self.sessions.get_mut(&switch.conn) else {
            return;
        };
        switch.sync = Sync::Reading {
            contents: Contents::default(),
            left: 3,
        };
        switch.resync_at = None;
        let flows = FlowStatsRequest {
            cookie: Cookie(COOKIE_PREFIX),
            cookie_mask: COOKIE_MASK,
            ..FlowStatsRequest::default()
        };
        let conn = switch.conn;
        // What was sent before must be in force before it is read.
        effects.push(Effect::Send {
            conn,
            xid: session.next_xid(),
            message: Message::BarrierRequest,
        });
        for (pending, body) in [
            (
                Pending::ReadMeters,
                MultipartRequestBody::MeterConfig(MeterId::ALL),
            ),
            (Pending::ReadGroups, MultipartRequestBody::GroupDesc),
            (Pending::ReadFlows, MultipartRequestBody::Flow(flows)),
        ] {
            let xid = session.next_xid();
            switch.pending.insert(xid, pending);
            let message = Message::MultipartRequest(MultipartRequest { more: false, body });
            effects.push(Effect::Send { conn, xid, message });
        }
        let (site, datapath_id) = (
            Some(name.to_owned()),
            switch.identity.features.datapath_id.to_string(),
        );
        effects.push(Effect::Publish(Notice::Switch {
            site,
            datapath_id,
            state: SwitchState::Reading,
        }));
    }

    fn switch_message(
        &mut self,
        now: Timestamp,
        name: &str,
        xid: Xid,
        message: Message,
        effects: &mut Vec<Effect>,
    ) {
        let Some(site) = self.sites.get_mut(name) else {
            return;
        };
        let Some(switch) = &mut site.switch else { return };
        match message {
            Message::BarrierReply => match switch.pending.remove(&xid) {
                Some(Pending::Flip(key)) => {
                    if let Some(steering) = self.steerings.get_mut(&key) {
                        steering.flipped(now);
                    }
                    self.touched.insert(Key::Steering(key));
                }
                Some(Pending::Groups(keys)) => {
                    if switch.resync_at.is_none() {
                        switch.settled();
                        switch.problem = None;
                    }
                    self.groups_confirmed(now, &keys);
                }
                _ => {}
            },
            Message::Error(error) => {
                switch.sent.errors += 1;
                let problem = format!("the switch answered {}", error.error);
                tracing::warn!(site = name, xid = xid.0, problem);
                switch.problem = Some(problem);
                switch.meters.in_flight.take_if(|(asked, _)| *asked == xid);
                if switch.pending.remove(&xid).is_some() || !switch.is_synced() {
                    switch.sync = Sync::Reading {
                        contents: Contents::default(),
                        left: 3,
                    };
                }
                switch.resync_later(now);
                self.touched.insert(Key::Site(name.to_owned()));
            }
            Message::PortStatus(status) => {
                if switch.ports.update(&status) {
                    tracing::info!(site = name, port = status.desc.name, state = ?status.desc.state, "port");
                    site.refresh_uplinks(now);
                    if site.side_of_port(status.desc.port_no).is_some() {
                        site.neighbors.ask_all(now);
                    }
                    self.dirty.insert(name.to_owned());
                    self.touched.insert(Key::Site(name.to_owned()));
                    self.refresh_usable(now, name, effects);
                }
            }
            Message::FlowRemoved(removed) => {
                let key = FlowKey {
                    table: removed.table_id,
                    priority: removed.priority,
                    match_: removed.match_.sorted(),
                };
                // What we deleted ourselves is not in `actual` any more.
                if switch.is_synced() && switch.actual.flows.contains_key(&key) {
                    tracing::warn!(
                        site = name,
                        table = key.table.0,
                        "somebody removed a flow entry of ours"
                    );
                    switch.resync_later(now);
                    self.touched.insert(Key::Site(name.to_owned()));
                }
            }
            Message::PacketIn(packet) => self.packet_in(now, name, &packet, effects),
            other => tracing::debug!(site = name, message = other.name(), "not expected"),
        }
    }

    fn multipart(
        &mut self,
        now: Timestamp,
        name: &str,
        xid: Xid,
        body: MultipartReplyBody,
        effects: &mut Vec<Effect>,
    ) {
        let Some(switch) = self.sites.get_mut(name).and_then(|site| site.switch.as_mut()) else {
            return;
        };
        if let MultipartReplyBody::Meter(stats) = body {
            if switch
                .meters
                .in_flight
                .as_ref()
                .is_some_and(|(asked, _)| *asked == xid)
                && let Some((_, readers)) = switch.meters.in_flight.take()
            {
                self.meters_read(now, &readers, &stats, effects);
            }
            return;
        }
        let Some(pending) = switch.pending.remove(&xid) else {
            return;
        };
        let Sync::Reading { contents, left } = &mut switch.sync else {
            return;
        };
        match (pending, body) {
            (Pending::ReadFlows, MultipartReplyBody::Flow(flows)) => contents.add_flows(flows),
            (Pending::ReadGroups, MultipartReplyBody::GroupDesc(groups)) => contents.add_groups(groups),
            (Pending::ReadMeters, MultipartReplyBody::MeterConfig(meters)) => contents.add_meters(meters),
            _ => return,
        }
        *left -= 1;
        if *left == 0 {
            switch.actual = std::mem::take(contents);
            switch.sync = Sync::Synced {
                start_by: Some(now + START_GRACE),
            };
            self.synced(now, name, effects);
        }
    }

    /// The switch was read: takes over what it does already, then makes it do what it should.
    fn synced(&mut self, now: Timestamp, name: &str, effects: &mut Vec<Effect>) {
        if let Some(site) = self.sites.get_mut(name) {
            adopt_neighbors(now, site);
            let datapath_id = ofproto::DatapathId(site.config.datapath_id).to_string();
            let (site, state) = (Some(name.to_owned()), SwitchState::Programmed);
            effects.push(Effect::Publish(Notice::Switch {
                site,
                datapath_id,
                state,
            }));
        }
        self.start_steerings(now, name, false);
        self.refresh_usable(now, name, effects);
        self.dirty.insert(name.to_owned());
        self.touched.insert(Key::Site(name.to_owned()));
    }

    /// Starts the directions that this site sends: those found in its groups, those whose next hops are all known,
    /// and with `now_or_never` the rest too.
    pub(super) fn start_steerings(&mut self, now: Timestamp, name: &str, now_or_never: bool) {
        let Some(site) = self.sites.get(name) else { return };
        let Some(switch) = site.switch.as_ref().filter(|switch| switch.is_synced()) else {
            return;
        };
        for (key, steering) in &mut self.steerings {
            if steering.sender() != name || steering.is_running() {
                continue;
            }
            let found = steering.find(&site.config, &switch.ports, &switch.actual);
            let side = key.direction.sender();
            let mut uplinks = steering.peering().paths.values().map(|path| &path.uplinks[side]);
            let resolved = uplinks.all(|uplink| site.is_resolved(uplink) || !site.is_up(uplink));
            if found.is_some() || resolved || now_or_never {
                let usable = usable_paths(&self.sites, steering, key);
                steering.start(now, found.as_ref(), usable);
                self.dirty.insert(name.to_owned());
                self.touched.insert(Key::Steering(key.clone()));
            }
        }
    }

    pub(super) fn tick_site(&mut self, now: Timestamp, name: &str, effects: &mut Vec<Effect>) {
        let Some(site) = self.sites.get_mut(name) else {
            return;
        };
        site.end_recoveries(now);
        let mut start = false;
        if let Some(switch) = &mut site.switch {
            if let Sync::Synced { start_by } = &mut switch.sync {
                start = start_by.take_if(|at| *at <= now).is_some();
            }
            if switch.resync_at.is_some_and(|at| at <= now) {
                self.read_contents(name, effects);
            }
        }
        if start {
            self.start_steerings(now, name, true);
        }
        self.refresh_usable(now, name, effects);
        self.ask_neighbors(now, name, effects);
    }

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
        let keys: Vec<SteeringKey> = self
            .steerings
            .iter()
            .filter(|(_, steering)| steering.sender() == name)
            .map(|(key, _)| key.clone())
            .collect();
        for key in &keys {
            if let Some(steering) = self.steerings.get_mut(key) {
                steering.groups_sent();
            }
        }
        if messages.is_empty() {
            self.groups_confirmed(now, &keys);
            return true;
        }
        self.meters_renewed(now, name, &messages);
        if let Some(switch) = self.sites.get_mut(name).and_then(|site| site.switch.as_mut()) {
            switch.actual = desired;
        }
        self.send_changes(name, messages, Pending::Groups(keys), effects);
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

    fn groups_confirmed(&mut self, now: Timestamp, keys: &[SteeringKey]) {
        for key in keys {
            if let Some(steering) = self.steerings.get_mut(key) {
                steering.groups_confirmed(now);
                self.timers.set(Key::Steering(key.clone()), steering.deadline());
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

    /// A site's switch is gone: what its directions wait for will not come.
    pub(super) fn interrupt(&mut self, name: &str) {
        for (key, steering) in &mut self.steerings {
            if steering.sender() == name || steering.receiver() == name {
                steering.interrupted();
                self.touched.insert(Key::Steering(key.clone()));
            }
        }
    }

    pub(super) fn want_meters(&mut self, site: &str, key: &SteeringKey, role: Role) {
        if let Some(switch) = self.sites.get_mut(site).and_then(|site| site.switch.as_mut()) {
            switch.meters.wanted.insert((key.clone(), role));
        }
    }

    /// Asks each switch whose meters are wanted, once for all who want them.
    pub(super) fn read_meters(&mut self, effects: &mut Vec<Effect>) {
        for switch in self.sites.values_mut().filter_map(|site| site.switch.as_mut()) {
            let MeterReads { wanted, in_flight } = &mut switch.meters;
            if wanted.is_empty() || in_flight.is_some() {
                continue;
            }
            let Some(session) = self.sessions.get_mut(&switch.conn) else {
                continue;
            };
            let xid = session.next_xid();
            *in_flight = Some((xid, std::mem::take(wanted)));
            let body = MultipartRequestBody::Meter(MeterId::ALL);
            let message = Message::MultipartRequest(MultipartRequest { more: false, body });
            effects.push(Effect::Send {
                conn: switch.conn,
                xid,
                message,
            });
        }
    }

    fn meters_read(
        &mut self,
        now: Timestamp,
        readers: &BTreeSet<(SteeringKey, Role)>,
        stats: &[MeterStats],
        effects: &mut Vec<Effect>,
    ) {
        let counts: std::collections::HashMap<MeterId, u64> = stats
            .iter()
            .map(|meter| (meter.meter_id, meter.packet_in_count))
            .collect();
        let count = |meter: MeterId| counts.get(&meter).copied();
        for (key, role) in readers {
            let Some(steering) = self.steerings.get_mut(key) else {
                continue;
            };
            let slot = steering.slot();
            let outputs = match role {
                Role::Sender => {
                    let reading = Colour::ALL.map(|colour| count(slot.sender_meter(colour)));
                    let [Some(zero), Some(one)] = reading else {
                        continue;
                    };
                    steering.sender_reading(now, [zero, one])
                }
                Role::Receiver => {
                    let paths = (0_u8..)
                        .map(policies::PathIndex)
                        .take(steering.path_names().len());
                    let reading: Option<Vec<[u64; 2]>> = paths
                        .map(|path| {
                            let [zero, one] =
                                Colour::ALL.map(|colour| count(slot.receiver_meter(path, colour)));
                            Some([zero?, one?])
                        })
                        .collect();
                    let Some(reading) = reading else { continue };
                    steering.receiver_reading(now, reading)
                }
            };
            self.steering_outputs(now, key, outputs, effects);
        }
    }
}

/// Next hops and hosts as the switch's own entries have them: true until ARP says otherwise.
fn adopt_neighbors(now: Timestamp, site: &mut SiteState) {
    let Some(switch) = &site.switch else { return };
    for uplink in site.config.uplinks.values() {
        let Some(port) = switch.ports.by_name(&uplink.port) else {
            continue;
        };
        let buckets = switch.actual.groups.values().flat_map(|group| &group.buckets);
        let mac = buckets
            .filter(|bucket| bucket.actions.contains(&Action::output(port.number)))
            .find_map(|bucket| bucket.actions.iter().find_map(set_eth_dst));
        if let Some(mac) = mac {
            site.neighbors
                .adopt(now, Side::Uplink(uplink.name.clone()), uplink.next_hop, mac);
        }
    }
    let hosts = switch
        .actual
        .flows
        .iter()
        .filter(|(key, _)| key.table == Table::Deliver.id());
    for (key, entry) in hosts {
        let ip = key.match_.fields.iter().find_map(|field| match field {
            OxmField::Ipv4Dst(dst) if dst.mask.is_none() => Some(dst.value),
            _ => None,
        });
        let mac = entry
            .instructions
            .iter()
            .find_map(|instruction| match instruction {
                ofproto::Instruction::ApplyActions(actions) => actions.iter().find_map(set_eth_dst),
                _ => None,
            });
        if let (Some(ip), Some(mac)) = (ip, mac) {
            site.neighbors.adopt(now, Side::Access, ip, mac);
        }
    }
}

fn set_eth_dst(action: &Action) -> Option<ofproto::MacAddr> {
    match action {
        Action::SetField(OxmField::EthDst(mac)) => Some(mac.value),
        _ => None,
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

/// A new switch's directions wait so long for all of their next hops before they begin with some.
const START_GRACE: Duration = Duration::from_secs(1);
