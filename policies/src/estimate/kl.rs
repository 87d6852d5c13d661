//! Confidence bounds for a proportion, after Chernoff.
//!
//! If each of `sent` packets is lost with probability q, independently, the chance to see a share of `lost/sent` or
//! one even further from q is at most exp(-sent · KL(lost/sent ‖ q)), where KL is the Kullback-Leibler divergence of
//! two coins. A q for which that is below `alpha` is excluded. The bound holds for every number of packets, however
//! small, and for 0 and all of them lost, where approximations by a normal distribution fail.

/// The divergence KL(p‖q) of two coins in nats: how fast evidence against q builds up when the truth is p. Both in
/// 0..=1; infinite when q excludes what p allows.
pub fn divergence(p: f64, q: f64) -> f64 {
    // ln_1p keeps the digits that 1 - p loses when p is small. A sum below zero is a rounding error.
    let hits = if p > 0.0 { p * (p / q).ln() } else { 0.0 };
    let misses = if p < 1.0 {
        (1.0 - p) * ((-p).ln_1p() - (-q).ln_1p())
    } else {
        0.0
    };
    (hits + misses).max(0.0)
}

/// The smallest loss that `lost` of `sent` packets do not exclude with confidence 1 - `alpha`; 0 when none was sent.
pub fn lower(lost: u64, sent: u64, alpha: f64) -> f64 {
    let (share, sent, limit) = (share(lost, sent), sent as f64, (1.0 / alpha).ln());
    // The divergence falls from q = 0 to q = share.
    bisect(0.0, share, |q| sent * divergence(share, q) <= limit)
}

/// The largest loss that `lost` of `sent` packets do not exclude with confidence 1 - `alpha`; 1 when none was sent.
pub fn upper(lost: u64, sent: u64, alpha: f64) -> f64 {
    // Seen from the packets that arrived, the largest loss is the smallest arrival.
    1.0 - lower(sent.saturating_sub(lost), sent, alpha)
}

/// How strongly `lost` of `sent` packets speak against a loss of at most `threshold`: above ln(1/`alpha`) the loss is
/// certainly higher, which is the same as [`lower`] above the threshold.
pub fn evidence_above(lost: u64, sent: u64, threshold: f64) -> f64 {
    let share = share(lost, sent);
    if share > threshold {
        sent as f64 * divergence(share, threshold)
    } else {
        0.0
    }
}

/// How strongly `lost` of `sent` packets speak against a loss of at least `threshold`: above ln(1/`alpha`) the loss
/// is certainly lower, which is the same as [`upper`] below the threshold.
pub fn evidence_below(lost: u64, sent: u64, threshold: f64) -> f64 {
    if sent > 0 && share(lost, sent) < threshold {
        sent as f64 * divergence(share(lost, sent), threshold)
    } else {
        0.0
    }
}

fn share(lost: u64, sent: u64) -> f64 {
    if sent == 0 {
        0.0
    } else {
        lost.min(sent) as f64 / sent as f64
    }
}

/// The smallest number in `low..=high` for which `holds`, given that it holds at `high` and, once it holds, goes on
/// holding.
fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    if holds(low) {
        return low;
    }
    for _ in 0..STEPS {
        let middle = f64::midpoint(low, high);
        if holds(middle) {
            high = middle
        } else {
            low = middle
        }
    }
    high
}

/// Halvings of an interval no wider than 1: below the resolution of a share near 1e-3.
const STEPS: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    const ALPHA: f64 = 1e-4;

    #[test]
    fn bounds_enclose_the_estimate_and_close_in_with_more_packets() {
        let mut width = 1.0;
        for sent in [10_u64, 100, 1_000, 10_000, 1_000_000_000] {
            let lost = sent / 10;
            let (low, high) = (lower(lost, sent, ALPHA), upper(lost, sent, ALPHA));
            assert!(low < 0.1 && 0.1 < high, "{sent}: {low} {high}");
            assert!(high - low < width, "{sent}");
            width = high - low;
        }
        assert!(width < 1e-3);
    }

    #[test]
    fn nothing_and_everything_lost_are_no_special_cases() {
        assert_eq!((lower(0, 0, ALPHA), upper(0, 0, ALPHA)), (0.0, 1.0));
        assert_eq!(lower(0, 1_000, ALPHA), 0.0);
        assert_eq!(upper(1_000, 1_000, ALPHA), 1.0);
        // Without a loss the bound is known in closed form: (1 - q)^sent = alpha.
        assert!((upper(0, 1_000, ALPHA) - (1.0 - ALPHA.powf(1e-3))).abs() < 1e-12);
        assert!((lower(1_000, 1_000, ALPHA) - ALPHA.powf(1e-3)).abs() < 1e-12);
        assert!(upper(0, u64::MAX, ALPHA) < 1e-15);
        assert!(lower(5, 3, ALPHA) > 0.0, "more lost than sent counts as all lost");
    }

    #[test]
    fn evidence_and_bounds_say_the_same() {
        let limit = (1.0 / ALPHA).ln();
        for sent in [1_u64, 7, 50, 333, 5_000] {
            for lost in (0..=sent).step_by(usize::try_from(sent).unwrap().div_ceil(50)) {
                for threshold in [0.001, 0.005, 0.02, 0.3, 0.9] {
                    let above = evidence_above(lost, sent, threshold) > limit;
                    assert_eq!(
                        above,
                        lower(lost, sent, ALPHA) > threshold,
                        "{lost}/{sent} above {threshold}"
                    );
                    let below = evidence_below(lost, sent, threshold) > limit;
                    assert_eq!(
                        below,
                        upper(lost, sent, ALPHA) < threshold,
                        "{lost}/{sent} below {threshold}"
                    );
                }
            }
        }
    }

    /// Summed over the exact binomial distribution, the chance that a bound excludes the truth stays below alpha.
    #[test]
    fn a_bound_is_wrong_less_often_than_it_says() {
        for alpha in [0.05, 1e-3] {
            for (sent, loss) in [(20_u64, 0.02), (200, 0.02), (500, 0.1), (50, 0.5)] {
                let (mut too_high, mut too_low) = (0.0, 0.0);
                let mut chance = f64::powf(1.0 - loss, sent as f64);
                for lost in 0..=sent {
                    too_high += if lower(lost, sent, alpha) > loss {
                        chance
                    } else {
                        0.0
                    };
                    too_low += if upper(lost, sent, alpha) < loss {
                        chance
                    } else {
                        0.0
                    };
                    chance *= (sent - lost) as f64 / (lost + 1) as f64 * loss / (1.0 - loss);
                }
                assert!(
                    too_high <= alpha && too_low <= alpha,
                    "{sent} {loss}: {too_high} {too_low} > {alpha}"
                );
            }
        }
    }
}
