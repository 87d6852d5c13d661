//! BBRv1: draft-cardwell-iccrg-bbr-congestion-control-00, with what Linux added to its BBRv1 later: the
//! allowance for aggregated acknowledgments and the pacing margin of one percent.
//!
//! One departure: the draft halts the growth of the window for a round trip after a loss (packet
//! conservation, §4.2.3.4) and takes what was lost off it. At 10 % random loss every round is such a round,
//! and that costs a third of the throughput; the window here follows the model alone, which bounds it at two
//! bandwidth-delay products.
//!
//! Before a queue of less than about one bandwidth-delay product, Startup overflows it: 2.89 times the bandwidth is
//! sent for the three rounds that it takes to know that no more comes, and nothing in BBRv1 listens to the losses.
//! With room for half a product at 20 Mbit/s and 50 ms those are 500 packets in the first second and none after it.
//!
//! The delay gap between redundant paths is not added to the window: what the far end holds back shows in the
//! allowance for aggregation, and any more overflows the queue when released bursts have made the bandwidth look
//! greater than it is, which nothing in BBRv1 corrects.

use std::time::{Duration, Instant};

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::filter::WindowedMax;
use super::model::{
    AckAggregation, Model, PriorCwnd, Round, bdp_multiple, min_pipe_cwnd, send_quantum, set_pacing_rate,
};
use super::rate_sample::{Connection, Packet, RateSample, to_bytes};

/// `BBRHighGain`: 2/ln(2), the least gain that doubles the rate each round.
const HIGH_GAIN: f64 = 2.89;
/// The pacing gains of ProbeBW, each for one round trip.
const PACING_GAIN_CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// `BtlBwFilterLen`, rounds.
const BTL_BW_FILTER_LEN: u64 = 10;
/// `RTpropFilterLen`.
const RTPROP_FILTER_LEN: Duration = Duration::from_secs(10);
/// `ProbeRTTDuration`.
const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The model of one path.
#[derive(Clone, Debug)]
pub(super) struct Bbr1 {
    state: State,
    pacing_gain: f64,
    cwnd_gain: f64,
    btl_bw: f64,
    btl_bw_filter: WindowedMax<f64>,
    rtprop: Option<Duration>,
    rtprop_stamp: Instant,
    rtprop_expired: bool,
    round: Round,
    filled_pipe: bool,
    full_bw: f64,
    full_bw_count: u32,
    cycle_index: usize,
    cycle_stamp: Instant,
    probe_rtt_done_stamp: Option<Instant>,
    probe_rtt_round_done: bool,
    prior_cwnd: PriorCwnd,
    idle_restart: bool,
    aggregation: AckAggregation,
    rng: Xoshiro256PlusPlus,
}

impl Model for Bbr1 {
    /// `BBRHandleRestartFromIdle`.
    fn on_transmit(&mut self, c: &mut Connection, now: Instant) {
        if c.inflight == 0 && c.app_limited != 0 {
            self.idle_restart = true;
            self.aggregation.restart(now);
            if self.state == State::ProbeBw {
                set_pacing_rate(c, self.btl_bw, 1.0, self.filled_pipe);
            }
        }
    }

    fn update_on_ack(&mut self, c: &mut Connection, rs: &RateSample, now: Instant) {
        // BBRUpdateModelAndState
        self.update_btl_bw(c, rs);
        let in_startup = !self.filled_pipe;
        self.aggregation
            .update(c, rs, self.btl_bw, &self.round, in_startup, now);
        self.check_cycle_phase(c, rs, now);
        self.check_full_pipe(rs);
        self.check_drain(c, now);
        self.update_rtprop(c, rs, now);
        self.check_probe_rtt(c, now);
        if rs.exited_recovery {
            self.prior_cwnd.restore(c);
        }
        // BBRUpdateControlParameters
        set_pacing_rate(c, self.btl_bw, self.pacing_gain, self.filled_pipe);
        c.send_quantum = send_quantum(c, 2 * c.smss);
        self.set_cwnd(c, rs);
    }

    fn update_on_loss(&mut self, _c: &mut Connection, _packet: &Packet, _now: Instant) {}

    fn on_enter_rto(&mut self, c: &mut Connection) {
        self.prior_cwnd
            .save(c, c.in_recovery() || self.state == State::ProbeRtt);
        c.cwnd = c.inflight + c.smss;
    }

    fn on_spurious_loss(&mut self, c: &mut Connection) {
        self.prior_cwnd.restore(c);
    }

    fn bw(&self) -> f64 {
        self.btl_bw
    }
}

impl Bbr1 {
    /// `BBRInit`.
    pub(super) fn new(c: &mut Connection, rng: Xoshiro256PlusPlus, now: Instant) -> Self {
        c.init_pacing_rate(HIGH_GAIN, None);
        Self {
            state: State::Startup,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            btl_bw: 0.0,
            btl_bw_filter: WindowedMax::default(),
            rtprop: None,
            rtprop_stamp: now,
            rtprop_expired: false,
            round: Round::default(),
            filled_pipe: false,
            full_bw: 0.0,
            full_bw_count: 0,
            cycle_index: 0,
            cycle_stamp: now,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            prior_cwnd: PriorCwnd::default(),
            idle_restart: false,
            aggregation: AckAggregation::new(now),
            rng,
        }
    }

    fn update_btl_bw(&mut self, c: &mut Connection, rs: &RateSample) {
        self.round.update(c, rs);
        if rs.delivery_rate > 0.0 && (rs.delivery_rate >= self.btl_bw || !rs.is_app_limited) {
            self.btl_bw = self
                .btl_bw_filter
                .update(rs.delivery_rate, self.round.count, BTL_BW_FILTER_LEN);
        }
    }

    fn enter_startup(&mut self) {
        self.state = State::Startup;
        self.pacing_gain = HIGH_GAIN;
        self.cwnd_gain = HIGH_GAIN;
    }

    fn check_full_pipe(&mut self, rs: &RateSample) {
        if self.filled_pipe || !self.round.start || rs.is_app_limited {
            return;
        }
        if self.btl_bw >= self.full_bw * 1.25 {
            self.full_bw = self.btl_bw;
            self.full_bw_count = 0;
            return;
        }
        self.full_bw_count += 1;
        self.filled_pipe = self.full_bw_count >= 3;
    }

    fn check_drain(&mut self, c: &Connection, now: Instant) {
        if self.state == State::Startup && self.filled_pipe {
            self.state = State::Drain;
            self.pacing_gain = 1.0 / HIGH_GAIN;
            self.cwnd_gain = HIGH_GAIN;
        }
        if self.state == State::Drain && c.inflight <= self.inflight(c, 1.0) {
            self.enter_probe_bw(now);
        }
    }

    fn enter_probe_bw(&mut self, now: Instant) {
        self.state = State::ProbeBw;
        self.cwnd_gain = 2.0;
        // Any phase but the one that drains, so that flows do not probe in step.
        self.cycle_index = PACING_GAIN_CYCLE.len() - 1 - self.rng.random_range(0..7);
        self.advance_cycle_phase(now);
    }

    fn check_cycle_phase(&mut self, c: &Connection, rs: &RateSample, now: Instant) {
        if self.state == State::ProbeBw && self.is_next_cycle_phase(c, rs, now) {
            self.advance_cycle_phase(now);
        }
    }

    fn advance_cycle_phase(&mut self, now: Instant) {
        self.cycle_stamp = now;
        self.cycle_index = (self.cycle_index + 1) % PACING_GAIN_CYCLE.len();
        self.pacing_gain = PACING_GAIN_CYCLE.get(self.cycle_index).copied().unwrap_or(1.0);
    }

    fn is_next_cycle_phase(&self, c: &Connection, rs: &RateSample, now: Instant) -> bool {
        let is_full_length = self
            .rtprop
            .is_none_or(|rtprop| now.saturating_duration_since(self.cycle_stamp) > rtprop);
        if self.pacing_gain > 1.0 {
            is_full_length && (rs.newly_lost > 0 || rs.prior_inflight >= self.inflight(c, self.pacing_gain))
        } else if self.pacing_gain < 1.0 {
            is_full_length || rs.prior_inflight <= self.inflight(c, 1.0)
        } else {
            is_full_length
        }
    }

    fn update_rtprop(&mut self, c: &mut Connection, rs: &RateSample, now: Instant) {
        self.rtprop_expired = now > self.rtprop_stamp + RTPROP_FILTER_LEN;
        let Some(rtt) = rs.rtt else { return };
        if self.rtprop.is_none() {
            // BBRInitPacingRate, now that a round trip is known.
            c.init_pacing_rate(HIGH_GAIN, Some(rtt));
        }
        if self.rtprop.is_none_or(|rtprop| rtt <= rtprop) || self.rtprop_expired {
            self.rtprop = Some(rtt);
            self.rtprop_stamp = now;
        }
    }

    fn check_probe_rtt(&mut self, c: &mut Connection, now: Instant) {
        if self.state != State::ProbeRtt && self.rtprop_expired && !self.idle_restart {
            self.prior_cwnd
                .save(c, c.in_recovery() || self.state == State::ProbeRtt);
            self.state = State::ProbeRtt;
            self.pacing_gain = 1.0;
            self.cwnd_gain = 1.0;
            self.probe_rtt_done_stamp = None;
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(c, now);
        }
        self.idle_restart = false;
    }

    fn handle_probe_rtt(&mut self, c: &mut Connection, now: Instant) {
        // The low rates of now say nothing about the path.
        c.mark_app_limited();
        match self.probe_rtt_done_stamp {
            None if c.inflight <= min_pipe_cwnd(c) => {
                self.probe_rtt_done_stamp = Some(now + PROBE_RTT_DURATION);
                self.probe_rtt_round_done = false;
                self.round.begin(c);
            }
            None => {}
            Some(done) => {
                self.probe_rtt_round_done |= self.round.start;
                if self.probe_rtt_round_done && now > done {
                    self.rtprop_stamp = now;
                    self.prior_cwnd.restore(c);
                    self.exit_probe_rtt(now);
                }
            }
        }
    }

    fn exit_probe_rtt(&mut self, now: Instant) {
        if self.filled_pipe {
            self.enter_probe_bw(now);
        } else {
            self.enter_startup();
        }
    }

    /// `BBRInflight`: what a gain wants in flight, with room for the bursts of both ends.
    fn inflight(&self, c: &Connection, gain: f64) -> u64 {
        match self.rtprop {
            Some(rtprop) => bdp_multiple(self.btl_bw, rtprop, gain, Duration::ZERO) + 3 * c.send_quantum,
            None => c.initial_cwnd,
        }
    }

    fn set_cwnd(&mut self, c: &mut Connection, rs: &RateSample) {
        // Linux bounds the allowance for aggregation at 100 ms of the bandwidth.
        let extra = self.aggregation.extra_acked.min(to_bytes(self.btl_bw * 0.1));
        let target = self.inflight(c, self.cwnd_gain) + if self.filled_pipe { extra } else { 0 };
        if self.filled_pipe {
            c.cwnd = (c.cwnd + rs.newly_acked).min(target);
        } else if c.cwnd < target || c.delivered < c.initial_cwnd {
            c.cwnd += rs.newly_acked;
        }
        c.cwnd = c.cwnd.max(min_pipe_cwnd(c));
        if self.state == State::ProbeRtt {
            c.cwnd = c.cwnd.min(min_pipe_cwnd(c));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::ideal_path::IdealPath;
    use rand::SeedableRng;

    const SECOND: Duration = Duration::from_secs(1);
    const RTT: Duration = Duration::from_millis(20);
    const RATE: f64 = 5e6;

    fn path() -> IdealPath<Bbr1> {
        let rng = Xoshiro256PlusPlus::seed_from_u64(1);
        IdealPath::new(RATE, RTT, |c, now| Bbr1::new(c, rng, now))
    }

    #[test]
    fn the_round_trip_is_probed_when_none_as_short_was_seen_for_ten_seconds() {
        let mut path = path();
        path.rtt += 5 * RTT / 100;
        path.run(SECOND);
        path.rtt = 2 * RTT;
        assert!(!path.run_until(8 * SECOND, |p| p.model.state == State::ProbeRtt));
        assert!(path.run_until(4 * SECOND, |p| p.model.state == State::ProbeRtt));
        assert!(path.run_until(SECOND, |p| p.c.inflight <= min_pipe_cwnd(&p.c)));
        assert!(path.run_until(SECOND, |p| p.model.state == State::ProbeBw));
        assert!(
            path.model.rtprop >= Some(2 * RTT),
            "the path became longer: {:?}",
            path.model.rtprop
        );
    }

    #[test]
    fn losses_leave_the_window_alone() {
        let mut path = path();
        path.run(2 * SECOND);
        let before = path.c.cwnd;
        path.lose(5);
        path.run(RTT);
        assert!(path.c.cwnd >= before * 9 / 10, "{} of {before}", path.c.cwnd);
    }

    #[test]
    fn one_probe_and_one_drain_in_eight_round_trips() {
        let mut path = path();
        path.run(2 * SECOND);
        let mut gains = Vec::new();
        path.run_until(SECOND / 2, |p| {
            if gains.last() != Some(&p.model.pacing_gain) {
                gains.push(p.model.pacing_gain);
            }
            false
        });
        assert!(gains.windows(3).any(|g| g == [1.25, 0.75, 1.0]), "{gains:?}");
    }
}
