//! Is the path certainly below `exit`, over at least its hold?

use std::time::Duration;

use crate::estimate::{Window, kl};
use crate::time::Timestamp;
use crate::trigger::Statement;

/// What must be certain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exit {
    /// The loss, 0 to 1.
    pub threshold: f64,
    /// The time that the samples must span.
    pub hold: Duration,
    /// Only samples that began at this time or later count.
    pub since: Timestamp,
    /// How much of the time must be measured.
    pub coverage: Coverage,
}

/// How much of the time must be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// All of it, for a path in use: pauses longer than this do not count towards the hold.
    Continuous {
        /// How long samples may stop and still count.
        gap: Duration,
    },
    /// Some of it, for a path that is measured with copies now and then.
    Sampled,
}

/// The strongest statement that the path is *certainly below*: some suffix of its samples spans the hold and has its
/// upper bound below the threshold, and no newer suffix has its lower bound above it. Low rates just take longer.
pub fn certainly_below(window: &Window, exit: &Exit, alpha: f64) -> Option<Statement> {
    let limit = (1.0 / alpha).ln();
    let mut strongest = limit;
    let mut statement = None;
    for suffix in window.suffixes().take_while(|suffix| suffix.from >= exit.since) {
        if kl::evidence_above(suffix.lost, suffix.sent, exit.threshold) > limit {
            break;
        }
        let measured = match exit.coverage {
            Coverage::Continuous { gap } if suffix.longest_gap > gap => suffix.covered,
            Coverage::Continuous { .. } | Coverage::Sampled => suffix.span(),
        };
        if measured < exit.hold {
            continue;
        }
        let below = kl::evidence_below(suffix.lost, suffix.sent, exit.threshold);
        if below > strongest {
            strongest = below;
            statement = Some(Statement::new(
                &suffix,
                kl::upper(suffix.lost, suffix.sent, alpha),
            ));
        }
    }
    statement
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALPHA: f64 = 1e-4;
    const IN_USE: Coverage = Coverage::Continuous {
        gap: Duration::from_secs(2),
    };

    fn exit(coverage: Coverage) -> Exit {
        Exit {
            threshold: 0.005,
            hold: Duration::from_secs(10),
            since: Timestamp::ZERO,
            coverage,
        }
    }

    /// `count` samples of 250 ms each, one every `every` ms.
    fn samples(window: &mut Window, start_ms: u64, every: u64, count: u64, sent: u64, lost: u64) {
        for n in 0..count {
            let from = Timestamp::from_millis(start_ms + n * every);
            window.push(from, from + Duration::from_millis(250), sent, lost);
        }
    }

    #[test]
    fn a_clean_path_is_below_after_the_hold_and_not_before() {
        let mut window = Window::default();
        samples(&mut window, 0, 250, 39, 500, 0);
        assert_eq!(certainly_below(&window, &exit(IN_USE), ALPHA), None);
        samples(&mut window, 9_750, 250, 1, 500, 0);
        let statement = certainly_below(&window, &exit(IN_USE), ALPHA).unwrap();
        assert_eq!(
            (statement.sent, statement.span),
            (20_000, Duration::from_secs(10))
        );
        assert!(statement.bound < 0.001);
        let later = Exit {
            since: Timestamp::from_millis(100),
            ..exit(IN_USE)
        };
        assert_eq!(
            certainly_below(&window, &later, ALPHA),
            None,
            "samples before the mode change do not count"
        );
    }

    #[test]
    fn few_packets_take_longer() {
        let mut window = Window::default();
        samples(&mut window, 0, 250, 80, 10, 0);
        assert_eq!(
            certainly_below(&window, &exit(IN_USE), ALPHA),
            None,
            "800 packets prove at most 1.1 %"
        );
        samples(&mut window, 20_000, 250, 120, 10, 0);
        assert!(certainly_below(&window, &exit(IN_USE), ALPHA).is_some());
    }

    #[test]
    fn a_newer_loss_speaks_louder_than_a_long_past() {
        let mut window = Window::default();
        samples(&mut window, 0, 250, 4_000, 500, 0);
        samples(&mut window, 1_000_000, 250, 2, 500, 20);
        assert_eq!(certainly_below(&window, &exit(IN_USE), ALPHA), None);
    }

    #[test]
    fn pauses_count_only_for_a_sampled_path() {
        let mut window = Window::default();
        samples(&mut window, 0, 5_000, 10, 500, 0);
        assert_eq!(certainly_below(&window, &exit(IN_USE), ALPHA), None);
        assert!(certainly_below(&window, &exit(Coverage::Sampled), ALPHA).is_some());
    }
}
