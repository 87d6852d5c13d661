//! Connection tracking.

use super::body::Body;
use super::nat;
use crate::text::parse::Fault;
use crate::text::parse::actions::{ActionList, Context};
use crate::text::parse::piece::Pair;
use crate::text::parse::subfield::Subfield;
use crate::{Action, Actions};

/// `ct(commit,zone=5,nat(src=10.0.0.1),exec(set_field:1->ct_mark))`.
pub(super) fn parse(pair: Pair<'_>, context: Context) -> Result<Action, Fault> {
    let (mut flags, mut table, mut alg) = (0u16, ALL_TABLES, 0u16);
    let (mut source, mut zone) = (vec![0; 4], 0u16);
    let mut actions = Actions::new();
    let nothing = pair.key.from(pair.key.text.len());
    let mut options = pair.value.unwrap_or(nothing).pairs();
    while let Some(option) = options.next()? {
        let key = option.key;
        match key.text {
            "commit" => flags |= 1,
            "force" => flags |= 2,
            "table" => {
                let value = option.value("a table")?;
                table = value.narrow(u128::from(ALL_TABLES) - 1)?;
            }
            "zone" => {
                let value = option.value("a zone, or a field")?;
                if value.text.starts_with(|c: char| c.is_ascii_digit()) {
                    zone = value.u16()?;
                } else {
                    let field = Subfield::parse(value)?;
                    if field.bits != 16 {
                        return Err(value.fault("16 bits of a field"));
                    }
                    (source, zone) = (field.header(value)?, field.range());
                }
            }
            "alg" => {
                let value = option.value("a protocol")?;
                alg = match value.text {
                    "ftp" => 21,
                    "tftp" => 69,
                    _ => return Err(value.fault("`ftp` or `tftp`")),
                };
            }
            "nat" => actions.push(nat::parse(option)?),
            "exec" => {
                let mut list = ActionList::within(context.tracked());
                list.extend(option.value("actions in parentheses")?)?;
                actions.extend(list.finish()?);
            }
            _ => return Err(key.fault("`commit`, `force`, `table`, `zone`, `alg`, `nat` or `exec`")),
        }
    }
    if flags == 2 {
        return Err(pair.key.fault("`commit` beside `force`"));
    }
    let body = Body::new(35).u16(flags).bytes(&source).u16(zone);
    let body = body.bytes(&[table, 0, 0, 0]).u16(alg);
    Ok(body.actions(&actions).action())
}

/// `NX_CT_RECIRC_NONE`.
const ALL_TABLES: u8 = 0xff;
