//! Text of Nicira's action that makes flows of the packets it sees.

use super::parts::{Reader, put_subfield};
use crate::text::fields::{Field, Format, number_of};
use crate::text::hex::put_number;
use crate::text::matching::DEFAULT_PRIORITY;
use crate::text::value::put_value;

/// `nx_action_learn`, or with `is_second` `nx_action_learn2`.
pub(super) fn put_learn(out: &mut String, mut body: Reader<'_>, is_second: bool) -> Option<()> {
    let (idle, hard, priority) = (body.u16()?, body.u16()?, body.u16()?);
    let (cookie, flags, table) = (body.u64()?, body.u16()?, body.u8()?);
    body.skip(1)?;
    let (fin_idle, fin_hard) = (body.u16()?, body.u16()?);
    put!(out, "learn(table={table}");
    for (name, seconds) in TIMEOUTS.iter().zip([idle, hard, fin_idle, fin_hard]) {
        if seconds != 0 {
            put!(out, ",{name}={seconds}");
        }
    }
    if priority != DEFAULT_PRIORITY {
        put!(out, ",priority={priority}");
    }
    for (flag, name) in [
        (SEND_FLOW_REM, "send_flow_rem"),
        (DELETE_LEARNED, "delete_learned"),
    ] {
        if flags & flag != 0 {
            put!(out, ",{name}");
        }
    }
    if cookie != 0 {
        put!(out, ",cookie={cookie:#x}");
    }
    if is_second {
        let (limit, offset) = (body.u32()?, body.u16()?);
        body.skip(2)?;
        if limit != 0 {
            put!(out, ",limit={limit}");
        }
        if flags & WRITE_RESULT != 0 {
            out.push_str(",result_dst=");
            put_subfield(out, body.field()?, offset, 1);
        }
    }
    while put_part(out, &mut body)?.is_some() {}
    out.push(')');
    Some(())
}

/// `flow_mod_spec`: a field to match, to load or to send out of. `Some(None)` after the last one.
fn put_part<'a>(out: &mut String, body: &mut Reader<'a>) -> Option<Option<()>> {
    if body.is_empty() {
        return Some(None);
    }
    let header = body.u16()?;
    if header == 0 {
        return Some(None);
    }
    let bits = header & 0x3ff;
    let source = if header & IMMEDIATE == 0 {
        Source::Field(body.field()?, body.u16()?)
    } else {
        let padding = bits.div_ceil(16) * 2 - bits.div_ceil(8);
        body.skip(padding.into())?;
        Source::Value(body.take(bits.div_ceil(8).into())?)
    };
    out.push(',');
    match header & TARGETS {
        MATCH => {
            let (field, offset) = (body.field()?, body.u16()?);
            put_match(out, field, offset, bits, source)?;
        }
        LOAD => {
            let (field, offset) = (body.field()?, body.u16()?);
            out.push_str("load:");
            match source {
                Source::Field(source, from) => put_subfield(out, source, from, bits),
                Source::Value(value) => put_number(out, value),
            }
            out.push_str("->");
            put_subfield(out, field, offset, bits);
        }
        OUTPUT => {
            let Source::Field(field, offset) = source else {
                return None;
            };
            out.push_str("output:");
            put_subfield(out, field, offset, bits);
        }
        _ => return None,
    }
    Some(Some(()))
}

fn put_match(out: &mut String, field: Field, offset: u16, bits: u16, source: Source<'_>) -> Option<()> {
    match source {
        Source::Value(value) if offset == 0 && bits == field.bits() => {
            put!(out, "{}=", field.name());
            if field.format() == Format::Hex {
                put_number(out, value);
                return Some(());
            }
            let number = (value.len() <= 16).then(|| number_of(value))?;
            return put_value(out, field, number, None).then_some(());
        }
        Source::Value(value) => {
            put_subfield(out, field, offset, bits);
            out.push('=');
            put_number(out, value);
        }
        Source::Field(source, from) => {
            put_subfield(out, field, offset, bits);
            if (source, from) != (field, offset) {
                out.push('=');
                put_subfield(out, source, from, bits);
            }
        }
    }
    Some(())
}

/// Where a value comes from: a field of the packet and the lowest bit in it, or the action.
#[derive(Clone, Copy)]
enum Source<'a> {
    Field(Field, u16),
    Value(&'a [u8]),
}

/// How the times are called after which a flow ends that was made.
pub(in crate::text) const TIMEOUTS: [&str; 4] = [
    "idle_timeout",
    "hard_timeout",
    "fin_idle_timeout",
    "fin_hard_timeout",
];
/// `NX_LEARN_F_SEND_FLOW_REM`.
pub(in crate::text) const SEND_FLOW_REM: u16 = 1;
/// `NX_LEARN_F_DELETE_LEARNED`.
pub(in crate::text) const DELETE_LEARNED: u16 = 1 << 1;
/// `NX_LEARN_F_WRITE_RESULT`.
pub(in crate::text) const WRITE_RESULT: u16 = 1 << 2;
/// `NX_LEARN_SRC_IMMEDIATE`.
pub(in crate::text) const IMMEDIATE: u16 = 1 << 13;
/// `NX_LEARN_DST_MATCH`.
pub(in crate::text) const MATCH: u16 = 0;
/// `NX_LEARN_DST_LOAD`.
pub(in crate::text) const LOAD: u16 = 1 << 11;
/// `NX_LEARN_DST_OUTPUT`.
pub(in crate::text) const OUTPUT: u16 = 2 << 11;
/// `NX_LEARN_DST_MASK`.
const TARGETS: u16 = 3 << 11;
