//! HyStart++, RFC 9406: leaves slow start when the round trip grows, before the queue overflows.

use std::time::{Duration, Instant};

const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u32 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u32 = 5;

/// What slow start does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Grows by what is acknowledged.
    SlowStart,
    /// Conservative slow start: grows by a quarter of it, until it is known whether the round trip stays up.
    Conservative,
    /// Slow start is over.
    Done,
}

/// The rounds of slow start and their smallest round trips.
#[derive(Clone, Debug)]
pub(super) struct HyStart {
    /// Packets sent from here on belong to the next round.
    round_start: Option<Instant>,
    last_round_min_rtt: Duration,
    current_round_min_rtt: Duration,
    rtt_sample_count: u32,
    css_baseline_min_rtt: Option<Duration>,
    css_rounds: u32,
}

impl Default for HyStart {
    fn default() -> Self {
        Self {
            round_start: None,
            last_round_min_rtt: Duration::MAX,
            current_round_min_rtt: Duration::MAX,
            rtt_sample_count: 0,
            css_baseline_min_rtt: None,
            css_rounds: 0,
        }
    }
}

impl HyStart {
    /// How much the window grows for `bytes` acknowledged.
    pub(super) fn growth(&self, bytes: u64) -> u64 {
        if self.css_baseline_min_rtt.is_some() {
            bytes / CSS_GROWTH_DIVISOR
        } else {
            bytes
        }
    }

    /// An acknowledgment came `now` whose newest packet was sent at `sent`.
    pub(super) fn on_ack(&mut self, now: Instant, sent: Instant) -> Phase {
        // A round ends with the first packet sent after it began; the RFC says so by sequence numbers, which
        // in QUIC start again in each packet-number space.
        if self.round_start.is_none_or(|start| sent > start) {
            if self.css_baseline_min_rtt.is_some() {
                self.css_rounds += 1;
                if self.css_rounds >= CSS_ROUNDS {
                    return Phase::Done;
                }
            }
            self.round_start = Some(now);
            self.last_round_min_rtt = self.current_round_min_rtt;
            self.current_round_min_rtt = Duration::MAX;
            self.rtt_sample_count = 0;
        }
        self.current_round_min_rtt = self
            .current_round_min_rtt
            .min(now.saturating_duration_since(sent));
        self.rtt_sample_count += 1;
        if self.rtt_sample_count >= N_RTT_SAMPLE {
            self.compare_rounds();
        }
        if self.css_baseline_min_rtt.is_some() {
            Phase::Conservative
        } else {
            Phase::SlowStart
        }
    }

    fn compare_rounds(&mut self) {
        match self.css_baseline_min_rtt {
            None if self.last_round_min_rtt < Duration::MAX => {
                let thresh =
                    (self.last_round_min_rtt / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                if self.current_round_min_rtt >= self.last_round_min_rtt + thresh {
                    self.css_baseline_min_rtt = Some(self.current_round_min_rtt);
                    self.css_rounds = 0;
                }
            }
            // The round trip fell again: it was jitter, slow start goes on.
            Some(baseline) if self.current_round_min_rtt < baseline => self.css_baseline_min_rtt = None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// A round of ten acknowledgments with this round trip, of packets sent from `start` on.
    fn round(hystart: &mut HyStart, start: Instant, rtt: Duration) -> (Phase, Instant) {
        let mut phase = Phase::SlowStart;
        for n in 0..10 {
            let sent = start + n * Duration::from_micros(10);
            phase = hystart.on_ack(sent + rtt, sent);
            if phase == Phase::Done {
                break;
            }
        }
        (phase, start + rtt + MS)
    }

    #[test]
    fn a_round_trip_that_stays_up_ends_slow_start_after_five_rounds() {
        let (mut hystart, start) = (HyStart::default(), Instant::now());
        let (phase, start) = round(&mut hystart, start, 20 * MS);
        assert_eq!(phase, Phase::SlowStart);
        let (phase, start) = round(&mut hystart, start, 23 * MS);
        assert_eq!(phase, Phase::SlowStart, "less than 4 ms more");
        let (phase, mut start) = round(&mut hystart, start, 28 * MS);
        assert_eq!(phase, Phase::Conservative);
        assert_eq!(hystart.growth(4000), 1000);
        for _ in 0..4 {
            let (phase, next) = round(&mut hystart, start, 30 * MS);
            assert_eq!(phase, Phase::Conservative);
            start = next;
        }
        assert_eq!(round(&mut hystart, start, 30 * MS).0, Phase::Done);
    }

    #[test]
    fn a_round_trip_that_falls_again_resumes_slow_start() {
        let (mut hystart, start) = (HyStart::default(), Instant::now());
        let (_, start) = round(&mut hystart, start, 20 * MS);
        let (phase, start) = round(&mut hystart, start, 30 * MS);
        assert_eq!(phase, Phase::Conservative);
        assert_eq!(round(&mut hystart, start, 20 * MS).0, Phase::SlowStart);
        assert_eq!(hystart.growth(4000), 4000);
    }
}
