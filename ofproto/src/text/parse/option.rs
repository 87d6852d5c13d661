//! Tunnel options, whose length is agreed between switch and controller: `tun_metadata0=0x1234/0xff`.

use bytes::BytesMut;

use super::Fault;
use super::nicira::Body;
use super::piece::Piece;
use super::subfield::Subfield;
use crate::text::fields::Field;
use crate::{Action, OxmField, RawOxm};

/// Reads a value, which is as long as it needs to be; without one the option only has to be there.
pub(super) fn parse(field: Field, text: Piece<'_>) -> Result<OxmField, Fault> {
    let (value, mask) = match text.split_once("/") {
        _ if matches!(text.text, "" | "*") => (vec![], Some(vec![])),
        Some((value, mask)) => (number(value)?, Some(number(mask)?)),
        None => (number(text)?, None),
    };
    Ok(OxmField::Raw(raw(field, value, mask)))
}

/// `set_field` of a whole option or of some bits.
pub(super) fn parse_to_set(field: Field, text: Piece<'_>) -> Result<Action, Fault> {
    if text.text.is_empty() {
        return Err(text.fault("a value"));
    }
    match parse(field, text)? {
        OxmField::Raw(raw) if raw.has_mask => Ok(load_action(&OxmField::Raw(raw))),
        field => Ok(Action::SetField(field)),
    }
}

/// `load` to an option.
pub(super) fn load(target: Subfield, number: u128) -> Action {
    let value = bits_at(target, |bit| number.checked_shr(bit.into()).unwrap_or(0) & 1 == 1);
    let mask = (!target.is_whole()).then(|| bits_at(target, |_| true));
    load_action(&OxmField::Raw(raw(target.field, value, mask)))
}

/// `nx_action_reg_load2`.
fn load_action(field: &OxmField) -> Action {
    let mut entry = BytesMut::new();
    // Too long a value is found when the whole is encoded.
    let _ = field.put(&mut entry);
    Body::new(33).bytes(&entry).action()
}

/// Value and mask of the same length.
fn raw(field: Field, value: Vec<u8>, mask: Option<Vec<u8>>) -> RawOxm {
    let has_mask = mask.is_some();
    let length = value.len().max(mask.as_ref().map_or(0, Vec::len));
    let padded = |bytes: Vec<u8>| [vec![0; length - bytes.len()], bytes].concat();
    let mut body = padded(value);
    if let Some(mask) = mask.map(padded) {
        for (byte, mask) in body.iter_mut().zip(&mask) {
            *byte &= mask;
        }
        body.extend(mask);
    }
    let id = field.id();
    RawOxm {
        class: id.map_or(0, |id| id.class),
        field: id.map_or(0, |id| id.field),
        has_mask,
        body: body.into(),
    }
}

/// The bytes of a number, without zeros before it.
fn number(text: Piece<'_>) -> Result<Vec<u8>, Fault> {
    let Some(digits) = text
        .text
        .strip_prefix("0x")
        .or_else(|| text.text.strip_prefix("0X"))
    else {
        return Ok(without_zeros(&text.number(u64::MAX.into())?.to_be_bytes()));
    };
    let value = digits
        .chars()
        .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<Vec<_>>>()
        .filter(|digits| !digits.is_empty())
        .ok_or_else(|| text.fault("a number"))?;
    // Pairs of digits from the end.
    let mut bytes: Vec<_> = value
        .rchunks(2)
        .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
        .collect();
    bytes.reverse();
    let bytes = without_zeros(&bytes);
    if bytes.len() > MAX_LEN {
        return Err(text.fault("a number of at most 124 bytes"));
    }
    Ok(bytes)
}

fn bits_at(target: Subfield, is_set: impl Fn(u16) -> bool) -> Vec<u8> {
    let mut bytes = [0u8; MAX_LEN];
    for bit in (0..target.bits).filter(|bit| is_set(*bit)) {
        let at = target.offset + bit;
        if let Some(byte) = bytes.iter_mut().rev().nth(usize::from(at / 8)) {
            *byte |= 1 << (at % 8);
        }
    }
    without_zeros(&bytes)
}

fn without_zeros(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().skip_while(|byte| *byte == 0).collect()
}

/// The length of the longest option.
const MAX_LEN: usize = 124;
