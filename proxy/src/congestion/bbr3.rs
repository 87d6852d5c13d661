//! BBRv3: draft-ietf-ccwg-bbr (the text of revision 06 and the working group's draft after it).
//!
//! Departures, each measured beside a CUBIC flow and alone under random loss (100 Mbit/s, RTT 10 ms):
//!
//! - The draft cuts the short-term bounds after every round with a loss. Here a round counts as congested when it
//!   lost more than `BBR.LossThresh`, as in a probe, or when a queue stood throughout it in ProbeBW_CRUISE. Sparse
//!   random losses then cost little (alone at 2 %: 77 Mbit/s), and a loss-based flow that shares the
//!   bottleneck is noticed though nothing is lost.
//! - While a queue stands, ProbeBW_CRUISE paces as ProbeBW_DOWN does, the window of both is a little less than the
//!   bandwidth-delay product instead of twice that, and a probe (ProbeBW_UP) ends. When the queue is gone, the
//!   short-term bounds are raised a little each round instead of being kept until the next probe. So what a CUBIC
//!   flow cannot use is used, and it keeps 88 to 99 % of what it gets alone.
//! - A flow that keeps the queue full whatever others do is given way to for thirty rounds only; then the draft's
//!   own parameters hold until the queue is seen empty. Without losses, a CUBIC flow takes three fifths.
//! - The bandwidth-delay product includes what the far end holds packets back for, see [`BaseGap`].
//! - The offload budget is one send quantum, as for QUIC without ACK_FREQUENCY.

use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro256PlusPlus;

use super::base_gap::BaseGap;
use super::filter::WindowedMax;
use super::loss_model::{
    BETA, LOSS_THRESH, ShortTermModel, UNBOUNDED, inflight_at_loss, inflight_with_headroom,
    is_inflight_too_high,
};
use super::model::{
    AckAggregation, Model, PriorCwnd, Round, bdp_multiple, min_pipe_cwnd, send_quantum, set_pacing_rate,
};
use super::probe_bw::{
    AckPhase, MAX_BW_FILTER_LEN, ProbeWait, STARTUP_PACING_GAIN, State, UpwardProbe, grow_cwnd,
};
use super::probe_rtt::MinRtt;
use super::rate_sample::{Connection, Packet, RateSample, to_bytes, to_f64};
use super::standing_queue::StandingQueue;
use crate::delay_gap::DelayGap;

/// `BBRStartupFullLossCnt`: separate ranges lost in a round that end Startup.
const STARTUP_FULL_LOSS_CNT: u32 = 6;
/// Window gain while a queue stands that is not to be there: a little less than the pipe holds.
const STANDING_QUEUE_CWND_GAIN: f64 = 0.95;
/// What the short-term bounds grow by in a round of ProbeBW_CRUISE without congestion.
const RELAXATION: f64 = 0.02;
/// Rounds after which Drain ends, drained or not.
const DRAIN_ROUNDS: u64 = 3;

/// What is put back when a loss turns out to be none.
#[derive(Clone, Copy, Debug)]
struct Undo {
    state: Option<State>,
    bw_shortterm: f64,
    inflight_shortterm: u64,
    inflight_longterm: u64,
}

/// The model of one path.
#[derive(Clone, Debug)]
pub(super) struct Bbr3 {
    state: State,
    round: Round,
    min_rtt: MinRtt,
    max_bw: f64,
    max_bw_filter: WindowedMax<f64>,
    cycle_count: u64,
    /// The lower of `max_bw` and the short-term bound.
    bw: f64,
    short_term: ShortTermModel,
    inflight_longterm: u64,
    aggregation: AckAggregation,
    full_bw_reached: bool,
    full_bw_now: bool,
    full_bw: f64,
    full_bw_count: u32,
    drain_start_round: u64,
    recovery_start_round: u64,
    ack_phase: AckPhase,
    is_bw_probe_sample: bool,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    idle_restart: bool,
    standing_queue: StandingQueue,
    prior_cwnd: PriorCwnd,
    undo: Undo,
    wait: ProbeWait,
    upward: UpwardProbe,
    gap: BaseGap,
}

impl Model for Bbr3 {
    /// `HandleRestartFromIdle`.
    fn on_transmit(&mut self, c: &mut Connection, now: Instant) {
        if c.inflight == 0 && c.app_limited != 0 {
            self.idle_restart = true;
            self.aggregation.restart(now);
            if self.state.is_probe_bw() {
                set_pacing_rate(c, self.bw, 1.0, self.full_bw_reached);
            } else if self.state == State::ProbeRtt && self.min_rtt.check_done(now) {
                self.exit_probe_rtt(c, now);
            }
        }
    }

    fn update_on_ack(&mut self, c: &mut Connection, rs: &RateSample, now: Instant) {
        // UpdateModelAndState
        self.gap.update(now);
        self.short_term.update_latest_delivery_signals(c, rs);
        self.update_max_bw(c, rs);
        let is_congested = !self.state.is_probing_bw() && self.is_congested(c);
        self.short_term.adapt_lower_bounds(c, self.max_bw, is_congested);
        let may_relax = self.state == State::ProbeBwCruise && !is_congested && self.standing_queue.is_empty();
        if self.round.start && may_relax {
            self.short_term.relax(self.max_bw, RELAXATION);
        }
        self.aggregation
            .update(c, rs, self.bw, &self.round, !self.full_bw_reached, now);
        self.check_full_bw_reached(rs);
        self.check_startup_done(c, rs);
        self.check_drain_done(c, now);
        self.update_probe_bw_cycle_phase(c, rs, now);
        self.update_min_rtt(c, rs, now);
        self.check_probe_rtt(c, rs, now);
        self.short_term.advance_latest_delivery_signals(rs);
        self.bw = self.max_bw.min(self.short_term.bw);
        if rs.exited_recovery {
            self.prior_cwnd.restore(c);
        }
        // UpdateControlParameters
        set_pacing_rate(c, self.bw, self.pacing_gain(), self.full_bw_reached);
        c.send_quantum = send_quantum(c, 2 * c.smss);
        self.set_cwnd(c, rs);
    }

    /// `HandleLostPacket`.
    fn update_on_loss(&mut self, c: &mut Connection, packet: &Packet, now: Instant) {
        // The draft saves at the first loss of each round, and so once more when a loss has just ended a probe,
        // which loses the state to come back to.
        if c.entered_recovery {
            self.recovery_start_round = self.round.count;
            self.save_state_upon_loss(c, false);
        }
        self.short_term.note_loss(c, packet);
        if !self.is_bw_probe_sample {
            return;
        }
        let lost = c.lost.saturating_sub(packet.lost);
        if is_inflight_too_high(lost, packet.tx_in_flight) {
            let inflight = inflight_at_loss(packet, lost);
            self.handle_inflight_too_high(c, inflight, packet.is_app_limited, now);
        }
    }

    fn on_enter_rto(&mut self, c: &mut Connection) {
        self.save_state_upon_loss(c, true);
        c.cwnd = c.inflight + c.smss;
    }

    /// `HandleSpuriousLossDetection`.
    fn on_spurious_loss(&mut self, c: &mut Connection) {
        self.prior_cwnd.restore(c);
        self.short_term.forget_losses();
        self.reset_full_bw(0.0);
        self.short_term.bw = self.short_term.bw.max(self.undo.bw_shortterm);
        self.short_term.inflight = self.short_term.inflight.max(self.undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo.inflight_longterm);
        match self.undo.state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::ProbeBwUp) if !matches!(self.state, State::ProbeBwUp | State::ProbeRtt) => {
                self.start_probe_bw_refill(c);
            }
            _ => {}
        }
    }

    fn bw(&self) -> f64 {
        self.bw
    }
}

impl Bbr3 {
    /// `OnInit`.
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
            short_term: ShortTermModel::default(),
            inflight_longterm: UNBOUNDED,
            aggregation: AckAggregation::new(now),
            full_bw_reached: false,
            full_bw_now: false,
            full_bw: 0.0,
            full_bw_count: 0,
            drain_start_round: 0,
            recovery_start_round: 0,
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            idle_restart: false,
            standing_queue: StandingQueue::default(),
            prior_cwnd: PriorCwnd::default(),
            undo: Undo {
                state: None,
                bw_shortterm: 0.0,
                inflight_shortterm: 0,
                inflight_longterm: 0,
            },
            wait: ProbeWait::new(rng, now),
            upward: UpwardProbe::new(),
            gap: BaseGap::new(gap, now),
        }
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::ProbeBwCruise if self.standing_queue.is_to_be_drained() => {
                State::ProbeBwDown.pacing_gain()
            }
            state => state.pacing_gain(),
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::ProbeBwUp => 2.25,
            State::ProbeRtt => 0.5,
            State::ProbeBwDown | State::ProbeBwCruise if self.standing_queue.is_to_be_drained() => {
                STANDING_QUEUE_CWND_GAIN
            }
            _ => 2.0,
        }
    }

    /// Whether this round's losses are more than a probe would tolerate, or a queue stands.
    fn is_congested(&self, c: &Connection) -> bool {
        self.short_term.loss_rate_in_round(c) > LOSS_THRESH
            || self.state == State::ProbeBwCruise && self.standing_queue.is_to_be_drained()
    }

    fn update_max_bw(&mut self, c: &mut Connection, rs: &RateSample) {
        self.round.update(c, rs);
        if self.round.start {
            self.wait.start_round();
        }
        let least = self.min_rtt.min_rtt.map(|min_rtt| min_rtt + self.hold(c));
        self.standing_queue.update(rs, self.round.start, least);
        if rs.delivery_rate > 0.0 && (rs.delivery_rate >= self.max_bw || !rs.is_app_limited) {
            self.max_bw = self
                .max_bw_filter
                .update(rs.delivery_rate, self.cycle_count, MAX_BW_FILTER_LEN);
        }
    }

    fn reset_full_bw(&mut self, baseline: f64) {
        self.full_bw = baseline;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    fn check_full_bw_reached(&mut self, rs: &RateSample) {
        if self.full_bw_now || !self.round.start || rs.is_app_limited {
            return;
        }
        if rs.delivery_rate >= self.full_bw * 1.25 {
            self.reset_full_bw(rs.delivery_rate);
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= 3;
        self.full_bw_reached |= self.full_bw_now;
    }

    fn check_startup_done(&mut self, c: &Connection, rs: &RateSample) {
        self.check_startup_high_loss(c, rs);
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
            self.drain_start_round = self.round.count;
        }
    }

    /// `CheckStartupHighLoss`, §5.3.1.3: a round in recovery, more than two percent lost, six ranges.
    fn check_startup_high_loss(&mut self, c: &Connection, rs: &RateSample) {
        let is_high = self.state == State::Startup
            && self.short_term.loss_round_start
            && c.in_recovery()
            && self.round.count > self.recovery_start_round
            && self.short_term.loss_events_in_round >= STARTUP_FULL_LOSS_CNT
            && is_inflight_too_high(rs.lost, rs.tx_in_flight);
        if is_high && !self.full_bw_reached {
            self.undo.state = Some(State::Startup);
            self.full_bw_reached = true;
            self.inflight_longterm = self
                .bdp_multiple(c, self.bw, 1.0)
                .max(self.short_term.inflight_latest);
        }
    }

    fn check_drain_done(&mut self, c: &Connection, now: Instant) {
        if self.state == State::Drain
            && (c.inflight <= self.inflight(c, self.bw, 1.0)
                || self.round.count > self.drain_start_round + DRAIN_ROUNDS)
        {
            self.start_probe_bw_down(c, now);
        }
    }

    fn start_probe_bw_down(&mut self, c: &Connection, now: Instant) {
        self.short_term.reset_congestion_signals();
        self.wait.pick(now);
        self.ack_phase = AckPhase::ProbeStopping;
        self.round.begin(c);
        self.state = State::ProbeBwDown;
    }

    fn start_probe_bw_refill(&mut self, c: &Connection) {
        self.short_term.reset();
        self.upward = UpwardProbe::new();
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.round.begin(c);
        self.state = State::ProbeBwRefill;
    }

    fn start_probe_bw_up(&mut self, c: &Connection, rs: &RateSample) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.round.begin(c);
        self.reset_full_bw(rs.delivery_rate);
        self.state = State::ProbeBwUp;
        self.upward.raise_slope(c);
    }

    fn update_probe_bw_cycle_phase(&mut self, c: &mut Connection, rs: &RateSample, now: Instant) {
        if !self.full_bw_reached || self.adapt_long_term_model(c, rs) {
            return;
        }
        match self.state {
            State::ProbeBwDown if self.wait.is_over(c, self.target_inflight(c), now) => {
                self.start_probe_bw_refill(c)
            }
            State::ProbeBwDown if self.is_time_to_cruise(c) => self.state = State::ProbeBwCruise,
            State::ProbeBwCruise if self.wait.is_over(c, self.target_inflight(c), now) => {
                self.start_probe_bw_refill(c)
            }
            State::ProbeBwRefill if self.round.start => {
                self.is_bw_probe_sample = true;
                self.start_probe_bw_up(c, rs);
            }
            State::ProbeBwUp => self.check_time_to_go_down(c, rs, now),
            _ => {}
        }
    }

    fn target_inflight(&self, c: &Connection) -> u64 {
        self.bdp_multiple(c, self.bw, 1.0).min(c.cwnd)
    }

    fn is_time_to_cruise(&self, c: &Connection) -> bool {
        c.inflight <= inflight_with_headroom(c, self.inflight_longterm)
            && c.inflight <= self.inflight(c, self.max_bw, 1.0)
    }

    fn is_time_to_go_down(&mut self, c: &Connection, rs: &RateSample) -> bool {
        if self.standing_queue.is_to_be_drained() {
            return true;
        }
        if self.prev_probe_too_high && c.inflight >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if c.is_cwnd_limited() && c.cwnd >= self.inflight_longterm {
            // The bandwidth is held down by the bound, which is about to be raised.
            self.reset_full_bw(rs.delivery_rate);
            return false;
        }
        self.full_bw_now
    }

    fn check_time_to_go_down(&mut self, c: &Connection, rs: &RateSample, now: Instant) {
        if self.is_time_to_go_down(c, rs) {
            self.prev_probe_too_high = false;
            self.start_probe_bw_down(c, now);
        }
    }

    /// `AdaptLongTermModel`; true when it decided a change of state.
    fn adapt_long_term_model(&mut self, c: &Connection, rs: &RateSample) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.round.start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round.start {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() {
                if !rs.is_app_limited {
                    self.cycle_count += 1;
                }
                if self.prev_probe_precautionary && !self.prev_probe_too_high {
                    self.start_probe_bw_refill(c);
                    return true;
                }
            }
        }
        if self.inflight_longterm != UNBOUNDED && !is_inflight_too_high(rs.lost, rs.tx_in_flight) {
            self.inflight_longterm = self.inflight_longterm.max(rs.tx_in_flight);
            if self.state == State::ProbeBwUp {
                self.upward
                    .raise(c, rs, self.round.start, &mut self.inflight_longterm);
            }
        }
        false
    }

    fn handle_inflight_too_high(
        &mut self,
        c: &Connection,
        inflight: u64,
        is_app_limited: bool,
        now: Instant,
    ) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !is_app_limited {
            self.inflight_longterm = inflight.max(to_bytes(to_f64(self.target_inflight(c)) * BETA));
        }
        if self.state == State::ProbeBwUp {
            self.undo.state = Some(State::ProbeBwUp);
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
        self.short_term.reset();
        if self.full_bw_reached {
            self.start_probe_bw_down(c, now);
            self.state = State::ProbeBwCruise;
        } else {
            self.state = State::Startup;
        }
    }

    fn hold(&self, c: &Connection) -> Duration {
        self.gap.hold(self.bw, c.smss)
    }

    fn bdp_multiple(&self, c: &Connection, bw: f64, gain: f64) -> u64 {
        match self.min_rtt.min_rtt {
            Some(min_rtt) => bdp_multiple(bw, min_rtt, gain, self.hold(c)),
            None => c.initial_cwnd,
        }
    }

    /// `Inflight`.
    fn inflight(&self, c: &Connection, bw: f64, gain: f64) -> u64 {
        self.state.quantization_budget(c, self.bdp_multiple(c, bw, gain))
    }

    fn probe_rtt_cwnd(&self, c: &Connection) -> u64 {
        self.bdp_multiple(c, self.bw, 0.5).max(min_pipe_cwnd(c))
    }

    fn set_cwnd(&self, c: &mut Connection, rs: &RateSample) {
        let cap = self.bdp_multiple(c, self.bw, self.cwnd_gain())
            + self.aggregation.beyond_hold(self.bw, self.hold(c));
        let max_inflight = self.state.quantization_budget(c, cap);
        grow_cwnd(c, rs, max_inflight, self.full_bw_reached);
        if self.state == State::ProbeRtt {
            c.cwnd = c.cwnd.min(self.probe_rtt_cwnd(c));
        }
        self.state
            .bound_cwnd(c, self.inflight_longterm, self.short_term.inflight);
    }

    fn save_state_upon_loss(&mut self, c: &Connection, in_recovery: bool) {
        self.prior_cwnd
            .save(c, in_recovery || self.state == State::ProbeRtt);
        self.undo = Undo {
            state: None,
            bw_shortterm: self.short_term.bw,
            inflight_shortterm: self.short_term.inflight,
            inflight_longterm: self.inflight_longterm,
        };
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

    fn path() -> IdealPath<Bbr3> {
        let rng = Xoshiro256PlusPlus::seed_from_u64(1);
        IdealPath::new(RATE, RTT, |c, now| Bbr3::new(c, DelayGap::default(), rng, now))
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
            path.model.inflight_longterm <= path.bdp() * 2,
            "{}",
            path.model.inflight_longterm
        );
        path.run_until(SECOND, |p| p.model.state == State::ProbeBwCruise);
        let headroom = inflight_with_headroom(&path.c, path.model.inflight_longterm);
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

    #[test]
    fn a_probe_stopped_by_losses_that_were_none_is_taken_up_again() {
        let mut path = path();
        assert!(path.run_until(8 * SECOND, |p| p.model.state == State::ProbeBwUp));
        path.run(RTT);
        path.lose(10);
        assert_eq!(path.model.state, State::ProbeBwDown);
        path.model.on_spurious_loss(&mut path.c);
        assert_eq!(path.model.state, State::ProbeBwRefill);
        assert_eq!(path.model.inflight_longterm, UNBOUNDED);
    }

    #[test]
    fn what_the_far_end_holds_back_widens_the_window() {
        let gap = DelayGap::default();
        let rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut path = IdealPath::new(RATE, RTT, |c, now| Bbr3::new(c, gap.clone(), rng, now));
        path.run(2 * SECOND);
        let without = path.model.bdp_multiple(&path.c, RATE, 2.0);
        gap.set(2 * RTT);
        path.run(RTT);
        // 100 packets of 1,000 bytes, one round trip, may run ahead.
        let with = path.model.bdp_multiple(&path.c, RATE, 2.0);
        assert!(
            (with - without).abs_diff(path.bdp()) < path.bdp() / 10,
            "{without} {with}"
        );
    }

    #[test]
    fn a_queue_that_others_build_is_given_way_to_and_what_they_leave_is_taken_again() {
        let mut path = path();
        path.run_until(4 * SECOND, |p| p.model.state == State::ProbeBwCruise);
        path.run(2 * RTT);
        // The path carries a third less: a queue would stand, were it not drained.
        path.rate = RATE * 2.0 / 3.0;
        path.run_until(SECOND / 2, |p| p.model.bw < RATE * 0.7);
        assert!(path.run_until(SECOND / 2, |p| p.c.inflight <= p.bdp() * 11 / 10));
        path.rate = RATE;
        assert!(
            path.run_until(SECOND, |p| p.model.bw > RATE * 0.9),
            "{}",
            path.model.bw
        );
    }
}
