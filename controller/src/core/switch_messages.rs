//! What an identified switch says.

use ofproto::{Message, MultipartReplyBody, Xid};
use policies::Timestamp;

use super::site::{Pending, Sync};
use super::takeover::START_GRACE;
use super::{Core, Key};
use crate::datapath::{Contents, FlowKey};
use crate::event::Effect;

impl Core {
    pub(super) fn switch_message(
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
                // With an error among its changes it is read again first.
                Some(Pending::Program(done)) if switch.is_synced() && switch.resync_at.is_none() => {
                    switch.settled();
                    switch.problem = None;
                    self.programmed(now, &done, effects);
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
                self.doubt(name);
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
                    self.doubt(name);
                }
            }
            Message::PacketIn(packet) => self.packet_in(now, name, &packet, effects),
            other => tracing::debug!(site = name, message = other.name(), "not expected"),
        }
    }

    pub(super) fn multipart(
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
                self.metered.insert(name.to_owned());
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
}
