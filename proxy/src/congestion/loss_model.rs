//! How BBRv2 and BBRv3 learn from losses: the short-term model, which follows losses while the flow does not
//! probe, and the arithmetic of the long-term bound on what is in flight.
//!
//! draft-ietf-ccwg-bbr §5.5.10; BBRv2 calls the short-term bounds `bw_lo` and `inflight_lo` and the long-term
//! one `inflight_hi`.

use super::model::min_pipe_cwnd;
use super::rate_sample::{Connection, Packet, RateSample, to_bytes, to_f64};

/// `BBRLossThresh`: the loss rate that a bandwidth probe tolerates.
pub(super) const LOSS_THRESH: f64 = 0.02;
/// `BBRBeta`: what a round with losses leaves of the short-term bounds.
pub(super) const BETA: f64 = 0.7;
/// `BBRHeadroom`: the part of the long-term bound left to other flows while cruising.
const HEADROOM: f64 = 0.15;
/// No bound on what is in flight.
pub(super) const UNBOUNDED: u64 = u64::MAX;

/// The bounds that losses outside of probes put on rate and volume, and the signals of the running round.
#[derive(Clone, Debug)]
pub(super) struct ShortTermModel {
    /// Bytes per second; infinite while nothing bounds it.
    pub(super) bw: f64,
    /// Bytes; [`UNBOUNDED`] while nothing bounds it.
    pub(super) inflight: u64,
    /// This acknowledgment ends a round in which losses are counted.
    pub(super) loss_round_start: bool,
    /// Volume delivered per round trip, the largest of this round.
    pub(super) inflight_latest: u64,
    /// Separate ranges of packets lost in this round.
    pub(super) loss_events_in_round: u32,
    bw_latest: f64,
    loss_in_round: bool,
    round_start_lost: u64,
    round_start_delivered: u64,
    loss_round_delivered: u64,
    last_lost_pn: Option<u64>,
}

impl Default for ShortTermModel {
    fn default() -> Self {
        Self {
            bw: f64::INFINITY,
            inflight: UNBOUNDED,
            loss_round_start: false,
            inflight_latest: 0,
            loss_events_in_round: 0,
            bw_latest: 0.0,
            loss_in_round: false,
            round_start_lost: 0,
            round_start_delivered: 0,
            loss_round_delivered: 0,
            last_lost_pn: None,
        }
    }
}

impl ShortTermModel {
    /// `UpdateLatestDeliverySignals`, near the start of an acknowledgment.
    pub(super) fn update_latest_delivery_signals(&mut self, c: &Connection, rs: &RateSample) {
        self.bw_latest = self.bw_latest.max(rs.delivery_rate);
        self.inflight_latest = self.inflight_latest.max(rs.delivered);
        self.loss_round_start = rs
            .prior_delivered
            .is_some_and(|delivered| delivered >= self.loss_round_delivered);
        if self.loss_round_start {
            self.loss_round_delivered = c.delivered;
        }
    }

    /// Share of this round's bytes that were lost.
    pub(super) fn loss_rate_in_round(&self, c: &Connection) -> f64 {
        if !self.loss_in_round {
            return 0.0;
        }
        let lost = to_f64(c.lost.saturating_sub(self.round_start_lost));
        lost / (lost + to_f64(c.delivered.saturating_sub(self.round_start_delivered))).max(1.0)
    }

    /// `UpdateCongestionSignals` without the bandwidth filter: once per round, what a congested one does to the
    /// bounds.
    pub(super) fn adapt_lower_bounds(&mut self, c: &Connection, max_bw: f64, is_congested: bool) {
        if !self.loss_round_start {
            return;
        }
        if is_congested {
            // InitLowerBounds, LossLowerBounds
            let bw = if self.bw.is_finite() { self.bw } else { max_bw };
            let inflight = if self.inflight == UNBOUNDED {
                c.cwnd
            } else {
                self.inflight
            };
            self.bw = self.bw_latest.max(BETA * bw);
            self.inflight = self.inflight_latest.max(to_bytes(BETA * to_f64(inflight)));
        }
        self.loss_in_round = false;
        self.round_start_lost = c.lost;
        self.round_start_delivered = c.delivered;
    }

    /// Raises the bounds by `part` of themselves; at the bandwidth itself they end.
    pub(super) fn relax(&mut self, max_bw: f64, part: f64) {
        if !self.bw.is_finite() {
            return;
        }
        self.bw *= 1.0 + part;
        self.inflight = to_bytes(to_f64(self.inflight) * (1.0 + part));
        if self.bw >= max_bw {
            self.reset();
        }
    }

    /// `AdvanceLatestDeliverySignals`, near the end of an acknowledgment.
    pub(super) fn advance_latest_delivery_signals(&mut self, rs: &RateSample) {
        if self.loss_round_start {
            self.bw_latest = rs.delivery_rate;
            self.inflight_latest = rs.delivered;
            self.loss_events_in_round = 0;
            self.last_lost_pn = None;
        }
    }

    /// `NoteLoss`.
    pub(super) fn note_loss(&mut self, c: &Connection, packet: &Packet) {
        if !self.loss_in_round {
            self.loss_round_delivered = c.delivered;
        }
        self.loss_in_round = true;
        if self.last_lost_pn.is_none_or(|last| packet.pn != last + 1) {
            self.loss_events_in_round += 1;
        }
        self.last_lost_pn = Some(packet.pn);
    }

    /// The losses of this round were none.
    pub(super) fn forget_losses(&mut self) {
        self.loss_in_round = false;
    }

    /// `ResetCongestionSignals`.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0;
    }

    /// `ResetShortTermModel`, `BBRResetLowerBounds`.
    pub(super) fn reset(&mut self) {
        self.bw = f64::INFINITY;
        self.inflight = UNBOUNDED;
    }
}

/// `IsInflightTooHigh`: of `tx_in_flight` bytes `lost` were lost, more than a probe tolerates.
pub(super) fn is_inflight_too_high(lost: u64, tx_in_flight: u64) -> bool {
    to_f64(lost) > to_f64(tx_in_flight) * LOSS_THRESH
}

/// `InflightAtLoss`: at what volume in flight the losses crossed the threshold, given that `lost` bytes were
/// lost since `packet` was sent, itself included.
pub(super) fn inflight_at_loss(packet: &Packet, lost: u64) -> u64 {
    let inflight_prev = to_f64(packet.tx_in_flight.saturating_sub(packet.size));
    let lost_prev = to_f64(lost.saturating_sub(packet.size));
    let lost_prefix = (LOSS_THRESH * inflight_prev - lost_prev) / (1.0 - LOSS_THRESH);
    to_bytes(inflight_prev + lost_prefix)
}

/// `InflightWithHeadroom` below a long-term bound.
pub(super) fn inflight_with_headroom(c: &Connection, bound: u64) -> u64 {
    if bound == UNBOUNDED {
        return UNBOUNDED;
    }
    let headroom = c.smss.max(to_bytes(HEADROOM * to_f64(bound)));
    bound.saturating_sub(headroom).max(min_pipe_cwnd(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn packet(pn: u64, tx_in_flight: u64) -> Packet {
        let now = Instant::now();
        let mut c = Connection::new(now, 1000);
        c.inflight = tx_in_flight - 1000;
        c.on_packet_sent(now, 1000, pn);
        c.on_packet_lost(now, 1000, pn).unwrap()
    }

    #[test]
    fn the_volume_at_which_losses_crossed_two_percent() {
        // 100 packets in flight and the third lost one ends it: 98 000 + (1960 - 2000) / 0.98.
        assert_eq!(inflight_at_loss(&packet(1, 99_000), 3000), 97_959);
        assert!(is_inflight_too_high(3000, 100_000));
        assert!(!is_inflight_too_high(2000, 100_000));
        assert!(!is_inflight_too_high(0, 0));
    }

    #[test]
    fn a_congested_round_cuts_the_bounds_no_deeper_than_what_was_delivered() {
        let mut c = Connection::new(Instant::now(), 1000);
        c.cwnd = 200_000;
        let mut model = ShortTermModel::default();
        let slow = RateSample {
            delivery_rate: 1e6,
            delivered: 50_000,
            prior_delivered: Some(0),
            ..Default::default()
        };
        let mut round = |is_congested: bool| {
            model.update_latest_delivery_signals(&c, &slow);
            model.adapt_lower_bounds(&c, 2e6, is_congested);
            model.advance_latest_delivery_signals(&slow);
            (model.bw, model.inflight)
        };
        assert_eq!(round(false), (f64::INFINITY, UNBOUNDED));
        let (bw, inflight) = round(true);
        assert!((bw - 1.4e6).abs() < 1.0 && inflight.abs_diff(140_000) <= 1);
        round(true);
        round(true);
        let (bw, inflight) = round(true);
        assert!((bw - 1e6).abs() < 1.0, "what is delivered is the floor: {bw}");
        assert_eq!(inflight, 50_000);
    }

    #[test]
    fn bounds_are_relaxed_up_to_the_bandwidth() {
        let mut model = ShortTermModel {
            bw: 1e6,
            inflight: 50_000,
            ..ShortTermModel::default()
        };
        model.relax(1.05e6, 0.02);
        assert!((model.bw - 1.02e6).abs() < 1.0);
        assert_eq!(model.inflight, 51_000);
        model.relax(1.05e6, 0.02);
        model.relax(1.05e6, 0.02);
        assert_eq!((model.bw, model.inflight), (f64::INFINITY, UNBOUNDED));
    }

    #[test]
    fn the_loss_rate_is_that_of_the_running_round() {
        let mut c = Connection::new(Instant::now(), 1000);
        let mut model = ShortTermModel::default();
        assert_eq!(model.loss_rate_in_round(&c), 0.0);
        (c.delivered, c.lost) = (98_000, 2000);
        model.note_loss(&c, &packet(7, 100_000));
        assert!((model.loss_rate_in_round(&c) - 0.02).abs() < 1e-9);
        model.loss_round_start = true;
        model.adapt_lower_bounds(&c, 1e6, false);
        assert_eq!(model.loss_rate_in_round(&c), 0.0);
    }

    #[test]
    fn neighbouring_losses_are_one_event() {
        let c = Connection::new(Instant::now(), 1000);
        let mut model = ShortTermModel::default();
        model.note_loss(&c, &packet(5, 10_000));
        model.note_loss(&c, &packet(6, 10_000));
        model.note_loss(&c, &packet(9, 10_000));
        assert_eq!(model.loss_events_in_round, 2);
    }

    #[test]
    fn headroom_is_fifteen_percent_and_never_below_four_packets() {
        let c = Connection::new(Instant::now(), 1000);
        assert_eq!(inflight_with_headroom(&c, 100_000), 85_000);
        assert_eq!(inflight_with_headroom(&c, 4000), 4000);
        assert_eq!(inflight_with_headroom(&c, UNBOUNDED), UNBOUNDED);
    }
}
