//! Choices among links by a hash: `multipath(eth_src,50,modulo_n,1,0,reg0)`, `bundle(eth_src,0,hrw,ofport,members:4,8)`.

use super::body::{Body, port_of};
use crate::Action;
use crate::text::extensions::choice::{BUNDLE_ALGORITHMS, HASHED, MULTIPATH_ALGORITHMS};
use crate::text::parse::Fault;
use crate::text::parse::piece::Piece;
use crate::text::parse::subfield::Subfield;

/// `nx_action_multipath`.
pub(super) fn parse_multipath(text: Piece<'_>) -> Result<Action, Fault> {
    let mut words = Words { left: text };
    let fields = one_of(words.next("fields to hash")?, HASHED)?;
    let basis = words.next("a number to begin the hash with")?.u16()?;
    let algorithm = one_of(words.next("an algorithm")?, MULTIPATH_ALGORITHMS)?;
    let links_word = words.next("a number of links")?;
    let links: u32 = links_word.narrow(1 << 16)?;
    let argument = words.next("an argument")?.u32()?;
    let target_word = words.next("a field")?;
    let target = Subfield::parse(target_word)?;
    let max_link = links
        .checked_sub(1)
        .and_then(|last| u16::try_from(last).ok())
        .ok_or_else(|| links_word.fault("a number from 1 to 65536"))?;
    if !target.field.is_writable() {
        return Err(target_word.fault("a field that can be written"));
    }
    if target.bits < 16 && links > 1 << target.bits {
        return Err(target_word.fault(format!("a field with room for {links} links")));
    }
    let body = Body::new(10).u16(fields).u16(basis).zeros(2).u16(algorithm);
    let body = body.u16(max_link).u32(argument).zeros(2).u16(target.range());
    Ok(body.bytes(&target.short_header(target_word)?).action())
}

/// `nx_action_bundle`, whose choice is sent out of or, if `loads`, written to a field.
pub(super) fn parse_bundle(text: Piece<'_>, loads: bool) -> Result<Action, Fault> {
    let mut words = Words { left: text };
    let fields = one_of(words.next("fields to hash")?, HASHED)?;
    let basis = words.next("a number to begin the hash with")?.u16()?;
    let algorithm = one_of(words.next("an algorithm")?, BUNDLE_ALGORITHMS)?;
    one_of(words.next("`ofport`")?, &["ofport"])?;
    let (mut range, mut header) = (0, vec![0; 4]);
    if loads {
        let word = words.next("a field")?;
        let target = Subfield::parse(word)?;
        if !target.field.is_writable() {
            return Err(word.fault("a field that can be written"));
        }
        (range, header) = (target.range(), target.short_header(word)?);
    }
    let members = words.left.skip_separators();
    let Some((_, ports)) = members
        .split_once(":")
        .filter(|(word, _)| matches!(word.text.trim_end(), "members" | "slaves"))
    else {
        return Err(members.fault("`members:` and ports"));
    };
    let ports = ports
        .words(&[',', ' ', '[', ']'])
        .map(|word| match port_of(word)? {
            CONTROLLER => Err(word.fault("a port other than the controller")),
            port => Ok(port),
        })
        .collect::<Result<Vec<_>, _>>()?;
    let count = u16::try_from(ports.len()).map_err(|_| members.fault("fewer members"))?;
    let body = Body::new(if loads { 13 } else { 12 }).u16(algorithm).u16(fields);
    let body = body.u16(basis).bytes(&IN_PORT_HEADER).u16(count).u16(range);
    let body = body.bytes(&header).zeros(4);
    Ok(ports.into_iter().fold(body, Body::u16).action())
}

/// The place of a word in a list, in capitals or not.
fn one_of(word: Piece<'_>, names: &[&str]) -> Result<u16, Fault> {
    names
        .iter()
        .position(|name| word.text.eq_ignore_ascii_case(name))
        .and_then(|at| u16::try_from(at).ok())
        .ok_or_else(|| word.fault(format!("one of {}", names.join(", "))))
}

/// Words with commas or blanks between.
struct Words<'a> {
    left: Piece<'a>,
}

impl<'a> Words<'a> {
    fn next(&mut self, expected: &'static str) -> Result<Piece<'a>, Fault> {
        let text = self.left.skip_separators();
        let end = text.text.find([',', ' ']).unwrap_or(text.text.len());
        self.left = text.from(end);
        let word = text.to(end);
        if word.text.is_empty() {
            return Err(word.fault(expected));
        }
        Ok(word)
    }
}

/// `NXM_OF_IN_PORT`: members of a bundle are ports.
const IN_PORT_HEADER: [u8; 4] = [0, 0, 0, 2];
/// `OFPP_CONTROLLER` in 16 bits.
const CONTROLLER: u16 = 0xfffd;
