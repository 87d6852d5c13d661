//! How much later second copies come: a histogram, and the quantile that holding goes by.

use std::time::{Duration, Instant};

/// A histogram of durations with four buckets to the octave: each reading is right to 25 %.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogHistogram {
    counts: [u64; BUCKETS],
}

impl LogHistogram {
    /// Counts one duration; two seconds and more share the last bucket.
    pub fn record(&mut self, value: Duration) {
        let bucket = bucket_of(u64::try_from(value.as_micros()).unwrap_or(u64::MAX));
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
        }
    }

    /// How many durations were counted.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The upper bound of the bucket below or in which `fraction` of the durations are; zero when empty.
    pub fn quantile(&self, fraction: f64) -> Duration {
        let wanted = self.total() as f64 * fraction;
        let mut below = 0;
        for (bound, count) in self.buckets() {
            below += count;
            if below as f64 >= wanted {
                return bound;
            }
        }
        Duration::ZERO
    }

    /// The buckets that are not empty: upper bound and count, the shortest first.
    pub fn buckets(&self) -> impl Iterator<Item = (Duration, u64)> {
        let bounds = (0..).map(|bucket| Duration::from_micros(upper_bound(bucket)));
        bounds.zip(self.counts).filter(|(_, count)| *count > 0)
    }

    /// Halves all counts, so that what comes next weighs more.
    fn fade(&mut self) {
        for count in &mut self.counts {
            *count /= 2;
        }
    }
}

impl Default for LogHistogram {
    fn default() -> Self {
        Self { counts: [0; BUCKETS] }
    }
}

/// The delay gap of the direction that is received, from the lateness of second copies.
///
/// The gap is the lateness that 98 % of the recent second copies keep. It ends when second copies end: there is
/// none after [`SILENT_FIRSTS`] packets without one, or after [`SILENT_TIME`].
#[derive(Debug)]
pub struct GapEstimator {
    recent: LogHistogram,
    /// Second copies since the quantiles were last read.
    fresh: u32,
    median: Duration,
    gap: Duration,
    firsts_since_copy: u32,
    last_copy: Option<Instant>,
}

/// How many first arrivals without any second copy say that packets come once only.
pub const SILENT_FIRSTS: u32 = 256;
/// How long without any second copy says so as well.
pub const SILENT_TIME: Duration = Duration::from_millis(500);

impl GapEstimator {
    /// An estimator that has seen nothing.
    pub fn new() -> Self {
        Self {
            recent: LogHistogram::default(),
            fresh: 0,
            median: Duration::ZERO,
            gap: Duration::ZERO,
            firsts_since_copy: 0,
            last_copy: None,
        }
    }

    /// A packet came for the first time.
    pub fn first(&mut self) {
        self.firsts_since_copy = self.firsts_since_copy.saturating_add(1);
    }

    /// A second copy came, so much later than the first.
    pub fn copy(&mut self, now: Instant, lateness: Duration) {
        if self.is_silent(now) {
            // What was before may have been other paths.
            self.recent = LogHistogram::default();
            self.fresh = 0;
        }
        self.firsts_since_copy = 0;
        self.last_copy = Some(now);
        self.recent.record(lateness);
        self.fresh += 1;
        let total = self.recent.total();
        // Often at first, then now and then: reading a quantile walks the histogram.
        if u64::from(self.fresh) * 8 >= total.min(FADE_AT) {
            self.fresh = 0;
            self.median = self.recent.quantile(0.5);
            self.gap = self.recent.quantile(QUANTILE);
            if total >= FADE_AT {
                self.recent.fade();
            }
        }
    }

    /// The gap; zero when packets come once only.
    pub fn gap(&self, now: Instant) -> Duration {
        if self.is_silent(now) {
            Duration::ZERO
        } else {
            self.gap
        }
    }

    /// How long a hole may be waited for: the gap and something for timers and jitter, at most `max`. Zero when
    /// half of the second copies are later than `max`: then waiting for them would cost and not help.
    pub fn hold(&self, now: Instant, max: Duration) -> Duration {
        if self.is_silent(now) || self.median > max {
            return Duration::ZERO;
        }
        (self.gap + (self.gap / 8).max(HOLD_SLACK)).min(max)
    }

    fn is_silent(&self, now: Instant) -> bool {
        self.firsts_since_copy >= SILENT_FIRSTS
            || self
                .last_copy
                .is_none_or(|at| now.saturating_duration_since(at) >= SILENT_TIME)
    }
}

impl Default for GapEstimator {
    fn default() -> Self {
        Self::new()
    }
}

const QUANTILE: f64 = 0.98;
/// Recent means: about the last thousand second copies.
const FADE_AT: u64 = 1024;
/// The timers of tokio tick in milliseconds.
pub(super) const HOLD_SLACK: Duration = Duration::from_micros(1500);

/// Octaves of microseconds up to 2^21, two seconds.
const BUCKETS: usize = 4 * 20;

fn bucket_of(micros: u64) -> usize {
    let bucket = match micros.checked_ilog2() {
        None | Some(0 | 1) => micros,
        Some(octave) => u64::from(octave - 1) * 4 + ((micros >> (octave - 2)) & 3),
    };
    usize::try_from(bucket).unwrap_or(usize::MAX).min(BUCKETS - 1)
}

/// The least number of microseconds above the bucket.
fn upper_bound(bucket: u64) -> u64 {
    let next = bucket + 1;
    if next < 4 {
        next
    } else {
        (4 + next % 4) << (next / 4 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn buckets_are_adjacent_and_hold_what_they_say() {
        let mut lower = 0;
        for bucket in 0..BUCKETS - 1 {
            let upper = upper_bound(bucket as u64);
            assert!(
                upper > lower && upper * 4 <= (lower.max(4)) * 5,
                "{lower} {upper}"
            );
            assert_eq!((bucket_of(lower), bucket_of(upper - 1)), (bucket, bucket));
            lower = upper;
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn the_gap_follows_the_lateness_of_copies() {
        let (mut gap, mut now) = (GapEstimator::new(), Instant::now());
        assert_eq!(gap.gap(now), Duration::ZERO);
        for lateness in [20, 5] {
            for _ in 0..4000 {
                now += Duration::from_micros(100);
                gap.first();
                gap.copy(now, ms(lateness));
            }
            assert!(
                (ms(lateness)..ms(lateness) * 5 / 4).contains(&gap.gap(now)),
                "{:?}",
                gap.gap(now)
            );
        }
        assert!((ms(6)..ms(9)).contains(&gap.hold(now, ms(100))));
        assert_eq!(gap.hold(now, ms(6)), ms(6));
        assert_eq!(
            gap.hold(now, ms(4)),
            Duration::ZERO,
            "copies that come too late are not waited for"
        );
    }

    #[test]
    fn no_copies_no_gap() {
        let (mut gap, now) = (GapEstimator::new(), Instant::now());
        gap.copy(now, ms(10));
        assert!(gap.hold(now, ms(100)) > ms(10));
        for _ in 0..SILENT_FIRSTS {
            gap.first();
        }
        assert_eq!(
            (gap.gap(now), gap.hold(now, ms(100))),
            (Duration::ZERO, Duration::ZERO)
        );
        gap.copy(now, ms(3));
        assert!(
            (ms(3)..ms(4)).contains(&gap.gap(now)),
            "the old copies are forgotten"
        );
        assert_eq!(gap.gap(now + SILENT_TIME), Duration::ZERO);
    }

    #[test]
    fn a_few_stragglers_do_not_make_the_gap() {
        let (mut gap, now) = (GapEstimator::new(), Instant::now());
        for n in 0..2000 {
            gap.copy(now, if n % 100 == 0 { ms(500) } else { ms(10) });
        }
        assert!(gap.gap(now) < ms(13), "{:?}", gap.gap(now));
    }
}
