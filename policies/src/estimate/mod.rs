//! Loss with confidence, from counted samples. One file per estimator.

pub mod kl;
pub mod window;

pub use window::{Suffix, Window};

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What the recent samples of a path say about its loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Packets sent.
    pub sent: u64,
    /// Those of them that were lost.
    pub lost: u64,
    /// From the beginning of the first sample to the end of the last.
    pub span: Duration,
    /// The loss is at least this, with the confidence of the measurement; 0 to 1.
    pub lower: f64,
    /// The loss is at most this, with the confidence of the measurement; 0 to 1.
    pub upper: f64,
}

impl Estimate {
    /// The share of the packets that was lost, 0 to 1; 0 when none was sent.
    pub fn loss(&self) -> f64 {
        if self.sent == 0 {
            0.0
        } else {
            self.lost as f64 / self.sent as f64
        }
    }
}

impl Window {
    /// What the samples of about the last two seconds say, or the newest alone when it is longer; with confidence
    /// 1 - `alpha`.
    pub fn estimate(&self, alpha: f64) -> Option<Estimate> {
        let mut suffixes = self.suffixes();
        let mut chosen = suffixes.next()?;
        chosen = suffixes
            .take_while(|suffix| suffix.span() <= DISPLAYED)
            .last()
            .unwrap_or(chosen);
        Some(Estimate {
            sent: chosen.sent,
            lost: chosen.lost,
            span: chosen.span(),
            lower: kl::lower(chosen.lost, chosen.sent, alpha),
            upper: kl::upper(chosen.lost, chosen.sent, alpha),
        })
    }
}

/// How much of the past is shown as the present.
const DISPLAYED: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    #[test]
    fn the_last_two_seconds_are_the_present() {
        let mut window = Window::default();
        assert!(window.estimate(1e-4).is_none());
        for n in 0..40_u64 {
            let lost = if n < 20 { 100 } else { 5 };
            window.push(
                Timestamp::from_millis(n * 250),
                Timestamp::from_millis(n * 250 + 250),
                100,
                lost,
            );
        }
        let estimate = window.estimate(1e-4).unwrap();
        assert_eq!(
            (estimate.sent, estimate.lost, estimate.span),
            (800, 40, Duration::from_secs(2))
        );
        assert!(estimate.lower < 0.05 && 0.05 < estimate.upper);
        assert!((estimate.loss() - 0.05).abs() < 1e-12);
    }
}
