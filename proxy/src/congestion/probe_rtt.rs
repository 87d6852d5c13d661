//! The two-clock minimum of the round trip in BBRv2 and BBRv3: a sample of the last five seconds says when to
//! probe, the smallest of the last ten is the model's (draft-ietf-ccwg-bbr §5.3.4.3).

use std::time::{Duration, Instant};

use super::model::Round;
use super::rate_sample::{Connection, RateSample};

/// `BBR.ProbeRTTDuration`.
const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);
/// `BBR.ProbeRTTInterval`.
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
/// `BBR.MinRTTFilterLen`.
const MIN_RTT_FILTER_LEN: Duration = Duration::from_secs(10);

/// The smallest round trip and the schedule of ProbeRTT.
#[derive(Clone, Debug)]
pub(super) struct MinRtt {
    /// None before the first sample.
    pub(super) min_rtt: Option<Duration>,
    min_rtt_stamp: Instant,
    probe_rtt_min_delay: Option<Duration>,
    probe_rtt_min_stamp: Instant,
    /// It is time to see an empty path again.
    pub(super) probe_rtt_expired: bool,
    probe_rtt_done_stamp: Option<Instant>,
    probe_rtt_round_done: bool,
}

impl MinRtt {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            min_rtt: None,
            min_rtt_stamp: now,
            probe_rtt_min_delay: None,
            probe_rtt_min_stamp: now,
            probe_rtt_expired: false,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
        }
    }

    /// `UpdateMinRTT`.
    pub(super) fn update(&mut self, rs: &RateSample, now: Instant) {
        self.probe_rtt_expired = now > self.probe_rtt_min_stamp + PROBE_RTT_INTERVAL;
        if let Some(rtt) = rs.rtt
            && (self.probe_rtt_expired || self.probe_rtt_min_delay.is_none_or(|delay| rtt < delay))
        {
            self.probe_rtt_min_delay = Some(rtt);
            self.probe_rtt_min_stamp = now;
        }
        let expired = now > self.min_rtt_stamp + MIN_RTT_FILTER_LEN;
        let is_lower = match (self.probe_rtt_min_delay, self.min_rtt) {
            (Some(delay), Some(min)) => delay < min,
            (delay, None) => delay.is_some(),
            (None, Some(_)) => false,
        };
        if is_lower || expired {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
    }

    /// The flow enters ProbeRTT.
    pub(super) fn begin(&mut self) {
        self.probe_rtt_done_stamp = None;
    }

    /// `HandleProbeRTT`: true when the path has been all but empty for long enough.
    pub(super) fn handle(
        &mut self,
        c: &mut Connection,
        round: &mut Round,
        probe_rtt_cwnd: u64,
        now: Instant,
    ) -> bool {
        // The low rates of now say nothing about the path.
        c.mark_app_limited();
        if self.probe_rtt_done_stamp.is_some() {
            self.probe_rtt_round_done |= round.start;
            return self.probe_rtt_round_done && self.check_done(now);
        }
        if c.inflight <= probe_rtt_cwnd {
            self.probe_rtt_done_stamp = Some(now + PROBE_RTT_DURATION);
            self.probe_rtt_round_done = false;
            round.begin(c);
        }
        false
    }

    /// `CheckProbeRTTDone` without what follows of it; schedules the next.
    pub(super) fn check_done(&mut self, now: Instant) -> bool {
        let done = self.probe_rtt_done_stamp.is_some_and(|done| now > done);
        if done {
            self.probe_rtt_min_stamp = now;
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn rtt(ms: u32) -> RateSample {
        RateSample {
            rtt: Some(ms * MS),
            ..RateSample::default()
        }
    }

    #[test]
    fn the_minimum_of_ten_seconds_and_the_clock_of_five() {
        let start = Instant::now();
        let mut min = MinRtt::new(start);
        min.update(&rtt(10), start);
        min.update(&rtt(30), start + 4000 * MS);
        assert_eq!((min.min_rtt, min.probe_rtt_expired), (Some(10 * MS), false));
        min.update(&rtt(30), start + 5001 * MS);
        assert_eq!((min.min_rtt, min.probe_rtt_expired), (Some(10 * MS), true));
        min.update(&rtt(20), start + 6000 * MS);
        min.update(&rtt(40), start + 10_001 * MS);
        assert_eq!(min.min_rtt, Some(20 * MS), "the old minimum has aged out");
    }

    #[test]
    fn probing_takes_two_hundred_milliseconds_and_a_round_with_little_in_flight() {
        let start = Instant::now();
        let (mut min, mut round) = (MinRtt::new(start), Round::default());
        let mut c = Connection::new(start, 1000);
        min.begin();
        c.inflight = 50_000;
        assert!(
            !min.handle(&mut c, &mut round, 10_000, start + 300 * MS),
            "still full"
        );
        c.inflight = 10_000;
        assert!(!min.handle(&mut c, &mut round, 10_000, start + 300 * MS));
        round.start = true;
        assert!(!min.handle(&mut c, &mut round, 10_000, start + 400 * MS));
        round.start = false;
        assert!(min.handle(&mut c, &mut round, 10_000, start + 501 * MS));
        assert_ne!(c.app_limited, 0);
    }
}
