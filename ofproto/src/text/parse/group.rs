//! Groups.

use super::Fault;
use super::actions::ActionList;
use super::piece::{Pair, Piece, SEPARATORS};
use crate::{Bucket, GroupId, GroupMod, GroupModCommand, GroupType, PortNo};

pub(super) fn parse(text: Piece<'_>) -> Result<GroupMod, Fault> {
    let (command, rest) = text.command(COMMANDS);
    let command = command.unwrap_or(GroupModCommand::Add);
    let mut starts = bucket_starts(rest);
    let head = rest.to(starts.first().copied().unwrap_or(rest.text.len()));
    let (group_id, type_) = parse_head(head, command)?;
    starts.push(rest.text.len());
    let mut buckets = Vec::new();
    for range in starts.windows(2) {
        let bucket = rest.to(range[1]).from(range[0] + BUCKET.len());
        let start = at(rest.from(range[0]));
        match command {
            GroupModCommand::Delete => return Err(start.fault("no bucket of a group to delete")),
            GroupModCommand::RemoveBucket => return Err(start.fault("no bucket where some are removed")),
            _ if type_ == GroupType::Indirect && !buckets.is_empty() => {
                return Err(start.fault("only one bucket in an indirect group"));
            }
            _ => {}
        }
        buckets.push(parse_bucket(bucket, type_, command)?);
    }
    Ok(GroupMod {
        command,
        type_,
        group_id,
        buckets,
    })
}

/// What comes before the buckets.
fn parse_head(head: Piece<'_>, command: GroupModCommand) -> Result<(GroupId, GroupType), Fault> {
    let changes_buckets = matches!(
        command,
        GroupModCommand::InsertBucket | GroupModCommand::RemoveBucket
    );
    let (mut group_id, mut type_) = (None, None);
    let mut pairs = head.pairs();
    while let Some(pair) = pairs.next()? {
        match pair.key.text {
            "group_id" => group_id = Some(parse_group_id(pair.value("a group")?)?),
            "command_bucket_id" if changes_buckets => parse_command_bucket_id(pair, command)?,
            "type" if changes_buckets => return Err(pair.key.fault("no type, which the group has already")),
            "type" => type_ = Some(parse_type(pair.value("a group type")?)?),
            "selection_method" | "selection_method_param" | "fields" => {
                return Err(pair.key.fault("nothing that OpenFlow 1.3 has no place for"));
            }
            _ => return Err(pair.key.fault("`group_id`, `type` or `bucket`")),
        }
    }
    let end = head.from(head.text.trim_end_matches(SEPARATORS).len());
    let group_id = match group_id {
        Some(group_id) => group_id,
        // Without a number all groups are deleted.
        None if command == GroupModCommand::Delete && head.is_empty() => GroupId::ALL,
        None => return Err(at(end).fault("`group_id=`")),
    };
    match type_ {
        Some(type_) => Ok((group_id, type_)),
        None if changes_buckets || command == GroupModCommand::Delete => Ok((group_id, GroupType::All)),
        None => Err(at(end).fault("`type=`")),
    }
}

/// Which buckets are meant. OpenFlow 1.3 has no place for it: it takes all that there are.
fn parse_command_bucket_id(pair: Pair<'_>, command: GroupModCommand) -> Result<(), Fault> {
    let value = pair.value("a bucket")?;
    if command == GroupModCommand::InsertBucket {
        return Err(pair
            .key
            .fault("no place among the buckets, which OpenFlow 1.3 cannot say"));
    }
    match value.text {
        "all" => Ok(()),
        _ => Err(value.fault("`all`, as buckets have no ids in OpenFlow 1.3")),
    }
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

fn parse_bucket(text: Piece<'_>, type_: GroupType, command: GroupModCommand) -> Result<Bucket, Fault> {
    let mut bucket = Bucket {
        weight: u16::from(type_ == GroupType::Select),
        ..Bucket::default()
    };
    let mut actions = None::<ActionList<'_>>;
    let mut pairs = text.pairs();
    while let Some(pair) = pairs.next()? {
        match pair.key.text.to_ascii_lowercase().as_str() {
            "weight" => {
                let value = pair.value("a number")?;
                bucket.weight = value.u16()?;
                let may_weigh = type_ == GroupType::Select || command == GroupModCommand::InsertBucket;
                if !may_weigh && bucket.weight != 0 {
                    return Err(value.fault("no weight outside a select group"));
                }
            }
            "watch_port" => bucket.watch_port = pair.value("a port")?.port()?,
            "watch_group" => bucket.watch_group = pair.value("a group")?.group()?,
            "actions" | "action" => actions.get_or_insert_default().extend(pair.value("actions")?)?,
            // The word may be left out.
            _ => actions.get_or_insert_default().push(pair)?,
        }
    }
    let end = at(text.from(text.text.trim_end_matches(SEPARATORS).len()));
    let actions = actions.ok_or_else(|| end.fault("`actions=`"))?;
    bucket.actions = actions.finish()?;
    let watches = bucket.watch_port != PortNo::ANY || bucket.watch_group != GroupId::ANY;
    if type_ == GroupType::FastFailover && !watches {
        return Err(end.fault("`watch_port` or `watch_group` in a bucket of a fast failover group"));
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
    ("insert_bucket", GroupModCommand::InsertBucket),
    ("remove_bucket", GroupModCommand::RemoveBucket),
    ("ADD", GroupModCommand::Add),
    ("MOD", GroupModCommand::Modify),
    ("DEL", GroupModCommand::Delete),
    ("ADD_OR_MOD", GroupModCommand::AddOrModify),
    ("INSERT_BUCKET", GroupModCommand::InsertBucket),
    ("REMOVE_BUCKET", GroupModCommand::RemoveBucket),
];
