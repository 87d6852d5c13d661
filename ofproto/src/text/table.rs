//! Text of tables: their counters, what they can do, how they are configured.

mod abilities;
mod names;

use self::abilities::Abilities;
pub(super) use self::abilities::put_action_bits;
use crate::{TableFeatures, TableId, TableMod, TableStats};

pub(super) fn put_table_mod(out: &mut String, table_mod: &TableMod) {
    match table_mod.table_id {
        TableId::ALL => out.push_str(" table_id: ALL_TABLES"),
        TableId(number) => put!(out, " table_id={number}"),
    }
}

pub(super) fn put_table_stats(out: &mut String, tables: &[TableStats]) {
    let mut ditto = Ditto::default();
    for (at, stats) in tables.iter().enumerate() {
        let counts = |stats: &TableStats| (stats.active_count, stats.lookup_count, stats.matched_count);
        let previous = at.checked_sub(1).map(|at| counts(&tables[at]));
        if previous == Some(counts(stats)) {
            ditto.add(stats.table_id);
            continue;
        }
        ditto.finish(out);
        put!(out, "\n  table {}:\n", stats.table_id.0);
        put!(out, "    active={}, ", stats.active_count);
        put!(out, "lookup={}, ", stats.lookup_count);
        put!(out, "matched={}\n", stats.matched_count);
    }
    ditto.finish(out);
}

pub(super) fn put_table_features(out: &mut String, tables: &[TableFeatures]) {
    let mut ditto = Ditto::default();
    let mut previous: Option<Abilities> = None;
    for table in tables {
        let abilities = Abilities::of(table);
        let same = previous
            .as_ref()
            .is_some_and(|previous| abilities.are_those_of(previous));
        if same && table.name.is_empty() {
            ditto.add(table.table_id);
        } else {
            ditto.finish(out);
            put!(out, "\n  table {}", table.table_id.0);
            if !table.name.is_empty() {
                put!(out, " (\"{}\")", table.name);
            }
            out.push(':');
            if same {
                out.push_str(" ditto");
            } else {
                out.push('\n');
                abilities.put(out, previous.as_ref());
            }
        }
        previous = Some(abilities);
    }
    ditto.finish(out);
}

/// Tables that are like the one before them.
#[derive(Default)]
struct Ditto(Option<(u8, u8)>);

impl Ditto {
    fn add(&mut self, table: TableId) {
        let first = self.0.map_or(table.0, |(first, _)| first);
        self.0 = Some((first, table.0));
    }

    fn finish(&mut self, out: &mut String) {
        match self.0.take() {
            None => {}
            Some((first, last)) if first == last => put!(out, "\n  table {first}: ditto\n"),
            Some((first, last)) => put!(out, "\n  tables {first}...{last}: ditto\n"),
        }
    }
}
