//! What the tables of a switch can do: gathered from their properties, compared with the table before, and printed.

use std::collections::BTreeSet;

use super::names::put_names;
use crate::multipart::{FeatureId, TableFeatureProperty};
use crate::text::Hex;
use crate::text::fields::Field;
use crate::{ActionType, InstructionType, OxmId, TableFeatures, TableId};

/// What a table can do, without its name.
#[derive(PartialEq)]
pub(super) struct Abilities {
    table: u8,
    metadata: (u64, u64),
    max_entries: u32,
    usual: InstructionAbilities,
    miss: InstructionAbilities,
    matched: BTreeSet<Field>,
    masked: BTreeSet<Field>,
    wildcards: BTreeSet<Field>,
}

/// What the flows of a table, or its table-miss flow, can do.
#[derive(Clone, Default, PartialEq)]
struct InstructionAbilities {
    next: BTreeSet<u8>,
    /// By their place in [`INSTRUCTIONS`].
    instructions: BTreeSet<usize>,
    write: ActionAbilities,
    apply: ActionAbilities,
}

#[derive(Clone, Default, PartialEq)]
struct ActionAbilities {
    /// By their place in [`ACTIONS`].
    actions: BTreeSet<usize>,
    set_fields: BTreeSet<Field>,
}

impl Abilities {
    pub(super) fn of(table: &TableFeatures) -> Self {
        use TableFeatureProperty as Property;

        let (mut usual, mut matched, mut masked, mut wildcards) =
            <(InstructionAbilities, BTreeSet<_>, BTreeSet<_>, BTreeSet<_>)>::default();
        let mut miss = MissAbilities::default();
        for property in &table.properties {
            match property {
                Property::Instructions(ids) => usual.instructions = instructions(ids),
                Property::InstructionsMiss(ids) => miss.instructions = Some(instructions(ids)),
                Property::NextTables(tables) => usual.next = next_tables(tables),
                Property::NextTablesMiss(tables) => miss.next = Some(next_tables(tables)),
                Property::WriteActions(ids) => usual.write.actions = actions(ids),
                Property::WriteActionsMiss(ids) => miss.write_actions = Some(actions(ids)),
                Property::ApplyActions(ids) => usual.apply.actions = actions(ids),
                Property::ApplyActionsMiss(ids) => miss.apply_actions = Some(actions(ids)),
                Property::Match(ids) => {
                    matched = fields(ids);
                    masked = ids
                        .iter()
                        .filter(|id| id.has_mask)
                        .copied()
                        .filter_map(Field::of)
                        .collect();
                }
                Property::Wildcards(ids) => wildcards = fields(ids),
                Property::WriteSetField(ids) => usual.write.set_fields = fields(ids),
                Property::WriteSetFieldMiss(ids) => miss.write_set_fields = Some(fields(ids)),
                Property::ApplySetField(ids) => usual.apply.set_fields = fields(ids),
                Property::ApplySetFieldMiss(ids) => miss.apply_set_fields = Some(fields(ids)),
                Property::Experimenter { .. } | Property::Unknown { .. } => {}
            }
        }
        // A field that any mask may cover can be left out as well.
        wildcards.extend(masked.iter().copied());
        wildcards.retain(|field| matched.contains(field));
        Self {
            table: table.table_id.0,
            metadata: (table.metadata_match, table.metadata_write),
            max_entries: table.max_entries,
            miss: miss.or(&usual),
            usual,
            matched,
            masked,
            wildcards,
        }
    }

    /// Is this the same as of the table before, whatever the numbers of the two?
    pub(super) fn are_those_of(&self, previous: &Self) -> bool {
        self.metadata == previous.metadata
            && self.max_entries == previous.max_entries
            && self
                .usual
                .are_those_of(self.table, &previous.usual, previous.table)
            && self.miss.are_those_of(self.table, &previous.miss, previous.table)
            && self.matched == previous.matched
    }

    pub(super) fn put(&self, out: &mut String, previous: Option<&Self>) {
        let (match_, write) = self.metadata;
        if match_ != 0 || write != 0 {
            put!(out, "    metadata: match={} write={}\n", Hex(match_), Hex(write));
        }
        if self.max_entries != 0 {
            put!(out, "    max_entries={}\n", self.max_entries);
        }
        self.put_instructions(out, previous);
        if self.matched.is_empty() {
            return;
        }
        if previous.is_some_and(|previous| previous.matched == self.matched) {
            out.push_str("    (same matching)\n");
            return;
        }
        out.push_str("    matching:\n");
        for (title, masked, wildcard) in [
            ("arbitrary mask", true, true),
            ("exact match or wildcard", false, true),
            ("must exact match", false, false),
        ] {
            let fields: BTreeSet<_> = self
                .matched
                .iter()
                .filter(|field| {
                    self.masked.contains(field) == masked && self.wildcards.contains(field) == wildcard
                })
                .copied()
                .collect();
            put_fields(out, "      ", title, &fields);
        }
    }

    fn put_instructions(&self, out: &mut String, previous: Option<&Self>) {
        let empty = self.usual == InstructionAbilities::default();
        if let Some(previous) = previous
            && self
                .usual
                .are_those_of(self.table, &previous.usual, previous.table)
            && self.miss.are_those_of(self.table, &previous.miss, previous.table)
        {
            if !empty {
                out.push_str("    (same instructions)\n");
            }
        } else if self.usual != self.miss {
            out.push_str("    instructions (other than table miss):\n");
            self.usual.put(out, previous.map(|previous| &previous.usual));
            out.push_str("    instructions (table miss):\n");
            self.miss.put(out, previous.map(|previous| &previous.miss));
        } else if !empty {
            out.push_str("    instructions (table miss and others):\n");
            self.usual.put(out, previous.map(|previous| &previous.usual));
        }
    }
}

/// What is said of the table-miss flow in particular.
#[derive(Default)]
struct MissAbilities {
    next: Option<BTreeSet<u8>>,
    instructions: Option<BTreeSet<usize>>,
    write_actions: Option<BTreeSet<usize>>,
    write_set_fields: Option<BTreeSet<Field>>,
    apply_actions: Option<BTreeSet<usize>>,
    apply_set_fields: Option<BTreeSet<Field>>,
}

impl MissAbilities {
    /// What is not said is as with the other flows.
    fn or(self, usual: &InstructionAbilities) -> InstructionAbilities {
        let usual = usual.clone();
        InstructionAbilities {
            next: self.next.unwrap_or(usual.next),
            instructions: self.instructions.unwrap_or(usual.instructions),
            write: ActionAbilities {
                actions: self.write_actions.unwrap_or(usual.write.actions),
                set_fields: self.write_set_fields.unwrap_or(usual.write.set_fields),
            },
            apply: ActionAbilities {
                actions: self.apply_actions.unwrap_or(usual.apply.actions),
                set_fields: self.apply_set_fields.unwrap_or(usual.apply.set_fields),
            },
        }
    }
}

impl InstructionAbilities {
    /// A table cannot go to itself or back: that alone does not make a table different from the one before it.
    fn are_those_of(&self, table: u8, previous: &Self, previous_table: u8) -> bool {
        let (lower, higher) = if table < previous_table {
            ((self, table), (previous, previous_table))
        } else {
            ((previous, previous_table), (self, table))
        };
        let same_next = if lower.1.checked_add(1) == Some(higher.1) && !higher.0.next.contains(&higher.1) {
            let mut next = lower.0.next.clone();
            next.remove(&higher.1);
            next == higher.0.next
        } else {
            self.next == previous.next
        };
        same_next
            && self.instructions == previous.instructions
            && self.write == previous.write
            && self.apply == previous.apply
    }

    fn put(&self, out: &mut String, previous: Option<&Self>) {
        if !self.next.is_empty() {
            out.push_str("      next tables: ");
            put_ranges(out, &self.next);
            out.push('\n');
        }
        if previous.is_some_and(|previous| previous.instructions == self.instructions)
            && !self.instructions.is_empty()
        {
            out.push_str("      (same instructions)\n");
        } else if !self.instructions.is_empty() {
            out.push_str("      instructions:");
            for at in &self.instructions {
                put!(out, " {}", INSTRUCTIONS[*at].1);
            }
            out.push('\n');
        }
        let same =
            previous.is_some_and(|previous| previous.write == self.write && previous.apply == self.apply);
        if same && !self.write.set_fields.is_empty() {
            out.push_str("      (same actions)\n");
        } else if self.write != self.apply {
            out.push_str("      Write-Actions features:\n");
            self.write.put(out);
            out.push_str("      Apply-Actions features:\n");
            self.apply.put(out);
        } else if self.write != ActionAbilities::default() {
            out.push_str("      Write-Actions and Apply-Actions features:\n");
            self.write.put(out);
        }
    }
}

impl ActionAbilities {
    fn put(&self, out: &mut String) {
        if !self.actions.is_empty() {
            out.push_str("        actions:");
            for at in &self.actions {
                put!(out, " {}", ACTIONS[*at].1);
            }
            out.push('\n');
        }
        put_fields(out, "        ", "supported on Set-Field", &self.set_fields);
    }
}

/// The actions of a group type, given a bit per action at its number.
pub(in crate::text) fn put_action_bits(out: &mut String, bits: u32) {
    let mut separator = "";
    for (type_, name) in ACTIONS {
        if bits >> type_.to_wire() & 1 == 1 {
            put!(out, "{separator}{name}");
            separator = " ";
        }
    }
    if separator.is_empty() {
        out.push_str("<none>");
    }
}

fn put_fields(out: &mut String, indent: &str, title: &str, fields: &BTreeSet<Field>) {
    if fields.is_empty() {
        return;
    }
    put!(out, "{indent}{title}: ");
    let names: Vec<_> = fields.iter().map(|field| field.name()).collect();
    put_names(out, &names);
    out.push('\n');
}

fn put_ranges(out: &mut String, tables: &BTreeSet<u8>) {
    let mut separator = "";
    let mut left = tables.iter().copied().peekable();
    while let Some(first) = left.next() {
        let mut last = first;
        while let Some(next) = left.next_if(|next| *next == last + 1) {
            last = next;
        }
        put!(out, "{separator}{first}");
        if last != first {
            put!(out, "-{last}");
        }
        separator = ",";
    }
}

fn instructions(ids: &[FeatureId]) -> BTreeSet<usize> {
    INSTRUCTIONS
        .iter()
        .enumerate()
        .filter(|(_, (type_, _))| has(ids, type_.to_wire()))
        .map(|(at, _)| at)
        .collect()
}

fn actions(ids: &[FeatureId]) -> BTreeSet<usize> {
    ACTIONS
        .iter()
        .enumerate()
        .filter(|(_, (type_, _))| has(ids, type_.to_wire()))
        .map(|(at, _)| at)
        .collect()
}

fn has(ids: &[FeatureId], type_: u16) -> bool {
    ids.iter().any(|id| id.type_ == type_)
}

fn next_tables(tables: &[TableId]) -> BTreeSet<u8> {
    tables.iter().map(|table| table.0).collect()
}

fn fields(ids: &[OxmId]) -> BTreeSet<Field> {
    ids.iter().copied().filter_map(Field::of).collect()
}

/// In the order of execution.
const INSTRUCTIONS: &[(InstructionType, &str)] = &[
    (InstructionType::Meter, "meter"),
    (InstructionType::ApplyActions, "apply_actions"),
    (InstructionType::ClearActions, "clear_actions"),
    (InstructionType::WriteActions, "write_actions"),
    (InstructionType::WriteMetadata, "write_metadata"),
    (InstructionType::GotoTable, "goto_table"),
];
/// Those that Open vSwitch has, in the order in which it lists them.
const ACTIONS: &[(ActionType, &str)] = &[
    (ActionType::Output, "output"),
    (ActionType::Group, "group"),
    (ActionType::SetField, "set_field"),
    (ActionType::PopVlan, "strip_vlan"),
    (ActionType::PushVlan, "push_vlan"),
    (ActionType::SetNwTtl, "mod_nw_ttl"),
    (ActionType::DecNwTtl, "dec_ttl"),
    (ActionType::SetMplsTtl, "set_mpls_ttl"),
    (ActionType::DecMplsTtl, "dec_mpls_ttl"),
    (ActionType::PushMpls, "push_mpls"),
    (ActionType::PopMpls, "pop_mpls"),
    (ActionType::SetQueue, "set_queue"),
];
