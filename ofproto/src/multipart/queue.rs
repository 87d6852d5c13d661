//! OFPMP_QUEUE: counters of queues.

use bytes::{BufMut, BytesMut};
use nom::Parser;
use nom::error::context;

use crate::wire::{Parsed, Span, be_u32, be_u64};
use crate::{PortNo, QueueId};

/// `ofp_queue_stats`, OpenFlow 1.3.5 §7.3.5.8. A counter that the switch does not have is all ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueStats {
    /// The port.
    pub port_no: PortNo,
    /// The queue.
    pub queue_id: QueueId,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Packets dropped because the queue was full.
    pub tx_errors: u64,
    /// How long the queue has been there, whole seconds.
    pub duration_sec: u32,
    /// How long the queue has been there, nanoseconds beyond the seconds.
    pub duration_nsec: u32,
}

impl QueueStats {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (port_no, queue_id, tx_bytes, tx_packets, tx_errors, duration_sec, duration_nsec)) = context(
            "ofp_queue_stats",
            (be_u32, be_u32, be_u64, be_u64, be_u64, be_u32, be_u32),
        )
        .parse(i)?;
        let stats = Self {
            port_no: PortNo(port_no),
            queue_id: QueueId(queue_id),
            tx_bytes,
            tx_packets,
            tx_errors,
            duration_sec,
            duration_nsec,
        };
        Ok((i, stats))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) {
        out.put_u32(self.port_no.0);
        out.put_u32(self.queue_id.0);
        out.put_u64(self.tx_bytes);
        out.put_u64(self.tx_packets);
        out.put_u64(self.tx_errors);
        out.put_u32(self.duration_sec);
        out.put_u32(self.duration_nsec);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MultipartReplyBody;
    use crate::vector::{check, reply};

    #[test]
    fn queue_vectors() {
        check(&[(
            "04 13 0038 00000002 0005 0000 00000000 00000002 00000007
                 0000000000000001 0000000000000002 0000000000000003 00000004 00000005",
            reply(MultipartReplyBody::Queue(vec![QueueStats {
                port_no: PortNo(2),
                queue_id: QueueId(7),
                tx_bytes: 1,
                tx_packets: 2,
                tx_errors: 3,
                duration_sec: 4,
                duration_nsec: 5,
            }])),
        )]);
    }
}
