//! When QUIC is to take a packet for lost (RFC 9002 §6.1), over paths of which the slower one is late by a gap.
//!
//! A packet that the faster path lost comes a gap later, and what was sent after it has come by then. With the
//! usual thresholds, 3 packets or 9/8 of the round-trip time, it counts as lost although it came.
//!
//! - By number: the receiving resequencer lets `lead` packets pass a missing one and holds what is further ahead,
//!   until the missing one comes or is given up. So one more than `lead`, and a few for the numbers that QUIC
//!   skips on purpose, is the least that never counts a rescued packet as lost; and a packet that was given up
//!   is known to be lost as soon as what was held behind it is acknowledged. A greater number would only make
//!   that later.
//! - By time: the acknowledgement of a rescued packet comes a round trip and the gap after it was sent. Where
//!   fewer than `lead` packets are sent within a gap, this alone tells what is lost; so it is no longer than
//!   that and some slack for timers.
//!
//! QUIC fixes its thresholds when a connection begins, so they go by what was measured on earlier connections to
//! the peer, and by no less than [`LEAST_GAP`]: two providers differ by that much, and their queues do even where
//! their delays do not. Too long costs little: a burst that ends in a loss is repaired by the probe timeout first.

use std::time::Duration;

use noq::TransportConfig;

use super::gap::HOLD_SLACK;
use super::resequencer::MAX_LEAD;

/// The thresholds of one connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossThresholds {
    /// A packet is lost when one with a number higher by this was acknowledged.
    pub packets: u32,
    /// A packet is lost when it was sent this many round-trip times ago and a later one was acknowledged.
    pub round_trips: f32,
}

/// The gap to be prepared for between any two paths.
pub const LEAST_GAP: Duration = Duration::from_millis(50);

impl LossThresholds {
    /// The thresholds for the gap measured last, zero if none was, for the round-trip time of the faster path, and
    /// for the [`lead`](super::ShimConfig::lead) that the other end allows.
    pub fn new(gap: Duration, rtt: Duration, lead: u32) -> Self {
        let gap = gap.max(LEAST_GAP);
        let late = gap + (gap / 8).max(HOLD_SLACK);
        let round_trips = USUAL_ROUND_TRIPS + late.as_secs_f32() / rtt.max(LEAST_RTT).as_secs_f32();
        Self {
            packets: lead.min(MAX_LEAD) + SKIPPED_NUMBERS,
            round_trips: round_trips.min(MOST_ROUND_TRIPS),
        }
    }

    /// Sets them for new connections.
    pub fn apply(&self, transport: &mut TransportConfig) {
        transport
            .packet_threshold(self.packets)
            .time_threshold(self.round_trips);
    }
}

/// `kTimeThreshold` of RFC 9002.
const USUAL_ROUND_TRIPS: f32 = 9.0 / 8.0;
/// `kGranularity` of RFC 9002: a timer shorter than this means nothing.
const LEAST_RTT: Duration = Duration::from_millis(1);
/// Bounds what a forged or foolish gap can do.
const MOST_ROUND_TRIPS: f32 = 20.0;
/// `kPacketThreshold` of RFC 9002, and the numbers that a sender may skip within a window (RFC 9000 §21.4).
const SKIPPED_NUMBERS: u32 = 3 + 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_rescued_packet_is_acknowledged_before_it_counts_as_lost() {
        for (gap, rtt) in [(0, 10), (2, 10), (20, 10), (50, 20), (100, 300)] {
            let (gap, rtt) = (ms(gap), ms(rtt));
            let thresholds = LossThresholds::new(gap, rtt, 100);
            assert!(rtt.mul_f32(thresholds.round_trips) > rtt + gap);
            assert!(rtt.mul_f32(thresholds.round_trips) < rtt * 9 / 8 + gap.max(LEAST_GAP) * 9 / 8 + ms(2));
            assert!(thresholds.packets > 100);
        }
    }

    #[test]
    fn neither_a_long_way_nor_a_foolish_gap_asks_for_too_much() {
        assert!(LossThresholds::new(ms(0), ms(300), 100).round_trips < 1.35);
        assert!(LossThresholds::new(ms(1_000), ms(0), u32::MAX).round_trips <= MOST_ROUND_TRIPS);
        assert_eq!(
            LossThresholds::new(ms(0), ms(50), u32::MAX).packets,
            MAX_LEAD + SKIPPED_NUMBERS
        );
    }
}
