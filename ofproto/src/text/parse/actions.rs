//! Actions and instructions.

use super::nicira::{self, Controller};
use super::piece::{Pair, Piece};
use super::{Fault, field};
use crate::oxm::VLAN_PRESENT;
use crate::{
    Action, Actions, GroupId, Instruction, Instructions, MAX_LEN_NO_BUFFER, Match, MeterId, OxmField, PortNo,
    TableId,
};

/// What is known of the packets, on which the meaning of some actions depends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Context {
    has_tag: bool,
    ip_proto: Option<u8>,
    /// Whether tags that actions push are counted: not in a group, whose packets may be any.
    is_flow: bool,
    /// Whether these are actions of connection tracking, which may translate addresses.
    pub(super) is_tracked: bool,
}

impl Context {
    pub(super) fn of(match_: &Match) -> Self {
        let mut context = Self {
            is_flow: true,
            ..Self::default()
        };
        for field in &match_.fields {
            match field {
                OxmField::VlanVid(vid) if vid.value & VLAN_PRESENT != 0 => context.has_tag = true,
                OxmField::IpProto(proto) => context.ip_proto = Some(*proto),
                _ => {}
            }
        }
        context
    }

    /// The same within connection tracking.
    pub(super) const fn tracked(self) -> Self {
        Self {
            is_tracked: true,
            ..self
        }
    }
}

/// Actions while they are read.
#[derive(Default)]
pub(super) struct ActionList<'a> {
    actions: Actions,
    dropped: Option<Piece<'a>>,
    context: Context,
}

impl<'a> ActionList<'a> {
    pub(super) fn within(context: Context) -> Self {
        Self {
            context,
            ..Self::default()
        }
    }

    pub(super) fn extend(&mut self, text: Piece<'a>) -> Result<(), Fault> {
        let mut pairs = text.pairs();
        while let Some(pair) = pairs.next()? {
            self.push(pair)?;
        }
        Ok(())
    }

    pub(super) fn push(&mut self, pair: Pair<'a>) -> Result<(), Fault> {
        if pair.key.text.eq_ignore_ascii_case("drop") {
            pair.bare()?;
            self.dropped = Some(pair.key);
            return Ok(());
        }
        parse_action(pair, self)
    }

    pub(super) fn finish(self) -> Result<Actions, Fault> {
        match self.dropped {
            Some(word) if !self.actions.is_empty() => Err(word.fault("`drop` alone")),
            _ => Ok(self.actions),
        }
    }

    /// What `mod_vlan_vid` and `mod_vlan_pcp` do: they push a tag where there is none.
    fn set_tag(&mut self, field: OxmField) {
        if !self.context.has_tag {
            self.actions.push(Action::PushVlan(0x8100));
            self.context.has_tag = self.context.is_flow;
        }
        self.actions.push(Action::SetField(field));
    }

    /// What `mod_tp_src` and `mod_tp_dst` do.
    fn set_transport(&mut self, is_source: bool, port: u16) {
        let field = match (self.context.ip_proto, is_source) {
            (Some(6), true) => OxmField::TcpSrc(port),
            (Some(6), false) => OxmField::TcpDst(port),
            (Some(17), true) => OxmField::UdpSrc(port),
            (Some(17), false) => OxmField::UdpDst(port),
            (Some(132), true) => OxmField::SctpSrc(port),
            (Some(132), false) => OxmField::SctpDst(port),
            _ => {
                // In a group the protocol is not known: actions of OpenFlow 1.1 that Open vSwitch has in all versions.
                let [high, low] = port.to_be_bytes();
                self.actions.push(Action::Unknown {
                    type_: if is_source { 9 } else { 10 },
                    data: vec![high, low, 0, 0].into(),
                });
                return;
            }
        };
        self.actions.push(Action::SetField(field));
    }
}

/// Instructions in the order of execution; actions that stand alone are applied.
pub(super) fn parse_instructions(text: Piece<'_>, match_: &Match) -> Result<Instructions, Fault> {
    let (mut meter, mut clear, mut write, mut metadata, mut goto) = (None, None, None, None, None);
    let mut applied = ActionList::within(Context::of(match_));
    let mut pairs = text.pairs();
    while let Some(pair) = pairs.next()? {
        let slot = match pair.key.text {
            "meter" => &mut meter,
            "clear_actions" => &mut clear,
            "write_actions" => &mut write,
            "write_metadata" => &mut metadata,
            "goto_table" => &mut goto,
            _ => {
                applied.push(pair)?;
                continue;
            }
        };
        if slot.is_some() {
            return Err(pair.key.fault("each instruction only once"));
        }
        *slot = Some(parse_instruction(pair, applied.context)?);
    }
    // Nothing to write is nothing at all.
    let write =
        write.filter(|write| !matches!(write, Instruction::WriteActions(actions) if actions.is_empty()));
    let dropped = applied.dropped.take();
    let applied = Some(applied.finish()?)
        .filter(|actions| !actions.is_empty())
        .map(Instruction::ApplyActions);
    let instructions: Instructions = [meter, applied, clear, write, metadata, goto]
        .into_iter()
        .flatten()
        .collect();
    match dropped {
        Some(word) if !instructions.is_empty() => Err(word.fault("`drop` alone")),
        _ => Ok(instructions),
    }
}

fn parse_instruction(pair: Pair<'_>, context: Context) -> Result<Instruction, Fault> {
    Ok(match pair.key.text {
        "meter" => {
            let value = pair.value("a meter")?;
            let id = value.u32()?;
            if !(1..=MeterId::MAX.0).contains(&id) {
                return Err(value.fault("a meter from 1 to 4294901760"));
            }
            Instruction::Meter(MeterId(id))
        }
        "write_actions" => {
            let mut list = ActionList::within(context);
            list.extend(pair.value("actions in parentheses")?)?;
            Instruction::WriteActions(list.finish()?)
        }
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

fn parse_action<'a>(pair: Pair<'a>, list: &mut ActionList<'a>) -> Result<(), Fault> {
    let number = || pair.value("a number");
    let bare = |action| pair.bare().map(|()| action);
    let set = |field| Ok(Action::SetField(field));
    let action = match pair.key.text {
        "output" => parse_output(pair.value("a port")?)?,
        "group" => Action::Group(GroupId(pair.value("a group")?.u32()?)),
        "set_queue" => Action::SetQueue(number()?.u32()?),
        "enqueue" => {
            list.actions
                .extend(parse_enqueue(pair.value("a port and a queue")?)?);
            return Ok(());
        }
        "push_vlan" => {
            let value = pair.value("an Ethernet type")?;
            let type_ = value.u16()?;
            if !matches!(type_, 0x8100 | 0x88a8) {
                return Err(value.fault("0x8100 or 0x88a8"));
            }
            list.context.has_tag = list.context.is_flow;
            Action::PushVlan(type_)
        }
        "pop_vlan" | "strip_vlan" => {
            list.context.has_tag = false;
            bare(Action::PopVlan)?
        }
        "mod_vlan_vid" | "set_vlan_vid" | "mod_vlan_pcp" | "set_vlan_pcp" => {
            let field = if pair.key.text.ends_with("vid") {
                OxmField::VlanVid((number()?.narrow::<u16>(0xfff)? | VLAN_PRESENT).into())
            } else {
                OxmField::VlanPcp(number()?.narrow(7)?)
            };
            if pair.key.text.starts_with("mod") {
                list.set_tag(field);
                return Ok(());
            }
            set(field)?
        }
        "push_mpls" => Action::PushMpls(pair.value("an Ethernet type")?.u16()?),
        "pop_mpls" => Action::PopMpls(pair.value("an Ethernet type")?.u16()?),
        "push_pbb" => Action::PushPbb(pair.value("an Ethernet type")?.u16()?),
        "pop_pbb" => bare(Action::PopPbb)?,
        "set_mpls_label" => set(OxmField::MplsLabel(number()?.narrow(0xf_ffff)?))?,
        "set_mpls_tc" => set(OxmField::MplsTc(number()?.narrow(7)?))?,
        "set_mpls_ttl" => Action::SetMplsTtl(number()?.u8()?),
        "dec_mpls_ttl" => bare(Action::DecMplsTtl)?,
        "mod_nw_ttl" | "set_nw_ttl" => Action::SetNwTtl(number()?.u8()?),
        "dec_ttl" => match pair.value.filter(|value| !value.text.is_empty()) {
            Some(controllers) => nicira::decrement_for(controllers)?,
            None => Action::DecNwTtl,
        },
        "copy_ttl_in" => bare(Action::CopyTtlIn)?,
        "copy_ttl_out" => bare(Action::CopyTtlOut)?,
        "set_field" => {
            let actions = parse_set_field(pair.value("a value, `->` and a field")?)?;
            list.actions.extend(actions);
            return Ok(());
        }
        "set_tunnel" | "set_tunnel64" => set(OxmField::TunnelId(number()?.u64()?.into()))?,
        "mod_dl_src" => set(OxmField::EthSrc(pair.value("an Ethernet address")?.mac()?.into()))?,
        "mod_dl_dst" => set(OxmField::EthDst(pair.value("an Ethernet address")?.mac()?.into()))?,
        "mod_nw_src" => set(OxmField::Ipv4Src(pair.value("an IPv4 address")?.ipv4()?.into()))?,
        "mod_nw_dst" => set(OxmField::Ipv4Dst(pair.value("an IPv4 address")?.ipv4()?.into()))?,
        "mod_nw_tos" => {
            let value = number()?;
            let tos = value.u8()?;
            if tos & 3 != 0 {
                return Err(value.fault("a multiple of 4: the other bits are mod_nw_ecn"));
            }
            set(OxmField::IpDscp(tos >> 2))?
        }
        "mod_nw_ecn" => set(OxmField::IpEcn(number()?.narrow(3)?))?,
        "mod_tp_src" | "mod_tp_dst" => {
            list.set_transport(pair.key.text == "mod_tp_src", number()?.u16()?);
            return Ok(());
        }
        name if name.eq_ignore_ascii_case("controller") => parse_controller(pair)?,
        _ => match (nicira::parse(pair, list.context)?, pair.key.port()) {
            (Some(actions), _) => {
                list.actions.extend(actions);
                return Ok(());
            }
            (None, Ok(port)) => bare(Action::output(port))?,
            (None, Err(_)) => return Err(pair.key.fault("an action")),
        },
    };
    list.actions.push(action);
    Ok(())
}

/// A port, a port with a limit on the length, or a field with the number of a port.
fn parse_output(text: Piece<'_>) -> Result<Action, Fault> {
    if text.text.contains("port=") {
        return nicira::output_in_part(text);
    }
    match text.port() {
        Ok(PortNo::ANY) => Err(text.fault("a port")),
        Ok(port) => Ok(Action::output(port)),
        // What begins in the manner of a field is to be one.
        Err(_) if text.text.contains('[') || field::named(text).is_some() => nicira::output_from_field(text),
        Err(fault) => Err(fault),
    }
}

/// `enqueue:5:3`, `enqueue(5,3)`: a queue, the port, and no queue any more.
fn parse_enqueue(text: Piece<'_>) -> Result<[Action; 3], Fault> {
    let split = [":", "q", ","].iter().find_map(|by| text.split_once(by));
    let Some((port, queue)) = split else {
        return Err(text.fault("a port and a queue"));
    };
    Ok([
        Action::SetQueue(queue.u32()?),
        Action::Output {
            port: port.port()?,
            max_len: MAX_LEN_NO_BUFFER,
        },
        nicira::Body::new(5).action(),
    ])
}

/// `CONTROLLER`, `CONTROLLER:128`, `controller(max_len=128,id=7)`.
fn parse_controller(pair: Pair<'_>) -> Result<Action, Fault> {
    let mut controller = Controller::default();
    if let Some(value) = pair.value.filter(|value| !value.text.is_empty()) {
        if value.text.starts_with(|c: char| c.is_ascii_digit()) {
            controller.max_len = value.u16()?;
        } else {
            controller = Controller::parse(value)?;
        }
    }
    Ok(controller.action())
}

fn parse_set_field(text: Piece<'_>) -> Result<Vec<Action>, Fault> {
    let Some((value, name)) = text.split_once("->") else {
        return Err(text.from(text.text.len()).fault("`->` and a field"));
    };
    field::parse_to_set(name, value)?.ok_or_else(|| name.fault("a field to set"))
}
