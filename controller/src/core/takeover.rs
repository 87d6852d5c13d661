//! Taking a switch over: reading what it holds of ours, and going on from there.

use std::time::Duration;

use ofproto::{
    Action, Cookie, FlowStatsRequest, Message, MeterId, MultipartRequest, MultipartRequestBody, OxmField,
};
use policies::Timestamp;

use super::site::{Pending, SiteState, Sync};
use super::{Core, Key, usable_paths};
use crate::api::{Notice, SwitchState};
use crate::datapath::Contents;
use crate::event::Effect;
use crate::neighbor::Side;
use crate::pipeline::{COOKIE_MASK, COOKIE_PREFIX, Table};

impl Core {
    /// Asks the switch for everything of ours that it holds.
    pub(super) fn read_contents(&mut self, name: &str, effects: &mut Vec<Effect>) {
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

    /// The switch was read: takes over what it does already, then makes it do what it should.
    pub(super) fn synced(&mut self, now: Timestamp, name: &str, effects: &mut Vec<Effect>) {
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

/// Until then a new switch's directions wait for all of their next hops; after it they begin with those there are.
pub(super) const START_GRACE: Duration = Duration::from_secs(1);
