//! CUBIC, RFC 9438, with HyStart++ (RFC 9406) in slow start. The names are the RFC's; windows are in bytes.

use std::any::Any;
use std::time::{Duration, Instant};

use noq::congestion::{Controller, ControllerMetrics};
use noq_proto::RttEstimator;

use super::hystart::{HyStart, Phase};
use super::rate_sample::{initial_window, to_bytes, to_f64};

/// β_cubic, §4.6.
const BETA: f64 = 0.7;
/// C, segments per second³, §5.1.
const C: f64 = 0.4;
/// α_cubic in the Reno-friendly region, §4.3.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// The controller of one path.
#[derive(Clone, Debug)]
pub(super) struct Cubic {
    smss: u64,
    initial_cwnd: u64,
    state: State,
    hystart: HyStart,
    /// When the last congestion event was; what was sent before it belongs to it.
    recovery_start: Option<Instant>,
    undo: Option<Undo>,
    /// Send time of the newest packet of the acknowledgment being read.
    newest_sent: Option<Instant>,
    /// Since when the application, not the window, sets the pace.
    app_limited_since: Option<Instant>,
    rtt: Duration,
}

/// What a spurious congestion event puts back, §4.9.2.
#[derive(Clone, Debug)]
struct State {
    cwnd: f64,
    ssthresh: f64,
    w_max: f64,
    /// Window when congestion was last seen; beyond it Reno's own slope applies.
    cwnd_prior: f64,
    k: f64,
    w_est: f64,
    epoch_start: Option<Instant>,
}

/// The state before a congestion event that may turn out to be none.
#[derive(Clone, Debug)]
struct Undo {
    state: State,
    recovery_start: Option<Instant>,
    at: Instant,
}

impl Cubic {
    /// A controller of a path that starts with datagrams of `mtu` bytes.
    pub(super) fn new(mtu: u16) -> Self {
        let initial_cwnd = initial_window(mtu);
        Self {
            smss: mtu.into(),
            initial_cwnd,
            state: State {
                cwnd: to_f64(initial_cwnd),
                ssthresh: f64::INFINITY,
                w_max: 0.0,
                cwnd_prior: 0.0,
                k: 0.0,
                w_est: 0.0,
                epoch_start: None,
            },
            hystart: HyStart::default(),
            recovery_start: None,
            undo: None,
            newest_sent: None,
            app_limited_since: None,
            rtt: Duration::ZERO,
        }
    }

    /// W_cubic(t), §4.2 figure 1.
    fn w_cubic(&self, t: f64) -> f64 {
        C * (t - self.state.k).powi(3) * to_f64(self.smss) + self.state.w_max
    }

    fn minimum_window(&self) -> f64 {
        to_f64(2 * self.smss)
    }

    /// Congestion avoidance, §4.2 to §4.5, for `acked` bytes.
    fn avoid_congestion(&mut self, now: Instant, acked: f64) {
        let epoch_start = match self.state.epoch_start {
            Some(start) => start,
            None => {
                self.begin_epoch(now);
                now
            }
        };
        let t = now.saturating_duration_since(epoch_start).as_secs_f64();
        let target = self
            .w_cubic(t + self.rtt.as_secs_f64())
            .clamp(self.state.cwnd, 1.5 * self.state.cwnd);

        let alpha = if self.state.w_est < self.state.cwnd_prior {
            ALPHA
        } else {
            1.0
        };
        self.state.w_est += alpha * to_f64(self.smss) * acked / self.state.cwnd;

        if self.w_cubic(t) < self.state.w_est {
            self.state.cwnd = self.state.cwnd.max(self.state.w_est);
        } else {
            self.state.cwnd += (target - self.state.cwnd) * acked / self.state.cwnd;
        }
    }

    fn begin_epoch(&mut self, now: Instant) {
        let state = &mut self.state;
        state.epoch_start = Some(now);
        state.w_est = state.cwnd;
        if state.cwnd < state.w_max {
            state.k = ((state.w_max - state.cwnd) / to_f64(self.smss) / C).cbrt();
        } else {
            state.k = 0.0;
            state.w_max = state.cwnd;
        }
    }

    /// The time in which the application was idle is no time of growth, §5.8.
    fn end_app_limited(&mut self, now: Instant) {
        let Some(since) = self.app_limited_since.take() else {
            return;
        };
        if let Some(start) = &mut self.state.epoch_start {
            *start += now.saturating_duration_since(since);
        }
    }

    /// §4.6, with the fast convergence of §4.7.
    fn reduce(&mut self) {
        let state = &mut self.state;
        state.w_max = if state.cwnd < state.w_max {
            state.cwnd * (1.0 + BETA) / 2.0
        } else {
            state.cwnd
        };
        state.cwnd_prior = state.cwnd;
        state.ssthresh = (state.cwnd * BETA).max(to_f64(2 * self.smss));
        state.cwnd = state.ssthresh;
        state.epoch_start = None;
    }

    /// Keeps the state before a congestion event. noq calls losses spurious when all of the last two probe
    /// timeouts have been acknowledged after all, so events that close belong together and the state before the
    /// first of them is the one to put back.
    fn save_undo(&mut self, now: Instant) {
        let recent = 4 * self.rtt;
        if self
            .undo
            .as_ref()
            .is_some_and(|undo| now.saturating_duration_since(undo.at) <= recent)
        {
            return;
        }
        self.undo = Some(Undo {
            state: self.state.clone(),
            recovery_start: self.recovery_start,
            at: now,
        });
    }
}

impl Controller for Cubic {
    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        _pn: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.newest_sent = Some(sent);
        self.rtt = rtt.get();
        if app_limited {
            self.app_limited_since.get_or_insert(now);
            return;
        }
        self.end_app_limited(now);
        if self.recovery_start.is_some_and(|start| sent <= start) {
            return;
        }
        if self.state.cwnd < self.state.ssthresh {
            self.state.cwnd += to_f64(self.hystart.growth(bytes));
        } else {
            self.avoid_congestion(now, to_f64(bytes));
        }
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        _in_flight: u64,
        _app_limited: bool,
        _largest_acked: Option<u64>,
    ) {
        let Some(sent) = self.newest_sent.take() else {
            return;
        };
        // After the first congestion event slow start has a goal of its own.
        if self.state.ssthresh.is_infinite() && self.hystart.on_ack(now, sent) == Phase::Done {
            self.state.ssthresh = self.state.cwnd;
        }
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        _lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
        let is_new = self.recovery_start.is_none_or(|start| sent > start);
        if is_new {
            if !is_ecn {
                self.save_undo(now);
            }
            self.recovery_start = Some(now);
            self.reduce();
        }
        if is_persistent_congestion {
            self.recovery_start = None;
            self.state.cwnd = self.minimum_window();
            self.state.epoch_start = None;
        }
    }

    fn on_spurious_congestion_event(&mut self) {
        if let Some(undo) = self.undo.take()
            && self.state.cwnd < undo.state.cwnd
        {
            self.state = undo.state;
            self.recovery_start = undo.recovery_start;
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.smss = new_mtu.into();
        self.state.cwnd = self.state.cwnd.max(self.minimum_window());
    }

    fn window(&self) -> u64 {
        to_bytes(self.state.cwnd)
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window();
        metrics.ssthresh = Some(self.state.ssthresh)
            .filter(|bytes| bytes.is_finite())
            .map(to_bytes);
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.initial_cwnd
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: u16 = 1000;
    const MS: Duration = Duration::from_millis(1);

    fn lose(cubic: &mut Cubic, now: Instant, sent: Instant) {
        cubic.on_congestion_event(now, sent, false, false, 1000, 0);
    }

    fn in_avoidance(cwnd: f64) -> Cubic {
        let mut cubic = Cubic::new(MTU);
        cubic.state.cwnd = cwnd;
        cubic.rtt = 100 * MS;
        cubic
    }

    #[test]
    fn a_loss_cuts_the_window_to_seven_tenths_once_per_round_trip() {
        let now = Instant::now();
        let mut cubic = in_avoidance(100_000.0);
        lose(&mut cubic, now, now - 10 * MS);
        assert_eq!(cubic.window(), 70_000);
        lose(&mut cubic, now + MS, now - 5 * MS);
        assert_eq!(cubic.window(), 70_000, "sent before the event was seen");
        lose(&mut cubic, now + 100 * MS, now + 50 * MS);
        assert_eq!(cubic.window(), 49_000);
    }

    #[test]
    fn fast_convergence_remembers_less_than_the_window_it_lost_at() {
        let now = Instant::now();
        let mut cubic = in_avoidance(100_000.0);
        lose(&mut cubic, now, now - MS);
        assert_eq!(cubic.state.w_max, 100_000.0);
        lose(&mut cubic, now + 100 * MS, now + 50 * MS);
        assert_eq!(cubic.state.w_max, 70_000.0 * 0.85);
    }

    #[test]
    fn the_window_is_back_where_it_lost_after_k_seconds() {
        let now = Instant::now();
        let mut cubic = in_avoidance(1_000_000.0);
        lose(&mut cubic, now, now - MS);
        cubic.begin_epoch(now);
        // K = cbrt(300 segments / 0.4) = 9.086 s.
        assert!((cubic.state.k - 9.086).abs() < 0.001, "{}", cubic.state.k);
        assert!((cubic.w_cubic(0.0) - 700_000.0).abs() < 1.0);
        assert!((cubic.w_cubic(cubic.state.k) - 1_000_000.0).abs() < 1.0);
    }

    #[test]
    fn small_windows_grow_at_renos_pace() {
        let start = Instant::now();
        let mut cubic = in_avoidance(20_000.0);
        lose(&mut cubic, start, start - MS);
        let before = cubic.state.cwnd;
        // One window acknowledged: 0.53 segments more, where the cubic curve alone gives far less.
        cubic.rtt = MS;
        cubic.avoid_congestion(start + MS, before);
        assert!(
            (cubic.state.cwnd - before - ALPHA * 1000.0).abs() < 1.0,
            "{}",
            cubic.state.cwnd - before
        );
    }

    #[test]
    fn idle_time_of_the_application_is_no_time_of_growth() {
        let start = Instant::now();
        let mut cubic = in_avoidance(1_000_000.0);
        lose(&mut cubic, start, start - MS);
        cubic.begin_epoch(start);
        cubic.app_limited_since = Some(start + 100 * MS);
        cubic.end_app_limited(start + 10_100 * MS);
        assert_eq!(cubic.state.epoch_start, Some(start + 10_000 * MS));
    }

    #[test]
    fn events_that_were_none_are_undone_together() {
        let now = Instant::now();
        let mut cubic = in_avoidance(100_000.0);
        lose(&mut cubic, now, now - MS);
        lose(&mut cubic, now + 100 * MS, now + 50 * MS);
        cubic.on_spurious_congestion_event();
        assert_eq!(cubic.window(), 100_000);
        assert!(cubic.state.ssthresh.is_infinite());
        cubic.on_spurious_congestion_event();
        assert_eq!(cubic.window(), 100_000, "nothing left to undo");
    }

    #[test]
    fn a_mark_is_not_undone_and_persistent_congestion_leaves_two_packets() {
        let now = Instant::now();
        let mut cubic = in_avoidance(100_000.0);
        cubic.on_congestion_event(now, now - MS, false, true, 0, 0);
        cubic.on_spurious_congestion_event();
        assert_eq!(cubic.window(), 70_000);
        cubic.on_congestion_event(now + 500 * MS, now + 400 * MS, true, false, 1000, 0);
        assert_eq!(cubic.window(), 2000);
        assert_eq!(cubic.state.ssthresh, 49_000.0);
    }
}
