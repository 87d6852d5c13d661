//! Text of Nicira's actions.

pub(super) mod choice;
mod conntrack;
mod controller;
pub(super) mod learn;
mod parts;
pub(super) mod wrap;

use self::choice::{put_bundle, put_multipath};
use self::conntrack::{put_ct, put_nat};
use self::controller::Controller;
use self::learn::put_learn;
use self::parts::{IN_PORT, Options, Reader, port_of, put_dotted, put_range, put_subfield};
use self::wrap::{put_decap, put_encap};
use super::Hex;
use super::actions::{put_action, put_actions};
use super::value::put_raw_value;
use crate::wire::Span;
use crate::{Action, ExperimenterId, OxmField, PortNo};

/// An action that others define; `false`, and nothing is written, when it is none that is known here.
pub(super) fn put_extension(out: &mut String, experimenter: u32, data: &[u8]) -> bool {
    if experimenter != ExperimenterId::NICIRA.0 {
        return false;
    }
    let mut text = String::new();
    let known = put_nicira(&mut text, Reader::new(data)).is_some();
    if known {
        out.push_str(&text);
    }
    known
}

fn put_nicira(out: &mut String, mut body: Reader<'_>) -> Option<()> {
    match body.u16()? {
        1 => put_resubmit(out, body.u16()?, ALL_TABLES, false),
        2 => {
            body.skip(2)?;
            put!(out, "set_tunnel:{}", Hex(body.u32()?.into()));
        }
        5 => out.push_str("pop_queue"),
        6 => {
            let (bits, from, to) = (body.u16()?, body.u16()?, body.u16()?);
            let (source, target) = (body.field()?, body.field()?);
            out.push_str("move:");
            put_subfield(out, source, from, bits);
            out.push_str("->");
            put_subfield(out, target, to, bits);
        }
        7 => {
            let range = body.u16()?;
            let field = body.field()?;
            put!(out, "load:{}->", Hex(body.u64()?));
            put_range(out, field, range);
        }
        8 => {
            out.push_str("note:");
            put_dotted(out, body.rest());
        }
        9 => {
            body.skip(6)?;
            put!(out, "set_tunnel64:{}", Hex(body.u64()?));
        }
        type_ @ (14 | 44) => {
            let (port, table) = (body.u16()?, body.u8()?);
            put_resubmit(out, port, table, type_ == 44);
        }
        15 => {
            let range = body.u16()?;
            let field = body.field()?;
            out.push_str("output:");
            put_range(out, field, range);
        }
        10 => put_multipath(out, body)?,
        type_ @ (12 | 13) => put_bundle(out, body, type_ == 13)?,
        type_ @ (16 | 45) => put_learn(out, body, type_ == 45)?,
        17 => out.push_str("exit"),
        18 => out.push_str("dec_ttl"),
        19 => {
            let (idle, hard) = (body.u16()?, body.u16()?);
            let mut options = Options::new(out, "fin_timeout");
            options.some((idle != 0).then(|| format!("idle_timeout={idle}")));
            options.some((hard != 0).then(|| format!("hard_timeout={hard}")));
            options.finish();
        }
        20 => Controller::of_words(body)?.put(out),
        21 => {
            let count = body.u16()?;
            body.skip(4)?;
            out.push_str("dec_ttl(");
            for at in 0..count {
                put!(out, "{}{}", if at == 0 { "" } else { "," }, body.u16()?);
            }
            out.push(')');
        }
        type_ @ (27 | 28) => {
            let offset = body.u16()?;
            let field = body.field()?;
            let bits = body.u16()?;
            out.push_str(if type_ == 27 { "push:" } else { "pop:" });
            put_subfield(out, field, offset, bits);
        }
        type_ @ (29 | 38 | 41) => put_sample(out, body, type_ != 29)?,
        32 => {
            let range = body.u16()?;
            body.skip(2)?;
            let field = body.field()?;
            out.push_str("output:");
            put_range(out, field, range);
        }
        33 => {
            let (_, field) = OxmField::parse(Span::new(&body.rest().to_vec().into())).ok()?;
            put_masked_set_field(out, &field)?;
        }
        34 => {
            let (clause, clauses, id) = (body.u8()?, body.u8()?, body.u32()?);
            put!(out, "conjunction({id},{}/{clauses})", u16::from(clause) + 1);
        }
        35 => put_ct(out, body)?,
        36 => put_nat(out, body)?,
        37 => {
            body.skip(6)?;
            Controller::of_properties(body)?.put(out);
        }
        39 => {
            let port = body.u16()?;
            put!(out, "output(port={},max_len={})", port_of(port), body.u32()?);
        }
        42 => {
            body.skip(6)?;
            out.push_str("clone(");
            put_actions(out, &body.actions()?);
            out.push(')');
        }
        43 => out.push_str("ct_clear"),
        46 => put_encap(out, body)?,
        47 => put_decap(out, body)?,
        48 => out.push_str("dec_nsh_ttl"),
        49 => {
            let (length, offset) = (body.u16()?, body.u16()?);
            put!(out, "check_pkt_larger({length})->");
            put_subfield(out, body.field()?, offset, 1);
        }
        50 => put!(out, "delete_field:{}", body.field()?.name()),
        _ => return None,
    }
    Some(())
}

fn put_resubmit(out: &mut String, port: u16, table: u8, with_ct: bool) {
    if port != IN_PORT && table == ALL_TABLES {
        put!(out, "resubmit:{}", port_of(port));
        return;
    }
    out.push_str("resubmit(");
    if port != IN_PORT {
        put!(out, "{}", port_of(port));
    }
    out.push(',');
    if table != ALL_TABLES {
        put!(out, "{table}");
    }
    out.push_str(if with_ct { ",ct)" } else { ")" });
}

/// `nx_action_sample`, or with more options `nx_action_sample2`.
fn put_sample(out: &mut String, mut body: Reader<'_>, has_port: bool) -> Option<()> {
    put!(out, "sample(probability={}", body.u16()?);
    for name in ["collector_set_id", "obs_domain_id", "obs_point_id"] {
        put!(out, ",{name}={}", body.u32()?);
    }
    if has_port {
        let (port, direction) = (port_of(body.u16()?), body.u8()?);
        if port != PortNo::ANY {
            put!(out, ",sampling_port={port}");
        }
        out.push_str(match direction {
            0 => "",
            1 => ",ingress",
            2 => ",egress",
            _ => return None,
        });
    }
    out.push(')');
    Some(())
}

/// A field to set in part.
fn put_masked_set_field(out: &mut String, field: &OxmField) -> Option<()> {
    match field {
        OxmField::Raw(raw) => {
            out.push_str("set_field:");
            put_raw_value(out, raw).then_some(())
        }
        field => {
            put_action(out, &Action::SetField(field.clone()));
            // A mask on one of OpenFlow's own fields has no words here.
            (!field.id().has_mask).then_some(())
        }
    }
}

const ALL_TABLES: u8 = 0xff;
