//! Whether a queue stands at the bottleneck, and whether giving way empties it. Not part of any draft; see `bbr3.rs`
//! for what is done about it.

use std::time::Duration;

use super::rate_sample::RateSample;

/// A round trip may be longer than the least by a twentieth of it, or by [`LEAST_SLACK`], before that is a queue.
const SLACK_DIVISOR: u32 = 20;
/// Jitter of timers and of the serialisation of bursts.
const LEAST_SLACK: Duration = Duration::from_micros(500);
/// Rounds for which a flow gives way to a queue. A tenth less each round leaves a flow that gave way for so long
/// with 4 % of its rate: a queue that stands even then belongs to a flow that fills it whatever others do, and to go
/// on would leave that one everything.
const PATIENCE: u32 = 30;

/// A queue that no packet of a whole round trip found empty. Jitter lets some packets through unhindered, a queue
/// does not.
#[derive(Clone, Debug, Default)]
pub(super) struct StandingQueue {
    round_min: Option<Duration>,
    /// Rounds for which it has stood.
    rounds: u32,
}

impl StandingQueue {
    /// Takes in an acknowledgment; `round_start` when it begins a round. Without a queue the round trip would be
    /// `least`, what the far end holds packets back for included; none if that is not known.
    pub(super) fn update(&mut self, rs: &RateSample, round_start: bool, least: Option<Duration>) {
        if round_start && let (Some(round), Some(least)) = (self.round_min.take(), least) {
            let stood = round > least + LEAST_SLACK.max(least / SLACK_DIVISOR);
            self.rounds = if stood { self.rounds.saturating_add(1) } else { 0 };
        }
        if let Some(rtt) = rs.rtt {
            self.round_min = Some(self.round_min.map_or(rtt, |min| min.min(rtt)));
        }
    }

    /// Whether it stood throughout the last round and there is reason to give way.
    pub(super) fn is_to_be_drained(&self) -> bool {
        (1..=PATIENCE).contains(&self.rounds)
    }

    /// Whether a packet of the last round found no queue.
    pub(super) fn is_empty(&self) -> bool {
        self.rounds == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn round(queue: &mut StandingQueue, rtts: [u32; 3], least: Duration) {
        for ms in rtts {
            let rtt = Some(ms * MS);
            queue.update(
                &RateSample {
                    rtt,
                    ..RateSample::default()
                },
                false,
                Some(least),
            );
        }
        queue.update(&RateSample::default(), true, Some(least));
    }

    #[test]
    fn a_queue_stands_when_no_packet_of_a_round_finds_it_empty() {
        let mut queue = StandingQueue::default();
        for (rtts, least, stands) in [
            ([20, 60, 90], 20 * MS, false),
            ([21, 21, 21], 20 * MS, false),
            ([22, 40, 30], 20 * MS, true),
            ([22, 40, 30], 30 * MS, false),
        ] {
            round(&mut queue, rtts, least);
            assert_eq!(queue.is_to_be_drained(), stands, "{rtts:?} of {least:?}");
            assert_eq!(queue.is_empty(), !stands);
        }
    }

    #[test]
    fn a_queue_that_giving_way_does_not_drain_is_left_alone_until_it_is_gone() {
        let mut queue = StandingQueue::default();
        for _ in 0..PATIENCE {
            round(&mut queue, [40; 3], 20 * MS);
            assert!(queue.is_to_be_drained());
        }
        round(&mut queue, [40; 3], 20 * MS);
        assert!(!queue.is_to_be_drained() && !queue.is_empty());
        round(&mut queue, [20; 3], 20 * MS);
        assert!(queue.is_empty());
        round(&mut queue, [40; 3], 20 * MS);
        assert!(queue.is_to_be_drained(), "and once more");
    }
}
