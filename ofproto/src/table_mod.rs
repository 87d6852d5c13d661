//! TABLE_MOD: configure a table.

use bytes::{BufMut, BytesMut};
use nom::Parser;
use nom::error::context;

use crate::TableId;
use crate::wire::{Parsed, Span, be_u8, be_u32, pad};

/// `ofp_table_mod`, OpenFlow 1.3.5 §7.3.4.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableMod {
    /// The table; `ALL` for every one.
    pub table_id: TableId,
    /// `ofp_table_config`: all bits are deprecated in 1.3 and kept for compatibility.
    pub config: u32,
}

impl TableMod {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (table_id, (), config)) = context("ofp_table_mod", (be_u8, pad(3), be_u32)).parse(i)?;
        Ok((
            i,
            Self {
                table_id: TableId(table_id),
                config,
            },
        ))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) {
        out.put_u8(self.table_id.0);
        out.put_bytes(0, 3);
        out.put_u32(self.config);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use crate::vector::check;

    #[test]
    fn table_mod_vectors() {
        check(&[(
            "04 11 0010 00000001 ff 000000 00000003",
            Message::TableMod(TableMod {
                table_id: TableId::ALL,
                config: 3,
            }),
        )]);
    }
}
