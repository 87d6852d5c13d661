//! Text of connection tracking and of address translation in it.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::parts::{Options, Reader, put_range};
use crate::Action;
use crate::text::Ipv6Text;
use crate::text::actions::{put_action, put_list};

/// `nx_action_conntrack`.
pub(super) fn put_ct(out: &mut String, mut body: Reader<'_>) -> Option<()> {
    let flags = body.u16()?;
    let mut source = Reader::new(body.take(4)?);
    let zone = body.u16()?;
    let table = body.u8()?;
    body.skip(3)?;
    let alg = body.u16()?;
    let zone = if source.rest() == [0; 4] {
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

/// `nx_action_nat`.
pub(super) fn put_nat(out: &mut String, mut body: Reader<'_>) -> Option<()> {
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

/// `NX_CT_RECIRC_NONE`.
const ALL_TABLES: u8 = 0xff;
