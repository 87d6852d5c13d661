//! From numbers to places on an axis, and where its ticks are.

use super::{Axis, AxisKind};

/// An axis with its range.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    kind: Kind,
    low: f64,
    high: f64,
    ticks: Vec<Tick>,
}

/// A labelled place on an axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) label: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Linear,
    Log,
    Root,
}

impl Scale {
    /// An axis on which all of these values have a place. `target` is how many ticks fit.
    pub(super) fn new(axis: &Axis, values: impl IntoIterator<Item = f64>, target: usize) -> Self {
        let shown = values.into_iter().chain(axis.must_show.iter().copied());
        match &axis.kind {
            AxisKind::Linear => Scale::linear(shown, target),
            AxisKind::Log => Scale::log(shown),
            AxisKind::Root => Scale::root(shown),
            AxisKind::Names(names) => Scale {
                kind: Kind::Linear,
                low: -0.5,
                high: (names.len().max(1) as f64) - 0.5,
                ticks: names
                    .iter()
                    .enumerate()
                    .map(|(index, name)| Tick {
                        at: index as f64,
                        label: name.clone(),
                    })
                    .collect(),
            },
        }
    }

    /// Where a value is, 0 at the beginning of the axis and 1 at its end.
    pub(super) fn place(&self, value: f64) -> f64 {
        match self.kind {
            Kind::Linear => (value - self.low) / (self.high - self.low),
            // Zero has no place on such an axis: it is drawn at its beginning.
            Kind::Root => (value.max(0.0) / self.high).sqrt(),
            Kind::Log => (value.max(self.low) / self.low).ln() / (self.high / self.low).ln(),
        }
    }

    pub(super) fn ticks(&self) -> &[Tick] {
        &self.ticks
    }

    fn linear(values: impl Iterator<Item = f64>, target: usize) -> Self {
        let (mut low, mut high) = range(values);
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if high - low < 1e-12 * high.abs().max(1.0) {
            (low, high) = (low - 0.5 * low.abs().max(1.0), high + 0.5 * high.abs().max(1.0));
        }
        let step = round_step((high - low) / target.max(2) as f64);
        (low, high) = (
            (low / step + 1e-9).floor() * step,
            (high / step - 1e-9).ceil() * step,
        );
        let count = ((high - low) / step).round();
        let decimals = decimals(step);
        let ticks = (0..=200u32)
            .map(f64::from)
            .take_while(|&index| index <= count)
            .map(|index| low + index * step)
            .map(|at| Tick {
                at,
                label: grouped(at, decimals),
            })
            .collect();
        Scale {
            kind: Kind::Linear,
            low,
            high,
            ticks,
        }
    }

    fn root(values: impl Iterator<Item = f64>) -> Self {
        let mut places: Vec<f64> = values.filter(|&value| value >= 0.0).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let high = places.last().copied().filter(|&last| last > 0.0).unwrap_or(1.0);
        if places.len() < 2 {
            places = vec![0.0, high];
        }
        Scale {
            kind: Kind::Root,
            low: 0.0,
            high,
            ticks: places
                .into_iter()
                .map(|at| Tick {
                    at,
                    label: grouped(at, decimals(at)),
                })
                .collect(),
        }
    }

    fn log(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = range(values.filter(|&value| value > 0.0));
        let (low, high) = if low > high { (1.0, 10.0) } else { (low, high) };
        // Ends are round numbers: 1, 2 or 5 times a power of ten.
        let rounds: Vec<f64> = (-12..13)
            .flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power)))
            .collect();
        let below = rounds.iter().rev().find(|&&round| round <= low * 1.000_001);
        let above = rounds.iter().find(|&&round| round >= high * 0.999_999);
        let low = below.copied().unwrap_or(low);
        let high = above.copied().filter(|&above| above > low).unwrap_or(low * 10.0);
        let wide = high / low > 3000.0;
        let ticks = rounds
            .into_iter()
            .filter(|&at| at >= low * 0.999_999 && at <= high * 1.000_001)
            .filter(|&at| !wide || (at.log10() - at.log10().round()).abs() < 1e-6)
            .map(|at| Tick {
                at,
                label: grouped(at, decimals(at)),
            })
            .collect();
        Scale {
            kind: Kind::Log,
            low,
            high,
            ticks,
        }
    }
}

/// A number with thin spaces between its thousands; large ones short.
pub(super) fn grouped(number: f64, decimals: usize) -> String {
    for (unit, name) in [(1e9, "G"), (1e6, "M")] {
        if number.abs() >= unit {
            let short = format!("{:.2}", number / unit);
            return format!("{} {name}", short.trim_end_matches('0').trim_end_matches('.'));
        }
    }
    let text = format!("{number:.decimals$}");
    match text.as_bytes() {
        [_, _, _, _, _, ..] if decimals == 0 && number.abs() >= 10_000.0 => {
            let (head, tail) = text.split_at(text.len() - 3);
            format!("{head}\u{2009}{tail}")
        }
        _ if number == 0.0 => "0".to_owned(),
        _ => text,
    }
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        })
}

/// The next step of the kind 1, 2, 5, 10, 20, …
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let digit = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|digit| digit * power >= step * 0.999_999);
    digit.unwrap_or(10.0) * power
}

/// Digits behind the point that a multiple of this step needs.
fn decimals(step: f64) -> usize {
    (0..12)
        .find(|&digits| {
            let scaled = step * 10f64.powi(digits);
            (scaled - scaled.round()).abs() < 1e-6 * scaled.max(1e-300)
        })
        .and_then(|digits| usize::try_from(digits).ok())
        .unwrap_or(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(kind: AxisKind) -> Axis {
        Axis {
            label: String::new(),
            kind,
            must_show: Vec::new(),
        }
    }

    fn labels(kind: AxisKind, values: &[f64]) -> Vec<String> {
        let scale = Scale::new(&axis(kind), values.iter().copied(), 5);
        scale.ticks().iter().map(|tick| tick.label.clone()).collect()
    }

    #[test]
    fn ticks_are_round_numbers_around_the_values() {
        assert_eq!(labels(AxisKind::Linear, &[0.0, 15.0]), ["0", "5", "10", "15"]);
        assert_eq!(
            labels(AxisKind::Linear, &[0.0, 1.0]),
            ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(
            labels(AxisKind::Linear, &[0.0, 50_000.0]).last().unwrap(),
            "50\u{2009}000"
        );
        assert_eq!(
            labels(AxisKind::Root, &[0.1, 40.0, 0.0, 1.0, 0.1]),
            ["0", "0.1", "1", "40"]
        );
        assert_eq!(
            labels(AxisKind::Log, &[8.9, 190.0]),
            ["5", "10", "20", "50", "100", "200"]
        );
        assert_eq!(
            labels(AxisKind::Log, &[0.001, 90.0]),
            ["0.001", "0.01", "0.1", "1", "10", "100"]
        );
    }

    #[test]
    fn every_value_has_a_place_on_the_axis() {
        for kind in [AxisKind::Linear, AxisKind::Log, AxisKind::Root] {
            for values in [
                &[3.0, 3.0][..],
                &[0.02, 977.0],
                &[1e-9, 1e9],
                &[5.0],
                &[0.0, 4.0],
                &[],
            ] {
                let scale = Scale::new(&axis(kind.clone()), values.iter().copied(), 5);
                for &value in values {
                    let place = scale.place(value);
                    assert!(
                        (-1e-9..=1.0 + 1e-9).contains(&place),
                        "{kind:?} {values:?}: {place}"
                    );
                }
                assert!(scale.ticks().len() >= 2, "{kind:?} {values:?}");
            }
        }
    }

    #[test]
    fn names_stand_at_whole_numbers_away_from_the_ends() {
        let names = AxisKind::Names(vec!["a".to_owned(), "b".to_owned()]);
        let scale = Scale::new(&axis(names), [], 5);
        assert_eq!((scale.place(0.0), scale.place(1.0)), (0.25, 0.75));
    }
}
