//! Packets that a switch handed up: ARP, and the first packet to a host that is not known yet.

use ofproto::{Action, BufferId, Message, PacketIn, PacketOut, PortNo, list};
use policies::Timestamp;

use super::{Core, Key};
use crate::event::Effect;
use crate::neighbor::{Question, Side};
use crate::packet::{Arp, Punted};

impl Core {
    pub(super) fn packet_in(
        &mut self,
        now: Timestamp,
        name: &str,
        packet: &PacketIn,
        effects: &mut Vec<Effect>,
    ) {
        let Some(port) = packet.in_port() else { return };
        match Punted::parse(&packet.data) {
            Some(Punted::Arp(arp)) => self.arp(now, name, port, &arp, effects),
            Some(Punted::Ipv4 { destination }) => {
                if let Some(site) = self.sites.get_mut(name)
                    && site.is_local(destination)
                    && site.neighbors.len() < MAX_NEIGHBORS
                {
                    site.neighbors.ask(now, Side::Access, destination);
                    self.touched.insert(Key::Site(name.to_owned()));
                }
            }
            None => {}
        }
    }

    fn arp(&mut self, now: Timestamp, name: &str, port: PortNo, arp: &Arp, effects: &mut Vec<Effect>) {
        let Some(site) = self.sites.get_mut(name) else {
            return;
        };
        let Some(side) = site.side_of_port(port) else {
            return;
        };
        let ours = site
            .own_addresses(&side)
            .iter()
            .any(|own| own.addr() == arp.target_ip);
        if side == Side::Access && site.is_local(arp.sender_ip) && site.neighbors.len() < MAX_NEIGHBORS {
            site.neighbors.ask(now, Side::Access, arp.sender_ip);
        }
        let news = site
            .neighbors
            .learn(now, side.clone(), arp.sender_ip, arp.sender_mac);
        let mac = match &side {
            Side::Access => site.access_port(),
            Side::Uplink(uplink) => site.uplink_port(uplink),
        }
        .map(|port| port.mac);
        if arp.request
            && ours
            && let Some(mac) = mac
        {
            self.packet_out(name, port, arp.answer(mac), effects);
        }
        if news {
            tracing::info!(site = name, ?side, ip = %arp.sender_ip, mac = %arp.sender_mac, "neighbor");
            self.start_steerings(now, name, false);
            self.refresh_usable(now, name, effects);
            self.dirty.insert(name.to_owned());
        }
        self.touched.insert(Key::Site(name.to_owned()));
    }

    /// Sends the ARP requests that are due.
    pub(super) fn ask_neighbors(&mut self, now: Timestamp, name: &str, effects: &mut Vec<Effect>) {
        let Some(site) = self.sites.get_mut(name) else {
            return;
        };
        if !site.switch.as_ref().is_some_and(|switch| switch.is_synced()) {
            return;
        }
        let (questions, forgotten) = site.neighbors.due(now);
        if forgotten {
            self.dirty.insert(name.to_owned());
        }
        for question in questions {
            self.ask(name, &question, effects);
        }
    }

    fn ask(&mut self, name: &str, question: &Question, effects: &mut Vec<Effect>) {
        let Some(site) = self.sites.get(name) else { return };
        let port = match &question.side {
            Side::Access => site.access_port(),
            Side::Uplink(uplink) => site.uplink_port(uplink),
        };
        let own = site.own_addresses(&question.side);
        let sender = own.iter().find(|own| own.contains(&question.ip)).or(own.first());
        if let (Some(port), Some(sender)) = (port, sender) {
            let frame = Arp::question(port.mac, sender.addr(), question.ip, question.known);
            self.packet_out(name, port.number, frame, effects);
        }
    }

    fn packet_out(&mut self, name: &str, port: PortNo, data: bytes::Bytes, effects: &mut Vec<Effect>) {
        let Some(switch) = self.sites.get(name).and_then(|site| site.switch.as_ref()) else {
            return;
        };
        let Some(session) = self.sessions.get_mut(&switch.conn) else {
            return;
        };
        let message = Message::PacketOut(PacketOut {
            buffer_id: BufferId::NO_BUFFER,
            in_port: PortNo::CONTROLLER,
            actions: list![Action::output(port)],
            data,
        });
        effects.push(Effect::Send {
            conn: switch.conn,
            xid: session.next_xid(),
            message,
        });
    }
}

/// A site does not ask for more neighbours than this, whatever addresses its hosts make up.
const MAX_NEIGHBORS: usize = 4096;
