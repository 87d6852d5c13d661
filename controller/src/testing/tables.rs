//! The flow tables: FLOW_MOD in, entries out.

use ofproto::{
    Action, BufferId, Cookie, ErrorCode, FlowMod, FlowModCommand, FlowModFlags, FlowRemoved,
    FlowRemovedReason, FlowStats, FlowStatsRequest, GroupId, Instruction, Instructions, Match, MeterId,
    OxmField, PortNo, TableId,
};
use policies::Timestamp;

use super::matching::{self, InFlight, check_match, check_set_field};

/// The flow entries of all tables.
///
/// Entries carry no counters: where Open vSwitch has some, they cannot be trusted around a change, so nobody should
/// look at them. Time-outs are kept and reported but never run out.
#[derive(Debug, Clone, Default)]
pub(super) struct Tables {
    entries: Vec<Entry>,
}

/// One flow entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The table that it is in.
    pub table: TableId,
    /// Higher wins.
    pub priority: u16,
    /// In canonical order.
    pub match_: Match,
    /// The controller's own mark.
    pub cookie: Cookie,
    /// Flags that were given when it was added.
    pub flags: FlowModFlags,
    /// Seconds; 0 is for ever.
    pub timeouts: (u16, u16),
    /// In the order in which they are carried out.
    pub instructions: Instructions,
    added: Timestamp,
}

/// What flow entries may point to.
pub(super) trait References {
    /// Whether the group exists.
    fn has_group(&self, group: GroupId) -> bool;
    /// Whether the meter exists.
    fn has_meter(&self, meter: MeterId) -> bool;
}

impl Tables {
    /// The entry that a packet meets in a table.
    pub(super) fn lookup(&self, table: TableId, flight: &InFlight) -> Option<&Entry> {
        // Sorted by priority: the first is the highest.
        self.entries
            .iter()
            .find(|entry| entry.table == table && matching::matches(&entry.match_, flight))
    }

    /// Every entry.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Carries out a FLOW_MOD (§6.4). Returns the entries that were deleted and ask for FLOW_REMOVED.
    pub(super) fn flow_mod(
        &mut self,
        now: Timestamp,
        flow_mod: FlowMod,
        references: &impl References,
    ) -> Result<Vec<FlowRemoved>, ErrorCode> {
        check_head(&flow_mod)?;
        check_match(&flow_mod.match_)?;
        match flow_mod.command {
            FlowModCommand::Add => {
                if flow_mod.table_id.0 >= N_TABLES {
                    return Err(ErrorCode::FLOW_MOD_FAILED_BAD_TABLE_ID);
                }
                check_instructions(&flow_mod, references)?;
                self.add(now, flow_mod)?;
                Ok(vec![])
            }
            FlowModCommand::Modify | FlowModCommand::ModifyStrict => {
                check_instructions(&flow_mod, references)?;
                let instructions = in_execution_order(flow_mod.instructions.clone());
                let selection = Selection::of(&flow_mod);
                let selected = self
                    .entries
                    .iter_mut()
                    .filter(|entry| selection.selects(entry, false));
                for entry in selected {
                    entry.instructions.clone_from(&instructions);
                }
                Ok(vec![])
            }
            FlowModCommand::Delete | FlowModCommand::DeleteStrict => {
                let selection = Selection::of(&flow_mod);
                Ok(self.remove(now, FlowRemovedReason::Delete, |entry| {
                    selection.selects(entry, true)
                }))
            }
            FlowModCommand::Unknown(_) => Err(ErrorCode::FLOW_MOD_FAILED_BAD_COMMAND),
        }
    }

    /// The group is gone, and with it every entry that sends to it (§6.5).
    pub(super) fn group_deleted(&mut self, now: Timestamp, group: GroupId) -> Vec<FlowRemoved> {
        self.remove(now, FlowRemovedReason::GroupDelete, |entry| {
            entry.actions().any(|action| *action == Action::Group(group))
        })
    }

    /// The meter is gone, and with it every entry that uses it (§5.7).
    pub(super) fn meter_deleted(&mut self, now: Timestamp, meter: MeterId) -> Vec<FlowRemoved> {
        self.remove(now, FlowRemovedReason::Delete, |entry| {
            entry.instructions.contains(&Instruction::Meter(meter))
        })
    }

    /// The entries that a statistics request asks for.
    pub(super) fn stats(&self, now: Timestamp, request: &FlowStatsRequest) -> Vec<FlowStats> {
        let selection = Selection {
            table: request.table_id,
            strict: None,
            match_: request.match_.sorted(),
            cookie: (request.cookie, request.cookie_mask),
            out_port: request.out_port,
            out_group: request.out_group,
        };
        let selected = self.entries.iter().filter(|entry| selection.selects(entry, true));
        selected.map(|entry| entry.stats(now)).collect()
    }

    fn add(&mut self, now: Timestamp, flow_mod: FlowMod) -> Result<(), ErrorCode> {
        let entry = Entry {
            table: flow_mod.table_id,
            priority: flow_mod.priority,
            match_: flow_mod.match_.sorted(),
            cookie: flow_mod.cookie,
            flags: flow_mod.flags,
            timeouts: (flow_mod.idle_timeout, flow_mod.hard_timeout),
            instructions: in_execution_order(flow_mod.instructions),
            added: now,
        };
        // An identical entry is replaced without a word (§6.4).
        if let Some(old) = self.entries.iter_mut().find(|old| old.is_same(&entry)) {
            *old = entry;
            return Ok(());
        }
        let place = self.entries.partition_point(|old| old.priority >= entry.priority);
        self.entries.insert(place, entry);
        Ok(())
    }

    fn remove(
        &mut self,
        now: Timestamp,
        reason: FlowRemovedReason,
        selects: impl Fn(&Entry) -> bool,
    ) -> Vec<FlowRemoved> {
        let gone: Vec<Entry> = self.entries.extract_if(.., |entry| selects(entry)).collect();
        gone.into_iter()
            .filter(|entry| entry.flags.contains(FlowModFlags::SEND_FLOW_REM))
            .map(|entry| entry.removed(now, reason))
            .collect()
    }
}

impl Entry {
    /// The actions of all its instructions.
    pub fn actions(&self) -> impl Iterator<Item = &Action> {
        self.instructions.iter().flat_map(actions_of)
    }

    fn is_same(&self, other: &Entry) -> bool {
        self.table == other.table && self.priority == other.priority && self.match_ == other.match_
    }

    fn stats(&self, now: Timestamp) -> FlowStats {
        let age = now.saturating_since(self.added);
        FlowStats {
            table_id: self.table,
            duration_sec: u32::try_from(age.as_secs()).unwrap_or(u32::MAX),
            duration_nsec: age.subsec_nanos(),
            priority: self.priority,
            idle_timeout: self.timeouts.0,
            hard_timeout: self.timeouts.1,
            flags: self.flags,
            cookie: self.cookie,
            packet_count: 0,
            byte_count: 0,
            match_: as_listed(&self.match_),
            instructions: self.instructions.clone(),
        }
    }

    fn removed(&self, now: Timestamp, reason: FlowRemovedReason) -> FlowRemoved {
        let stats = self.stats(now);
        FlowRemoved {
            cookie: stats.cookie,
            priority: stats.priority,
            reason,
            table_id: stats.table_id,
            duration_sec: stats.duration_sec,
            duration_nsec: stats.duration_nsec,
            idle_timeout: stats.idle_timeout,
            hard_timeout: stats.hard_timeout,
            packet_count: 0,
            byte_count: 0,
            match_: stats.match_,
        }
    }
}

/// The entries that a command or a request means.
struct Selection {
    table: TableId,
    /// With a priority: this very entry. Without: everything that the match contains.
    strict: Option<u16>,
    match_: Match,
    cookie: (Cookie, u64),
    out_port: PortNo,
    out_group: GroupId,
}

impl Selection {
    fn of(flow_mod: &FlowMod) -> Selection {
        let strict = matches!(
            flow_mod.command,
            FlowModCommand::ModifyStrict | FlowModCommand::DeleteStrict
        );
        Selection {
            table: flow_mod.table_id,
            strict: strict.then_some(flow_mod.priority),
            match_: flow_mod.match_.sorted(),
            cookie: (flow_mod.cookie, flow_mod.cookie_mask),
            out_port: flow_mod.out_port,
            out_group: flow_mod.out_group,
        }
    }

    /// `by_output`: whether `out_port` and `out_group` count, which they do not for modifications.
    fn selects(&self, entry: &Entry, by_output: bool) -> bool {
        let (Cookie(cookie), mask) = self.cookie;
        let outputs = |wanted: &dyn Fn(&Action) -> bool| entry.actions().any(wanted);
        let to_port =
            |action: &Action| matches!(action, Action::Output { port, .. } if *port == self.out_port);
        (self.table == TableId::ALL || self.table == entry.table)
            && entry.cookie.0 & mask == cookie & mask
            && match self.strict {
                Some(priority) => entry.priority == priority && entry.match_ == self.match_,
                None => matching::contains(&self.match_, &entry.match_),
            }
            && (!by_output || self.out_port == PortNo::ANY || outputs(&to_port))
            && (!by_output
                || self.out_group == GroupId::ANY
                || outputs(&|action| *action == Action::Group(self.out_group)))
    }
}

fn check_head(flow_mod: &FlowMod) -> Result<(), ErrorCode> {
    let modifies = matches!(
        flow_mod.command,
        FlowModCommand::Modify | FlowModCommand::ModifyStrict
    );
    if flow_mod.flags.bits() > LISTED_FLAGS {
        return Err(ErrorCode::FLOW_MOD_FAILED_BAD_FLAGS);
    }
    if flow_mod.buffer_id != BufferId::NO_BUFFER {
        return Err(ErrorCode::BAD_REQUEST_BUFFER_UNKNOWN);
    }
    // Flows of all tables can be deleted, not modified.
    if modifies && flow_mod.table_id == TableId::ALL {
        return Err(ErrorCode::FLOW_MOD_FAILED_BAD_TABLE_ID);
    }
    Ok(())
}

fn check_instructions(flow_mod: &FlowMod, references: &impl References) -> Result<(), ErrorCode> {
    for instruction in &flow_mod.instructions {
        match instruction {
            Instruction::GotoTable(table) if *table <= flow_mod.table_id || table.0 >= N_TABLES => {
                return Err(ErrorCode::BAD_INSTRUCTION_BAD_TABLE_ID);
            }
            Instruction::Meter(meter) if !references.has_meter(*meter) => {
                return Err(ErrorCode::METER_MOD_FAILED_INVALID_METER);
            }
            Instruction::Experimenter { .. } => return Err(ErrorCode::BAD_INSTRUCTION_BAD_EXPERIMENTER),
            Instruction::Unknown { .. } => return Err(ErrorCode::BAD_INSTRUCTION_UNKNOWN_INST),
            _ => {}
        }
        for action in actions_of(instruction) {
            check_action(action, &flow_mod.match_)?;
            if matches!(action, Action::Group(group) if !references.has_group(*group)) {
                return Err(ErrorCode::BAD_ACTION_BAD_OUT_GROUP);
            }
        }
    }
    Ok(())
}

/// Why a switch refuses an action on packets of this match, if it does.
fn check_action(action: &Action, match_: &Match) -> Result<(), ErrorCode> {
    match action {
        Action::SetField(field) => check_set_field(field, match_),
        Action::DecNwTtl | Action::SetNwTtl(_) => {
            let ip = match_.fields.contains(&OxmField::EthType(0x0800));
            ip.then_some(()).ok_or(ErrorCode::BAD_ACTION_MATCH_INCONSISTENT)
        }
        Action::Output { port, .. } if !is_output(*port) => Err(ErrorCode::BAD_ACTION_BAD_OUT_PORT),
        Action::Output { .. } | Action::Group(_) => Ok(()),
        Action::Experimenter { .. } => Err(ErrorCode::BAD_ACTION_BAD_EXPERIMENTER),
        _ => Err(ErrorCode::BAD_ACTION_BAD_TYPE),
    }
}

/// Whether a packet can be sent there: not to port 0, which Open vSwitch takes but nobody means, nor to a number that
/// is neither of a port nor reserved.
fn is_output(port: PortNo) -> bool {
    (1..=PortNo::MAX.0).contains(&port.0) || (PortNo::IN_PORT.0..PortNo::ANY.0).contains(&port.0)
}

fn actions_of(instruction: &Instruction) -> &[Action] {
    match instruction {
        Instruction::ApplyActions(actions) | Instruction::WriteActions(actions) => actions,
        _ => &[],
    }
}

/// Whatever the order on the wire, instructions are carried out and listed in this one (§5.9).
fn in_execution_order(mut instructions: Instructions) -> Instructions {
    instructions.sort_by_key(|instruction| match instruction {
        Instruction::Meter(_) => 0,
        Instruction::ApplyActions(_) => 1,
        Instruction::ClearActions => 2,
        Instruction::WriteActions(_) => 3,
        Instruction::WriteMetadata { .. } => 4,
        _ => 5,
    });
    instructions
}

/// The order in which the switch lists match fields is its own: metadata comes last.
fn as_listed(match_: &Match) -> Match {
    let mut listed = match_.clone();
    listed
        .fields
        .sort_by_key(|field| matches!(field, OxmField::Metadata(_)));
    listed
}

/// The flags that OpenFlow 1.3 lists, from the lowest bit on.
const LISTED_FLAGS: u16 = 0x1f;
/// As many as Open vSwitch has; the highest is not for controllers.
pub(super) const N_TABLES: u8 = 254;
