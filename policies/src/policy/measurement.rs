//! How loss is measured.

use std::time::Duration;

use crate::probability::Probability;

/// How loss is measured on live traffic by alternate marking (RFC 9341).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// How long packets carry one colour before the other's turn: 100 ms to 10 s.
    pub period: Duration,
    /// Share of the periods in which a path that is not in use is measured with copies: 0 (off) to 50 %.
    pub sampling: Probability,
    /// The DSCP values that stand for the two colours between the sites, for policies without a mark of their own.
    pub colours: [u8; 2],
    /// How certain a statement about loss must be before a decision rests on it.
    pub confidence: Probability,
}

impl Measurement {
    /// The probability of error that `confidence` leaves to each statement, never below 1e-12.
    pub fn alpha(&self) -> f64 {
        (1.0 - self.confidence.fraction()).max(1e-12)
    }
}

impl Default for Measurement {
    /// 250 ms, 2 %, DSCP 3 and 7 (the last two bits 11: RFC 2474 §6, pool 2, for local use), 99.99 %.
    fn default() -> Measurement {
        Measurement {
            period: Duration::from_millis(250),
            sampling: Probability::saturating(0.02),
            colours: [3, 7],
            confidence: Probability::saturating(0.9999),
        }
    }
}
