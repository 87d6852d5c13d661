//! Is the path certainly above `enter`, and has it been for long enough?

use std::time::Duration;

use crate::estimate::{Suffix, Window, kl};
use crate::policy::Threshold;
use crate::time::Timestamp;
use crate::trigger::Statement;

/// Watches the path in use for a loss that is certainly above `enter` for its hold.
///
/// The path is *certainly above* when some suffix of its recent samples has its lower bound above the threshold and
/// no newer suffix has its upper bound below it. That must begin and then not be interrupted for the hold. It is
/// interrupted when the samples since it began are certainly below the threshold, or when samples stop.
#[derive(Clone, Debug, Default)]
pub struct Enter {
    above: Option<Above>,
}

/// The path became certainly above.
#[derive(Clone, Copy, Debug)]
struct Above {
    /// When it was noticed.
    since: Timestamp,
    /// The beginning of the samples that showed it.
    evidence_from: Timestamp,
}

impl Enter {
    /// The statement that the path has been certainly above `threshold` for its hold, if so. `gap` is how long
    /// samples may stop without interrupting.
    pub fn evaluate(
        &mut self,
        now: Timestamp,
        window: &Window,
        threshold: &Threshold,
        alpha: f64,
        gap: Duration,
    ) -> Option<Statement> {
        let recent = Recent {
            window,
            now,
            hold: threshold.hold,
            gap,
        };
        let judge = Judge {
            threshold: threshold.loss.fraction(),
            alpha,
        };
        if let Some(above) = self.above
            && (recent.begins_after(above.since)
                || judge.verdict(recent.suffixes().take_while(|s| s.from >= above.evidence_from))
                    == Verdict::Below)
        {
            self.above = None;
        }
        let Verdict::Above(suffix) = judge.verdict(recent.suffixes()) else {
            return None;
        };
        let above = *self.above.get_or_insert(Above {
            since: now,
            evidence_from: suffix.from,
        });
        if now.saturating_since(above.since) < threshold.hold {
            return None;
        }
        Some(Statement::new(
            &suffix,
            kl::lower(suffix.lost, suffix.sent, alpha),
        ))
    }

    /// When the hold ends, if the path is certainly above.
    pub fn deadline(&self, threshold: &Threshold) -> Option<Timestamp> {
        self.above.map(|above| above.since + threshold.hold)
    }

    /// Forgets that the path was above: the mode has changed.
    pub fn reset(&mut self) {
        self.above = None;
    }
}

/// The samples that may speak about the present.
struct Recent<'a> {
    window: &'a Window,
    now: Timestamp,
    hold: Duration,
    gap: Duration,
}

impl Recent<'_> {
    /// The suffixes without a gap that are no longer than the hold or 5 s. At low rates that may be few packets;
    /// then up to a minute is taken until they are enough for a statement about a few percent.
    fn suffixes(&self) -> impl Iterator<Item = Suffix> {
        let fresh = self
            .window
            .newest()
            .is_some_and(|newest| self.now.saturating_since(newest) <= self.gap);
        let length = self.hold.max(USUAL_LENGTH);
        let mut sent_so_far = 0;
        self.window.suffixes().take_while(move |suffix| {
            let length = if sent_so_far < FEW_PACKETS {
                length.max(LOW_RATE_LENGTH)
            } else {
                length
            };
            sent_so_far = suffix.sent;
            fresh && suffix.longest_gap <= self.gap && suffix.span() <= length
        })
    }

    /// Whether samples have stopped since `time`: no suffix without a gap reaches back to it.
    fn begins_after(&self, time: Timestamp) -> bool {
        let run = self
            .window
            .suffixes()
            .take_while(|suffix| suffix.longest_gap <= self.gap)
            .last();
        run.is_none_or(|run| run.from > time || self.now.saturating_since(run.until) > self.gap)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    Above(Suffix),
    Below,
    Unsure,
}

struct Judge {
    threshold: f64,
    alpha: f64,
}

impl Judge {
    /// What the suffixes say, the newest first: the strongest that is certainly above, unless a newer one is
    /// certainly below.
    fn verdict(&self, suffixes: impl Iterator<Item = Suffix>) -> Verdict {
        let limit = (1.0 / self.alpha).ln();
        let mut strongest = limit;
        let mut verdict = Verdict::Unsure;
        for suffix in suffixes {
            let above = kl::evidence_above(suffix.lost, suffix.sent, self.threshold);
            if above > strongest {
                strongest = above;
                verdict = Verdict::Above(suffix);
            }
            if kl::evidence_below(suffix.lost, suffix.sent, self.threshold) > limit {
                return if verdict == Verdict::Unsure {
                    Verdict::Below
                } else {
                    verdict
                };
            }
        }
        verdict
    }
}

/// How far back samples speak about the present.
const USUAL_LENGTH: Duration = Duration::from_secs(5);
/// How far back they do when they are few.
const LOW_RATE_LENGTH: Duration = Duration::from_secs(60);
/// Fewer packets than this in the usual length are few.
const FEW_PACKETS: u64 = 2_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probability::Probability;

    const PERIOD_MS: u64 = 250;
    const GAP: Duration = Duration::from_secs(2);

    /// Feeds one sample per period and evaluates after each; the period in which it fires, counted from 1.
    fn fires_after(threshold: &str, samples: &[(u64, u64)]) -> Option<usize> {
        let mut words = threshold.split("% for ");
        let mut number = || words.next().unwrap().parse::<f64>().unwrap();
        let loss = Probability::from_percent(number()).unwrap();
        let threshold = Threshold {
            loss,
            hold: Duration::from_secs_f64(number()),
        };
        let (mut window, mut enter) = (Window::default(), Enter::default());
        let mut from = Timestamp::ZERO;
        for (index, &(lost, sent)) in samples.iter().enumerate() {
            let until = from + Duration::from_millis(PERIOD_MS);
            window.push(from, until, sent, lost);
            from = until;
            if enter.evaluate(until, &window, &threshold, 1e-4, GAP).is_some() {
                return Some(index + 1);
            }
        }
        None
    }

    #[test]
    fn a_clear_loss_fires_at_once_without_hold() {
        assert_eq!(fires_after("2% for 0", &[(0, 500), (0, 500), (40, 500)]), Some(3));
    }

    #[test]
    fn a_loss_near_the_threshold_does_not_fire() {
        assert_eq!(fires_after("2% for 0", &[(11, 500); 19]), None);
    }

    #[test]
    fn the_hold_must_pass_without_interruption() {
        assert_eq!(
            fires_after("2% for 2", &[(40, 500); 20]),
            Some(9),
            "first certain after period 1, 8 later"
        );
        let mut interrupted = vec![(40, 500); 4];
        interrupted.extend([(0, 500); 2]);
        interrupted.extend([(40, 500); 8]);
        assert_eq!(fires_after("2% for 2", &interrupted), None);
    }

    #[test]
    fn silence_interrupts() {
        let mut silent = vec![(40, 500); 4];
        silent.extend([(0, 0); 9]);
        silent.extend([(40, 500); 16]);
        assert_eq!(
            fires_after("2% for 4", &silent),
            None,
            "the hold begins anew after 2.25 s of silence"
        );
        silent.push((40, 500));
        assert_eq!(fires_after("2% for 4", &silent), Some(30));
        silent.splice(4..13, [(0, 0); 4]);
        assert_eq!(
            fires_after("2% for 4", &silent),
            Some(17),
            "a second of silence does not interrupt"
        );
    }

    #[test]
    fn few_packets_take_longer_but_suffice() {
        let fired = fires_after("2% for 0", &[(1, 12), (0, 13)].repeat(120));
        assert!((80..240).contains(&fired.unwrap()), "{fired:?}");
    }
}
