//! Address translation in connection tracking: `nat(src=10.0.0.1-10.0.0.9:5-9,random)`.

use std::net::IpAddr;

use super::body::Body;
use crate::Action;
use crate::text::parse::Fault;
use crate::text::parse::piece::{Pair, Piece};

pub(super) fn parse(pair: Pair<'_>) -> Result<Action, Fault> {
    let mut flags = 0u16;
    let mut range = Range::default();
    let nothing = pair.key.from(pair.key.text.len());
    let mut options = pair.value.unwrap_or(nothing).pairs();
    while let Some(option) = options.next()? {
        flags |= match option.key.text {
            "src" | "dst" => {
                if let Some(value) = option.value.filter(|value| !value.text.is_empty()) {
                    range = Range::parse(value)?;
                }
                if option.key.text == "src" { 1 } else { 2 }
            }
            "persistent" => 4,
            "hash" => 8,
            "random" => 16,
            _ => return Err(option.key.fault("`src`, `dst`, `persistent`, `hash` or `random`")),
        };
    }
    if flags & 3 == 3 {
        return Err(pair.key.fault("`src` or `dst`, not both"));
    }
    let kind = pair.value.unwrap_or(pair.key);
    if flags != 0 && flags & 3 == 0 {
        return Err(kind.fault("`src` or `dst` beside other options"));
    }
    if flags & 24 == 24 {
        return Err(kind.fault("`hash` or `random`, not both"));
    }
    Ok(range.put(Body::new(36).zeros(2).u16(flags)).action())
}

/// The addresses and ports to choose from.
#[derive(Default)]
struct Range {
    addresses: Option<(IpAddr, Option<IpAddr>)>,
    ports: Option<(u16, Option<u16>)>,
}

impl Range {
    fn parse(text: Piece<'_>) -> Result<Self, Fault> {
        let mut left = text;
        let mut range = Self::default();
        if !left.text.starts_with(':') {
            let first = address(&mut left)?;
            let last = match left.text.strip_prefix('-') {
                Some(_) => {
                    left = left.from(1);
                    Some(address(&mut left)?)
                }
                None => None,
            };
            if last.is_some_and(|last| last < first || last.is_ipv4() != first.is_ipv4()) {
                return Err(text.fault("the lower address first"));
            }
            range.addresses = Some((first, last.filter(|last| *last != first)));
        }
        if left.text.is_empty() {
            return Ok(range);
        }
        if !left.text.starts_with(':') {
            return Err(left.fault("`:` and ports"));
        }
        let ports = left.from(1);
        range.ports = Some(match ports.split_once("-") {
            None => (ports.u16()?, None),
            Some((first, last)) => {
                let (low, high) = (first.u16()?, last.u16()?);
                if high < low {
                    return Err(last.fault("the lower port first"));
                }
                (low, Some(high).filter(|high| *high != low))
            }
        });
        Ok(range)
    }

    fn put(self, body: Body) -> Body {
        let mut present = 0u16;
        let mut bytes = Vec::new();
        if let Some((first, last)) = self.addresses {
            for (bit, address) in [Some(first), last].into_iter().enumerate() {
                match address {
                    None => {}
                    Some(IpAddr::V4(address)) => {
                        present |= 1 << bit;
                        bytes.extend(address.octets());
                    }
                    Some(IpAddr::V6(address)) => {
                        present |= 4 << bit;
                        bytes.extend(address.octets());
                    }
                }
            }
        }
        if let Some((first, last)) = self.ports {
            for (bit, port) in [Some(first), last].into_iter().enumerate() {
                if let Some(port) = port {
                    present |= 16 << bit;
                    bytes.extend(port.to_be_bytes());
                }
            }
        }
        body.u16(present).bytes(&bytes)
    }
}

/// Takes an address from the beginning; one of IPv6 may be in brackets.
fn address(text: &mut Piece<'_>) -> Result<IpAddr, Fault> {
    if text.text.starts_with('[') {
        let Some((address, rest)) = text.from(1).split_once("]") else {
            return Err(text.from(text.text.len()).fault("`]`"));
        };
        *text = rest;
        return address.ipv6().map(IpAddr::V6);
    }
    // Without brackets an address of IPv6 has colons, and then no ports follow.
    let end = text.text.find('-').unwrap_or(text.text.len());
    let whole = text.to(end);
    if let Ok(address) = whole.ipv6() {
        *text = text.from(end);
        return Ok(address.into());
    }
    let end = text.text.find(['-', ':']).unwrap_or(text.text.len());
    let address = text.to(end).ipv4()?;
    *text = text.from(end);
    Ok(address.into())
}
