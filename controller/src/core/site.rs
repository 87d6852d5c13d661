//! One configured site: its uplinks and neighbours, and its switch while it is connected.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::time::Duration;

use ipnet::Ipv4Net;
use ofproto::{MacAddr, Xid};
use policies::{Class, Timestamp};

use crate::api::SentCounts;
use crate::datapath::{Contents, Identity, PortInfo, Ports};
use crate::event::ConnId;
use crate::neighbor::{Neighbors, Side};
use crate::steering::SteeringKey;

/// One site of the policy file.
#[derive(Debug)]
pub(super) struct SiteState {
    pub(super) config: policies::Site,
    pub(super) neighbors: Neighbors,
    pub(super) uplinks: BTreeMap<String, UplinkState>,
    pub(super) switch: Option<Switch>,
}

/// An uplink's port as last seen; kept while the switch is away.
#[derive(Debug, Clone, Default)]
pub(super) struct UplinkState {
    /// `None` until the switch has been seen.
    up: Option<bool>,
    /// It came back and must prove itself until then.
    recovering_until: Option<Timestamp>,
}

/// The switch of a site while it is connected.
#[derive(Debug)]
pub(super) struct Switch {
    pub(super) conn: ConnId,
    pub(super) identity: Identity,
    pub(super) ports: Ports,
    /// What it holds of ours, as read and as sent since.
    pub(super) actual: Contents,
    pub(super) sync: Sync,
    pub(super) pending: BTreeMap<Xid, Pending>,
    pub(super) meters: MeterReads,
    pub(super) sent: SentCounts,
    pub(super) problem: Option<String>,
    pub(super) resync_at: Option<Timestamp>,
    resync_backoff: Duration,
}

/// How far we know what the switch holds.
#[derive(Debug)]
pub(super) enum Sync {
    /// The three dumps are on their way.
    Reading { contents: Contents, left: u8 },
    /// `actual` is true. Directions that still wait for their next hops start at this time at the latest.
    Synced { start_by: Option<Timestamp> },
}

/// What an answer of the switch will mean.
#[derive(Debug, Clone)]
pub(super) enum Pending {
    ReadFlows,
    ReadGroups,
    ReadMeters,
    /// The steer entry of a flip is in force.
    Flip(SteeringKey),
    /// A program is in force.
    Program(Programmed),
}

/// The directions that a program of a switch was for.
#[derive(Debug, Clone, Default)]
pub(super) struct Programmed {
    pub(super) sending: Vec<SteeringKey>,
    pub(super) receiving: Vec<SteeringKey>,
}

/// Meter statistics: one request at a time answers everyone who asked before it was sent.
#[derive(Debug, Default)]
pub(super) struct MeterReads {
    pub(super) wanted: BTreeSet<(SteeringKey, Role)>,
    pub(super) in_flight: Option<(Xid, BTreeSet<(SteeringKey, Role)>)>,
}

/// Which end of a direction a reading is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Sender,
    Receiver,
}

impl SiteState {
    pub(super) fn new(config: policies::Site) -> SiteState {
        SiteState {
            config,
            neighbors: Neighbors::default(),
            uplinks: BTreeMap::new(),
            switch: None,
        }
    }

    /// Takes the site as now configured: which next hops and hosts are to be known.
    pub(super) fn configure(&mut self, now: Timestamp, config: policies::Site, hosts: &BTreeSet<Ipv4Addr>) {
        self.config = config;
        let uplinks = &self.config.uplinks;
        self.uplinks.retain(|name, _| uplinks.contains_key(name));
        self.neighbors.retain(|side, ip| match side {
            Side::Access => true,
            Side::Uplink(name) => uplinks.get(name).is_some_and(|uplink| uplink.next_hop == ip),
        });
        for uplink in uplinks.values() {
            self.uplinks.entry(uplink.name.clone()).or_default();
            let side = Side::Uplink(uplink.name.clone());
            match uplink.mac {
                Some(mac) => self.neighbors.fix(side, uplink.next_hop, mac),
                None => self.neighbors.want(now, side, uplink.next_hop),
            }
        }
        for host in hosts {
            if self.is_local(*host) {
                self.neighbors.want(now, Side::Access, *host);
            }
        }
    }

    /// Whether a host of that address is behind the access port.
    pub(super) fn is_local(&self, ip: Ipv4Addr) -> bool {
        self.config
            .access
            .gateways
            .iter()
            .any(|gateway| gateway.contains(&ip) && gateway.addr() != ip)
    }

    /// The port of an uplink, while the switch is connected and has it.
    pub(super) fn uplink_port(&self, uplink: &str) -> Option<PortInfo> {
        let port = &self.config.uplinks.get(uplink)?.port;
        self.switch.as_ref()?.ports.by_name(port)
    }

    /// The access port, while the switch is connected and has it.
    pub(super) fn access_port(&self) -> Option<PortInfo> {
        self.switch.as_ref()?.ports.by_name(&self.config.access.port)
    }

    /// The side that a port is on.
    pub(super) fn side_of_port(&self, number: ofproto::PortNo) -> Option<Side> {
        if self.access_port().is_some_and(|port| port.number == number) {
            return Some(Side::Access);
        }
        let mut uplinks = self.config.uplinks.keys();
        let uplink = uplinks.find(|name| self.uplink_port(name).is_some_and(|port| port.number == number))?;
        Some(Side::Uplink(uplink.clone()))
    }

    /// The addresses that we answer for on a side.
    pub(super) fn own_addresses(&self, side: &Side) -> Vec<Ipv4Net> {
        match side {
            Side::Access => self.config.access.gateways.clone(),
            Side::Uplink(name) => self
                .config
                .uplinks
                .get(name)
                .and_then(|uplink| uplink.address)
                .into_iter()
                .collect(),
        }
    }

    /// Whether the next hop of an uplink is known.
    pub(super) fn is_resolved(&self, uplink: &str) -> bool {
        self.next_hop_mac(uplink).is_some()
    }

    /// The MAC address of an uplink's next hop.
    pub(super) fn next_hop_mac(&self, uplink: &str) -> Option<MacAddr> {
        let next_hop = self.config.uplinks.get(uplink)?.next_hop;
        self.neighbors.mac(&Side::Uplink(uplink.to_owned()), next_hop)
    }

    /// Whether an uplink may carry traffic, as far as its own port is concerned.
    pub(super) fn is_up(&self, uplink: &str) -> bool {
        self.uplinks
            .get(uplink)
            .is_none_or(|state| state.up != Some(false) && state.recovering_until.is_none())
    }

    /// Looks at the ports again. An uplink that was down and is up now must stay so for its recovery time.
    pub(super) fn refresh_uplinks(&mut self, now: Timestamp) {
        let Some(switch) = &self.switch else { return };
        for uplink in self.config.uplinks.values() {
            let up = switch.ports.by_name(&uplink.port).is_some_and(|port| port.up);
            let state = self.uplinks.entry(uplink.name.clone()).or_default();
            if up && state.up == Some(false) {
                state.recovering_until = Some(now + uplink.recovery);
            } else if !up {
                state.recovering_until = None;
            }
            state.up = Some(up);
        }
    }

    /// Ends recoveries whose time is over.
    pub(super) fn end_recoveries(&mut self, now: Timestamp) {
        for state in self.uplinks.values_mut() {
            state.recovering_until = state.recovering_until.filter(|until| *until > now);
        }
    }

    /// When the site wants to be looked at again.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        let recoveries = self.uplinks.values().filter_map(|uplink| uplink.recovering_until);
        let switch = self.switch.as_ref();
        let synced = switch.filter(|switch| matches!(switch.sync, Sync::Synced { .. }));
        let questions = synced.and_then(|_| self.neighbors.deadline());
        let start_by = synced.and_then(|switch| match switch.sync {
            Sync::Synced { start_by } => start_by,
            Sync::Reading { .. } => None,
        });
        let resync = switch.and_then(|switch| switch.resync_at);
        recoveries.chain(questions).chain(start_by).chain(resync).min()
    }
}

impl Switch {
    pub(super) fn new(conn: ConnId, identity: Identity) -> Switch {
        let mut ports = Ports::default();
        ports.replace(&identity.ports);
        Switch {
            conn,
            identity,
            ports,
            actual: Contents::default(),
            sync: Sync::Reading {
                contents: Contents::default(),
                left: 3,
            },
            pending: BTreeMap::new(),
            meters: MeterReads::default(),
            sent: SentCounts::default(),
            problem: None,
            resync_at: None,
            resync_backoff: RESYNC_MIN,
        }
    }

    pub(super) fn is_synced(&self) -> bool {
        matches!(self.sync, Sync::Synced { .. })
    }

    /// What it holds is not what we think: read it again, later and later if that keeps happening.
    pub(super) fn resync_later(&mut self, now: Timestamp) {
        if self.resync_at.is_none() {
            self.resync_at = Some(now + self.resync_backoff);
            self.resync_backoff = (self.resync_backoff * 2).min(RESYNC_MAX);
        }
    }

    /// It has been as it should be for a while.
    pub(super) fn settled(&mut self) {
        self.resync_backoff = RESYNC_MIN;
    }
}

/// The classes' single hosts are asked for before their first packet comes.
pub(super) fn hosts_of(class: &Class) -> impl Iterator<Item = Ipv4Addr> {
    class
        .addresses
        .iter()
        .flatten()
        .filter(|net| net.prefix_len() == 32)
        .map(|net| net.addr())
}

const RESYNC_MIN: Duration = Duration::from_millis(100);
const RESYNC_MAX: Duration = Duration::from_secs(60);
