//! From points to samples: the one loop of all series.

use super::ground::Ground;
use super::{Point, Series};
use crate::experiment::Context;
use crate::figures::{Length, Progress, Sample, Store};
use anyhow::{Context as _, Result};

/// Measures every point of the series that the store does not hold yet. One lab serves all points; after a point that
/// could not be carried out the next gets a new one.
///
/// # Errors
/// When several points in a row could not be carried out, or a sample cannot be stored.
pub fn run(
    series: &mut dyn Series,
    context: &mut Context<'_>,
    length: Length,
    store: &mut Store,
) -> Result<()> {
    let points = series.points(length, context.seed);
    let (there, missing): (Vec<Point>, Vec<Point>) = points
        .into_iter()
        .partition(|point| store.has(&point.key(series.name())));
    let mut progress = Progress::new(missing.iter().map(|point| point.expected).collect(), there.len());
    let mut ground = None;
    let mut failures = 0;
    for point in missing {
        progress.begin(&point);
        let mut told = String::new();
        for _ in 0..attempts(length) {
            let sample = match measure(series, context, &mut ground, &point, length) {
                Ok(sample) => {
                    failures = 0;
                    sample
                }
                Err(error) => {
                    ground = None;
                    failures += 1;
                    if failures == PATIENCE {
                        return Err(error).with_context(|| format!("{point}: {PATIENCE} failures in a row"));
                    }
                    point.sample(
                        series.name(),
                        super::Measured::default(),
                        vec![format!("{error:#}")],
                    )
                }
            };
            told = in_words(&point, &sample);
            let sound = sample.is_sound();
            store.append(sample)?;
            if sound {
                break;
            }
        }
        progress.end(told);
    }
    Ok(())
}

fn measure(
    series: &mut dyn Series,
    context: &mut Context<'_>,
    ground: &mut Option<Ground>,
    point: &Point,
    length: Length,
) -> Result<Sample> {
    let ground = match ground {
        Some(ground) => ground,
        None => ground.insert(Ground::start(context)?),
    };
    let (measured, faults) = ground.observe(|ground| series.measure(ground, point, length))?;
    Ok(point.sample(series.name(), measured, faults))
}

fn in_words(point: &Point, sample: &Sample) -> String {
    let values = sample
        .values
        .iter()
        .map(|(name, value)| format!("{name} {}", short(*value)));
    let capped = if sample.capped { " (capped)" } else { "" };
    let mut text = format!("{point}: {}{capped}", values.collect::<Vec<_>>().join(", "));
    if !sample.is_sound() {
        text += &format!("; no evidence: {}", sample.faults.join("; "));
    }
    text
}

/// A number as one reads it at a glance.
fn short(value: f64) -> String {
    match value.abs() {
        large if large >= 1e6 => format!("{:.2}M", value / 1e6),
        large if large >= 1000.0 => format!("{value:.0}"),
        large if large >= 1.0 => format!("{value:.1}"),
        _ => format!("{value:.4}"),
    }
}

/// How often a point is measured in one run while the lab is at fault.
fn attempts(length: Length) -> u32 {
    super::by_length(length, 1, 2, 3)
}

/// Attempts in a row that may fail.
const PATIENCE: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::series::Measured;

    #[test]
    fn a_sample_is_told_in_a_line() {
        let point = Point::new(&[("congestion", "bbr3")], &[("loss_percent", 1.0)], 0, 1, 1.0);
        let measured = Measured::new(&[("bytes", 1e8), ("seconds", 8.94), ("share", 0.5)]).capped(true);
        assert_eq!(
            in_words(&point, &point.sample("x", measured, Vec::new())),
            "bbr3, loss_percent 1: bytes 100.00M, seconds 8.9, share 0.5000 (capped)"
        );
        let skipped = point.sample("x", Measured::skipped("not here"), Vec::new());
        assert_eq!(
            in_words(&point, &skipped),
            "bbr3, loss_percent 1: ; no evidence: not here"
        );
    }
}
