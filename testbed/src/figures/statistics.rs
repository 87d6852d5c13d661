//! What is said of several samples of the same thing.

/// Samples of one point in a few numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// How many samples.
    pub n: usize,
    /// Their arithmetic mean.
    pub mean: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// How many of them were stopped at the time cap.
    pub capped: usize,
}

impl Summary {
    /// Of values and whether each was stopped at the time cap; nothing of nothing.
    pub fn of(values: impl IntoIterator<Item = (f64, bool)>) -> Option<Self> {
        let mut summary = Summary {
            n: 0,
            mean: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            capped: 0,
        };
        for (value, capped) in values {
            summary.n += 1;
            summary.mean += value;
            summary.min = summary.min.min(value);
            summary.max = summary.max.max(value);
            summary.capped += usize::from(capped);
        }
        summary.mean /= summary.n as f64;
        (summary.n > 0).then_some(summary)
    }
}

/// The value below which `fraction` of the values lie, interpolated between the two nearest.
pub fn percentile(values: &[f64], fraction: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let place = fraction.clamp(0.0, 1.0) * last as f64;
    let below = (0..=last).rev().find(|&index| index as f64 <= place)?;
    let (low, high) = (sorted.get(below)?, sorted.get(below + 1).or(sorted.last())?);
    Some(low + (high - low) * (place - below as f64))
}

/// Jain's index of fairness, (Σx)² / (n·Σx²): 1 when all shares are equal, 1/n when one has everything
/// (Jain, Chiu and Hawe, DEC-TR-301, 1984).
pub fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_counts_what_was_capped() {
        let summary = Summary::of([(1.0, false), (2.0, true), (6.0, false)]).unwrap();
        assert_eq!((summary.n, summary.capped), (3, 1));
        assert_eq!((summary.min, summary.mean, summary.max), (1.0, 3.0, 6.0));
        assert_eq!(Summary::of([]), None);
    }

    #[test]
    fn percentiles_are_interpolated() {
        let values = [40.0, 10.0, 30.0, 20.0];
        assert_eq!(percentile(&values, 0.0), Some(10.0));
        assert_eq!(percentile(&values, 0.5), Some(25.0));
        assert_eq!(percentile(&values, 1.0), Some(40.0));
        assert_eq!(percentile(&[7.0], 0.3), Some(7.0));
        assert_eq!(percentile(&[], 0.5), None);
    }

    #[test]
    fn jain_tells_equal_shares_from_one_that_has_everything() {
        assert_eq!(jain(&[5.0, 5.0, 5.0]), Some(1.0));
        assert_eq!(jain(&[9.0, 0.0, 0.0]), Some(1.0 / 3.0));
        assert!((jain(&[20.0, 80.0]).unwrap() - 10_000.0 / 13_600.0).abs() < 1e-12);
        assert_eq!(jain(&[0.0, 0.0]), None);
    }
}
