//! The parts of the path model that all versions of BBR share: packet-timed rounds and the degree of
//! acknowledgment aggregation.

use std::time::{Duration, Instant};

use super::filter::WindowedMax;
use super::rate_sample::{Connection, RateSample, to_bytes, to_f64};

/// A version of BBR as the drafts describe it: told what happens to the connection `C`, it sets `C.cwnd`,
/// `C.pacing_rate` and `C.send_quantum`.
pub(super) trait Model: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// `BBROnTransmit`, before the packet is counted as in flight.
    fn on_transmit(&mut self, c: &mut Connection, now: Instant);
    /// `BBRUpdateOnACK`.
    fn update_on_ack(&mut self, c: &mut Connection, rs: &RateSample, now: Instant);
    /// `BBRUpdateOnLoss`.
    fn update_on_loss(&mut self, c: &mut Connection, packet: &super::rate_sample::Packet, now: Instant);
    /// `BBROnEnterRTO`: QUIC's persistent congestion.
    fn on_enter_rto(&mut self, c: &mut Connection);
    /// All that was declared lost of late has been acknowledged after all.
    fn on_spurious_loss(&mut self, c: &mut Connection);
    /// Estimated bandwidth, bytes per second; 0 when none is known.
    fn bw(&self) -> f64;
}

/// Packet-timed round trips: a round ends when a packet is acknowledged that was sent after it began.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    pub(super) count: u64,
    /// This acknowledgment began a round.
    pub(super) start: bool,
    next_round_delivered: u64,
}

impl Round {
    /// `BBRUpdateRound`.
    pub(super) fn update(&mut self, c: &mut Connection, rs: &RateSample) {
        self.start = rs
            .prior_delivered
            .is_some_and(|delivered| delivered >= self.next_round_delivered);
        if self.start {
            self.begin(c);
            self.count += 1;
            c.start_round();
        }
    }

    /// `BBRStartRound`: what is sent from now on belongs to the next round.
    pub(super) fn begin(&mut self, c: &Connection) {
        self.next_round_delivered = c.delivered;
    }
}

/// `BBR.extra_acked`: how far acknowledgments run ahead of the bandwidth, as they do in bursts when the path
/// or the far end aggregates them (draft-ietf-ccwg-bbr §5.5.9; BBRv1 in Linux since 5.5).
#[derive(Clone, Debug)]
pub(super) struct AckAggregation {
    interval_start: Instant,
    delivered: u64,
    filter: WindowedMax<u64>,
    /// The largest excess of late, bytes.
    pub(super) extra_acked: u64,
}

/// `BBRMinPipeCwnd`, packets.
const MIN_PIPE_PACKETS: u64 = 4;
/// `BBR.ExtraAckedFilterLen`, rounds.
const EXTRA_ACKED_FILTER_LEN: u64 = 10;

impl AckAggregation {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            interval_start: now,
            delivered: 0,
            filter: WindowedMax::default(),
            extra_acked: 0,
        }
    }

    /// The connection was idle: nothing was expected meanwhile.
    pub(super) fn restart(&mut self, now: Instant) {
        self.interval_start = now;
    }

    /// `BBRUpdateACKAggregation`; in Startup only one round is remembered.
    pub(super) fn update(
        &mut self,
        c: &Connection,
        rs: &RateSample,
        bw: f64,
        round: &Round,
        in_startup: bool,
        now: Instant,
    ) {
        let interval = now.saturating_duration_since(self.interval_start);
        let mut expected = to_bytes(bw * interval.as_secs_f64());
        if self.delivered <= expected {
            self.delivered = 0;
            self.interval_start = now;
            expected = 0;
        }
        self.delivered += rs.newly_acked;
        let extra = self.delivered.saturating_sub(expected).min(c.cwnd);
        let window = if in_startup { 1 } else { EXTRA_ACKED_FILTER_LEN };
        self.extra_acked = self.filter.update(extra, round.count, window);
    }

    /// What of it is more than the hold of the far end, which [`bdp_multiple`] has counted.
    pub(super) fn beyond_hold(&self, bw: f64, hold: Duration) -> u64 {
        self.extra_acked.saturating_sub(to_bytes(bw * hold.as_secs_f64()))
    }
}

/// `BBRBDPMultiple` for a path whose receiver may hold packets back for `hold`, waiting for a copy on the slower
/// path: what is held is in flight too, though the smallest round trip never shows it, but it needs no gain.
pub(super) fn bdp_multiple(bw: f64, min_rtt: Duration, gain: f64, hold: Duration) -> u64 {
    to_bytes(bw * (gain * min_rtt.as_secs_f64() + hold.as_secs_f64()))
}

/// `SetSendQuantum` of draft-ietf-ccwg-bbr §5.6.3: a millisecond's worth, at most 64 KiB.
pub(super) fn send_quantum(c: &Connection, floor: u64) -> u64 {
    to_bytes(c.pacing_rate / 1000.0).min(64 * 1024).max(floor)
}

/// `BBRSetPacingRateWithGain`: before the pipe is full the rate only rises. One percent is left free, so that
/// a queue that an estimate slightly too high has built drains (`BBRPacingMarginPercent`).
pub(super) fn set_pacing_rate(c: &mut Connection, bw: f64, gain: f64, full: bool) {
    let rate = gain * bw * 0.99;
    if full || rate > c.pacing_rate {
        c.pacing_rate = rate.max(to_f64(c.smss));
    }
}

/// `BBRMinPipeCwnd`: what keeps a pipe going whose far end acknowledges every other packet.
pub(super) fn min_pipe_cwnd(c: &Connection) -> u64 {
    MIN_PIPE_PACKETS * c.smss
}

/// `BBRSaveCwnd` and `BBRRestoreCwnd`: the window to come back to after a recovery or a ProbeRTT.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PriorCwnd(u64);

impl PriorCwnd {
    /// Remembers the window; while something holds it down, only if it is larger than what is remembered.
    pub(super) fn save(&mut self, c: &Connection, is_held_down: bool) {
        self.0 = if is_held_down { self.0.max(c.cwnd) } else { c.cwnd };
    }

    /// Makes the window as large as it was.
    pub(super) fn restore(self, c: &mut Connection) {
        c.cwnd = c.cwnd.max(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn acked(bytes: u64, prior_delivered: u64) -> RateSample {
        RateSample {
            newly_acked: bytes,
            prior_delivered: Some(prior_delivered),
            ..RateSample::default()
        }
    }

    #[test]
    fn a_round_ends_with_the_first_packet_sent_after_it_began() {
        let mut c = Connection::new(Instant::now(), 1000);
        let mut round = Round::default();
        c.delivered = 1000;
        round.update(&mut c, &acked(1000, 0));
        assert!(round.start);
        c.delivered = 2000;
        round.update(&mut c, &acked(1000, 0));
        assert!(!round.start, "sent before the round began");
        c.delivered = 3000;
        round.update(&mut c, &acked(1000, 1000));
        assert!(round.start);
        assert_eq!(round.count, 2);
        round.update(&mut c, &RateSample::default());
        assert!(!round.start, "nothing delivered");
    }

    #[test]
    fn a_burst_of_acknowledgments_is_extra_for_ten_rounds() {
        let start = Instant::now();
        let mut c = Connection::new(start, 1000);
        c.cwnd = 1_000_000;
        let (mut aggregation, mut round) = (AckAggregation::new(start), Round::default());
        // 1 MB/s, but nothing for 20 ms and then 20 kB at once.
        let bw = 1e6;
        aggregation.update(&c, &acked(20_000, 0), bw, &round, false, start + 20 * MS);
        assert_eq!(aggregation.extra_acked, 20_000);
        for _ in 0..9 {
            round.count += 1;
            aggregation.update(&c, &acked(0, 0), bw, &round, false, start + 90 * MS);
            assert_eq!(aggregation.extra_acked, 20_000);
        }
        round.count += 1;
        aggregation.update(&c, &acked(0, 0), bw, &round, false, start + 91 * MS);
        assert_eq!(aggregation.extra_acked, 0);
    }

    #[test]
    fn the_gap_is_part_of_the_pipe_but_has_no_gain() {
        assert_eq!(bdp_multiple(1e6, 10 * MS, 2.0, Duration::ZERO), 20_000);
        assert_eq!(bdp_multiple(1e6, 10 * MS, 2.0, 20 * MS), 40_000);
    }

    #[test]
    fn aggregation_that_the_gap_explains_is_not_counted_twice() {
        let mut aggregation = AckAggregation::new(Instant::now());
        aggregation.extra_acked = 30_000;
        assert_eq!(aggregation.beyond_hold(1e6, Duration::ZERO), 30_000);
        assert_eq!(aggregation.beyond_hold(1e6, 20 * MS), 10_000);
        assert_eq!(aggregation.beyond_hold(1e6, 50 * MS), 0);
    }
}
