//! From a figure's declaration and the samples to what is drawn.

use super::data::{Data, Quantity, display, same_place};
use super::figure::{AxisSpec, Figure, Kind, Lines, PanelSpec, Panels, label_or_place, passes};
use super::paper;
use super::plot::{Axis, AxisKind, Line, Panel, Plot, Point, Shape, Style};
use super::record::Sample;
use super::statistics::percentile;

/// The figure, or nothing when none of its samples was measured.
pub fn compose(figure: &Figure, data: &Data) -> Option<Plot> {
    let samples = data.of(figure.experiments);
    let mut panels: Vec<Panel> = panels_of(figure, &samples)
        .into_iter()
        .enumerate()
        .map(|(index, (title, quantity, samples))| {
            let mut lines = lines_of(figure, quantity, &samples);
            lines.extend(paper::published_marks(figure, index, &lines, data));
            Panel {
                title,
                x: Axis {
                    kind: x_kind(figure, &samples),
                    ..axis(&figure.x)
                },
                y: axis(&figure.y),
                lines,
            }
        })
        .collect();
    if panels
        .iter()
        .all(|panel| panel.lines.iter().all(|line| line.points.is_empty()))
    {
        return None;
    }
    if shares_scale(figure) {
        share_scale(&mut panels);
    }
    Some(Plot {
        title: figure.title.to_owned(),
        panels,
        columns: figure.columns,
    })
}

/// Title, quantity and samples of each panel.
fn panels_of<'a>(
    figure: &Figure,
    samples: &[&'a Sample],
) -> Vec<(String, Option<Quantity>, Vec<&'a Sample>)> {
    let choose =
        |wanted: &dyn Fn(&Sample) -> bool| samples.iter().copied().filter(|sample| wanted(sample)).collect();
    match figure.panels {
        Panels::One(filter) => vec![(String::new(), None, choose(&|sample| passes(sample, filter)))],
        Panels::Of(panels) => panels
            .iter()
            .map(
                |PanelSpec {
                     title,
                     only,
                     quantity,
                 }| {
                    (
                        (*title).to_owned(),
                        *quantity,
                        choose(&|sample| passes(sample, only)),
                    )
                },
            )
            .collect(),
        Panels::Each(name, title, filter) => {
            let admitted = samples.iter().filter(|sample| passes(sample, filter));
            in_order(admitted.filter_map(|sample| label_or_place(sample, name)))
                .into_iter()
                .map(|value| {
                    let of_it = choose(&|sample| {
                        passes(sample, filter) && label_or_place(sample, name).as_ref() == Some(&value)
                    });
                    (title.replace("{}", &display(&value)), None, of_it)
                })
                .collect()
        }
    }
}

fn lines_of(figure: &Figure, other: Option<Quantity>, samples: &[&Sample]) -> Vec<Line> {
    let shape = match figure.kind {
        Kind::Curve(_) | Kind::Bins(..) => Shape::Curve,
        Kind::Category(_) => Shape::Marks,
        Kind::Scatter(_) => Shape::Dots,
        Kind::Distribution => Shape::Bare,
        Kind::Trace(_) => Shape::Trace,
        Kind::Steps(_) => Shape::Steps,
    };
    let line = |name: String, style: Style, quantity: Quantity, samples: &[&Sample]| Line {
        name,
        style,
        shape,
        points: points_of(figure, quantity, samples),
    };
    match figure.lines {
        Lines::Quantities(quantities) => quantities
            .iter()
            .enumerate()
            .map(|(index, (name, quantity))| {
                line((*name).to_owned(), Style::numbered(index), *quantity, samples)
            })
            .collect(),
        Lines::Labels(labels, quantity) => {
            let key = |sample: &Sample| line_key(sample, labels);
            in_order(samples.iter().filter_map(|sample| key(sample)))
                .into_iter()
                .map(|wanted| {
                    let of_it: Vec<&Sample> = samples
                        .iter()
                        .copied()
                        .filter(|sample| key(sample).as_ref() == Some(&wanted))
                        .collect();
                    let parts: Vec<&str> = wanted.split(SEPARATOR).collect();
                    let names: Vec<String> = parts.iter().map(|part| display(part)).collect();
                    line(
                        names.join(" "),
                        Style::of(&parts),
                        other.unwrap_or(quantity),
                        &of_it,
                    )
                })
                .collect()
        }
    }
}

/// What a sample's line is called before it is made readable; the labels that it has of those asked for.
pub(super) fn line_key(sample: &Sample, labels: &[&str]) -> Option<String> {
    let parts: Vec<String> = labels
        .iter()
        .filter_map(|name| label_or_place(sample, name))
        .collect();
    (!parts.is_empty()).then(|| parts.join(SEPARATOR))
}

fn points_of(figure: &Figure, quantity: Quantity, samples: &[&Sample]) -> Vec<Point> {
    match figure.kind {
        Kind::Curve(axis) => {
            let places = in_order(samples.iter().filter_map(|sample| label_or_place(sample, axis)));
            places
                .iter()
                .filter_map(|place| place.parse::<f64>().ok())
                .filter_map(|x| {
                    let here = samples
                        .iter()
                        .copied()
                        .filter(|sample| sample.at.get(axis).is_some_and(|&at| same_place(at, x)));
                    point(quantity, x, here)
                })
                .collect()
        }
        Kind::Category(label) => (0..)
            .map(f64::from)
            .zip(names_of(label, samples))
            .filter_map(|(x, name)| {
                let here = samples
                    .iter()
                    .copied()
                    .filter(|sample| label_or_place(sample, label).as_ref() == Some(&name));
                point(quantity, x, here)
            })
            .collect(),
        Kind::Bins(axis, edges) => edges
            .windows(2)
            .filter_map(|edge| bin(quantity, axis, edge, samples))
            .collect(),
        Kind::Scatter(axis) => samples
            .iter()
            .filter_map(|sample| Some(Point::at(axis.get(sample)?, quantity.get(sample)?)))
            .collect(),
        Kind::Distribution => {
            let values: Vec<f64> = samples.iter().filter_map(|sample| quantity.get(sample)).collect();
            let percents = (0..=100).map(f64::from);
            percents
                .filter_map(|percent| Some(Point::at(percentile(&values, percent / 100.0)?, percent)))
                .collect()
        }
        Kind::Trace(name) | Kind::Steps(name) => {
            let first = samples.iter().min_by_key(|sample| sample.repetition);
            let trace = first.and_then(|sample| sample.traces.get(name));
            let factor = quantity.factor();
            let trace = trace.map(|trace| thinned(trace)).unwrap_or_default();
            trace.into_iter().map(|(x, y)| Point::at(x, y * factor)).collect()
        }
    }
}

fn point<'a>(quantity: Quantity, x: f64, samples: impl Iterator<Item = &'a Sample>) -> Option<Point> {
    let summary = quantity.summary(samples)?;
    Some(Point {
        x,
        y: summary.mean,
        low: summary.min,
        high: summary.max,
        // What is reached late is late by at least so much; other quantities say what they say.
        capped: summary.capped > 0 && quantity.name() == "seconds",
    })
}

fn bin(quantity: Quantity, axis: Quantity, edge: &[f64], samples: &[&Sample]) -> Option<Point> {
    let &[from, to] = edge else { return None };
    let within = samples
        .iter()
        .filter(|sample| axis.get(sample).is_some_and(|x| (from..to).contains(&x)));
    let values: Vec<f64> = within.filter_map(|sample| quantity.get(sample)).collect();
    Some(Point {
        x: f64::midpoint(from, to),
        y: percentile(&values, 0.5)?,
        low: percentile(&values, 0.25)?,
        high: percentile(&values, 0.75)?,
        capped: false,
    })
}

/// A long series in fewer points: of each stretch the smallest and the largest.
fn thinned(trace: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if trace.len() <= 2 * STRETCHES {
        return trace.to_vec();
    }
    let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
    let mut thin = Vec::new();
    for stretch in trace.chunks(trace.len().div_ceil(STRETCHES)) {
        let mut ends: Vec<(f64, f64)> = stretch
            .iter()
            .min_by(by_value)
            .into_iter()
            .chain(stretch.iter().max_by(by_value))
            .copied()
            .collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        thin.append(&mut ends);
    }
    thin
}

fn x_kind(figure: &Figure, samples: &[&Sample]) -> AxisKind {
    match figure.kind {
        Kind::Category(label) => AxisKind::Names(
            names_of(label, samples)
                .iter()
                .map(|name| display(name))
                .collect(),
        ),
        _ => figure.x.kind(),
    }
}

/// The values of a label among these samples, in the order of its axis.
pub(super) fn names_of(label: &str, samples: &[&Sample]) -> Vec<String> {
    in_order(samples.iter().filter_map(|sample| label_or_place(sample, label)))
}

fn axis(spec: &AxisSpec) -> Axis {
    Axis {
        label: spec.label.to_owned(),
        kind: spec.kind(),
        must_show: spec.must_show.to_vec(),
    }
}

/// Panels that show the same quantity have the same scale, so that they compare.
fn shares_scale(figure: &Figure) -> bool {
    match figure.panels {
        Panels::Of(panels) => panels.iter().all(|panel| panel.quantity.is_none()),
        Panels::One(_) | Panels::Each(..) => true,
    }
}

fn share_scale(panels: &mut [Panel]) {
    let points = panels
        .iter()
        .flat_map(|panel| &panel.lines)
        .flat_map(|line| &line.points);
    let values: Vec<f64> = points.flat_map(|point| [point.low, point.high]).collect();
    let ends = [
        values.iter().copied().min_by(f64::total_cmp),
        values.iter().copied().max_by(f64::total_cmp),
    ];
    for panel in panels {
        panel.y.must_show.extend(ends.into_iter().flatten());
    }
}

/// Without repetitions; numbers by size, names that are known in their usual order, others by their letters.
fn in_order(values: impl Iterator<Item = String>) -> Vec<String> {
    let rank = |value: &str| -> Vec<usize> {
        let known = |part: &str| USUAL_ORDER.iter().position(|name| *name == part);
        value
            .split(SEPARATOR)
            .map(|part| known(part).unwrap_or(USUAL_ORDER.len()))
            .collect()
    };
    let mut values: Vec<String> = values.collect();
    values.sort_by(|a, b| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a.total_cmp(&b),
        _ => (rank(a), a).cmp(&(rank(b), b)),
    });
    values.dedup();
    values
}

const USUAL_ORDER: [&str; 18] = [
    "tcp-cubic",
    "tcp-bbr",
    "cubic",
    "bbr1",
    "bbr2",
    "bbr3",
    "unicast",
    "client-side",
    "server-side",
    "bicast",
    "bidirectional",
    "adaptive",
    "step",
    "bursts",
    "handover",
    "blackout-a",
    "blackout-b",
    "flapping",
];
/// Between the parts of a line's key.
pub(super) const SEPARATOR: &str = "\u{1f}";
const STRETCHES: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_series_keeps_its_extremes_and_its_order() {
        let mut trace: Vec<(f64, f64)> = (0..5000).map(|step| (f64::from(step), 10.0)).collect();
        trace[1234].1 = 99.0;
        trace[4321].1 = 1.0;
        let thin = thinned(&trace);
        assert!(thin.len() <= 2 * STRETCHES);
        assert!(thin.contains(&(1234.0, 99.0)) && thin.contains(&(4321.0, 1.0)));
        assert!(thin.is_sorted_by(|a, b| a.0 <= b.0));
    }

    #[test]
    fn lines_and_places_stand_in_their_usual_order() {
        let order = |values: &[&str]| in_order(values.iter().map(|value| (*value).to_owned()));
        assert_eq!(order(&["10", "2", "0.5", "2"]), ["0.5", "2", "10"]);
        assert_eq!(
            order(&["adaptive", "zeppelin", "unicast"]),
            ["unicast", "adaptive", "zeppelin"]
        );
        assert_eq!(
            order(&[
                "bbr3\u{1f}unicast",
                "tcp-cubic\u{1f}unicast",
                "bbr3\u{1f}client-side"
            ]),
            [
                "tcp-cubic\u{1f}unicast",
                "bbr3\u{1f}unicast",
                "bbr3\u{1f}client-side"
            ]
        );
    }
}
