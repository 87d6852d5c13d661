//! The controller without sockets and clocks: events in, effects out.
//!
//! ```text
//! Event ─▶ dispatch ─▶ what it touches: sessions, sites, steerings
//!                         │ tick each that is touched or due
//!                         ▼
//!                      flush: program changed sites · flip colours · read meters · set timers ─▶ Effects
//! ```
//! Nothing here waits, reads a clock or knows a socket. The same `Core` runs in the daemon and in the simulation
//! of `tests/`.

mod connections;
mod meters;
mod packets;
mod programming;
mod reload;
mod reports;
mod requests;
mod site;
mod switch_messages;
mod takeover;
mod timers;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use ofproto::Message;
use policies::{Decision, PathSet, PolicySet, Timestamp};

use crate::api::{DecisionView, Notice};
use crate::datapath::{Identity, Session};
use crate::event::{ConnId, Effect, Event};
use crate::measure::ProxyReports;
use crate::pipeline::Slot;
use crate::steering::{Steering, SteeringKey, SteeringOutput};
use site::{Role, SiteState};
use timers::Timers;

/// The whole state of the controller.
#[derive(Debug)]
pub struct Core {
    /// Milliseconds since the Unix epoch at `Timestamp::ZERO`.
    epoch_unix_ms: u64,
    policies: Arc<PolicySet>,
    policy_problems: Option<String>,
    slots: BTreeMap<String, Slot>,
    sessions: BTreeMap<ConnId, Session>,
    owners: BTreeMap<ConnId, Owner>,
    sites: BTreeMap<String, SiteState>,
    steerings: BTreeMap<SteeringKey, Steering>,
    decisions: VecDeque<DecisionView>,
    reports: ProxyReports,
    timers: Timers<Key>,
    touched: BTreeSet<Key>,
    /// Sites whose switch may not hold what it should.
    dirty: BTreeSet<String>,
    /// Sites whose meters somebody wants to read.
    metered: BTreeSet<String>,
}

/// To whom the messages of an identified connection go.
#[derive(Debug)]
enum Owner {
    Site(String),
    Unconfigured(Box<Identity>),
}

/// What can be touched and what has deadlines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Session(ConnId),
    Site(String),
    Steering(SteeringKey),
    Reports,
}

impl Core {
    /// A controller without policies. `epoch_unix_ms` is the wall-clock time at `Timestamp::ZERO`, for the API.
    pub fn new(epoch_unix_ms: u64) -> Core {
        Core {
            epoch_unix_ms,
            policies: Arc::default(),
            policy_problems: None,
            slots: BTreeMap::new(),
            sessions: BTreeMap::new(),
            owners: BTreeMap::new(),
            sites: BTreeMap::new(),
            steerings: BTreeMap::new(),
            decisions: VecDeque::new(),
            reports: ProxyReports::default(),
            timers: Timers::new(),
            touched: BTreeSet::new(),
            dirty: BTreeSet::new(),
            metered: BTreeSet::new(),
        }
    }

    /// Takes in what happened at `now` and appends what is to be done about it. `now` never goes back.
    pub fn handle(&mut self, now: Timestamp, event: Event, effects: &mut Vec<Effect>) {
        match event {
            Event::Connected { conn, peer } => self.connected(now, conn, peer, effects),
            Event::Message {
                conn,
                header,
                message,
            } => self.message(now, conn, header, message, effects),
            Event::Malformed {
                conn,
                xid,
                answer,
                problem,
            } => {
                if let Some(session) = self.sessions.get_mut(&conn) {
                    tracing::warn!(%conn, problem, "malformed message");
                    session.heard(now);
                    self.touched.insert(Key::Session(conn));
                    effects.push(Effect::Send {
                        conn,
                        xid,
                        message: Message::Error(answer),
                    });
                }
            }
            Event::Disconnected { conn, reason } => self.disconnected(conn, &reason, effects),
            Event::Policies(policies) => self.reload(now, &policies, effects),
            Event::PoliciesRejected { report } => {
                self.policy_problems = Some(report.clone());
                effects.push(Effect::Publish(Notice::Policies {
                    problems: Some(report),
                }));
            }
            Event::Request { id, request } => {
                let response = self.request(now, request, effects);
                effects.push(Effect::Reply { id, response });
            }
            Event::Report { id, report } => {
                let response = self.report(now, *report, effects);
                effects.push(Effect::Reply { id, response });
            }
            Event::Deadline => {}
        }
        self.touched
            .extend(std::iter::from_fn(|| self.timers.pop_due(now)));
        self.tick_touched(now, effects);
    }

    /// When [`Event::Deadline`] is wanted, if nothing else happens before.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.timers.next()
    }

    /// Ticks what was touched, and what that touches, then sends what follows from it.
    fn tick_touched(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        let mut done = BTreeSet::new();
        while let Some(key) = self.touched.pop_first() {
            match &key {
                Key::Session(conn) => self.tick_session(now, *conn, effects),
                Key::Site(site) => self.tick_site(now, site, effects),
                Key::Steering(steering) => {
                    let outputs = self
                        .steerings
                        .get_mut(steering)
                        .map(|steering| steering.tick(now));
                    self.steering_outputs(now, steering, outputs.unwrap_or_default(), effects);
                }
                Key::Reports => self.tick_reports(now, effects),
            }
            // What it touched of itself needs no second tick, only its deadline set below.
            self.touched.remove(&key);
            done.insert(key);
        }
        // Programming one site may be what another waits for.
        let mut waiting = BTreeSet::new();
        while let Some(site) = self.dirty.pop_first() {
            if !self.program(now, &site, effects) {
                waiting.insert(site);
            }
        }
        self.dirty = waiting;
        self.flip_colours(now, &done, effects);
        self.read_meters(effects);
        for key in done {
            let deadline = match &key {
                Key::Session(conn) => self.sessions.get(conn).map(Session::deadline),
                Key::Site(site) => self.sites.get(site).and_then(SiteState::deadline),
                Key::Steering(steering) => self.steerings.get(steering).and_then(Steering::deadline),
                Key::Reports => self.reports.deadline(),
            };
            self.timers.set(key, deadline);
        }
    }

    /// Does what a steering wants done.
    fn steering_outputs(
        &mut self,
        now: Timestamp,
        key: &SteeringKey,
        outputs: Vec<SteeringOutput>,
        effects: &mut Vec<Effect>,
    ) {
        self.touched.insert(Key::Steering(key.clone()));
        let Some(steering) = self.steerings.get(key) else {
            return;
        };
        let (sender, receiver) = (steering.sender().to_owned(), steering.receiver().to_owned());
        for output in outputs {
            match output {
                SteeringOutput::ReadSender => self.want_meters(&sender, key, Role::Sender),
                SteeringOutput::ReadReceiver => self.want_meters(&receiver, key, Role::Receiver),
                SteeringOutput::Program => {
                    self.dirty.insert(sender.clone());
                }
                SteeringOutput::Decided(decision) => self.decided(now, key, &decision, effects),
            }
        }
    }

    fn decided(&mut self, now: Timestamp, key: &SteeringKey, decision: &Decision, effects: &mut Vec<Effect>) {
        let Some(steering) = self.steerings.get(key) else {
            return;
        };
        let names = steering.path_names();
        let view = DecisionView {
            at_unix_ms: self.unix_ms(now),
            policy: key.policy.to_string(),
            from: steering.sender().to_owned(),
            to: steering.receiver().to_owned(),
            before: decision.from.display(names),
            after: decision.to.display(names),
            sentence: decision.sentence(names),
        };
        tracing::info!(
            policy = view.policy,
            from = view.from,
            to = view.to,
            "{}",
            view.sentence
        );
        if self.decisions.len() == KEPT_DECISIONS {
            self.decisions.pop_front();
        }
        self.decisions.push_back(view.clone());
        effects.push(Effect::Publish(Notice::Decision(view)));
    }

    /// Tells the directions of a site which paths can be used now, and starts those that can start.
    fn refresh_usable(&mut self, now: Timestamp, site: &str, effects: &mut Vec<Effect>) {
        let mut all = vec![];
        for (key, steering) in &mut self.steerings {
            if steering.sender() != site && steering.receiver() != site {
                continue;
            }
            let usable = usable_paths(&self.sites, steering, key);
            if steering.is_running() {
                all.push((key.clone(), steering.set_usable(now, usable)));
            }
        }
        for (key, outputs) in all {
            self.steering_outputs(now, &key, outputs, effects);
        }
    }

    fn unix_ms(&self, now: Timestamp) -> u64 {
        let since = u64::try_from(now.as_duration().as_millis()).unwrap_or(u64::MAX);
        self.epoch_unix_ms.saturating_add(since)
    }
}

/// A path can be used when both its uplinks are up and the sender knows its next hop.
fn usable_paths(sites: &BTreeMap<String, SiteState>, steering: &Steering, key: &SteeringKey) -> PathSet {
    let (sender, receiver) = (sites.get(steering.sender()), sites.get(steering.receiver()));
    let paths = (0_u8..)
        .map(policies::PathIndex)
        .zip(steering.peering().paths.values());
    let usable = paths.filter(|(_, path)| {
        let near = &path.uplinks[key.direction.sender()];
        let far = &path.uplinks[key.direction.receiver()];
        sender.is_some_and(|site| site.is_up(near) && site.is_resolved(near))
            && receiver.is_none_or(|site| site.is_up(far))
    });
    usable.map(|(index, _)| index).collect()
}

/// So many decisions are kept for the API.
const KEPT_DECISIONS: usize = 1000;
