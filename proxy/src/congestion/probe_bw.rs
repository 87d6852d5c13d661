//! The cycle of bandwidth probes that BBRv2 and BBRv3 share: its states, when a probe is due, how it raises the
//! long-term bound on what is in flight, and the window that comes of it.
//!
//! draft-ietf-ccwg-bbr §5.3.3 and §5.6; BBRv2's draft has the same in §4.3.3 and §4.6.

use std::time::{Duration, Instant};

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::loss_model::{UNBOUNDED, inflight_with_headroom};
use super::model::min_pipe_cwnd;
use super::rate_sample::{Connection, RateSample};

/// `BBRStartupPacingGain`: 4·ln(2), the least gain that doubles the rate each round.
pub(super) const STARTUP_PACING_GAIN: f64 = 2.77;
/// `MaxBwFilterLen`, bandwidth-probing cycles.
pub(super) const MAX_BW_FILTER_LEN: u64 = 2;
/// Rounds between probes that leave Reno and CUBIC flows of up to this many packets in flight their share.
const RENO_ROUNDS: u64 = 63;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Startup,
    Drain,
    ProbeBwDown,
    ProbeBwCruise,
    ProbeBwRefill,
    ProbeBwUp,
    ProbeRtt,
}

impl State {
    /// `IsInAProbeBWState`.
    pub(super) fn is_probe_bw(self) -> bool {
        matches!(
            self,
            State::ProbeBwDown | State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeBwUp
        )
    }

    /// `IsProbingBW`: losses are the price of what is learnt.
    pub(super) fn is_probing_bw(self) -> bool {
        matches!(self, State::Startup | State::ProbeBwRefill | State::ProbeBwUp)
    }

    /// The table of §5.6.1.
    pub(super) fn pacing_gain(self) -> f64 {
        match self {
            State::Startup => STARTUP_PACING_GAIN,
            State::Drain => 0.5,
            State::ProbeBwDown => 0.9,
            State::ProbeBwUp => 1.25,
            State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeRtt => 1.0,
        }
    }

    /// `QuantizationBudget`.
    pub(super) fn quantization_budget(self, c: &Connection, inflight_cap: u64) -> u64 {
        let cap = inflight_cap.max(c.send_quantum).max(min_pipe_cwnd(c));
        if self == State::ProbeBwUp {
            cap + 2 * c.smss
        } else {
            cap
        }
    }

    /// `BoundCwndForModel`: the least of the window and of what losses taught, for ever and for now.
    pub(super) fn bound_cwnd(self, c: &mut Connection, longterm: u64, shortterm: u64) {
        let cap = match self {
            State::ProbeBwDown | State::ProbeBwRefill | State::ProbeBwUp => longterm,
            State::ProbeBwCruise | State::ProbeRtt => inflight_with_headroom(c, longterm),
            State::Startup | State::Drain => UNBOUNDED,
        };
        c.cwnd = c.cwnd.min(cap.min(shortterm).max(min_pipe_cwnd(c)));
    }
}

/// What the acknowledgments of now say about the bandwidth probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// `BBR.bw_probe_wait` and `BBR.rounds_since_probe_up`: how long ago the last probe was, and when the next is due.
#[derive(Clone, Debug)]
pub(super) struct ProbeWait {
    /// When the phase began that is timed.
    pub(super) cycle_stamp: Instant,
    rounds: u64,
    wait: Duration,
    rng: Xoshiro256PlusPlus,
}

impl ProbeWait {
    pub(super) fn new(rng: Xoshiro256PlusPlus, now: Instant) -> Self {
        Self {
            cycle_stamp: now,
            rounds: 0,
            wait: Duration::ZERO,
            rng,
        }
    }

    /// `PickProbeWait`: two to three seconds from now, so that flows do not probe in step.
    pub(super) fn pick(&mut self, now: Instant) {
        self.rounds = self.rng.random_range(0..2);
        self.wait = Duration::from_secs_f64(2.0 + self.rng.random::<f64>());
        self.cycle_stamp = now;
    }

    /// A round trip has begun.
    pub(super) fn start_round(&mut self) {
        self.rounds += 1;
    }

    /// `IsTimeToProbeBW`: the wait is over, or as many rounds as a Reno flow of `target_inflight` bytes takes to make
    /// good a loss.
    pub(super) fn is_over(&self, c: &Connection, target_inflight: u64, now: Instant) -> bool {
        now > self.cycle_stamp + self.wait || self.rounds >= (target_inflight / c.smss).min(RENO_ROUNDS)
    }
}

/// How a probe raises the long-term bound: by one packet a round at first, and twice as many each round.
#[derive(Clone, Debug)]
pub(super) struct UpwardProbe {
    acked: u64,
    acked_per_packet: u64,
    rounds: u32,
}

impl UpwardProbe {
    pub(super) fn new() -> Self {
        Self {
            acked: 0,
            acked_per_packet: UNBOUNDED,
            rounds: 0,
        }
    }

    /// `RaiseInflightLongtermSlope`.
    pub(super) fn raise_slope(&mut self, c: &Connection) {
        let growth_this_round = 1 << self.rounds;
        self.rounds = (self.rounds + 1).min(30);
        self.acked_per_packet = (c.cwnd / growth_this_round).max(c.smss);
    }

    /// `ProbeInflightLongtermUpward`: raises `bound`, if it is what holds the flow back.
    pub(super) fn raise(&mut self, c: &Connection, rs: &RateSample, round_start: bool, bound: &mut u64) {
        if !c.is_cwnd_limited() || c.cwnd < *bound {
            return;
        }
        self.acked += rs.newly_acked;
        let packets = self.acked / self.acked_per_packet;
        self.acked -= packets * self.acked_per_packet;
        *bound = bound.saturating_add(packets * c.smss);
        if round_start {
            self.raise_slope(c);
        }
    }
}

/// `SetCwnd` before the bounds: by what was acknowledged, up to `max_inflight` once the pipe is known to be full.
pub(super) fn grow_cwnd(c: &mut Connection, rs: &RateSample, max_inflight: u64, is_pipe_full: bool) {
    if is_pipe_full {
        c.cwnd = (c.cwnd + rs.newly_acked).min(max_inflight);
    } else if c.cwnd < max_inflight || c.delivered < c.initial_cwnd {
        c.cwnd += rs.newly_acked;
    }
    c.cwnd = c.cwnd.max(min_pipe_cwnd(c));
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_probe_is_due_after_two_to_three_seconds_or_a_reno_flows_rounds() {
        let now = Instant::now();
        let c = Connection::new(now, 1000);
        let mut wait = ProbeWait::new(Xoshiro256PlusPlus::seed_from_u64(1), now);
        wait.pick(now);
        assert!(!wait.is_over(&c, 1_000_000, now + 2 * SECOND));
        assert!(wait.is_over(&c, 1_000_000, now + 3 * SECOND));
        for _ in 0..RENO_ROUNDS - 2 {
            wait.start_round();
        }
        assert!(!wait.is_over(&c, 1_000_000, now));
        assert!(wait.is_over(&c, 61_000, now), "a flow of 61 packets");
        wait.start_round();
        wait.start_round();
        assert!(wait.is_over(&c, 1_000_000, now), "any flow");
    }

    #[test]
    fn a_probe_raises_the_bound_by_twice_as_much_each_round() {
        let mut c = Connection::new(Instant::now(), 1000);
        c.cwnd = 64_000;
        c.on_cwnd_limited();
        let mut bound = 64_000;
        let mut probe = UpwardProbe::new();
        probe.raise_slope(&c);
        let acked = RateSample {
            newly_acked: 64_000,
            ..RateSample::default()
        };
        let mut raised = Vec::new();
        for _ in 0..3 {
            bound = c.cwnd;
            probe.raise(&c, &acked, true, &mut bound);
            raised.push(bound - c.cwnd);
        }
        assert_eq!(raised, [1000, 2000, 4000]);
        c.cwnd = bound - 1;
        probe.raise(&c, &acked, true, &mut bound);
        assert_eq!(bound, 68_000, "the window is what holds the flow back");
    }
}
