//! From samples to the number that a statement is compared with.

use super::{Ours, Statement, Take, Unit};
use crate::figures::data::{Data, Quantity, by_loss, same_place};
use crate::figures::record::Sample;
use crate::figures::statistics::{Summary, percentile};

/// Our number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// It, or the lowest of several.
    pub low: f64,
    /// It, or the highest of several.
    pub high: f64,
    /// Samples that it was computed from.
    pub samples: usize,
    /// How many of those were stopped at the time cap: the number is a bound.
    pub capped: usize,
}

impl Measured {
    /// What is compared with what is published.
    pub fn middle(&self) -> f64 {
        f64::midpoint(self.low, self.high)
    }

    /// As the report shows it.
    pub fn text(&self, unit: Unit) -> String {
        if unit.text(self.low) == unit.text(self.high) {
            unit.text(self.low)
        } else {
            unit.range(self.low, self.high)
        }
    }

    fn of(numbers: &[f64], take: Take, samples: usize, capped: usize) -> Option<Self> {
        let low = numbers.iter().copied().min_by(f64::total_cmp)?;
        let high = numbers.iter().copied().max_by(f64::total_cmp)?;
        let (low, high) = match take {
            Take::Span => (low, high),
            Take::Lowest => (low, low),
            Take::Highest => (high, high),
            Take::Average => {
                let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
                (mean, mean)
            }
        };
        Some(Measured {
            low,
            high,
            samples,
            capped,
        })
    }
}

impl Statement {
    /// Our number, or nothing when samples for it are missing.
    pub fn measure(&self, data: &Data) -> Option<Measured> {
        let relation = |of: f64, to: f64| match self.unit {
            Unit::Change => 100.0 * (of / to - 1.0),
            Unit::Percent => 100.0 * of / to,
            Unit::Times | Unit::Mbit | Unit::Count | Unit::Ms => of / to,
        };
        match self.ours {
            Ours::Level {
                of,
                quantity,
                losses,
                take,
            } => {
                let points = by_loss(&data.series(&of), quantity, losses);
                let means: Vec<f64> = points.iter().map(|(_, summary)| summary.mean).collect();
                let (samples, capped) = counts(points.iter().map(|(_, summary)| summary));
                Measured::of(&means, take, samples, capped)
            }
            Ours::Relation {
                of,
                to,
                quantity,
                losses,
                take,
            } => {
                let (of, to) = (
                    by_loss(&data.series(&of), quantity, losses),
                    by_loss(&data.series(&to), quantity, losses),
                );
                let pairs: Vec<(Summary, Summary)> = of
                    .iter()
                    .filter_map(|(loss, of)| {
                        let (_, to) = to.iter().find(|(other, _)| same_place(*loss, *other))?;
                        Some((*of, *to))
                    })
                    .collect();
                let numbers: Vec<f64> = pairs.iter().map(|(of, to)| relation(of.mean, to.mean)).collect();
                let (samples, capped) = counts(pairs.iter().flat_map(|(of, to)| [of, to]));
                Measured::of(&numbers, take, samples, capped)
            }
            Ours::Growth { of, quantity, losses } => {
                let at = |loss| {
                    by_loss(&data.series(&of), quantity, (loss, loss))
                        .first()
                        .map(|(_, summary)| *summary)
                };
                let (later, first) = (at(losses.0)?, at(losses.1)?);
                let (samples, capped) = counts([&later, &first]);
                Measured::of(&[relation(later.mean, first.mean)], Take::Span, samples, capped)
            }
            Ours::Population {
                of,
                to,
                quantity,
                percentile,
            } => {
                let (of, to) = (data.series(&of), data.series(&to));
                let number = relation(
                    typical(&of, quantity, percentile)?,
                    typical(&to, quantity, percentile)?,
                );
                let capped = of.iter().chain(&to).filter(|sample| sample.capped).count();
                Measured::of(&[number], Take::Span, of.len() + to.len(), capped)
            }
        }
        .filter(|measured| measured.low.is_finite() && measured.high.is_finite())
    }
}

fn typical(samples: &[&Sample], quantity: Quantity, fraction: Option<f64>) -> Option<f64> {
    match fraction {
        None => quantity
            .summary(samples.iter().copied())
            .map(|summary| summary.mean),
        Some(fraction) => {
            let values: Vec<f64> = samples.iter().filter_map(|sample| quantity.get(sample)).collect();
            percentile(&values, fraction)
        }
    }
}

fn counts<'a>(summaries: impl IntoIterator<Item = &'a Summary>) -> (usize, usize) {
    summaries.into_iter().fold((0, 0), |(samples, capped), summary| {
        (samples + summary.n, capped + summary.capped)
    })
}
