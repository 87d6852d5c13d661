//! Flows made of the packets that are seen:
//! `learn(table=1,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],load:5->reg0[0..7],output:in_port)`.

use super::body::Body;
use crate::text::extensions::learn as wire;
use crate::text::parse::piece::{Pair, Piece};
use crate::text::parse::subfield::Subfield;
use crate::text::parse::{Fault, field};
use crate::{Action, OxmField};

/// `nx_action_learn`, or `nx_action_learn2` when it needs more.
pub(super) fn parse(text: Piece<'_>) -> Result<Action, Fault> {
    let mut learn = Learn::default();
    let mut pairs = text.pairs();
    while let Some(pair) = pairs.next()? {
        if !learn.set_option(pair)? {
            let part = Part::parse(pair)?;
            part.check(&mut learn.matched, pair)?;
            learn.parts.push(part);
        }
    }
    Ok(learn.action())
}

struct Learn {
    /// Idle and hard, then those after a FIN.
    timeouts: [u16; 4],
    priority: u16,
    cookie: u64,
    flags: u16,
    table: u8,
    limit: u32,
    /// Offset and header of the bit that says whether the limit was kept.
    result: Option<(u16, Vec<u8>)>,
    parts: Vec<Part>,
    /// Values that flows to be made match for sure.
    matched: Vec<OxmField>,
}

impl Default for Learn {
    fn default() -> Self {
        Self {
            timeouts: [0; 4],
            priority: 0x8000,
            cookie: 0,
            flags: 0,
            table: 1,
            limit: 0,
            result: None,
            parts: vec![],
            matched: vec![],
        }
    }
}

impl Learn {
    /// Takes an option of the flow to make; `false` when it is none.
    fn set_option(&mut self, pair: Pair<'_>) -> Result<bool, Fault> {
        let number = || pair.value("a number");
        match pair.key.text {
            "table" => self.table = pair.value("a table")?.narrow(254)?,
            "priority" => self.priority = number()?.u16()?,
            "cookie" => self.cookie = number()?.u64()?,
            "limit" => self.limit = number()?.u32()?,
            "send_flow_rem" => {
                pair.bare()?;
                self.flags |= wire::SEND_FLOW_REM;
            }
            "delete_learned" => {
                pair.bare()?;
                self.flags |= wire::DELETE_LEARNED;
            }
            "result_dst" => {
                let value = pair.value("a bit of a field")?;
                let bit = Subfield::parse(value)?;
                if bit.bits != 1 || !bit.field.is_writable() {
                    return Err(value.fault("one bit of a field that can be written"));
                }
                self.flags |= wire::WRITE_RESULT;
                self.result = Some((bit.offset, bit.header(value)?));
            }
            name => match wire::TIMEOUTS.iter().position(|timeout| *timeout == name) {
                Some(at) => self.timeouts[at] = pair.value("seconds")?.u16()?,
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    fn action(self) -> Action {
        let is_second = self.limit != 0 || self.result.is_some();
        let [idle, hard, fin_idle, fin_hard] = self.timeouts;
        let body = Body::new(if is_second { 45 } else { 16 }).u16(idle).u16(hard);
        let body = body.u16(self.priority).u64(self.cookie).u16(self.flags);
        let mut body = body.bytes(&[self.table, 0]).u16(fin_idle).u16(fin_hard);
        if is_second {
            let (offset, header) = self.result.unwrap_or_default();
            body = body.u32(self.limit).u16(offset).zeros(2).bytes(&header);
        }
        self.parts
            .into_iter()
            .fold(body, |body, part| part.put(body))
            .action()
    }
}

/// `flow_mod_spec`: what to match, to load or to send out of.
struct Part {
    bits: u16,
    /// Header and offset of a field, or a value.
    source: Source,
    target: Target,
}

enum Source {
    Field(Subfield, Vec<u8>),
    Value(u128),
}

enum Target {
    Match(Subfield, Vec<u8>),
    Load(Subfield, Vec<u8>),
    Output,
}

impl Part {
    fn parse(pair: Pair<'_>) -> Result<Self, Fault> {
        match (pair.key.text, Subfield::parse(pair.key)) {
            (_, Ok(target)) => Self::parse_match(pair, target),
            ("load", _) => Self::parse_load(pair.value("a value or a field, `->` and a field")?),
            ("output", _) => {
                let value = pair.value("a field")?;
                let source = Subfield::parse(value)?;
                Ok(Self {
                    bits: source.bits,
                    source: Source::of(source, value)?,
                    target: Target::Output,
                })
            }
            // What begins in the manner of a field is to be one.
            (name, Err(fault)) if name.contains('[') => Err(fault),
            _ => Err(pair
                .key
                .fault("an option of the flow, a field, `load` or `output`")),
        }
    }

    fn parse_match(pair: Pair<'_>, target: Subfield) -> Result<Self, Fault> {
        let source = match pair.value.filter(|value| !value.text.is_empty()) {
            None => Source::of(target, pair.key)?,
            Some(value) => match Subfield::parse(value) {
                Ok(source) if source.bits != target.bits => {
                    return Err(value.fault(format!("as many bits as in `{}`", pair.key.text)));
                }
                Ok(source) => Source::of(source, value)?,
                Err(_) if target.is_whole() => Source::Value(field::parse_exact(target.field, value)?),
                Err(_) => Source::Value(value.number(target.ones())?),
            },
        };
        Ok(Self {
            bits: target.bits,
            source,
            target: Target::Match(target, target.short_header(pair.key)?),
        })
    }

    fn parse_load(text: Piece<'_>) -> Result<Self, Fault> {
        let Some((value, into)) = text.split_once("->") else {
            return Err(text.from(text.text.len()).fault("`->` and a field"));
        };
        let target = Subfield::parse(into)?;
        let source = if value.text.starts_with(|c: char| c.is_ascii_digit()) {
            Source::Value(value.number(target.ones())?)
        } else {
            let source = Subfield::parse(value)?;
            if source.bits != target.bits {
                return Err(into.fault(format!("as many bits as in `{}`", value.text)));
            }
            Source::of(source, value)?
        };
        if !target.field.is_writable() {
            return Err(into.fault("a field that can be written"));
        }
        Ok(Self {
            bits: target.bits,
            source,
            target: Target::Load(target, target.short_header(into)?),
        })
    }

    /// Refuses a field that lacks what it needs in the flow to make, and notes the value that it has there.
    fn check(&self, matched: &mut Vec<OxmField>, pair: Pair<'_>) -> Result<(), Fault> {
        let (Target::Match(target, _) | Target::Load(target, _)) = self.target else {
            return Ok(());
        };
        let value = match self.source {
            Source::Value(value) => value.checked_shl(target.offset.into()).unwrap_or(0),
            Source::Field(..) => 0,
        };
        let Some(field) = target.field.with_value(value, None) else {
            return Ok(());
        };
        if let Some(needed) = field.missing_prerequisite(matched) {
            return Err(pair
                .key
                .fault(format!("{needed} before `{}`", target.field.name())));
        }
        if matches!(
            (&self.target, &self.source),
            (Target::Match(..), Source::Value(_))
        ) {
            matched.push(field);
        }
        Ok(())
    }

    fn put(self, body: Body) -> Body {
        let (target, place) = match self.target {
            Target::Match(target, header) => (wire::MATCH, Some((target, header))),
            Target::Load(target, header) => (wire::LOAD, Some((target, header))),
            Target::Output => (wire::OUTPUT, None),
        };
        let body = match self.source {
            Source::Field(field, header) => body.u16(self.bits | target).bytes(&header).u16(field.offset),
            Source::Value(value) => {
                let bytes = usize::from(self.bits.div_ceil(16)) * 2;
                let whole = value.to_be_bytes();
                let body = body.u16(self.bits | target | wire::IMMEDIATE);
                body.zeros(bytes.saturating_sub(whole.len()))
                    .bytes(&whole[whole.len().saturating_sub(bytes)..])
            }
        };
        match place {
            Some((field, header)) => body.bytes(&header).u16(field.offset),
            None => body,
        }
    }
}

impl Source {
    fn of(field: Subfield, text: Piece<'_>) -> Result<Self, Fault> {
        field.short_header(text).map(|header| Self::Field(field, header))
    }
}
