//! Nicira's actions.

mod body;
mod choice;
mod conntrack;
mod controller;
mod learn;
mod nat;
mod wrap;

pub(super) use self::body::Body;
pub(super) use self::controller::Controller;

use self::body::{hex_bytes, port_of};
use super::actions::{ActionList, Context};
use super::piece::{Pair, Piece};
use super::subfield::Subfield;
use super::{Fault, field, option};
use crate::Action;
use crate::text::fields::Field;

/// Reads the action; `None` when it is none of Nicira's.
pub(super) fn parse(pair: Pair<'_>, context: Context) -> Result<Option<Vec<Action>>, Fault> {
    let bare = |subtype| pair.bare().map(|()| Body::new(subtype).action());
    let action = match pair.key.text {
        "resubmit" => parse_resubmit(pair.value("a port and a table")?)?,
        "load" => return parse_load(pair.value("a value, `->` and a field")?).map(Some),
        "move" => parse_move(pair.value("a field, `->` and a field")?)?,
        "push" | "pop" => {
            let value = pair.value("a field")?;
            let field = Subfield::parse(value)?;
            let subtype = if pair.key.text == "push" { 27 } else { 28 };
            let body = Body::new(subtype).u16(field.offset);
            body.bytes(&field.header(value)?).u16(field.bits).action()
        }
        "note" => Body::new(8).bytes(&hex_bytes(pair.value("bytes")?)?).action(),
        "exit" => bare(17)?,
        "pop_queue" => bare(5)?,
        "ct_clear" => bare(43)?,
        "dec_nsh_ttl" => bare(48)?,
        "conjunction" => parse_conjunction(pair.value("an id and `k/n`")?)?,
        "fin_timeout" => parse_fin_timeout(pair.value("timeouts")?)?,
        "clone" => {
            let mut list = ActionList::within(context);
            list.extend(pair.value("actions in parentheses")?)?;
            Body::new(42).zeros(6).actions(&list.finish()?).action()
        }
        "ct" => conntrack::parse(pair, context)?,
        "nat" if context.is_tracked => nat::parse(pair)?,
        "learn" => learn::parse(pair.value("the flow to make")?)?,
        "multipath" => choice::parse_multipath(pair.value("how to choose")?)?,
        "bundle" => choice::parse_bundle(pair.value("how to choose")?, false)?,
        "bundle_load" => choice::parse_bundle(pair.value("how to choose")?, true)?,
        "sample" => parse_sample(pair.value("how much and for whom")?)?,
        "encap" => wrap::parse_encap(pair.value("a header")?)?,
        "decap" => wrap::parse_decap(pair)?,
        "check_pkt_larger" => parse_check_larger(pair.value("a length, `->` and a bit")?)?,
        "delete_field" => {
            let value = pair.value("a tunnel option")?;
            let field = field::named_in_action(value).filter(|field| field.is_tunnel_option());
            let header = field.and_then(Field::header);
            let header = header.ok_or_else(|| value.fault("a tunnel option, such as tun_metadata0"))?;
            Body::new(50).bytes(&header).zeros(10).action()
        }
        _ => return Ok(None),
    };
    Ok(Some(vec![action]))
}

/// `output:NXM_NX_REG0[16..31]`.
pub(super) fn output_from_field(text: Piece<'_>) -> Result<Action, Fault> {
    let field = Subfield::parse(text)?;
    let header = field.header(text)?;
    if header.len() > 4 {
        let body = Body::new(32).u16(field.range()).u16(u16::MAX);
        return Ok(body.bytes(&header).action());
    }
    let body = Body::new(15).u16(field.range()).bytes(&header);
    Ok(body.u16(u16::MAX).zeros(6).action())
}

/// `output(port=5,max_len=100)`.
pub(super) fn output_in_part(text: Piece<'_>) -> Result<Action, Fault> {
    let (mut port, mut max_len) = (None, None);
    let mut options = text.pairs();
    while let Some(option) = options.next()? {
        match option.key.text {
            "port" => port = Some(port_of(option.value("a port")?)?),
            "max_len" => max_len = Some(option.value("a number of bytes")?.u32()?),
            _ => return Err(option.key.fault("`port` or `max_len`")),
        }
    }
    let missing = || text.fault("`port=` and `max_len=`");
    let body = Body::new(39).u16(port.ok_or_else(missing)?);
    Ok(body.u32(max_len.ok_or_else(missing)?).action())
}

/// `dec_ttl(1,2)`: what controllers are told when there is nothing to decrement.
pub(super) fn decrement_for(text: Piece<'_>) -> Result<Action, Fault> {
    let mut ids = Vec::new();
    let mut pairs = text.pairs();
    while let Some(pair) = pairs.next()? {
        pair.bare()?;
        ids.push(pair.key.u16()?);
    }
    let count = u16::try_from(ids.len()).map_err(|_| text.fault("fewer controllers"))?;
    let body = Body::new(21).u16(count).zeros(4);
    Ok(ids.into_iter().fold(body, Body::u16).action())
}

/// `set_field` and `load` of bits that are not the whole field.
pub(super) fn load(field: Field, value: u128, mask: u128) -> Option<Vec<Action>> {
    let header = field.header()?;
    if header.len() > 4 {
        let all = u128::MAX.checked_shr(128u32.saturating_sub(field.bits().into()));
        let entry = field.nicira_entry(value, Some(mask).filter(|mask| Some(*mask) != all))?;
        return Some(vec![Body::new(33).bytes(&entry).action()]);
    }
    let mut loads = Vec::new();
    let mut left = mask;
    while left != 0 {
        let offset = left.trailing_zeros();
        let bits = (left >> offset).trailing_ones().min(64);
        let ones = u128::MAX >> (128 - bits);
        left &= !(ones << offset);
        let range = u16::try_from(offset << 6 | (bits - 1)).ok()?;
        let part = u64::try_from(value >> offset & ones).ok()?;
        loads.push(Body::new(7).u16(range).bytes(&header).u64(part).action());
    }
    Some(loads)
}

/// `check_pkt_larger(1500)->reg0[0]`, of which this is what follows the first parenthesis.
fn parse_check_larger(text: Piece<'_>) -> Result<Action, Fault> {
    let Some((length, target)) = text.split_once(")->").or_else(|| text.split_once("->")) else {
        return Err(text.from(text.text.len()).fault("`->` and a bit of a field"));
    };
    let bit = Subfield::parse(target)?;
    if bit.bits != 1 {
        return Err(target.fault("one bit of a field"));
    }
    let body = Body::new(49).u16(length.u16()?).u16(bit.offset);
    Ok(body.bytes(&bit.header(target)?).action())
}

/// `sample(probability=100,collector_set_id=1,obs_domain_id=2,obs_point_id=3,sampling_port=4,egress)`.
fn parse_sample(text: Piece<'_>) -> Result<Action, Fault> {
    let (mut probability, mut ids) = (0u16, [0u32; 3]);
    let (mut port, mut direction) = (None, 0);
    let mut options = text.pairs();
    while let Some(option) = options.next()? {
        match option.key.text {
            "probability" => probability = option.value("a number out of 65535")?.u16()?,
            "sampling_port" => port = Some(port_of(option.value("a port")?)?),
            "ingress" => direction = 1,
            "egress" => direction = 2,
            name => match SAMPLE_IDS.iter().position(|id| *id == name) {
                Some(at) => ids[at] = option.value("a number")?.u32()?,
                None => {
                    let words = "`probability`, an id, `sampling_port`, `ingress` or `egress`";
                    return Err(option.key.fault(words));
                }
            },
        }
    }
    if probability == 0 {
        return Err(text.fault("a `probability` above 0"));
    }
    // No port is as good as none given.
    let port = port.filter(|port| *port != NO_PORT);
    let subtype = match (direction, port) {
        (0, None) => 29,
        (0, Some(_)) => 38,
        _ => 41,
    };
    let body = ids
        .into_iter()
        .fold(Body::new(subtype).u16(probability), Body::u32);
    Ok(match subtype {
        29 => body.action(),
        _ => body.u16(port.unwrap_or(NO_PORT)).bytes(&[direction]).action(),
    })
}

fn parse_resubmit(text: Piece<'_>) -> Result<Action, Fault> {
    let parts: Vec<_> = text.split(',').collect();
    let part = |at: usize| parts.get(at).copied().filter(|part| !part.text.is_empty());
    let port = part(0).map_or(Ok(IN_PORT), port_of)?;
    let table = part(1).map_or(Ok(ALL_TABLES), Piece::u8)?;
    let with_ct = match part(2) {
        None => false,
        Some(word) if word.text == "ct" => true,
        Some(word) => return Err(word.fault("`ct`")),
    };
    if let Some(extra) = parts.get(3) {
        return Err(extra.fault("`)`"));
    }
    if port == IN_PORT && table == ALL_TABLES {
        return Err(text.fault("a port or a table"));
    }
    let body = Body::new(if with_ct { 44 } else { 14 }).u16(port);
    Ok(body.bytes(&[table]).action())
}

fn parse_load(text: Piece<'_>) -> Result<Vec<Action>, Fault> {
    let Some((value, target)) = text.split_once("->") else {
        return Err(text.from(text.text.len()).fault("`->` and a field"));
    };
    let field = Subfield::parse(target)?;
    let ones = field.ones();
    let number = value.number(ones)?;
    if field.field.is_tunnel_option() {
        return Ok(vec![option::load(field, number)]);
    }
    load(field.field, number << field.offset, ones << field.offset)
        .ok_or_else(|| target.fault("a field that has a number on the wire"))
}

fn parse_move(text: Piece<'_>) -> Result<Action, Fault> {
    let Some((from, to)) = text.split_once("->") else {
        return Err(text.from(text.text.len()).fault("`->` and a field"));
    };
    let (source, target) = (Subfield::parse(from)?, Subfield::parse(to)?);
    if source.bits != target.bits {
        return Err(to.fault(format!("as many bits as in `{}`", from.text)));
    }
    if !target.field.is_writable() {
        return Err(to.fault("a field that can be written"));
    }
    let body = Body::new(6).u16(source.bits).u16(source.offset);
    let body = body.u16(target.offset).bytes(&source.header(from)?);
    Ok(body.bytes(&target.header(to)?).action())
}

fn parse_conjunction(text: Piece<'_>) -> Result<Action, Fault> {
    let wanted = || text.fault("an id and `k/n`");
    let (id, place) = text.split_once(",").ok_or_else(wanted)?;
    let (clause, clauses) = place.skip_separators().split_once("/").ok_or_else(wanted)?;
    let clauses_number = clauses.u8()?;
    if !(2..=64).contains(&clauses_number) {
        return Err(clauses.fault("a number from 2 to 64"));
    }
    let number: u8 = clause.narrow(clauses_number.into())?;
    let Some(index) = number.checked_sub(1) else {
        return Err(clause.fault("a number from 1"));
    };
    let body = Body::new(34).bytes(&[index, clauses_number]);
    Ok(body.u32(id.u32()?).action())
}

fn parse_fin_timeout(text: Piece<'_>) -> Result<Action, Fault> {
    let (mut idle, mut hard) = (0, 0);
    let mut options = text.pairs();
    while let Some(option) = options.next()? {
        match option.key.text {
            "idle_timeout" => idle = option.value("seconds")?.u16()?,
            "hard_timeout" => hard = option.value("seconds")?.u16()?,
            _ => return Err(option.key.fault("`idle_timeout` or `hard_timeout`")),
        }
    }
    Ok(Body::new(19).u16(idle).u16(hard).action())
}

/// `OFPP_IN_PORT` in 16 bits.
const IN_PORT: u16 = 0xfff8;
const ALL_TABLES: u8 = 0xff;
/// `OFPP_NONE` in 16 bits.
const NO_PORT: u16 = 0xffff;
/// Whom samples are for, in the order of the wire.
const SAMPLE_IDS: &[&str] = &["collector_set_id", "obs_domain_id", "obs_point_id"];
