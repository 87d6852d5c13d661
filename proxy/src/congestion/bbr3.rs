//! BBRv3: draft-ietf-ccwg-bbr (the text of revision 06 and the working group's draft after it).
//!
//! Departures, each measured beside a CUBIC flow and alone under random loss (100 Mbit/s, RTT 10 ms):
//!
//! - The draft cuts the short-term bounds after every round with a loss. Here a round counts as congested when it
//!   lost more than `BBR.LossThresh`, as in a probe, or when a queue stood throughout it in ProbeBW_CRUISE. Sparse
//!   random losses then cost little (2 %: 57 Mbit/s instead of 49), and a loss-based flow that shares the
//!   bottleneck is noticed though nothing is lost.
//! - While a queue stands, the window in ProbeBW_DOWN and ProbeBW_CRUISE is a little less than the
//!   bandwidth-delay product instead of twice that, and a probe (ProbeBW_UP) ends. Of what a CUBIC flow gets alone
//!   at 0.1 % loss it keeps 87 % instead of 60 %. The price: a CUBIC flow that keeps the queue full, without
//!   random loss, leaves this one a small share.
//! - The bandwidth-delay product includes the delay gap between the paths, see [`bdp_multiple`].
//! - The offload budget is one send quantum, as for QUIC without ACK_FREQUENCY.

use std::time::{Duration, Instant};

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::filter::WindowedMax;
use super::loss_model::{
    BETA, LOSS_THRESH, ShortTermModel, UNBOUNDED, inflight_at_loss, inflight_with_headroom,
    is_inflight_too_high,
};
use super::model::{
    AckAggregation, Model, PriorCwnd, Round, bdp_multiple, min_pipe_cwnd, send_quantum, set_pacing_rate,
};
use super::probe_rtt::{MinRtt, StandingQueue};
use super::rate_sample::{Connection, Packet, RateSample, to_bytes, to_f64};
use crate::delay_gap::DelayGap;

/// `BBR.StartupPacingGain`: 4·ln(2), the least gain that doubles the rate each round.
const STARTUP_PACING_GAIN: f64 = 2.77;
/// `BBR.MaxBwFilterLen`, bandwidth-probing cycles.
const MAX_BW_FILTER_LEN: u64 = 2;
/// `BBRStartupFullLossCnt`: separate ranges lost in a round that end Startup.
const STARTUP_FULL_LOSS_CNT: u32 = 6;
/// Window gain while a queue stands that is not to be there: a little less than the pipe holds.
const STANDING_QUEUE_CWND_GAIN: f64 = 0.95;
/// Rounds after which Drain ends, drained or not.
const DRAIN_ROUNDS: u64 = 3;
/// Rounds between probes that leave Reno and CUBIC flows of up to this many packets in flight their share.
const RENO_ROUNDS: u64 = 63;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBwDown,
    ProbeBwCruise,
    ProbeBwRefill,
    ProbeBwUp,
    ProbeRtt,
}

/// What the acknowledgments of now say about the bandwidth probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

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
    bw_probe_up_acked: u64,
    probe_up_acked_per_inc: u64,
    bw_probe_up_rounds: u32,
    rounds_since_probe_up: u64,
    bw_probe_wait: Duration,
    cycle_stamp: Instant,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    idle_restart: bool,
    standing_queue: StandingQueue,
    prior_cwnd: PriorCwnd,
    undo: Undo,
    gap: DelayGap,
    rng: Xoshiro256PlusPlus,
}

impl Model for Bbr3 {
    /// `HandleRestartFromIdle`.
    fn on_transmit(&mut self, c: &mut Connection, now: Instant) {
        if c.inflight == 0 && c.app_limited != 0 {
            self.idle_restart = true;
            self.aggregation.restart(now);
            if self.is_in_a_probe_bw_state() {
                set_pacing_rate(c, self.bw, 1.0, self.full_bw_reached);
            } else if self.state == State::ProbeRtt && self.min_rtt.check_done(now) {
                self.exit_probe_rtt(c, now);
            }
        }
    }

    fn update_on_ack(&mut self, c: &mut Connection, rs: &RateSample, now: Instant) {
        // UpdateModelAndState
        self.short_term.update_latest_delivery_signals(c, rs);
        self.update_max_bw(c, rs);
        let is_congested = !self.is_probing_bw() && self.is_congested(c);
        self.short_term.adapt_lower_bounds(c, self.max_bw, is_congested);
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
            bw_probe_up_acked: 0,
            probe_up_acked_per_inc: UNBOUNDED,
            bw_probe_up_rounds: 0,
            rounds_since_probe_up: 0,
            bw_probe_wait: Duration::ZERO,
            cycle_stamp: now,
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
            gap,
            rng,
        }
    }

    /// The table of §5.6.1.
    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => STARTUP_PACING_GAIN,
            State::Drain => 0.5,
            State::ProbeBwDown => 0.9,
            State::ProbeBwUp => 1.25,
            State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::ProbeBwUp => 2.25,
            State::ProbeRtt => 0.5,
            State::ProbeBwDown | State::ProbeBwCruise
                if self.standing_queue.is_there(&self.min_rtt, self.gap.get()) =>
            {
                STANDING_QUEUE_CWND_GAIN
            }
            _ => 2.0,
        }
    }

    /// Whether this round's losses are more than a probe would tolerate, or a queue stands.
    fn is_congested(&self, c: &Connection) -> bool {
        self.short_term.loss_rate_in_round(c) > LOSS_THRESH
            || self.state == State::ProbeBwCruise
                && self.standing_queue.is_there(&self.min_rtt, self.gap.get())
    }

    fn update_max_bw(&mut self, c: &mut Connection, rs: &RateSample) {
        self.round.update(c, rs);
        if self.round.start {
            self.rounds_since_probe_up += 1;
        }
        self.standing_queue.update(rs, self.round.start);
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

    fn is_in_a_probe_bw_state(&self) -> bool {
        matches!(
            self.state,
            State::ProbeBwDown | State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeBwUp
        )
    }

    fn is_probing_bw(&self) -> bool {
        matches!(
            self.state,
            State::Startup | State::ProbeBwRefill | State::ProbeBwUp
        )
    }

    fn start_probe_bw_down(&mut self, c: &Connection, now: Instant) {
        self.short_term.reset_congestion_signals();
        self.probe_up_acked_per_inc = UNBOUNDED;
        // PickProbeWait
        self.rounds_since_probe_up = self.rng.random_range(0..2);
        self.bw_probe_wait = Duration::from_secs_f64(2.0 + self.rng.random::<f64>());
        self.cycle_stamp = now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.round.begin(c);
        self.state = State::ProbeBwDown;
    }

    fn start_probe_bw_refill(&mut self, c: &Connection) {
        self.short_term.reset();
        self.bw_probe_up_rounds = 0;
        self.bw_probe_up_acked = 0;
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
        self.raise_inflight_longterm_slope(c);
    }

    fn update_probe_bw_cycle_phase(&mut self, c: &mut Connection, rs: &RateSample, now: Instant) {
        if !self.full_bw_reached || self.adapt_long_term_model(c, rs) {
            return;
        }
        match self.state {
            State::ProbeBwDown if self.is_time_to_probe_bw(c, now) => self.start_probe_bw_refill(c),
            State::ProbeBwDown if self.is_time_to_cruise(c) => self.state = State::ProbeBwCruise,
            State::ProbeBwCruise if self.is_time_to_probe_bw(c, now) => self.start_probe_bw_refill(c),
            State::ProbeBwRefill if self.round.start => {
                self.is_bw_probe_sample = true;
                self.start_probe_bw_up(c, rs);
            }
            State::ProbeBwUp => self.check_time_to_go_down(c, rs, now),
            _ => {}
        }
    }

    fn is_time_to_probe_bw(&self, c: &Connection, now: Instant) -> bool {
        now > self.cycle_stamp + self.bw_probe_wait || self.is_reno_coexistence_probe_time(c)
    }

    /// As many rounds as a Reno flow of this volume takes to make good a loss.
    fn is_reno_coexistence_probe_time(&self, c: &Connection) -> bool {
        let reno_rounds = self.target_inflight(c) / c.smss;
        self.rounds_since_probe_up >= reno_rounds.min(RENO_ROUNDS)
    }

    fn target_inflight(&self, c: &Connection) -> u64 {
        self.bdp_multiple(c, self.bw, 1.0).min(c.cwnd)
    }

    fn is_time_to_cruise(&self, c: &Connection) -> bool {
        c.inflight <= inflight_with_headroom(c, self.inflight_longterm)
            && c.inflight <= self.inflight(c, self.max_bw, 1.0)
    }

    fn is_time_to_go_down(&mut self, c: &Connection, rs: &RateSample) -> bool {
        if self.standing_queue.is_there(&self.min_rtt, self.gap.get()) {
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

    fn raise_inflight_longterm_slope(&mut self, c: &Connection) {
        let growth_this_round = 1 << self.bw_probe_up_rounds;
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_inc = (c.cwnd / growth_this_round).max(c.smss);
    }

    fn probe_inflight_longterm_upward(&mut self, c: &Connection, rs: &RateSample) {
        if !c.is_cwnd_limited() || c.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += rs.newly_acked;
        let delta = self.bw_probe_up_acked / self.probe_up_acked_per_inc;
        self.bw_probe_up_acked -= delta * self.probe_up_acked_per_inc;
        self.inflight_longterm = self.inflight_longterm.saturating_add(delta * c.smss);
        if self.round.start {
            self.raise_inflight_longterm_slope(c);
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
            if self.is_in_a_probe_bw_state() {
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
                self.probe_inflight_longterm_upward(c, rs);
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

    fn bdp_multiple(&self, c: &Connection, bw: f64, gain: f64) -> u64 {
        match self.min_rtt.min_rtt {
            Some(min_rtt) => bdp_multiple(bw, min_rtt, gain, self.gap.get()),
            None => c.initial_cwnd,
        }
    }

    fn quantization_budget(&self, c: &Connection, inflight_cap: u64) -> u64 {
        let cap = inflight_cap.max(c.send_quantum).max(min_pipe_cwnd(c));
        if self.state == State::ProbeBwUp {
            cap + 2 * c.smss
        } else {
            cap
        }
    }

    /// `Inflight`.
    fn inflight(&self, c: &Connection, bw: f64, gain: f64) -> u64 {
        self.quantization_budget(c, self.bdp_multiple(c, bw, gain))
    }

    fn probe_rtt_cwnd(&self, c: &Connection) -> u64 {
        self.bdp_multiple(c, self.bw, 0.5).max(min_pipe_cwnd(c))
    }

    fn set_cwnd(&self, c: &mut Connection, rs: &RateSample) {
        let cap = self.bdp_multiple(c, self.bw, self.cwnd_gain())
            + self.aggregation.beyond_gap(self.bw, self.gap.get());
        let max_inflight = self.quantization_budget(c, cap);
        if self.full_bw_reached {
            c.cwnd = (c.cwnd + rs.newly_acked).min(max_inflight);
        } else if c.cwnd < max_inflight || c.delivered < c.initial_cwnd {
            c.cwnd += rs.newly_acked;
        }
        c.cwnd = c.cwnd.max(min_pipe_cwnd(c));
        if self.state == State::ProbeRtt {
            c.cwnd = c.cwnd.min(self.probe_rtt_cwnd(c));
        }
        self.bound_cwnd_for_model(c);
    }

    fn bound_cwnd_for_model(&self, c: &mut Connection) {
        let cap = match self.state {
            State::ProbeBwDown | State::ProbeBwRefill | State::ProbeBwUp => self.inflight_longterm,
            State::ProbeBwCruise | State::ProbeRtt => inflight_with_headroom(c, self.inflight_longterm),
            State::Startup | State::Drain => UNBOUNDED,
        };
        c.cwnd = c
            .cwnd
            .min(cap.min(self.short_term.inflight).max(min_pipe_cwnd(c)));
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

    fn knows_the_bandwidth(path: &IdealPath<Bbr3>) -> bool {
        (path.model.bw() / RATE - 1.0).abs() < 0.05
    }

    #[test]
    fn startup_fills_the_pipe_and_drain_empties_the_queue() {
        let mut path = path();
        assert!(path.run_until(SECOND, |p| p.model.state == State::Drain));
        assert!(knows_the_bandwidth(&path), "{}", path.model.bw());
        assert!(path.c.inflight > path.bdp(), "a queue was built");
        assert!(path.run_until(SECOND, |p| p.model.is_in_a_probe_bw_state()));
        assert!(path.c.inflight <= path.bdp() + 10_000);
    }

    #[test]
    fn an_application_with_little_to_send_is_paced_all_the_same() {
        let mut path = path();
        path.run_until(SECOND, |p| p.c.delivered > 0);
        path.has_data = false;
        path.run(SECOND);
        let unpaced = to_f64(path.c.initial_cwnd) / 0.001;
        assert!(
            path.c.pacing_rate < unpaced / 5.0,
            "{} bytes/s",
            path.c.pacing_rate
        );
        assert_eq!(path.model.state, State::Startup);
    }

    #[test]
    fn a_path_that_grows_faster_is_found_out() {
        let mut path = path();
        path.run(2 * SECOND);
        path.rate = 2.0 * RATE;
        assert!(
            path.run_until(8 * SECOND, |p| p.model.bw() > 1.8 * RATE),
            "{}",
            path.model.bw()
        );
    }

    #[test]
    fn persistent_congestion_leaves_one_packet_more_than_is_in_flight() {
        let mut path = path();
        path.run(SECOND);
        path.model.on_enter_rto(&mut path.c);
        assert_eq!(path.c.cwnd, path.c.inflight + path.c.smss);
        let before = path.c.cwnd;
        path.run(SECOND);
        assert!(path.c.cwnd > before, "and it recovers");
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
    fn the_delay_gap_widens_the_window() {
        let mut path = path();
        path.run(2 * SECOND);
        let without = path.model.bdp_multiple(&path.c, RATE, 2.0);
        path.model.gap.set(RTT);
        assert_eq!(path.model.bdp_multiple(&path.c, RATE, 2.0), without + path.bdp());
    }
}
