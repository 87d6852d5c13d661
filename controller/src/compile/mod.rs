//! From policies and the state of a site to what its switch should hold: a pure function.

mod class;
mod deliver;
mod receiver;
mod sender;

use ofproto::{FlowModFlags, Instructions, Match};
use policies::{ClassMatch, PathIndex, Site};

use crate::datapath::{Contents, FlowEntry, Ports};
use crate::neighbor::Neighbors;
use crate::pipeline::{Colour, Slot, Table};

pub use deliver::PUNT_METER;
pub use sender::steer;

/// All that decides what one site's switch should hold.
#[derive(Debug)]
pub struct SiteView<'a> {
    /// The site as configured.
    pub site: &'a Site,
    /// The ports that its switch has.
    pub ports: &'a Ports,
    /// The MAC addresses that are known there.
    pub neighbors: &'a Neighbors,
    /// The directions that it sends.
    pub sending: Vec<Sending>,
    /// The directions that it receives.
    pub receiving: Vec<Receiving>,
}

/// One direction of a policy at the site that sends it.
#[derive(Debug, Clone)]
pub struct Sending {
    /// The policy's ids.
    pub slot: Slot,
    /// The policy's priority: 1..=1000.
    pub priority: u16,
    /// The packets of the class as this site sends them.
    pub matches: Vec<ClassMatch>,
    /// The colour in force.
    pub colour: Colour,
    /// The DSCP value that carries it; `None` while nobody would take it off again.
    pub mark: Option<u8>,
    /// Whether the sample group is in force instead of the main one.
    pub sampled: bool,
    /// The group of the mode.
    pub main: GroupPlan,
    /// The group of sampled periods.
    pub sample: GroupPlan,
}

/// A group by the uplinks that it sends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupPlan {
    /// The first that is alive.
    FastFailover(Vec<String>),
    /// Every one.
    All(Vec<String>),
}

/// One direction of a policy at the site that receives it.
#[derive(Debug, Clone)]
pub struct Receiving {
    /// The policy's ids.
    pub slot: Slot,
    /// The policy's priority: 1..=1000.
    pub priority: u16,
    /// The packets of the class as the other site sends them.
    pub matches: Vec<ClassMatch>,
    /// The DSCP values of the two colours.
    pub marks: [u8; 2],
    /// The DSCP value that packets are delivered with.
    pub restored_dscp: u8,
    /// How the packets of each path are received.
    pub paths: Vec<ReceivingPath>,
}

/// How the packets of one path are received.
#[derive(Debug, Clone)]
pub struct ReceivingPath {
    /// The path.
    pub index: PathIndex,
    /// The site's uplink of it.
    pub uplink: String,
    /// The UDP port that they are delivered to, when it is not the one that they were sent to.
    pub port: Option<u16>,
}

/// What the switch should hold.
pub fn compile(view: &SiteView<'_>) -> Contents {
    let mut contents = Contents::default();
    sender::compile(view, &mut contents);
    receiver::compile(view, &mut contents);
    deliver::compile(view, &mut contents);
    contents
}

impl Contents {
    fn flow(&mut self, table: Table, slot: Slot, priority: u16, match_: &Match, instructions: Instructions) {
        let entry = FlowEntry {
            cookie: slot.cookie(table),
            flags: FlowModFlags::SEND_FLOW_REM,
            instructions,
        };
        self.insert_flow(table.id(), priority, match_, entry);
    }
}
