//! A change of mode and why it was made.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::joint::JointCounts;
use crate::mode::Mode;
use crate::path::{Direction, PathIndex};
use crate::probability::Probability;
use crate::time::Timestamp;

/// A change of mode, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// When it was made.
    pub at: Timestamp,
    /// The direction that it is about.
    pub direction: Direction,
    /// The mode until now.
    pub from: Mode,
    /// The mode from now on.
    pub to: Mode,
    /// Why.
    pub evidence: Evidence,
    /// What became of the packets that the mode until now sent on several paths, if a proxy told.
    pub joint: Option<JointCounts>,
}

/// Why a mode was changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The path in use certainly loses more than `enter`.
    LossAbove {
        /// The path.
        path: PathIndex,
        /// Packets lost.
        lost: u64,
        /// Packets sent.
        sent: u64,
        /// The time in which they were counted.
        span: Duration,
        /// The loss is at least this.
        bound: Probability,
        /// How certain that is.
        confidence: Probability,
        /// `enter`.
        threshold: Probability,
    },
    /// A path certainly loses less than `exit`.
    LossBelow {
        /// The path.
        path: PathIndex,
        /// Packets lost.
        lost: u64,
        /// Packets sent.
        sent: u64,
        /// The time in which they were counted.
        span: Duration,
        /// The loss is at most this.
        bound: Probability,
        /// How certain that is.
        confidence: Probability,
        /// `exit`.
        threshold: Probability,
    },
    /// A path that was in use cannot be used any more.
    PathDown {
        /// The path.
        path: PathIndex,
    },
    /// A path that is preferred can be used again.
    PathBack {
        /// The path.
        path: PathIndex,
    },
    /// The operator pinned a mode or lifted the pin.
    Operator,
    /// The policy file changed.
    PolicyChanged,
    /// The mode was read back from the switch.
    Adopted,
}

impl Decision {
    /// The decision in one sentence, with the paths' names (the keys of `peering.paths`):
    /// `unicast a → bicast a+b: a lost 3.1 % (149 of 4,812 in 0.6 s, 99.99 % certain ≥ 2.1 %), above enter 2 %`.
    pub fn sentence(&self, names: &[String]) -> String {
        format!(
            "{} → {}: {}{}",
            self.from.display(names),
            self.to.display(names),
            self.evidence.sentence(names),
            self.joint.map_or(String::new(), meanwhile)
        )
    }
}

/// What copies were worth: `; meanwhile 0.12 % lost both copies (12 of 9,800), 310 were rescued by the second`.
fn meanwhile(counts: JointCounts) -> String {
    let JointCounts {
        packets,
        lost,
        rescued,
    } = counts;
    let share = share(lost, packets);
    let (lost, packets) = (grouped(lost), grouped(packets));
    let rescued = match rescued {
        0 => String::new(),
        rescued => format!(", {} were rescued by the second", grouped(rescued)),
    };
    format!("; meanwhile {share} lost both copies ({lost} of {packets}){rescued}")
}

impl Evidence {
    /// The evidence alone, as in [`Decision::sentence`].
    pub fn sentence(&self, names: &[String]) -> String {
        match self {
            Evidence::LossAbove {
                path,
                lost,
                sent,
                span,
                bound,
                confidence,
                threshold,
            } => format!(
                "{} lost {} ({} of {} in {}, {confidence} certain ≥ {}), above enter {threshold}",
                path.name(names),
                share(*lost, *sent),
                grouped(*lost),
                grouped(*sent),
                seconds(*span),
                percent(bound.fraction(), f64::floor),
            ),
            Evidence::LossBelow {
                path,
                lost,
                sent,
                span,
                bound,
                confidence,
                threshold,
            } => format!(
                "{} lost {} ({} of {} in {}, {confidence} certain ≤ {}), below exit {threshold}",
                path.name(names),
                share(*lost, *sent),
                grouped(*lost),
                grouped(*sent),
                seconds(*span),
                percent(bound.fraction(), f64::ceil),
            ),
            Evidence::PathDown { path } => format!("{} is down", path.name(names)),
            Evidence::PathBack { path } => format!("{} is back", path.name(names)),
            Evidence::Operator => "by order of the operator".to_owned(),
            Evidence::PolicyChanged => "the policy changed".to_owned(),
            Evidence::Adopted => "as found on the switch".to_owned(),
        }
    }
}

/// `lost` of `sent` as a percentage.
fn share(lost: u64, sent: u64) -> String {
    percent(lost as f64 / sent.max(1) as f64, f64::round)
}

/// A share in percent with two significant digits or one decimal, whichever is more. Bounds are rounded away from
/// the estimate, so that the sentence never claims more than was measured.
fn percent(share: f64, rounded: fn(f64) -> f64) -> String {
    let percent = share * 100.0;
    let (decimals, scale) = match percent {
        p if p >= 1.0 || p == 0.0 => (1, 10.0),
        p if p >= 0.1 => (2, 100.0),
        _ => (3, 1000.0),
    };
    let digits = format!("{:.decimals$}", rounded(percent * scale) / scale);
    format!("{} %", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// `4812` as `4,812`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A duration in seconds: one decimal below 10 s.
fn seconds(span: Duration) -> String {
    let seconds = span.as_secs_f64();
    if seconds < 9.95 {
        format!("{seconds:.1} s")
    } else {
        format!("{seconds:.0} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::PathSet;

    fn decision(evidence: Evidence) -> Decision {
        Decision {
            at: Timestamp::ZERO,
            direction: Direction::Forward,
            from: Mode::Unicast(PathIndex(0)),
            to: Mode::Bicast(PathSet::all(2)),
            evidence,
            joint: None,
        }
    }

    #[test]
    fn a_decision_reads_as_one_sentence_with_its_counts() {
        let names = ["a".to_owned(), "b".to_owned()];
        let above = Evidence::LossAbove {
            path: PathIndex(0),
            lost: 149,
            sent: 4812,
            span: Duration::from_millis(600),
            bound: Probability::new(0.0214).unwrap(),
            confidence: Probability::from_percent(99.99).unwrap(),
            threshold: Probability::from_percent(2.0).unwrap(),
        };
        assert_eq!(
            decision(above).sentence(&names),
            "unicast a → bicast a+b: a lost 3.1 % (149 of 4,812 in 0.6 s, 99.99 % certain ≥ 2.1 %), above enter 2 %"
        );
        assert_eq!(
            decision(Evidence::PathDown { path: PathIndex(1) }).sentence(&names),
            "unicast a → bicast a+b: b is down"
        );
    }

    #[test]
    fn what_copies_were_worth_is_told_at_their_end() {
        let names = ["a".to_owned(), "b".to_owned()];
        let counts = JointCounts {
            packets: 9_800,
            lost: 12,
            rescued: 1_310,
        };
        let ended = |counts| Decision {
            joint: Some(counts),
            ..decision(Evidence::PathDown { path: PathIndex(1) })
        };
        assert_eq!(
            ended(counts).sentence(&names),
            "unicast a → bicast a+b: b is down; meanwhile 0.12 % lost both copies (12 of 9,800), 1,310 were rescued by \
             the second"
        );
        let nobody_rescued = JointCounts { rescued: 0, ..counts };
        assert!(
            ended(nobody_rescued)
                .sentence(&names)
                .ends_with("lost both copies (12 of 9,800)")
        );
    }

    #[test]
    fn bounds_are_rounded_to_the_careful_side() {
        assert_eq!(percent(0.0279, f64::floor), "2.7 %");
        assert_eq!(percent(0.004912, f64::ceil), "0.5 %");
        assert_eq!(percent(0.0043, f64::ceil), "0.43 %");
        assert_eq!(percent(0.0, f64::round), "0 %");
        assert_eq!(percent(0.00003, f64::round), "0.003 %");
        assert_eq!(percent(1.0, f64::ceil), "100 %");
    }

    #[test]
    fn numbers_and_spans_are_easy_to_read() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(seconds(Duration::from_millis(9_960)), "10 s");
        assert_eq!(seconds(Duration::from_secs(75)), "75 s");
    }
}
