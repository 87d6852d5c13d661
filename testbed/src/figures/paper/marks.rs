//! Published numbers as open markers in our figures.

use super::{Ours, Published, Statement, Unit};
use crate::figures::compose::line_key;
use crate::figures::data::{Data, Quantity, Series, has_labels, same_place};
use crate::figures::figure::{Figure, Kind, Lines, PanelSpec, Panels, passes};
use crate::figures::plot::{Line, Point, Shape, Style};
use crate::figures::record::Sample;

/// The open markers of one panel: numbers that are stated for a line of it at one loss, or a range of them over some.
/// Where the paper states a change only, it is applied to our baseline at the same loss.
pub fn published_marks(figure: &Figure, panel: usize, lines: &[Line], data: &Data) -> Vec<Line> {
    super::all()
        .filter_map(|statement| {
            let points = places(figure, statement, data);
            let style = style_of(figure, panel, statement, lines, data)?;
            (!points.is_empty()).then(|| Line {
                name: NAME.to_owned(),
                style,
                shape: Shape::Published,
                points: points.into_iter().map(|(x, y)| Point::at(x, y)).collect(),
            })
        })
        .collect()
}

/// Where the markers of a statement stand.
fn places(figure: &Figure, statement: &Statement, data: &Data) -> Vec<(f64, f64)> {
    match (statement.ours, statement.published) {
        (Ours::Level { losses, .. }, Published::About(number)) if same_place(losses.0, losses.1) => {
            vec![(losses.0, number)]
        }
        (Ours::Level { losses, .. }, Published::Range(first, last)) => {
            vec![(losses.0, first), (losses.1, last)]
        }
        (Ours::Level { of, .. }, Published::About(number)) if matches!(figure.kind, Kind::Category(_)) => {
            data.series(&of)
                .first()
                .map(|sample| (category(sample, data), number))
                .into_iter()
                .collect()
        }
        (
            Ours::Relation {
                to, quantity, losses, ..
            },
            Published::About(change),
        ) if statement.unit == Unit::Change && same_place(losses.0, losses.1) => {
            baseline(data, &to, quantity, losses.0)
                .map(|seconds| (losses.0, seconds * (1.0 + change / 100.0)))
                .into_iter()
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The place of a sample's transport among those of its experiment.
fn category(sample: &Sample, data: &Data) -> f64 {
    let samples = data.of(&[sample.experiment.as_str()]);
    let names = crate::figures::compose::names_of("transport", &samples);
    let own = line_key(sample, &["transport"]);
    (0..)
        .map(f64::from)
        .zip(names)
        .find(|(_, name)| own.as_ref() == Some(name))
        .map_or(0.0, |(place, _)| place)
}

fn baseline(data: &Data, series: &Series, quantity: Quantity, loss: f64) -> Option<f64> {
    let samples = data.series(series);
    let here = samples.into_iter().filter(|sample| {
        sample
            .at
            .get("loss_percent")
            .is_some_and(|&at| same_place(at, loss))
    });
    quantity.summary(here).map(|summary| summary.mean)
}

/// The style of the panel's line that a statement is about; nothing when it is about none of them.
fn style_of(
    figure: &Figure,
    panel: usize,
    statement: &Statement,
    lines: &[Line],
    data: &Data,
) -> Option<Style> {
    let (of, quantity) = match statement.ours {
        Ours::Level { of, quantity, .. } | Ours::Relation { of, quantity, .. } => (of, quantity),
        Ours::Growth { .. } | Ours::Population { .. } => return None,
    };
    if figure.experiments != of.experiments {
        return None;
    }
    let (only, of_panel) = match figure.panels {
        Panels::One(only) => (only, None),
        Panels::Of(panels) => panels
            .get(panel)
            .map(|PanelSpec { only, quantity, .. }| (*only, *quantity))?,
        Panels::Each(..) => return None,
    };
    let samples = data.series(&of);
    let sample = samples
        .iter()
        .find(|sample| passes(sample, only) && has_labels(sample, of.labels))?;
    match figure.lines {
        Lines::Quantities(quantities) => {
            let place = quantities.iter().position(|(_, shown)| *shown == quantity)?;
            lines.get(place).map(|line| line.style)
        }
        Lines::Labels(labels, shown) => {
            let key = line_key(sample, labels)?;
            let parts: Vec<&str> = key.split(crate::figures::compose::SEPARATOR).collect();
            (of_panel.unwrap_or(shown) == quantity).then(|| Style::of(&parts))
        }
    }
}

const NAME: &str = "published";
