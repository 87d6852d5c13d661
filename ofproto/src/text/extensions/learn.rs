//! Text of Nicira's action that makes flows of the packets it sees.

use super::parts::{Reader, put_subfield};
use crate::text::extended::put_value;
use crate::text::fields::Field;
use crate::text::matching::DEFAULT_PRIORITY;

/// `nx_action_learn`, or with `is_second` `nx_action_learn2`.
pub(super) fn put_learn(out: &mut String, mut body: Reader<'_>, is_second: bool) -> Option<()> {
    let (idle, hard, priority) = (body.u16()?, body.u16()?, body.u16()?);
    let (cookie, flags, table) = (body.u64()?, body.u16()?, body.u8()?);
    body.skip(1)?;
    let (fin_idle, fin_hard) = (body.u16()?, body.u16()?);
    put!(out, "learn(table={table}");
    for (name, seconds) in [
        ("idle_timeout", idle),
        ("hard_timeout", hard),
        ("fin_idle_timeout", fin_idle),
        ("fin_hard_timeout", fin_hard),
    ] {
        if seconds != 0 {
            put!(out, ",{name}={seconds}");
        }
    }
    if priority != DEFAULT_PRIORITY {
        put!(out, ",priority={priority}");
    }
    for (flag, name) in [(1, "send_flow_rem"), (2, "delete_learned")] {
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
        if flags & 4 != 0 {
            out.push_str(",result_dst=");
            put_subfield(out, body.field()?, offset, 1);
        }
    }
    while put_part(out, &mut body)?.is_some() {}
    out.push(')');
    Some(())
}

/// `flow_mod_spec`: a field to match, to load or to send out of. `Some(None)` after the last one.
fn put_part(out: &mut String, body: &mut Reader<'_>) -> Option<Option<()>> {
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
        let bytes = body.take(usize::from(bits.div_ceil(16)) * 2)?;
        if bytes.len() > 16 {
            return None;
        }
        Source::Value(
            bytes
                .iter()
                .fold(0, |number, byte| number << 8 | u128::from(*byte)),
        )
    };
    out.push(',');
    match header >> 11 & 3 {
        0 => {
            let (field, offset) = (body.field()?, body.u16()?);
            put_match(out, field, offset, bits, source)?;
        }
        1 => {
            let (field, offset) = (body.field()?, body.u16()?);
            out.push_str("load:");
            match source {
                Source::Field(source, from) => put_subfield(out, source, from, bits),
                Source::Value(value) => put!(out, "{value:#x}"),
            }
            out.push_str("->");
            put_subfield(out, field, offset, bits);
        }
        2 => {
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

fn put_match(out: &mut String, field: Field, offset: u16, bits: u16, source: Source) -> Option<()> {
    match source {
        Source::Value(value) if offset == 0 && bits == field.bits() => {
            put!(out, "{}=", field.name());
            return put_value(out, field, value, None).then_some(());
        }
        Source::Value(value) => {
            put_subfield(out, field, offset, bits);
            put!(out, "={value:#x}");
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
enum Source {
    Field(Field, u16),
    Value(u128),
}

/// `NX_LEARN_SRC_IMMEDIATE`.
const IMMEDIATE: u16 = 1 << 13;
