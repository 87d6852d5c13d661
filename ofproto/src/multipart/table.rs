//! OFPMP_TABLE: counters of tables.

use bytes::{BufMut, BytesMut};
use nom::Parser;
use nom::error::context;

use crate::TableId;
use crate::wire::{Parsed, Span, be_u8, be_u32, be_u64, pad};

/// `ofp_table_stats`, OpenFlow 1.3.5 §7.3.5.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableStats {
    /// The table.
    pub table_id: TableId,
    /// How many flows it has.
    pub active_count: u32,
    /// Packets looked up in it.
    pub lookup_count: u64,
    /// Packets that a flow of it matched.
    pub matched_count: u64,
}

impl TableStats {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (table_id, (), active_count, lookup_count, matched_count)) =
            context("ofp_table_stats", (be_u8, pad(3), be_u32, be_u64, be_u64)).parse(i)?;
        Ok((
            i,
            Self {
                table_id: TableId(table_id),
                active_count,
                lookup_count,
                matched_count,
            },
        ))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) {
        out.put_u8(self.table_id.0);
        out.put_bytes(0, 3);
        out.put_u32(self.active_count);
        out.put_u64(self.lookup_count);
        out.put_u64(self.matched_count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MultipartReplyBody;
    use crate::vector::{check, reply};

    #[test]
    fn table_vectors() {
        check(&[(
            "04 13 0028 00000002 0003 0000 00000000 07 000000 00000001 0000000000000002 0000000000000003",
            reply(MultipartReplyBody::Table(vec![TableStats {
                table_id: TableId(7),
                active_count: 1,
                lookup_count: 2,
                matched_count: 3,
            }])),
        )]);
    }
}
