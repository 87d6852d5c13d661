//! What happens to a packet: its way through tables, groups and actions, as a list of steps.

use ofproto::{Action, Cookie, GroupId, Instruction, MeterId, OxmField, PacketInReason, PortNo, TableId};

use super::groups::Groups;
use super::matching::{InFlight, set_field};
use super::packet::Packet;
use super::ports::SwitchPorts;
use super::tables::{Entry, Tables};

/// One thing that happens to a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// It is counted, and stopped where the meter says so.
    Meter(MeterId),
    /// A copy of it leaves, looking like this.
    Output(PortNo, Packet),
    /// A copy of it goes to the controller.
    ToController(Punt),
}

/// A packet on its way to the controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Punt {
    /// The table whose entry sent it.
    pub table: TableId,
    /// The entry's cookie.
    pub cookie: Cookie,
    /// Why.
    pub reason: PacketInReason,
    /// The packet and what matches see beside it.
    pub flight: InFlight,
}

/// What decides about packets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules<'a> {
    /// Flow tables.
    pub tables: &'a Tables,
    /// Groups.
    pub groups: &'a Groups,
    /// Ports.
    pub ports: &'a SwitchPorts,
}

/// Where the actions that are being carried out come from.
#[derive(Debug, Clone, Copy)]
struct Origin {
    table: TableId,
    cookie: Cookie,
    reason: PacketInReason,
}

impl Rules<'_> {
    /// The way of a packet that came in by a port.
    pub(super) fn pipeline(&self, in_port: PortNo, packet: Packet) -> Vec<Step> {
        let mut flight = InFlight {
            packet,
            in_port,
            metadata: 0,
        };
        let mut steps = vec![];
        let mut action_set = ActionSet::default();
        let mut table = TableId(0);
        // A packet that no entry matches is dropped (§5.4), whatever its action set holds.
        while let Some(entry) = self.tables.lookup(table, &flight) {
            match self.table(entry, &mut flight, &mut action_set, &mut steps) {
                Next::Table(next) => table = next,
                Next::ActionSet => {
                    self.action_set(&action_set, flight, Origin::of(entry), MAX_DEPTH, &mut steps);
                    break;
                }
                Next::Nothing => break,
            }
        }
        steps
    }

    /// The way of a packet that the controller hands in with a list of actions.
    pub(super) fn packet_out(&self, in_port: PortNo, packet: Packet, actions: &[Action]) -> Vec<Step> {
        let mut flight = InFlight {
            packet,
            in_port,
            metadata: 0,
        };
        let origin = Origin {
            table: TableId(0),
            cookie: Cookie(u64::MAX),
            reason: PacketInReason::Action,
        };
        let mut steps = vec![];
        self.apply(actions, &mut flight, origin, &mut steps);
        steps
    }

    fn table(
        &self,
        entry: &Entry,
        flight: &mut InFlight,
        action_set: &mut ActionSet,
        steps: &mut Vec<Step>,
    ) -> Next {
        for instruction in &entry.instructions {
            match instruction {
                Instruction::Meter(meter) => steps.push(Step::Meter(*meter)),
                Instruction::ApplyActions(actions) => {
                    let goes_on = self.apply(actions, flight, Origin::of(entry), steps);
                    if !goes_on {
                        return Next::Nothing;
                    }
                }
                Instruction::ClearActions => *action_set = ActionSet::default(),
                Instruction::WriteActions(actions) => action_set.write(actions),
                Instruction::WriteMetadata { metadata, mask } => {
                    flight.metadata = flight.metadata & !mask | metadata & mask;
                }
                Instruction::GotoTable(table) => return Next::Table(*table),
                _ => {}
            }
        }
        Next::ActionSet
    }

    /// Carries out a list of actions in its order. Says whether the packet goes on: one whose TTL is used up does not.
    fn apply(
        &self,
        actions: &[Action],
        flight: &mut InFlight,
        origin: Origin,
        steps: &mut Vec<Step>,
    ) -> bool {
        for action in actions {
            match action {
                Action::SetField(field) => set_field(field, flight),
                Action::SetNwTtl(ttl) => set_ttl(flight, *ttl),
                Action::DecNwTtl => {
                    let goes_on = lower_ttl(flight);
                    if !goes_on {
                        return false;
                    }
                }
                Action::Output { port, .. } => self.output(*port, flight, origin, steps),
                Action::Group(group) => self.group(*group, flight, origin, MAX_DEPTH, steps),
                _ => {}
            }
        }
        true
    }

    /// Carries out an action set in the order that §5.10 gives.
    fn action_set(
        &self,
        set: &ActionSet,
        mut flight: InFlight,
        origin: Origin,
        depth: u8,
        steps: &mut Vec<Step>,
    ) {
        if set.lower_ttl && !lower_ttl(&mut flight) {
            return;
        }
        if let Some(ttl) = set.ttl {
            set_ttl(&mut flight, ttl);
        }
        for field in &set.fields {
            set_field(field, &mut flight);
        }
        match (set.group, set.output) {
            (Some(group), _) => self.group(group, &flight, origin, depth, steps),
            (None, Some(port)) => self.output(port, &flight, origin, steps),
            (None, None) => {}
        }
    }

    /// Each chosen bucket is an action set over the packet as it came to the group.
    fn group(&self, group: GroupId, flight: &InFlight, origin: Origin, depth: u8, steps: &mut Vec<Step>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        for bucket in self.groups.chosen(group, &|port| self.ports.is_live(port)) {
            let mut set = ActionSet::default();
            set.write(&bucket.actions);
            self.action_set(&set, *flight, origin, depth, steps);
        }
    }

    fn output(&self, port: PortNo, flight: &InFlight, origin: Origin, steps: &mut Vec<Step>) {
        match port {
            PortNo::CONTROLLER => steps.push(Step::ToController(Punt {
                table: origin.table,
                cookie: origin.cookie,
                reason: origin.reason,
                flight: *flight,
            })),
            PortNo::IN_PORT => self.out_of(flight.in_port, flight, steps),
            PortNo::TABLE => steps.extend(self.pipeline(flight.in_port, flight.packet)),
            PortNo::ALL | PortNo::FLOOD => {
                let others = self
                    .ports
                    .all()
                    .iter()
                    .filter(|port| port.port_no != flight.in_port);
                others.for_each(|port| self.out_of(port.port_no, flight, steps));
            }
            // Silently skipped, as the standard wants it (§5.12).
            port if port == flight.in_port => {}
            port => self.out_of(port, flight, steps),
        }
    }

    fn out_of(&self, port: PortNo, flight: &InFlight, steps: &mut Vec<Step>) {
        if self.ports.is_live(port) {
            steps.push(Step::Output(port, flight.packet));
        }
    }
}

enum Next {
    Table(TableId),
    ActionSet,
    Nothing,
}

impl Origin {
    fn of(entry: &Entry) -> Origin {
        let is_miss = entry.priority == 0 && entry.match_.fields.is_empty();
        Origin {
            table: entry.table,
            cookie: entry.cookie,
            reason: if is_miss {
                PacketInReason::NoMatch
            } else {
                PacketInReason::Action
            },
        }
    }
}

/// At most one action of each type, set-field of each field (§5.10).
#[derive(Debug, Default)]
struct ActionSet {
    lower_ttl: bool,
    ttl: Option<u8>,
    fields: Vec<OxmField>,
    group: Option<GroupId>,
    output: Option<PortNo>,
}

impl ActionSet {
    fn write(&mut self, actions: &[Action]) {
        for action in actions {
            match action {
                Action::DecNwTtl => self.lower_ttl = true,
                Action::SetNwTtl(ttl) => self.ttl = Some(*ttl),
                Action::SetField(field) => {
                    self.fields.retain(|old| old.id() != field.id());
                    self.fields.push(field.clone());
                }
                Action::Group(group) => self.group = Some(*group),
                Action::Output { port, .. } => self.output = Some(*port),
                _ => {}
            }
        }
    }
}

/// Open vSwitch drops a packet whose TTL would become zero; the controller hears of it only when it asked to.
fn lower_ttl(flight: &mut InFlight) -> bool {
    match flight.packet.ipv4_mut() {
        Some(ip) if ip.ttl > 1 => {
            ip.ttl -= 1;
            true
        }
        Some(_) => false,
        None => true,
    }
}

fn set_ttl(flight: &mut InFlight, ttl: u8) {
    if let Some(ip) = flight.packet.ipv4_mut() {
        ip.ttl = ttl;
    }
}

/// Groups that send to groups are followed so far.
const MAX_DEPTH: u8 = 8;
