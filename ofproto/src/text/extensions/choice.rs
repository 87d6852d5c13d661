//! Text of Nicira's actions that choose among links by a hash.

use super::parts::{Reader, port_of, put_range};

/// `nx_action_multipath`.
pub(super) fn put_multipath(out: &mut String, mut body: Reader<'_>) -> Option<()> {
    let (fields, basis) = (hashed(body.u16()?)?, body.u16()?);
    body.skip(2)?;
    let algorithm = MULTIPATH_ALGORITHMS.get(usize::from(body.u16()?))?;
    let (last_link, argument) = (u32::from(body.u16()?), body.u32()?);
    body.skip(2)?;
    let range = body.u16()?;
    put!(
        out,
        "multipath({fields},{basis},{algorithm},{},{argument},",
        last_link + 1
    );
    put_range(out, body.field()?, range);
    out.push(')');
    Some(())
}

/// `nx_action_bundle`, whose choice is sent out of or, if `loads`, written to a field.
pub(super) fn put_bundle(out: &mut String, mut body: Reader<'_>, loads: bool) -> Option<()> {
    let algorithm = BUNDLE_ALGORITHMS.get(usize::from(body.u16()?))?;
    let (fields, basis) = (hashed(body.u16()?)?, body.u16()?);
    body.skip(4)?;
    let (count, range) = (body.u16()?, body.u16()?);
    let mut target = Reader::new(body.take(8)?);
    put!(
        out,
        "{}({fields},{basis},{algorithm},ofport,",
        if loads { "bundle_load" } else { "bundle" }
    );
    if loads {
        put_range(out, target.field()?, range);
        out.push(',');
    }
    out.push_str("members:");
    for at in 0..count {
        put!(out, "{}{}", if at == 0 { "" } else { "," }, port_of(body.u16()?));
    }
    out.push(')');
    Some(())
}

fn hashed(number: u16) -> Option<&'static str> {
    HASHED.get(usize::from(number)).copied()
}

/// `nx_hash_fields`: what is hashed, from 0.
pub(in crate::text) const HASHED: &[&str] = &[
    "eth_src",
    "symmetric_l4",
    "symmetric_l3l4",
    "symmetric_l3l4+udp",
    "nw_src",
    "nw_dst",
    "symmetric_l3",
];
/// `nx_mp_algorithm`, from 0.
pub(in crate::text) const MULTIPATH_ALGORITHMS: &[&str] = &["modulo_n", "hash_threshold", "hrw", "iter_hash"];
/// `nx_bd_algorithm`, from 0.
pub(in crate::text) const BUNDLE_ALGORITHMS: &[&str] = &["active_backup", "hrw"];
