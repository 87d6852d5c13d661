//! BBRv2: draft-cardwell-iccrg-bbr-congestion-control-02.
//!
//! The draft carries a long-term bound on the bandwidth, `bw_hi`, that nothing ever sets; it is left out. It
//! never says when the samples of a bandwidth probe end; as in Linux and in BBRv3 that is the round after the
//! probe. And it conserves packets in the first round of a recovery, which under random loss is every other
//! round; as in `bbr1.rs` the window follows the model alone (at 1 and 2 % loss 81 and 47 Mbit/s of 100 instead
//! of 60 and 27). The short-term bounds `bw_lo` and `inflight_lo` are in [`ShortTermModel`]; what the far end
//! holds packets back for is part of the bandwidth-delay product, see [`BaseGap`].

use std::time::Instant;

use rand_xoshiro::Xoshiro256PlusPlus;

use super::base_gap::BaseGap;
use super::filter::WindowedMax;
use super::loss_model::{
    BETA, ShortTermModel, UNBOUNDED, inflight_at_loss, inflight_with_headroom, is_inflight_too_high,
};
use super::model::{
    AckAggregation, Model, PriorCwnd, Round, bdp_multiple, min_pipe_cwnd, send_quantum, set_pacing_rate,
};
use super::probe_bw::{
    AckPhase, MAX_BW_FILTER_LEN, ProbeWait, STARTUP_PACING_GAIN, State, UpwardProbe, grow_cwnd,
};
use super::probe_rtt::MinRtt;
use super::rate_sample::{Connection, Packet, RateSample, to_bytes, to_f64};
use crate::delay_gap::DelayGap;

/// `BBRStartupFullLossCnt`: separate ranges lost in a round that end Startup.
const STARTUP_FULL_LOSS_CNT: u32 = 3;

/// The model of one path.
#[derive(Clone, Debug)]
pub(super) struct Bbr2 {
    state: State,
    round: Round,
    min_rtt: MinRtt,
    max_bw: f64,
    max_bw_filter: WindowedMax<f64>,
    cycle_count: u64,
    /// The lower of `max_bw` and the short-term bound.
    bw: f64,
    lower_bounds: ShortTermModel,
    inflight_hi: u64,
    aggregation: AckAggregation,
    filled_pipe: bool,
    full_bw: f64,
    full_bw_count: u32,
    recovery_start_round: u64,
    ack_phase: AckPhase,
    bw_probe_samples: bool,
    idle_restart: bool,
    prior_cwnd: PriorCwnd,
    wait: ProbeWait,
    upward: UpwardProbe,
    gap: BaseGap,
}

impl Model for Bbr2 {
    /// `BBRHandleRestartFromIdle`.
    fn on_transmit(&mut self, c: &mut Connection, now: Instant) {
        if c.inflight == 0 && c.app_limited != 0 {
            self.idle_restart = true;
            self.aggregation.restart(now);
            if self.state.is_probe_bw() {
                set_pacing_rate(c, self.bw, 1.0, self.filled_pipe);
            } else if self.state == State::ProbeRtt && self.min_rtt.check_done(now) {
                self.exit_probe_rtt(c, now);
            }
        }
    }

    fn update_on_ack(&mut self, c: &mut Connection, rs: &RateSample, now: Instant) {
        // BBRUpdateModelAndState
        self.gap.update(now);
        self.lower_bounds.update_latest_delivery_signals(c, rs);
        self.update_max_bw(c, rs);
        let is_congested = !self.state.is_probing_bw() && self.lower_bounds.loss_rate_in_round(c) > 0.0;
        self.lower_bounds.adapt_lower_bounds(c, self.max_bw, is_congested);
        self.aggregation
            .update(c, rs, self.bw, &self.round, !self.filled_pipe, now);
        self.check_startup_done(c, rs);
        self.check_drain(c, now);
        self.update_probe_bw_cycle_phase(c, rs, now);
        self.update_min_rtt(c, rs, now);
        self.check_probe_rtt(c, rs, now);
        self.lower_bounds.advance_latest_delivery_signals(rs);
        self.bw = self.max_bw.min(self.lower_bounds.bw);
        // BBRUpdateControlParameters
        set_pacing_rate(c, self.bw, self.state.pacing_gain(), self.filled_pipe);
        c.send_quantum = send_quantum(c, 2 * c.smss);
        self.set_cwnd(c, rs);
    }

    /// `BBRHandleLostPacket`.
    fn update_on_loss(&mut self, c: &mut Connection, packet: &Packet, now: Instant) {
        if c.entered_recovery {
            self.prior_cwnd.save(c, self.state == State::ProbeRtt);
            self.recovery_start_round = self.round.count;
        }
        self.lower_bounds.note_loss(c, packet);
        let lost = c.lost.saturating_sub(packet.lost);
        if self.bw_probe_samples && is_inflight_too_high(lost, packet.tx_in_flight) {
            let inflight = inflight_at_loss(packet, lost);
            self.handle_inflight_too_high(c, inflight, packet.is_app_limited, now);
        }
    }

    fn on_enter_rto(&mut self, c: &mut Connection) {
        self.prior_cwnd.save(c, true);
        c.cwnd = c.inflight + c.smss;
    }

    fn on_spurious_loss(&mut self, c: &mut Connection) {
        self.prior_cwnd.restore(c);
        self.lower_bounds.forget_losses();
        self.lower_bounds.reset();
    }

    fn bw(&self) -> f64 {
        self.bw
    }
}

impl Bbr2 {
    /// `BBRInit`.
    pub(super) fn new(c: &mut Connection, gap: DelayGap, rng: Xoshiro256PlusPlus, now: Instant) -> Self {
        c.init_pacing_rate(STARTUP_PACING_GAIN, None);
        Self {
            state: State::Startup,
            round: Round::default(),
            min_rtt: MinRtt::new(now),
            max_bw: 0.0,
            max_bw_filter: WindowedMax::default(),
            cycle_count: 0,
            bw: 0.0,
            lower_bounds: ShortTermModel::default(),
            inflight_hi: UNBOUNDED,
            aggregation: AckAggregation::new(now),
            filled_pipe: false,
            full_bw: 0.0,
            full_bw_count: 0,
            recovery_start_round: 0,
            ack_phase: AckPhase::Init,
            bw_probe_samples: false,
            idle_restart: false,
            prior_cwnd: PriorCwnd::default(),
            wait: ProbeWait::new(rng, now),
            upward: UpwardProbe::new(),
            gap: BaseGap::new(gap, now),
        }
    }

    fn cwnd_gain(&self) -> f64 {
        if self.state == State::ProbeRtt { 0.5 } else { 2.0 }
    }

    fn update_max_bw(&mut self, c: &mut Connection, rs: &RateSample) {
        self.round.update(c, rs);
        if self.round.start {
            self.wait.start_round();
        }
        if rs.delivery_rate > 0.0 && (rs.delivery_rate >= self.max_bw || !rs.is_app_limited) {
            self.max_bw = self
                .max_bw_filter
                .update(rs.delivery_rate, self.cycle_count, MAX_BW_FILTER_LEN);
        }
    }

    fn check_startup_done(&mut self, c: &Connection, rs: &RateSample) {
        self.check_startup_full_bandwidth(rs);
        self.check_startup_high_loss(c, rs);
        if self.state == State::Startup && self.filled_pipe {
            self.state = State::Drain;
        }
    }

    fn check_startup_full_bandwidth(&mut self, rs: &RateSample) {
        if self.filled_pipe || !self.round.start || rs.is_app_limited {
            return;
        }
        if self.max_bw >= self.full_bw * 1.25 {
            self.full_bw = self.max_bw;
            self.full_bw_count = 0;
            return;
        }
        self.full_bw_count += 1;
        self.filled_pipe = self.full_bw_count >= 3;
    }

    /// §4.3.1.3: a round in recovery, more than two percent lost, three ranges.
    fn check_startup_high_loss(&mut self, c: &Connection, rs: &RateSample) {
        self.filled_pipe |= self.state == State::Startup
            && self.lower_bounds.loss_round_start
            && c.in_recovery()
            && self.round.count > self.recovery_start_round
            && self.lower_bounds.loss_events_in_round >= STARTUP_FULL_LOSS_CNT
            && is_inflight_too_high(rs.lost, rs.tx_in_flight);
    }

    fn check_drain(&mut self, c: &Connection, now: Instant) {
        if self.state == State::Drain && c.inflight <= self.inflight(c, self.bw, 1.0) {
            self.start_probe_bw_down(c, now);
        }
    }

    fn start_probe_bw_down(&mut self, c: &Connection, now: Instant) {
        self.lower_bounds.reset_congestion_signals();
        self.wait.pick(now);
        self.ack_phase = AckPhase::ProbeStopping;
        self.round.begin(c);
        self.state = State::ProbeBwDown;
    }

    fn start_probe_bw_refill(&mut self, c: &Connection) {
        self.lower_bounds.reset();
        self.upward = UpwardProbe::new();
        self.ack_phase = AckPhase::Refilling;
        self.round.begin(c);
        self.state = State::ProbeBwRefill;
    }

    fn start_probe_bw_up(&mut self, c: &Connection, now: Instant) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.round.begin(c);
        self.wait.cycle_stamp = now;
        self.state = State::ProbeBwUp;
        self.upward.raise_slope(c);
    }

    fn update_probe_bw_cycle_phase(&mut self, c: &mut Connection, rs: &RateSample, now: Instant) {
        if !self.filled_pipe {
            return;
        }
        self.adapt_upper_bounds(c, rs, now);
        match self.state {
            State::ProbeBwDown if self.wait.is_over(c, self.target_inflight(c), now) => {
                self.start_probe_bw_refill(c)
            }
            State::ProbeBwDown if self.is_time_to_cruise(c) => self.state = State::ProbeBwCruise,
            State::ProbeBwCruise if self.wait.is_over(c, self.target_inflight(c), now) => {
                self.start_probe_bw_refill(c)
            }
            State::ProbeBwRefill if self.round.start => {
                self.bw_probe_samples = true;
                self.start_probe_bw_up(c, now);
            }
            State::ProbeBwUp if self.has_probed_up(c, now) => self.start_probe_bw_down(c, now),
            _ => {}
        }
    }

    fn target_inflight(&self, c: &Connection) -> u64 {
        self.bdp_multiple(c, self.bw, 1.0).min(c.cwnd)
    }

    fn is_time_to_cruise(&self, c: &Connection) -> bool {
        c.inflight <= inflight_with_headroom(c, self.inflight_hi)
            && c.inflight <= self.inflight(c, self.max_bw, 1.0)
    }

    fn has_probed_up(&self, c: &Connection, now: Instant) -> bool {
        self.min_rtt
            .min_rtt
            .is_some_and(|min_rtt| now > self.wait.cycle_stamp + min_rtt)
            && c.inflight > self.inflight(c, self.max_bw, 1.25)
    }

    fn adapt_upper_bounds(&mut self, c: &Connection, rs: &RateSample, now: Instant) {
        if self.ack_phase == AckPhase::ProbeStarting && self.round.start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round.start {
            self.bw_probe_samples = false;
            self.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() && !rs.is_app_limited {
                self.cycle_count += 1;
            }
        }
        if is_inflight_too_high(rs.lost, rs.tx_in_flight) {
            if self.bw_probe_samples {
                self.handle_inflight_too_high(c, rs.tx_in_flight, rs.is_app_limited, now);
            }
        } else if self.inflight_hi != UNBOUNDED {
            self.inflight_hi = self.inflight_hi.max(rs.tx_in_flight);
            if self.state == State::ProbeBwUp {
                self.upward.raise(c, rs, self.round.start, &mut self.inflight_hi);
            }
        }
    }

    fn handle_inflight_too_high(
        &mut self,
        c: &Connection,
        inflight: u64,
        is_app_limited: bool,
        now: Instant,
    ) {
        self.bw_probe_samples = false;
        if !is_app_limited {
            self.inflight_hi = inflight.max(to_bytes(to_f64(self.target_inflight(c)) * BETA));
        }
        if self.state == State::ProbeBwUp {
            self.start_probe_bw_down(c, now);
        }
    }

    fn update_min_rtt(&mut self, c: &mut Connection, rs: &RateSample, now: Instant) {
        let is_first = self.min_rtt.min_rtt.is_none();
        self.min_rtt.update(rs, now);
        if is_first && rs.rtt.is_some() {
            c.init_pacing_rate(STARTUP_PACING_GAIN, rs.rtt);
        }
    }

    fn check_probe_rtt(&mut self, c: &mut Connection, rs: &RateSample, now: Instant) {
        if self.state != State::ProbeRtt && self.min_rtt.probe_rtt_expired && !self.idle_restart {
            self.prior_cwnd.save(c, c.in_recovery());
            self.state = State::ProbeRtt;
            self.min_rtt.begin();
            self.ack_phase = AckPhase::ProbeStopping;
            self.round.begin(c);
        }
        if self.state == State::ProbeRtt {
            let probe_rtt_cwnd = self.probe_rtt_cwnd(c);
            if self.min_rtt.handle(c, &mut self.round, probe_rtt_cwnd, now) {
                self.exit_probe_rtt(c, now);
            }
        }
        if rs.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn exit_probe_rtt(&mut self, c: &mut Connection, now: Instant) {
        self.prior_cwnd.restore(c);
        self.lower_bounds.reset();
        if self.filled_pipe {
            self.start_probe_bw_down(c, now);
            self.state = State::ProbeBwCruise;
        } else {
            self.state = State::Startup;
        }
    }

    fn bdp_multiple(&self, c: &Connection, bw: f64, gain: f64) -> u64 {
        match self.min_rtt.min_rtt {
            Some(min_rtt) => bdp_multiple(bw, min_rtt, gain, self.gap.hold(self.bw, c.smss)),
            None => c.initial_cwnd,
        }
    }

    /// `BBRInflight`.
    fn inflight(&self, c: &Connection, bw: f64, gain: f64) -> u64 {
        self.state.quantization_budget(c, self.bdp_multiple(c, bw, gain))
    }

    fn probe_rtt_cwnd(&self, c: &Connection) -> u64 {
        self.bdp_multiple(c, self.bw, 0.5).max(min_pipe_cwnd(c))
    }

    fn set_cwnd(&mut self, c: &mut Connection, rs: &RateSample) {
        if rs.exited_recovery {
            self.prior_cwnd.restore(c);
        }
        let cap = self.bdp_multiple(c, self.bw, self.cwnd_gain())
            + self
                .aggregation
                .beyond_hold(self.bw, self.gap.hold(self.bw, c.smss));
        let max_inflight = self.state.quantization_budget(c, cap);
        grow_cwnd(c, rs, max_inflight, self.filled_pipe);
        if self.state == State::ProbeRtt {
            c.cwnd = c.cwnd.min(self.probe_rtt_cwnd(c));
        }
        self.state
            .bound_cwnd(c, self.inflight_hi, self.lower_bounds.inflight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::ideal_path::IdealPath;
    use rand::SeedableRng;
    use std::time::Duration;

    const SECOND: Duration = Duration::from_secs(1);
    const RTT: Duration = Duration::from_millis(20);
    const RATE: f64 = 5e6;

    fn path() -> IdealPath<Bbr2> {
        let rng = Xoshiro256PlusPlus::seed_from_u64(1);
        IdealPath::new(RATE, RTT, |c, now| Bbr2::new(c, DelayGap::default(), rng, now))
    }

    #[test]
    fn probes_go_down_cruise_refill_up() {
        let mut path = path();
        path.run_until(2 * SECOND, |p| p.model.state == State::ProbeBwDown);
        for state in [
            State::ProbeBwCruise,
            State::ProbeBwRefill,
            State::ProbeBwUp,
            State::ProbeBwDown,
        ] {
            assert!(
                path.run_until(4 * SECOND, |p| p.model.state == state),
                "never reached {state:?}"
            );
        }
    }

    #[test]
    fn a_probe_that_loses_too_much_ends_and_bounds_what_is_in_flight() {
        let mut path = path();
        assert!(path.run_until(8 * SECOND, |p| p.model.state == State::ProbeBwUp));
        path.run(RTT);
        path.lose(10);
        assert_eq!(path.model.state, State::ProbeBwDown);
        assert!(
            path.model.inflight_hi <= path.bdp() * 2,
            "{}",
            path.model.inflight_hi
        );
        path.run_until(SECOND, |p| p.model.state == State::ProbeBwCruise);
        let headroom = inflight_with_headroom(&path.c, path.model.inflight_hi);
        assert!(path.c.cwnd <= headroom, "15 % are left to others");
    }

    #[test]
    fn the_round_trip_is_probed_with_half_the_pipe_every_five_seconds() {
        let mut path = path();
        path.rtt = 2 * RTT;
        path.run(SECOND);
        path.rtt = 2 * RTT + RTT / 10;
        assert!(path.run_until(8 * SECOND, |p| p.model.state == State::ProbeRtt));
        let half = path.model.probe_rtt_cwnd(&path.c);
        assert!(path.run_until(SECOND, |p| p.c.inflight <= half));
        assert!(path.run_until(SECOND, |p| p.model.state == State::ProbeBwCruise));
    }
}
