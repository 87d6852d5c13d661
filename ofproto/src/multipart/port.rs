//! OFPMP_PORT_STATS: counters of ports.

use bytes::{BufMut, BytesMut};
use nom::Parser;
use nom::error::context;

use crate::PortNo;
use crate::wire::{Parsed, Span, be_u32, be_u64, pad};

/// `ofp_port_stats`, OpenFlow 1.3.5 §7.3.5.6. A counter that the switch does not have is all ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortStats {
    /// The port.
    pub port_no: PortNo,
    /// Packets received.
    pub rx_packets: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets dropped on receipt.
    pub rx_dropped: u64,
    /// Packets dropped instead of sent.
    pub tx_dropped: u64,
    /// Errors on receipt, those below and others.
    pub rx_errors: u64,
    /// Errors on sending.
    pub tx_errors: u64,
    /// Frame alignment errors.
    pub rx_frame_err: u64,
    /// Receive overruns.
    pub rx_over_err: u64,
    /// Checksum errors.
    pub rx_crc_err: u64,
    /// Collisions.
    pub collisions: u64,
    /// How long the port has been there, whole seconds.
    pub duration_sec: u32,
    /// How long the port has been there, nanoseconds beyond the seconds.
    pub duration_nsec: u32,
}

impl PortStats {
    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        let (i, (port_no, ())) = context("ofp_port_stats", (be_u32, pad(4))).parse(i)?;
        let (i, (rx_packets, tx_packets, rx_bytes, tx_bytes, rx_dropped, tx_dropped)) =
            context("ofp_port_stats", (be_u64, be_u64, be_u64, be_u64, be_u64, be_u64)).parse(i)?;
        let (i, (rx_errors, tx_errors, rx_frame_err, rx_over_err, rx_crc_err, collisions)) =
            context("ofp_port_stats", (be_u64, be_u64, be_u64, be_u64, be_u64, be_u64)).parse(i)?;
        let (i, (duration_sec, duration_nsec)) = context("ofp_port_stats", (be_u32, be_u32)).parse(i)?;
        let stats = Self {
            port_no: PortNo(port_no),
            rx_packets,
            tx_packets,
            rx_bytes,
            tx_bytes,
            rx_dropped,
            tx_dropped,
            rx_errors,
            tx_errors,
            rx_frame_err,
            rx_over_err,
            rx_crc_err,
            collisions,
            duration_sec,
            duration_nsec,
        };
        Ok((i, stats))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) {
        out.put_u32(self.port_no.0);
        out.put_u32(0);
        for counter in [
            self.rx_packets,
            self.tx_packets,
            self.rx_bytes,
            self.tx_bytes,
            self.rx_dropped,
            self.tx_dropped,
            self.rx_errors,
            self.tx_errors,
            self.rx_frame_err,
            self.rx_over_err,
            self.rx_crc_err,
            self.collisions,
        ] {
            out.put_u64(counter);
        }
        out.put_u32(self.duration_sec);
        out.put_u32(self.duration_nsec);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{check, reply};
    use crate::{MacAddr, MultipartReplyBody, Port, PortConfig, PortFeatures, PortState};

    #[test]
    fn port_vectors() {
        check(&[
            (
                "04 13 0080 00000002 0004 0000 00000000 00000002 00000000
                 0000000000000001 0000000000000002 0000000000000003 0000000000000004  # packets, bytes
                 0000000000000005 0000000000000006 0000000000000007 0000000000000008  # dropped, errors
                 0000000000000009 000000000000000a 000000000000000b ffffffffffffffff  # kinds of errors
                 0000000d 0000000e",
                reply(MultipartReplyBody::PortStats(vec![PortStats {
                    port_no: PortNo(2),
                    rx_packets: 1,
                    tx_packets: 2,
                    rx_bytes: 3,
                    tx_bytes: 4,
                    rx_dropped: 5,
                    tx_dropped: 6,
                    rx_errors: 7,
                    tx_errors: 8,
                    rx_frame_err: 9,
                    rx_over_err: 10,
                    rx_crc_err: 11,
                    collisions: u64::MAX,
                    duration_sec: 13,
                    duration_nsec: 14,
                }])),
            ),
            (
                "04 13 0050 00000002 000d 0000 00000000
                 fffffffe 00000000 0200000000fe 0000        # LOCAL
                 62723000000000000000000000000000          # br0
                 00000001 00000001
                 00000000 00000000 00000000 00000000 00000000 00000000",
                reply(MultipartReplyBody::PortDesc(vec![Port {
                    port_no: PortNo::LOCAL,
                    hw_addr: MacAddr::new(2, 0, 0, 0, 0, 0xfe),
                    name: "br0".to_owned(),
                    config: PortConfig::PORT_DOWN,
                    state: PortState::LINK_DOWN,
                    curr: PortFeatures::empty(),
                    advertised: PortFeatures::empty(),
                    supported: PortFeatures::empty(),
                    peer: PortFeatures::empty(),
                    curr_speed: 0,
                    max_speed: 0,
                }])),
            ),
        ]);
    }
}
