//! Nicira's actions.

use super::actions::{ActionList, Context};
use super::piece::{Pair, Piece};
use super::subfield::Subfield;
use super::{Fault, nat};
use crate::text::fields::Field;
use crate::{Action, Actions, ExperimenterId, MAX_LEN_NO_BUFFER, PortNo};

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
        "ct" => parse_ct(pair, context)?,
        "nat" => nat::parse(pair)?,
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
        let entry = field.nicira_entry(value, Some(mask))?;
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

/// What a packet to a controller comes with.
pub(super) struct Controller {
    pub(super) max_len: u16,
    id: u16,
    reason: u8,
    userdata: Vec<u8>,
    pause: bool,
    meter: Option<u32>,
}

impl Default for Controller {
    fn default() -> Self {
        Self {
            max_len: MAX_LEN_NO_BUFFER,
            id: 0,
            reason: REASON_ACTION,
            userdata: vec![],
            pause: false,
            meter: None,
        }
    }
}

impl Controller {
    /// `max_len=128,id=7,reason=no_match,userdata=01.02,pause,meter_id=3`.
    pub(super) fn parse(text: Piece<'_>) -> Result<Self, Fault> {
        let mut controller = Self::default();
        let mut options = text.pairs();
        while let Some(option) = options.next()? {
            match option.key.text {
                "max_len" => controller.max_len = option.value("a number of bytes")?.u16()?,
                "id" => controller.id = option.value("a controller")?.u16()?,
                "reason" => {
                    let value = option.value("a reason")?;
                    let known = REASONS.iter().position(|name| *name == value.text);
                    let number = known.and_then(|at| u8::try_from(at).ok());
                    controller.reason =
                        number.ok_or_else(|| value.fault(format!("one of {}", REASONS.join(", "))))?;
                }
                "userdata" => controller.userdata = hex_bytes(option.value("bytes")?)?,
                "pause" => controller.pause = true,
                "meter_id" => controller.meter = Some(option.value("a meter")?.u32()?),
                _ => {
                    let words = "`max_len`, `id`, `reason`, `userdata`, `pause` or `meter_id`";
                    return Err(option.key.fault(words));
                }
            }
        }
        Ok(controller)
    }

    pub(super) fn action(&self) -> Action {
        let is_plain = self.id == 0
            && self.reason == REASON_ACTION
            && self.userdata.is_empty()
            && !self.pause
            && self.meter.is_none();
        if is_plain {
            return Action::Output {
                port: PortNo::CONTROLLER,
                max_len: self.max_len,
            };
        }
        if self.userdata.is_empty() && !self.pause && self.meter.is_none() {
            let body = Body::new(20).u16(self.max_len).u16(self.id);
            return body.bytes(&[self.reason, 0]).action();
        }
        let mut body = Body::new(37).zeros(6);
        let mut property = |type_: u16, value: &[u8]| {
            let length = u16::try_from(value.len() + 4).unwrap_or(u16::MAX);
            body.0.extend(type_.to_be_bytes());
            body.0.extend(length.to_be_bytes());
            body.0.extend(value);
            let padding = value.len().wrapping_neg().wrapping_sub(4) % 8;
            body.0.resize(body.0.len() + padding, 0);
        };
        if self.max_len != u16::MAX {
            property(0, &self.max_len.to_be_bytes());
        }
        if self.id != 0 {
            property(1, &self.id.to_be_bytes());
        }
        if self.reason != REASON_ACTION {
            property(2, &[self.reason]);
        }
        if !self.userdata.is_empty() {
            property(3, &self.userdata);
        }
        if self.pause {
            property(4, &[]);
        }
        if let Some(meter) = self.meter {
            property(5, &meter.to_be_bytes());
        }
        body.action()
    }
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
    let ones = u128::MAX
        .checked_shr(128u32.saturating_sub(field.bits.into()))
        .unwrap_or(0);
    let number = value.number(ones)?;
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

fn parse_ct(pair: Pair<'_>, context: Context) -> Result<Action, Fault> {
    let (mut flags, mut table, mut alg) = (0u16, ALL_TABLES, 0u16);
    let (mut source, mut zone) = (vec![0; 4], 0u16);
    let mut translation = None;
    let mut actions = Actions::new();
    let nothing = pair.key.from(pair.key.text.len());
    let mut options = pair.value.unwrap_or(nothing).pairs();
    while let Some(option) = options.next()? {
        let key = option.key;
        match key.text {
            "commit" => flags |= 1,
            "force" => flags |= 2,
            "table" => {
                let value = option.value("a table")?;
                table = value.narrow(u128::from(ALL_TABLES) - 1)?;
            }
            "zone" => {
                let value = option.value("a zone, or a field")?;
                if value.text.starts_with(|c: char| c.is_ascii_digit()) {
                    zone = value.u16()?;
                } else {
                    let field = Subfield::parse(value)?;
                    if field.bits != 16 {
                        return Err(value.fault("16 bits of a field"));
                    }
                    (source, zone) = (field.header(value)?, field.range());
                }
            }
            "alg" => {
                let value = option.value("a protocol")?;
                alg = match value.text {
                    "ftp" => 21,
                    "tftp" => 69,
                    _ => return Err(value.fault("`ftp` or `tftp`")),
                };
            }
            "nat" => translation = Some(nat::parse(option)?),
            "exec" => {
                let mut list = ActionList::within(context);
                list.extend(option.value("actions in parentheses")?)?;
                actions = list.finish()?;
            }
            _ => return Err(key.fault("`commit`, `force`, `table`, `zone`, `alg`, `nat` or `exec`")),
        }
    }
    if flags == 2 {
        return Err(pair.key.fault("`commit` beside `force`"));
    }
    let body = Body::new(35).u16(flags).bytes(&source).u16(zone);
    let body = body.bytes(&[table, 0, 0, 0]).u16(alg);
    // A translation comes first.
    let actions: Vec<_> = translation.into_iter().chain(actions).collect();
    Ok(body.actions(&actions).action())
}

/// Bytes of two hexadecimal digits, with or without dots between.
pub(super) fn hex_bytes(text: Piece<'_>) -> Result<Vec<u8>, Fault> {
    let digits: Vec<u8> = text
        .text
        .chars()
        .filter(|c| *c != '.')
        .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()
        .ok_or_else(|| text.fault("bytes in hexadecimal"))?;
    let (pairs, []) = digits.as_chunks::<2>() else {
        return Err(text.fault("two digits for each byte"));
    };
    Ok(pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

fn port_of(text: Piece<'_>) -> Result<u16, Fault> {
    let PortNo(port) = text.port()?;
    let narrow = if port >= PortNo::IN_PORT.0 {
        port & 0xffff
    } else {
        port
    };
    u16::try_from(narrow).map_err(|_| text.fault("a port of 16 bits"))
}

/// What follows the experimenter in an action.
pub(super) struct Body(Vec<u8>);

impl Body {
    pub(super) fn new(subtype: u16) -> Self {
        Self(subtype.to_be_bytes().to_vec())
    }

    pub(super) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    pub(super) fn zeros(mut self, count: usize) -> Self {
        self.0.resize(self.0.len() + count, 0);
        self
    }

    pub(super) fn u16(self, number: u16) -> Self {
        self.bytes(&number.to_be_bytes())
    }

    pub(super) fn u32(self, number: u32) -> Self {
        self.bytes(&number.to_be_bytes())
    }

    pub(super) fn u64(self, number: u64) -> Self {
        self.bytes(&number.to_be_bytes())
    }

    fn actions(mut self, actions: &[Action]) -> Self {
        let mut bytes = bytes::BytesMut::new();
        // Too long a list is found when the whole is encoded.
        if Action::put_list(actions, &mut bytes).is_ok() {
            self.0.extend(bytes);
        }
        self
    }

    /// The action, filled up with zeros to a multiple of eight bytes.
    pub(super) fn action(mut self) -> Action {
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        Action::Experimenter {
            experimenter: ExperimenterId::NICIRA.0,
            data: self.0.into(),
        }
    }
}

/// `OFPP_IN_PORT` in 16 bits.
const IN_PORT: u16 = 0xfff8;
const ALL_TABLES: u8 = 0xff;
/// `OFPR_ACTION`.
const REASON_ACTION: u8 = 1;
/// Why a packet goes to a controller, from 0.
const REASONS: &[&str] = &[
    "no_match",
    "action",
    "invalid_ttl",
    "action_set",
    "group",
    "packet_out",
];
