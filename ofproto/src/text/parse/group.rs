//! Groups.

use super::Fault;
use super::actions::parse_actions;
use super::piece::{Piece, SEPARATORS};
use crate::{Bucket, GroupId, GroupMod, GroupModCommand, GroupType};

pub(super) fn parse(text: Piece<'_>) -> Result<GroupMod, Fault> {
    let (command, rest) = text.command(COMMANDS);
    let command = command.unwrap_or(GroupModCommand::Add);
    let deletes = command == GroupModCommand::Delete;
    let (mut group_id, mut type_) = (None, None);
    let mut starts = bucket_starts(rest);
    let head = rest.to(starts.first().copied().unwrap_or(rest.text.len()));
    let mut pairs = head.pairs();
    while let Some(pair) = pairs.next()? {
        match pair.key.text {
            "group_id" => group_id = Some(parse_group_id(pair.value("a group")?)?),
            "type" => type_ = Some(parse_type(pair.value("a group type")?)?),
            _ => return Err(pair.key.fault("`group_id`, `type` or `bucket`")),
        }
    }
    let end_of_head = head.from(head.text.trim_end_matches(SEPARATORS).len());
    let group_id = match group_id {
        Some(group_id) => group_id,
        // Without a number all groups are deleted.
        None if deletes && rest.is_empty() => GroupId::ALL,
        None => return Err(at(end_of_head).fault("`group_id=`")),
    };
    let type_ = match type_ {
        Some(type_) => type_,
        None if deletes => GroupType::All,
        None => return Err(at(end_of_head).fault("`type=`")),
    };
    starts.push(rest.text.len());
    let mut buckets = Vec::new();
    for range in starts.windows(2) {
        let bucket = rest.to(range[1]).from(range[0] + BUCKET.len());
        if deletes {
            return Err(at(rest.from(range[0])).fault("no bucket of a group to delete"));
        }
        if type_ == GroupType::Indirect && !buckets.is_empty() {
            return Err(at(rest.from(range[0])).fault("only one bucket in an indirect group"));
        }
        buckets.push(parse_bucket(bucket, type_)?);
    }
    Ok(GroupMod {
        command,
        type_,
        group_id,
        buckets,
    })
}

fn parse_group_id(value: Piece<'_>) -> Result<GroupId, Fault> {
    let group_id = value.group()?;
    if group_id > GroupId::MAX && group_id != GroupId::ALL {
        return Err(value.fault("a group from 0 to 4294967040, or `all`"));
    }
    Ok(group_id)
}

fn parse_type(value: Piece<'_>) -> Result<GroupType, Fault> {
    Ok(match value.text {
        "all" => GroupType::All,
        "select" => GroupType::Select,
        "indirect" => GroupType::Indirect,
        "ff" | "fast_failover" => GroupType::FastFailover,
        _ => return Err(value.fault("`all`, `select`, `indirect` or `ff`")),
    })
}

fn parse_bucket(text: Piece<'_>, type_: GroupType) -> Result<Bucket, Fault> {
    let mut bucket = Bucket {
        weight: u16::from(type_ == GroupType::Select),
        ..Bucket::default()
    };
    let mut pairs = text.pairs();
    loop {
        let before = pairs.left.skip_separators();
        let Some(pair) = pairs.next()? else {
            return Err(at(text.from(text.text.trim_end_matches(SEPARATORS).len())).fault("`actions=`"));
        };
        match pair.key.text {
            "weight" => {
                let value = pair.value("a number")?;
                bucket.weight = value.u16()?;
                if type_ != GroupType::Select && bucket.weight != 0 {
                    return Err(value.fault("no weight outside a select group"));
                }
            }
            "watch_port" => bucket.watch_port = pair.value("a port")?.port()?,
            "watch_group" => bucket.watch_group = pair.value("a group")?.group()?,
            "actions" | "action" => {
                let value = pair.value("actions")?;
                bucket.actions = parse_actions(text.from(value.at - text.at))?;
                break;
            }
            // The word may be left out.
            _ => {
                bucket.actions = parse_actions(before)?;
                break;
            }
        }
    }
    Ok(bucket)
}

/// Where buckets begin.
fn bucket_starts(text: Piece<'_>) -> Vec<usize> {
    let is_start = |at: &usize| {
        text.text
            .get(..*at)
            .is_some_and(|before| before.is_empty() || before.ends_with(SEPARATORS))
    };
    text.text
        .match_indices(BUCKET)
        .map(|(at, _)| at)
        .filter(is_start)
        .collect()
}

/// The place where something begins, without the rest of the text.
fn at(text: Piece<'_>) -> Piece<'_> {
    let end = text.text.find(SEPARATORS).unwrap_or(text.text.len());
    text.to(end)
}

const BUCKET: &str = "bucket=";
const COMMANDS: &[(&str, GroupModCommand)] = &[
    ("add", GroupModCommand::Add),
    ("modify", GroupModCommand::Modify),
    ("delete", GroupModCommand::Delete),
    ("add_or_mod", GroupModCommand::AddOrModify),
    ("ADD", GroupModCommand::Add),
    ("MOD", GroupModCommand::Modify),
    ("DEL", GroupModCommand::Delete),
    ("ADD_OR_MOD", GroupModCommand::AddOrModify),
];
