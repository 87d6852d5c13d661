//! The control channels, the core at their end, and what a test does to switches and controller.

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use ofproto::{Header, MacAddr, Message, VERSION, Xid};
use policies::{ProxyReport, Timestamp};

use super::{EPOCH_UNIX_MS, FakeDatapath, Happening, Site, Step, World};
use crate::api::{ModeRequest, Notice, Request, Response};
use crate::core::Core;
use crate::event::{ConnId, Effect, Event, RequestId};

/// A message that the core sent to a switch.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    /// When.
    pub at: Timestamp,
    /// The name of the switch's site.
    pub site: String,
    /// The message.
    pub message: Message,
}

impl World {
    /// The link of a switch's port goes up or down. The port is named as the policy file names it.
    pub fn port_up(&mut self, site: &str, port: &str, up: bool) {
        let now = self.now;
        self.at_switch(site, |switch| switch.set_port_up(now, port, up));
    }

    /// Does something to a switch behind the controller's back.
    pub fn at_switch<T>(&mut self, site: &str, what: impl FnOnce(&mut FakeDatapath) -> T) -> T {
        let site = self.index_of(site);
        let result = what(&mut self.sites[site].switch);
        self.switch_says(site);
        result
    }

    /// Another controller sends a message to a switch; returns the answers that it gets.
    pub fn meddle(&mut self, site: &str, message: Message) -> Vec<Message> {
        let now = self.now;
        let answers = self.at_switch(site, |switch| switch.message(now, FOREIGN_XID, message));
        answers.into_iter().map(|(_, message)| message).collect()
    }

    /// vswitchd starts again: the connection ends, and the switch that comes back has lost everything.
    pub fn wipe(&mut self, site: &str) {
        self.disconnect(site);
        let site = self.index_of(site);
        self.sites[site].switch.wipe();
    }

    /// The connection of a switch ends; it connects again after a second.
    pub fn disconnect(&mut self, site: &str) {
        let site = self.index_of(site);
        if let Some(conn) = self.sites[site].conn.take() {
            let reason = "closed by the switch".to_owned();
            self.core_handle(Event::Disconnected { conn, reason });
        }
        self.schedule(RECONNECT, Happening::Connect(site));
    }

    /// A switch connects again without having ended the connection that it has.
    pub fn connect_again(&mut self, site: &str) {
        let site = self.index_of(site);
        self.connect(site);
    }

    /// The router behind an uplink is replaced by one with this hardware address, which says so when it is asked, and
    /// at once if `announced`.
    pub fn replace_router(&mut self, site: &str, uplink: &str, mac: MacAddr, announced: bool) {
        let (now, site) = (self.now, self.index_of(site));
        let router = self.sites[site].router_mut(uplink);
        router.mac = mac;
        let question = router.ask(now);
        let found = self.sites[site]
            .routers
            .iter()
            .find(|router| router.uplink == uplink);
        if let Some(port) = found.filter(|_| announced).map(|router| router.port) {
            self.packets(vec![Step::IntoSwitch(site, port, question)]);
        }
    }

    /// The router behind an uplink answers no ARP requests any more, or does so again.
    pub fn silence_router(&mut self, site: &str, uplink: &str, silent: bool) {
        let site = self.index_of(site);
        self.sites[site].router_mut(uplink).set_silent(silent);
    }

    /// The controller dies and another one begins, which knows nothing but the policy file. Switches connect after a
    /// second.
    pub fn restart_core(&mut self) {
        self.core_since = self.now;
        let since = u64::try_from(self.now.as_duration().as_millis()).unwrap_or(u64::MAX);
        self.core = Core::new(EPOCH_UNIX_MS + since);
        self.core_handle(Event::Policies(Arc::new(self.policies.clone())));
        for site in 0..self.sites.len() {
            self.sites[site].conn = None;
            self.schedule(RECONNECT, Happening::Connect(site));
        }
    }

    /// The policy file is changed to this text. A bad one is refused, as the daemon does it; says whether it was good.
    pub fn reload(&mut self, policy_file: &str) -> bool {
        match policies::load("policies.yaml", policy_file) {
            Ok(policies) => {
                self.policies = policies.clone();
                self.core_handle(Event::Policies(Arc::new(policies)));
                true
            }
            Err(error) => {
                let report = error.to_string();
                self.core_handle(Event::PoliciesRejected { report });
                false
            }
        }
    }

    /// An operator pins the mode of what a site sends, or gives it back.
    pub fn set_mode(&mut self, policy: &str, from: &str, mode: ModeRequest) -> Response {
        let (policy, from) = (policy.to_owned(), from.to_owned());
        self.ask(Request::SetMode { policy, from, mode })
    }

    /// Asks the controller.
    pub fn ask(&mut self, request: Request) -> Response {
        let id = RequestId(0);
        let replies = self.core_handle(Event::Request { id, request });
        replies
            .into_iter()
            .next()
            .expect("every request is answered at once")
    }

    /// A proxy reports.
    pub fn report(&mut self, report: &ProxyReport) -> Response {
        let (id, report) = (RequestId(0), Box::new(report.clone()));
        let replies = self.core_handle(Event::Report { id, report });
        replies
            .into_iter()
            .next()
            .expect("every report is answered at once")
    }

    /// What the core sent to switches, from the beginning.
    pub fn sent(&self) -> &[Sent] {
        &self.sent
    }

    /// A site.
    pub fn site(&self, name: &str) -> &Site {
        &self.sites[self.index_of(name)]
    }

    pub(super) fn index_of(&self, site: &str) -> usize {
        let found = self.sites.iter().position(|candidate| candidate.name == site);
        found.expect("a site of the policy file")
    }

    /// A switch connects.
    pub(super) fn connect(&mut self, site: usize) {
        self.connections += 1;
        let conn = ConnId(self.connections);
        self.sites[site].conn = Some(conn);
        let peer = format!("192.0.2.{}:{}", site + 1, 50_000 + self.connections);
        self.core_handle(Event::Connected { conn, peer });
        for (xid, message) in self.sites[site].switch.connect() {
            self.send_to_core(site, conn, xid, message);
        }
    }

    /// The core takes an event; what it wants done is done, and its answers to requests are returned.
    pub(super) fn core_handle(&mut self, event: Event) -> Vec<Response> {
        let mut effects = std::mem::take(&mut self.effects);
        let now = Timestamp::from(self.now.saturating_since(self.core_since));
        self.core.handle(now, event, &mut effects);
        let mut replies = vec![];
        for effect in effects.drain(..) {
            match effect {
                Effect::Send { conn, xid, message } => self.core_says(conn, xid, message),
                Effect::Close { conn, reason } => {
                    if let Some(site) = self.sites.iter().position(|site| site.conn == Some(conn)) {
                        let name = self.sites[site].name.clone();
                        tracing::debug!(site = name, reason, "closed");
                        self.disconnect(&name);
                    }
                }
                Effect::Reply { response, .. } => replies.push(response),
                Effect::Publish(Notice::Decision(decision)) => self.decisions.push(decision),
                Effect::Publish(_) => {}
            }
        }
        if self.effects.is_empty() {
            self.effects = effects;
        }
        replies
    }

    pub(super) fn core_hears(&mut self, conn: ConnId, xid: Xid, message: Message) {
        if self.sites.iter().any(|site| site.conn == Some(conn)) {
            let (header, message) = self.over_the_wire(xid, message);
            self.core_handle(Event::Message {
                conn,
                header,
                message,
            });
        }
    }

    pub(super) fn switch_hears(&mut self, site: usize, xid: Xid, message: Message) {
        let (_, message) = self.over_the_wire(xid, message);
        let answers = self.sites[site].switch.message(self.now, xid, message);
        // FLOW_REMOVED goes out before the barrier's answer.
        self.switch_says(site);
        if let Some(conn) = self.sites[site].conn {
            for (xid, answer) in answers {
                self.send_to_core(site, conn, xid, answer);
            }
        }
        let packets = self.sites[site].switch.take_packets().into_iter();
        let packets = packets.map(|(port, packet)| Step::OutOfSwitch(site, port, packet));
        self.packets(packets.collect());
    }

    /// What a switch says unasked goes on its way; without a connection it is lost.
    pub(super) fn switch_says(&mut self, site: usize) {
        let messages = self.sites[site].switch.take_messages();
        if let Some(conn) = self.sites[site].conn {
            for (xid, message) in messages {
                self.send_to_core(site, conn, xid, message);
            }
        }
    }

    fn core_says(&mut self, conn: ConnId, xid: Xid, message: Message) {
        let Some(site) = self.sites.iter().position(|site| site.conn == Some(conn)) else {
            return;
        };
        self.sent.push(Sent {
            at: self.now,
            site: self.sites[site].name.clone(),
            message: message.clone(),
        });
        let latency = self.sites[site].latency;
        self.schedule(latency, Happening::ToSwitch(site, xid, Box::new(message)));
    }

    fn send_to_core(&mut self, site: usize, conn: ConnId, xid: Xid, message: Message) {
        let latency = self.sites[site].latency;
        self.schedule(latency, Happening::ToCore(conn, xid, Box::new(message)));
    }

    fn over_the_wire(&self, xid: Xid, message: Message) -> (Header, Message) {
        if !self.on_the_wire {
            let header = Header {
                version: VERSION,
                type_: message.message_type().to_wire(),
                length: 8,
                xid,
            };
            return (header, message);
        }
        let mut frame = BytesMut::new();
        message
            .encode(xid, &mut frame)
            .expect("every message has a form on the wire");
        Message::decode(&frame.freeze()).expect("what was encoded can be decoded")
    }
}

/// As long as Open vSwitch waits before it connects again.
const RECONNECT: Duration = Duration::from_secs(1);
const FOREIGN_XID: Xid = Xid(0xf0e1);
