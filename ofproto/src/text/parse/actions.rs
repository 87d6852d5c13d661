//! Actions and instructions.

use super::piece::{Pair, Piece};
use super::{Fault, field};
use crate::{Action, GroupId, Instruction, MAX_LEN_NO_BUFFER, MeterId, OxmField, PortNo, TableId};

pub(super) fn parse_actions(text: Piece<'_>) -> Result<Vec<Action>, Fault> {
    let mut actions = Vec::new();
    let mut dropped = None;
    let mut pairs = text.pairs();
    while let Some(pair) = pairs.next()? {
        if pair.key.text == "drop" {
            pair.bare()?;
            dropped = Some(pair.key);
        } else {
            parse_action(pair, &mut actions)?;
        }
    }
    match dropped {
        Some(word) if !actions.is_empty() => Err(word.fault("`drop` alone")),
        _ => Ok(actions),
    }
}

/// Instructions in the order of execution; actions that stand alone are applied.
pub(super) fn parse_instructions(text: Piece<'_>) -> Result<Vec<Instruction>, Fault> {
    let (mut meter, mut clear, mut write, mut metadata, mut goto) = (None, None, None, None, None);
    let mut applied = Vec::new();
    let mut dropped = None;
    let mut pairs = text.pairs();
    while let Some(pair) = pairs.next()? {
        let slot = match pair.key.text {
            "meter" => &mut meter,
            "clear_actions" => &mut clear,
            "write_actions" => &mut write,
            "write_metadata" => &mut metadata,
            "goto_table" => &mut goto,
            "drop" => {
                pair.bare()?;
                dropped = Some(pair.key);
                continue;
            }
            _ => {
                parse_action(pair, &mut applied)?;
                continue;
            }
        };
        if slot.is_some() {
            return Err(pair.key.fault("each instruction only once"));
        }
        *slot = Some(parse_instruction(pair)?);
    }
    let applied = Some(applied)
        .filter(|actions| !actions.is_empty())
        .map(Instruction::ApplyActions);
    let instructions: Vec<_> = [meter, applied, clear, write, metadata, goto]
        .into_iter()
        .flatten()
        .collect();
    match dropped {
        Some(word) if !instructions.is_empty() => Err(word.fault("`drop` alone")),
        _ => Ok(instructions),
    }
}

fn parse_instruction(pair: Pair<'_>) -> Result<Instruction, Fault> {
    Ok(match pair.key.text {
        "meter" => {
            let value = pair.value("a meter")?;
            let id = value.u32()?;
            if !(1..=MeterId::MAX.0).contains(&id) {
                return Err(value.fault("a meter from 1 to 4294901760"));
            }
            Instruction::Meter(MeterId(id))
        }
        "write_actions" => Instruction::WriteActions(parse_actions(pair.value("actions in parentheses")?)?),
        "write_metadata" => {
            let value = pair.value("a number")?;
            match value.split_once("/") {
                Some((metadata, mask)) => Instruction::WriteMetadata {
                    metadata: metadata.u64()?,
                    mask: mask.u64()?,
                },
                None => Instruction::WriteMetadata {
                    metadata: value.u64()?,
                    mask: u64::MAX,
                },
            }
        }
        "goto_table" => {
            Instruction::GotoTable(TableId(pair.value("a table")?.narrow(TableId::MAX.0.into())?))
        }
        _ => {
            pair.bare()?;
            Instruction::ClearActions
        }
    })
}

fn parse_action(pair: Pair<'_>, actions: &mut Vec<Action>) -> Result<(), Fault> {
    let number = || pair.value("a number");
    let bare = |action| pair.bare().map(|()| action);
    let action = match pair.key.text {
        "output" => Action::output(pair.value("a port")?.port()?),
        "group" => Action::Group(GroupId(pair.value("a group")?.u32()?)),
        "set_queue" => Action::SetQueue(number()?.u32()?),
        "push_vlan" => {
            let value = pair.value("an Ethernet type")?;
            let type_ = value.u16()?;
            if !matches!(type_, 0x8100 | 0x88a8) {
                return Err(value.fault("0x8100 or 0x88a8"));
            }
            Action::PushVlan(type_)
        }
        "pop_vlan" | "strip_vlan" => bare(Action::PopVlan)?,
        "push_mpls" => Action::PushMpls(pair.value("an Ethernet type")?.u16()?),
        "pop_mpls" => Action::PopMpls(pair.value("an Ethernet type")?.u16()?),
        "push_pbb" => Action::PushPbb(pair.value("an Ethernet type")?.u16()?),
        "pop_pbb" => bare(Action::PopPbb)?,
        "set_mpls_ttl" => Action::SetMplsTtl(number()?.u8()?),
        "dec_mpls_ttl" => bare(Action::DecMplsTtl)?,
        "mod_nw_ttl" | "set_nw_ttl" => Action::SetNwTtl(number()?.u8()?),
        "dec_ttl" => bare(Action::DecNwTtl)?,
        "copy_ttl_in" => bare(Action::CopyTtlIn)?,
        "copy_ttl_out" => bare(Action::CopyTtlOut)?,
        "set_field" => parse_set_field(pair.value("a value, `->` and a field")?)?,
        "set_tunnel" | "set_tunnel64" => Action::SetField(OxmField::TunnelId(number()?.u64()?.into())),
        "mod_dl_src" => Action::SetField(OxmField::EthSrc(pair.value("an Ethernet address")?.mac()?.into())),
        "mod_dl_dst" => Action::SetField(OxmField::EthDst(pair.value("an Ethernet address")?.mac()?.into())),
        "mod_nw_src" => Action::SetField(OxmField::Ipv4Src(pair.value("an IPv4 address")?.ipv4()?.into())),
        "mod_nw_dst" => Action::SetField(OxmField::Ipv4Dst(pair.value("an IPv4 address")?.ipv4()?.into())),
        "mod_nw_tos" => Action::SetField(OxmField::IpDscp(number()?.u8()? >> 2)),
        "mod_nw_ecn" => Action::SetField(OxmField::IpEcn(number()?.narrow(3)?)),
        name if name.eq_ignore_ascii_case("controller") => parse_controller(pair)?,
        _ => match pair.key.port() {
            Ok(port) => bare(Action::output(port))?,
            Err(_) => return Err(pair.key.fault("an action")),
        },
    };
    actions.push(action);
    Ok(())
}

/// `CONTROLLER`, `CONTROLLER:128`, `controller(max_len=128)`.
fn parse_controller(pair: Pair<'_>) -> Result<Action, Fault> {
    let mut max_len = MAX_LEN_NO_BUFFER;
    if let Some(value) = pair.value.filter(|value| !value.text.is_empty()) {
        if value.text.starts_with(|c: char| c.is_ascii_digit()) {
            max_len = value.u16()?;
        } else {
            let mut options = value.pairs();
            while let Some(option) = options.next()? {
                if option.key.text != "max_len" {
                    return Err(option.key.fault("`max_len`"));
                }
                max_len = option.value("a number of bytes")?.u16()?;
            }
        }
    }
    Ok(Action::Output {
        port: PortNo::CONTROLLER,
        max_len,
    })
}

fn parse_set_field(text: Piece<'_>) -> Result<Action, Fault> {
    let Some((value, name)) = text.split_once("->") else {
        return Err(text.from(text.text.len()).fault("`->` and a field"));
    };
    let field = field::parse_to_set(name.text, value)?.ok_or_else(|| name.fault("a field to set"))?;
    Ok(Action::SetField(field))
}
