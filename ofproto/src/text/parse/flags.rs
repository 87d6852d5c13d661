//! Words of flags: `+trk-new`, `syn|ack`.

use super::Fault;
use super::piece::Piece;

/// TCP flags, from bit 0.
pub(super) const TCP: &[&str] = &["fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr", "ns"];
/// Connection tracking state, from bit 0.
pub(super) const CT_STATE: &[&str] = &["new", "est", "rel", "rpl", "inv", "trk", "snat", "dnat"];

/// Tunnel flags, from bit 0.
pub(super) const TUNNEL: &[&str] = &["oam"];

/// A value and its mask. `+flag` is set, `-flag` is not, others do not matter; without signs the flags that are
/// named are set and all others are not. A number is a value of `max` bits, perhaps with a mask after `/`.
pub(super) fn parse(
    text: Piece<'_>,
    names: &'static [&'static str],
    all: u128,
) -> Result<(u128, Option<u128>), Fault> {
    if text.text.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(match text.split_once("/") {
            Some((value, mask)) => (value.number(all)?, Some(mask.number(all)?)),
            None => (text.number(all)?, None),
        });
    }
    let (mut value, mut mask) = (0, 0);
    let signed = text.text.starts_with(['+', '-']);
    let mut left = text;
    while !left.text.is_empty() {
        let is_set = !left.text.starts_with('-');
        let word = if left.text.starts_with(['+', '-', '|']) {
            left.from(1)
        } else {
            left
        };
        let end = word.text.find(['+', '-', '|']).unwrap_or(word.text.len());
        let word_only = word.to(end);
        let bit = names
            .iter()
            .position(|name| *name == word_only.text)
            .ok_or_else(|| word_only.fault(format!("one of {}", names.join(", "))))?;
        mask |= 1 << bit;
        value |= u128::from(is_set) << bit;
        left = word.from(end);
    }
    Ok((value, signed.then_some(mask)))
}
