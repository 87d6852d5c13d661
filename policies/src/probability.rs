//! Numbers between 0 and 1 that must not mix with others.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A probability or a share: a number from 0 to 1, never NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Probability(f64);

/// NaN is excluded by construction.
impl Eq for Probability {}

impl Probability {
    /// Never.
    pub const ZERO: Probability = Probability(0.0);
    /// Always.
    pub const ONE: Probability = Probability(1.0);

    /// The probability `fraction`, or `None` outside 0..=1.
    pub const fn new(fraction: f64) -> Option<Probability> {
        if fraction >= 0.0 && fraction <= 1.0 {
            Some(Probability(fraction))
        } else {
            None
        }
    }

    /// The probability of `percent` percent, or `None` outside 0..=100. Rounded to twelve digits, so that 99.99 is
    /// the same number as the fraction 0.9999.
    pub fn from_percent(percent: f64) -> Option<Probability> {
        Probability::new((percent * 1e10).round() / 1e12)
    }

    /// The probability nearest to `fraction`, for results of calculations; zero for NaN.
    pub const fn saturating(fraction: f64) -> Probability {
        if fraction >= 1.0 {
            Probability::ONE
        } else if fraction >= 0.0 {
            Probability(fraction)
        } else {
            Probability::ZERO
        }
    }

    /// The number, 0 to 1.
    pub const fn fraction(self) -> f64 {
        self.0
    }
}

/// As a percentage with as many digits as needed, at most six after the point: `2.5 %`.
impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:.6}", self.0 * 100.0);
        write!(f, "{} %", digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl From<Probability> for f64 {
    fn from(probability: Probability) -> f64 {
        probability.0
    }
}

impl TryFrom<f64> for Probability {
    type Error = &'static str;

    fn try_from(fraction: f64) -> Result<Probability, &'static str> {
        Probability::new(fraction).ok_or("a probability lies between 0 and 1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_from_0_to_1_are_probabilities() {
        assert!(Probability::new(1.0).is_some());
        assert!(Probability::new(-0.1).is_none());
        assert!(Probability::new(1.001).is_none());
        assert!(Probability::new(f64::NAN).is_none());
        assert!(Probability::from_percent(100.5).is_none());
        assert_eq!(Probability::saturating(f64::NAN), Probability::ZERO);
        assert_eq!(Probability::saturating(7.0), Probability::ONE);
    }

    #[test]
    fn a_percentage_is_the_same_number_as_its_fraction() {
        for (percent, fraction) in [(99.99, 0.9999), (0.5, 0.005), (2.0, 0.02), (99.9999, 0.999999)] {
            assert_eq!(Probability::from_percent(percent), Probability::new(fraction));
        }
    }

    #[test]
    fn percentages_read_without_idle_digits() {
        for (percent, text) in [
            (0.0, "0 %"),
            (2.0, "2 %"),
            (2.5, "2.5 %"),
            (99.99, "99.99 %"),
            (0.01, "0.01 %"),
            (100.0, "100 %"),
        ] {
            assert_eq!(Probability::from_percent(percent).unwrap().to_string(), text);
        }
    }
}
