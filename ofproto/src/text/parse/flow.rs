//! Flows.

use super::Fault;
use super::actions::parse_instructions;
use super::matching::MatchBuilder;
use super::piece::{Pair, Piece};
use crate::{BufferId, Cookie, FlowMod, FlowModCommand, FlowModFlags, Instructions, TableId};

pub(super) fn parse(text: Piece<'_>) -> Result<FlowMod, Fault> {
    let (printed, rest) = text.command(PRINTED_COMMANDS);
    let (written, rest) = rest.command(COMMANDS);
    let command = printed.or(written).unwrap_or(FlowModCommand::Add);
    let deletes = matches!(command, FlowModCommand::Delete | FlowModCommand::DeleteStrict);
    let mut flow = FlowMod {
        command,
        priority: DEFAULT_PRIORITY,
        // Of what is printed table 0 goes without saying.
        table_id: if deletes && printed.is_none() {
            TableId::ALL
        } else {
            TableId(0)
        },
        ..FlowMod::default()
    };
    let mut match_ = MatchBuilder::default();
    let mut actions = None;
    let mut pairs = rest.pairs();
    while let Some(pair) = pairs.next()? {
        if matches!(pair.key.text, "actions" | "action") {
            let value = pair.value("actions")?;
            // Everything that follows are actions.
            let end = rest.at + rest.text.len();
            actions = Some(rest.from(value.at - rest.at).to(end - value.at));
            break;
        }
        if !parse_option(&mut flow, pair)? && !match_.add(pair)? {
            return Err(pair
                .key
                .fault("a field to match, an option of the flow, or `actions=`"));
        }
    }
    flow.match_ = match_.finish()?;
    match actions {
        Some(actions) => flow.instructions = parse_instructions(actions, &flow.match_)?,
        None if deletes => {}
        None => return Err(rest.from(rest.text.len()).fault("`actions=`")),
    }
    if deletes {
        flow.instructions = Instructions::new();
    }
    Ok(flow)
}

/// Takes an option of the flow; `false` when it is none.
fn parse_option(flow: &mut FlowMod, pair: Pair<'_>) -> Result<bool, Fault> {
    if let Some((_, flag)) = FLAGS.iter().find(|(name, _)| *name == pair.key.text) {
        pair.bare()?;
        flow.flags |= *flag;
        return Ok(true);
    }
    let number = || pair.value("a number");
    match pair.key.text {
        "table" => {
            let value = pair.value("a table")?;
            flow.table_id = match value.text {
                "all" | "ALL" => TableId::ALL,
                _ => TableId(value.u8()?),
            };
            // A flow cannot be added to all of them: the first one is meant.
            if flow.table_id == TableId::ALL && flow.command == FlowModCommand::Add {
                flow.table_id = TableId(0);
            }
        }
        // Of later versions; OpenFlow 1.3 has no place for it.
        "importance" => {
            number()?.u16()?;
        }
        "priority" => flow.priority = number()?.u16()?,
        "idle_timeout" | "idle" => flow.idle_timeout = number()?.u16()?,
        "hard_timeout" | "hard" => flow.hard_timeout = number()?.u16()?,
        "buf" => flow.buffer_id = BufferId(number()?.u32()?),
        "out_port" => flow.out_port = pair.value("a port")?.port()?,
        "out_group" => flow.out_group = pair.value("a group")?.group()?,
        "cookie" => {
            let value = number()?;
            match value.split_once("/") {
                None if matches!(
                    flow.command,
                    FlowModCommand::Delete | FlowModCommand::DeleteStrict
                ) =>
                {
                    return Err(value
                        .from(value.text.len())
                        .fault("`/` and a mask of the cookie to look for"));
                }
                // Of a flow that is there the cookie stays as it is.
                None => {
                    let cookie = Cookie(value.u64()?);
                    if flow.command == FlowModCommand::Add {
                        flow.cookie = cookie;
                    }
                }
                Some((_, mask)) if flow.command == FlowModCommand::Add => {
                    return Err(mask.fault("no mask on the cookie of a new flow"));
                }
                Some((cookie, mask)) => {
                    flow.cookie = Cookie(cookie.u64()?);
                    flow.cookie_mask = if mask.text == "-1" { u64::MAX } else { mask.u64()? };
                }
            }
        }
        // What a switch says of a flow, so that its answer can be sent back to it.
        "duration" | "n_packets" | "n_bytes" | "idle_age" | "hard_age" => {}
        _ => return Ok(false),
    }
    Ok(true)
}

/// The priority of a flow whose priority is not given.
const DEFAULT_PRIORITY: u16 = 0x8000;
const COMMANDS: &[(&str, FlowModCommand)] = &[
    ("add", FlowModCommand::Add),
    ("modify", FlowModCommand::Modify),
    ("modify_strict", FlowModCommand::ModifyStrict),
    ("delete", FlowModCommand::Delete),
    ("delete_strict", FlowModCommand::DeleteStrict),
];
const PRINTED_COMMANDS: &[(&str, FlowModCommand)] = &[
    ("ADD", FlowModCommand::Add),
    ("MOD", FlowModCommand::Modify),
    ("MOD_STRICT", FlowModCommand::ModifyStrict),
    ("DEL", FlowModCommand::Delete),
    ("DEL_STRICT", FlowModCommand::DeleteStrict),
];
const FLAGS: &[(&str, FlowModFlags)] = &[
    ("send_flow_rem", FlowModFlags::SEND_FLOW_REM),
    ("check_overlap", FlowModFlags::CHECK_OVERLAP),
    ("reset_counts", FlowModFlags::RESET_COUNTS),
    ("no_packet_counts", FlowModFlags::NO_PKT_COUNTS),
    ("no_byte_counts", FlowModFlags::NO_BYT_COUNTS),
];
