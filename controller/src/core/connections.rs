//! Connections: who connected, who it turned out to be, and that it is gone.

use ofproto::{Header, Message};
use policies::Timestamp;

use super::site::Switch;
use super::{Core, Key, Owner};
use crate::api::{Notice, SwitchState};
use crate::datapath::{Identity, Session, SessionOutput};
use crate::event::{ConnId, Effect};

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

    /// A site's switch is gone: what its directions wait for will not come.
    pub(super) fn interrupt(&mut self, name: &str) {
        for (key, steering) in &mut self.steerings {
            if steering.sender() == name || steering.receiver() == name {
                steering.interrupted();
                self.touched.insert(Key::Steering(key.clone()));
            }
        }
    }
}
