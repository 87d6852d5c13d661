//! How late the emulator itself is: the time between a packet's due moment and its delivery.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A histogram of lateness in steps of 10 microseconds up to 10 milliseconds.
#[derive(Debug, Clone)]
pub struct Lateness {
    buckets: Vec<u64>,
    count: u64,
    max: Duration,
}

/// A summary of a [`Lateness`] histogram.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatenessSummary {
    /// Packets delivered.
    pub packets: u64,
    /// Median, rounded up to 10 microseconds.
    #[serde(with = "crate::moment::seconds")]
    pub median: Duration,
    /// 99th percentile, rounded up to 10 microseconds.
    #[serde(with = "crate::moment::seconds")]
    pub p99: Duration,
    /// The worst.
    #[serde(with = "crate::moment::seconds")]
    pub max: Duration,
    /// Packets later than one millisecond.
    pub over_1ms: u64,
}

impl Default for Lateness {
    fn default() -> Self {
        Lateness {
            buckets: vec![0; BUCKETS + 1],
            count: 0,
            max: Duration::ZERO,
        }
    }
}

impl Lateness {
    /// Counts one delivery that was `late` behind its due moment.
    pub fn record(&mut self, late: Duration) {
        let bucket = usize::try_from(late.as_micros() / u128::from(STEP_MICROS))
            .unwrap_or(BUCKETS)
            .min(BUCKETS);
        self.buckets[bucket] += 1;
        self.count += 1;
        self.max = self.max.max(late);
    }

    /// The summary of everything recorded.
    pub fn summary(&self) -> LatenessSummary {
        LatenessSummary {
            packets: self.count,
            median: self.percentile(0.5),
            p99: self.percentile(0.99),
            max: self.max,
            over_1ms: self.buckets[1000 / STEP_MICROS as usize..].iter().sum(),
        }
    }

    /// The upper edge of the bucket below or in which `share` of the deliveries lie, never above the worst.
    fn percentile(&self, share: f64) -> Duration {
        let wanted = self.count as f64 * share;
        let mut seen = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen as f64 >= wanted && seen > 0 && bucket < BUCKETS {
                let edge = (bucket as u64 + 1) * u64::from(STEP_MICROS);
                return Duration::from_micros(edge).min(self.max);
            }
        }
        self.max
    }
}

const STEP_MICROS: u32 = 10;
const BUCKETS: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_bucket_edges_and_the_worst_is_exact() {
        let mut lateness = Lateness::default();
        for _ in 0..98 {
            lateness.record(Duration::from_micros(42));
        }
        lateness.record(Duration::from_micros(512));
        lateness.record(Duration::from_micros(1_234));
        let summary = lateness.summary();
        assert_eq!(summary.packets, 100);
        assert_eq!(summary.median, Duration::from_micros(50));
        assert_eq!(summary.p99, Duration::from_micros(520));
        assert_eq!(summary.max, Duration::from_micros(1_234));
        assert_eq!(summary.over_1ms, 1);
    }

    #[test]
    fn an_empty_histogram_is_all_zero() {
        assert_eq!(Lateness::default().summary(), LatenessSummary::default());
    }

    #[test]
    fn very_late_packets_do_not_fall_off_the_end() {
        let mut lateness = Lateness::default();
        lateness.record(Duration::from_secs(3600));
        assert_eq!(lateness.summary().p99, Duration::from_secs(3600));
    }
}
