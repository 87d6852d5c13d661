//! Text of Nicira's actions.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::actions::{put_action, put_actions, put_list};
use super::choice::{put_bundle, put_decap, put_encap, put_multipath};
use super::extended::put_raw_value;
use super::fields::Field;
use super::learn::put_learn;
use super::{Hex, Ipv6Text};
use crate::wire::Span;
use crate::{Action, Actions, ExperimenterId, OxmField, OxmId, PortNo};

/// An action that others define; `false`, and nothing is written, when it is none that is known here.
pub(super) fn put_extension(out: &mut String, experimenter: u32, data: &[u8]) -> bool {
    if experimenter != ExperimenterId::NICIRA.0 {
        return false;
    }
    let mut text = String::new();
    let known = put_nicira(&mut text, Reader(data)).is_some();
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
            put_dotted(out, body.0);
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
        20 => {
            let controller = Controller {
                max_len: body.u16()?,
                id: body.u16()?,
                reason: body.u8()?,
                ..Controller::default()
            };
            controller.put(out);
        }
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
            let (_, field) = OxmField::parse(Span::new(&body.0.to_vec().into())).ok()?;
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

/// What a packet to the controller comes with.
struct Controller {
    max_len: u16,
    id: u16,
    reason: u8,
    userdata: Vec<u8>,
    pause: bool,
    meter: u32,
}

impl Default for Controller {
    fn default() -> Self {
        Self {
            max_len: u16::MAX,
            id: 0,
            reason: REASON_ACTION,
            userdata: vec![],
            pause: false,
            meter: u32::MAX,
        }
    }
}

impl Controller {
    fn of_properties(mut body: Reader<'_>) -> Option<Self> {
        let mut controller = Self::default();
        while !body.0.is_empty() {
            let (type_, length) = (body.u16()?, usize::from(body.u16()?));
            let mut value = Reader(body.take(length.checked_sub(4)?)?);
            let padding = length.next_multiple_of(8) - length;
            body.skip(padding)?;
            match type_ {
                0 => controller.max_len = value.u16()?,
                1 => controller.id = value.u16()?,
                2 => controller.reason = value.u8()?,
                3 => controller.userdata = value.0.to_vec(),
                4 => controller.pause = true,
                5 => controller.meter = value.u32()?,
                _ => return None,
            }
        }
        Some(controller)
    }

    fn put(&self, out: &mut String) {
        let reason = match self.reason {
            0 => "no_match".to_owned(),
            1 => "action".to_owned(),
            2 => "invalid_ttl".to_owned(),
            3 => "action_set".to_owned(),
            4 => "group".to_owned(),
            5 => "packet_out".to_owned(),
            other => other.to_string(),
        };
        let is_plain = self.id == 0 && self.userdata.is_empty() && !self.pause && self.meter == u32::MAX;
        if is_plain && self.reason == REASON_ACTION {
            put!(out, "CONTROLLER:{}", self.max_len);
            return;
        }
        let mut options = Options::new(out, "controller");
        options.some((self.reason != REASON_ACTION).then(|| format!("reason={reason}")));
        options.some((self.max_len != u16::MAX).then(|| format!("max_len={}", self.max_len)));
        options.some((self.id != 0).then(|| format!("id={}", self.id)));
        options.some((!self.userdata.is_empty()).then(|| {
            let mut text = "userdata=".to_owned();
            put_dotted(&mut text, &self.userdata);
            text
        }));
        options.some(self.pause.then(|| "pause".to_owned()));
        options.some((self.meter != u32::MAX).then(|| format!("meter_id={}", self.meter)));
        options.finish();
    }
}

fn put_ct(out: &mut String, mut body: Reader<'_>) -> Option<()> {
    let flags = body.u16()?;
    let mut source = Reader(body.take(4)?);
    let zone = body.u16()?;
    let table = body.u8()?;
    body.skip(3)?;
    let alg = body.u16()?;
    let zone = if source.0 == [0; 4] {
        (zone != 0).then(|| format!("zone={zone}"))
    } else {
        let mut text = "zone=".to_owned();
        put_range(&mut text, source.field()?, zone);
        Some(text)
    };
    let actions = body.actions()?;
    let mut options = Options::new(out, "ct");
    options.some((flags & 1 != 0).then(|| "commit".to_owned()));
    options.some((flags & 2 != 0).then(|| "force".to_owned()));
    options.some((table != ALL_TABLES).then(|| format!("table={table}")));
    options.some(zone);
    let mut rest = &actions[..];
    // A translation that comes first is outside.
    if let [first @ Action::Experimenter { data, .. }, others @ ..] = rest
        && data.starts_with(&[0, 36])
    {
        let mut text = String::new();
        put_action(&mut text, first);
        options.some(Some(text));
        rest = others;
    }
    if !rest.is_empty() {
        let mut text = "exec(".to_owned();
        put_list(&mut text, rest);
        text.push(')');
        options.some(Some(text));
    }
    options.some(match alg {
        0 => None,
        21 => Some("alg=ftp".to_owned()),
        69 => Some("alg=tftp".to_owned()),
        other => Some(format!("alg={other}")),
    });
    options.finish();
    Some(())
}

fn put_nat(out: &mut String, mut body: Reader<'_>) -> Option<()> {
    body.skip(2)?;
    let (flags, present) = (body.u16()?, body.u16()?);
    let mut v4 = |bit: u16| -> Option<Option<Ipv4Addr>> {
        Some(if present >> bit & 1 == 1 {
            Some(body.u32()?.into())
        } else {
            None
        })
    };
    let (v4_min, v4_max) = (v4(0)?, v4(1)?);
    let mut v6 = |bit: u16| -> Option<Option<Ipv6Addr>> {
        Some(if present >> bit & 1 == 1 {
            Some(Ipv6Addr::from(*body.take(16)?.first_chunk::<16>()?))
        } else {
            None
        })
    };
    let (v6_min, v6_max) = (v6(2)?, v6(3)?);
    let mut number = |bit: u16| -> Option<u16> {
        if present >> bit & 1 == 1 {
            body.u16()
        } else {
            Some(0)
        }
    };
    let (port_min, port_max) = (number(4)?, number(5)?);
    let kind = match flags & 3 {
        0 => {
            out.push_str("nat");
            return Some(());
        }
        1 => "src",
        2 => "dst",
        _ => return None,
    };
    let mut range = kind.to_owned();
    if let Some(min) = v4_min {
        put!(&mut range, "={min}");
        if let Some(max) = v4_max.filter(|max| *max != min) {
            put!(&mut range, "-{max}");
        }
    } else if let Some(min) = v6_min {
        let (open, close) = if port_min == 0 { ("", "") } else { ("[", "]") };
        put!(&mut range, "={open}{}", Ipv6Text(min));
        if let Some(max) = v6_max.filter(|max| *max != min) {
            put!(&mut range, "{close}-{open}{}", Ipv6Text(max));
        }
        range.push_str(close);
    }
    if port_min != 0 {
        put!(&mut range, ":{port_min}");
        if port_max != 0 && port_max != port_min {
            put!(&mut range, "-{port_max}");
        }
    }
    let mut options = Options::new(out, "nat");
    options.some(Some(range));
    options.some((flags & 4 != 0).then(|| "persistent".to_owned()));
    options.some((flags & 8 != 0).then(|| "hash".to_owned()));
    options.some((flags & 16 != 0).then(|| "random".to_owned()));
    options.finish();
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

/// Words in parentheses, with commas between.
struct Options<'a> {
    out: &'a mut String,
    separator: &'static str,
}

impl<'a> Options<'a> {
    fn new(out: &'a mut String, name: &str) -> Self {
        put!(out, "{name}(");
        Self { out, separator: "" }
    }

    fn some(&mut self, option: Option<String>) {
        if let Some(option) = option {
            put!(self.out, "{}{option}", self.separator);
            self.separator = ",";
        }
    }

    fn finish(self) {
        self.out.push(')');
    }
}

pub(super) fn put_range(out: &mut String, field: Field, offset_and_bits: u16) {
    put_subfield(out, field, offset_and_bits >> 6, (offset_and_bits & 0x3f) + 1);
}

pub(super) fn put_subfield(out: &mut String, field: Field, offset: u16, bits: u16) {
    out.push_str(&field.wire_name());
    if offset == 0 && bits == field.bits() {
        out.push_str("[]");
    } else if bits == 1 {
        put!(out, "[{offset}]");
    } else {
        put!(
            out,
            "[{offset}..{}]",
            u32::from(offset) + u32::from(bits.saturating_sub(1))
        );
    }
}

/// Bytes in hexadecimal with dots between.
fn put_dotted(out: &mut String, bytes: &[u8]) {
    for (at, byte) in bytes.iter().enumerate() {
        put!(out, "{}{byte:02x}", if at == 0 { "" } else { "." });
    }
}

/// A port in 16 bits: the reserved ones have other numbers than in 32.
pub(super) fn port_of(number: u16) -> PortNo {
    PortNo(if number >= IN_PORT {
        u32::from(number) | 0xffff_0000
    } else {
        number.into()
    })
}

/// What is left of an action.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, left) = self.0.split_at_checked(bytes)?;
        self.0 = left;
        Some(taken)
    }

    pub(super) fn skip(&mut self, bytes: usize) -> Option<()> {
        self.take(bytes).map(|_| ())
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.take(2)?
            .first_chunk()
            .map(|bytes| u16::from_be_bytes(*bytes))
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.take(4)?
            .first_chunk()
            .map(|bytes| u32::from_be_bytes(*bytes))
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.take(8)?
            .first_chunk()
            .map(|bytes| u64::from_be_bytes(*bytes))
    }

    /// The header of a field.
    pub(super) fn field(&mut self) -> Option<Field> {
        let [class_high, class_low, field, length] = *self.take(4)?.first_chunk()?;
        let class = u16::from_be_bytes([class_high, class_low]);
        let experimenter = if class == u16::MAX {
            Some(self.u32()?)
        } else {
            None
        };
        Field::of(OxmId {
            class,
            field: field >> 1,
            has_mask: false,
            length,
            experimenter,
        })
    }

    pub(super) fn actions(&self) -> Option<Actions> {
        let bytes = self.0.to_vec().into();
        let mut actions = Actions::new();
        Action::fill_list(&mut actions, Span::new(&bytes)).ok()?;
        Some(actions)
    }
}

/// `OFPP_IN_PORT` in 16 bits.
const IN_PORT: u16 = 0xfff8;
const ALL_TABLES: u8 = 0xff;
/// `OFPR_ACTION`.
const REASON_ACTION: u8 = 1;
