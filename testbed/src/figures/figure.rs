//! What a figure declares; `catalogue.rs` has the declarations.

use super::data::{self, Quantity};
use super::plot::AxisKind;
use super::record::Sample;

/// A figure: which samples, on which axes, by which lines and panels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// Name of its files.
    pub id: &'static str,
    /// Above it.
    pub title: &'static str,
    /// Below it in the report: what to see, and how it was measured.
    pub caption: &'static str,
    /// Where its samples come from; of several, the first that has any.
    pub experiments: &'static [&'static str],
    /// What kind of figure.
    pub kind: Kind,
    /// Axis to the right.
    pub x: AxisSpec,
    /// Axis upwards.
    pub y: AxisSpec,
    /// What makes a line.
    pub lines: Lines,
    /// What makes a panel.
    pub panels: Panels,
    /// Panels beside each other.
    pub columns: usize,
}

/// How samples become points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Mean, smallest and largest at each place on this axis.
    Curve(&'static str),
    /// Mean, smallest and largest for each value of this label.
    Category(&'static str),
    /// Median and quartiles between these edges of a quantity.
    Bins(Quantity, &'static [f64]),
    /// A dot for each sample, this quantity to the right.
    Scatter(Quantity),
    /// How many percent of the samples are below a value.
    Distribution,
    /// A time series of the first repetition.
    Trace(&'static str),
    /// The same for a series that keeps each value until the next.
    Steps(&'static str),
}

/// An axis as declared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AxisSpec {
    /// With its unit.
    pub label: &'static str,
    /// How numbers become places.
    pub scale: Scale,
    /// Values that must be on it.
    pub must_show: &'static [f64],
}

/// How numbers become places on an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal ratios.
    Log,
    /// Distances are those of the square roots; ticks where something is.
    Root,
    /// Names at 0, 1, 2, …
    Names(&'static [&'static str]),
}

/// What makes a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lines {
    /// Each combination of these labels; the first gives the colour, the second marker and dashes.
    Labels(&'static [&'static str], Quantity),
    /// Each of these quantities.
    Quantities(&'static [(&'static str, Quantity)]),
}

/// What makes a panel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Panels {
    /// One, with these samples only.
    One(Filter),
    /// These.
    Of(&'static [PanelSpec]),
    /// One for each value of this label, or place on this axis; in the title it stands where `{}` does.
    Each(&'static str, &'static str, Filter),
}

/// A panel as declared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PanelSpec {
    /// Above it.
    pub title: &'static str,
    /// Which samples.
    pub only: Filter,
    /// Another quantity than that of the figure's lines.
    pub quantity: Option<Quantity>,
}

/// Labels or places, and what they may be.
pub type Filter = &'static [(&'static str, &'static [&'static str])];

impl AxisSpec {
    /// An axis on which equal distances are equal differences.
    pub const fn linear(label: &'static str) -> Self {
        AxisSpec {
            label,
            scale: Scale::Linear,
            must_show: &[],
        }
    }

    /// An axis on which equal distances are equal ratios.
    pub const fn log(label: &'static str) -> Self {
        AxisSpec {
            scale: Scale::Log,
            ..AxisSpec::linear(label)
        }
    }

    /// An axis on which small numbers have more room than large ones, and zero has a place.
    pub const fn root(label: &'static str) -> Self {
        AxisSpec {
            scale: Scale::Root,
            ..AxisSpec::linear(label)
        }
    }

    /// An axis with names at 0, 1, 2, …
    pub const fn names(label: &'static str, names: &'static [&'static str]) -> Self {
        AxisSpec {
            scale: Scale::Names(names),
            ..AxisSpec::linear(label)
        }
    }

    /// The same with values that must be on it.
    #[must_use]
    pub const fn showing(self, must_show: &'static [f64]) -> Self {
        AxisSpec { must_show, ..self }
    }

    /// How it is drawn.
    pub(super) fn kind(&self) -> AxisKind {
        match self.scale {
            Scale::Linear => AxisKind::Linear,
            Scale::Log => AxisKind::Log,
            Scale::Root => AxisKind::Root,
            Scale::Names(names) => AxisKind::Names(names.iter().map(|name| (*name).to_owned()).collect()),
        }
    }
}

/// A label of a sample, or its place on an axis in words.
pub(super) fn label_or_place(sample: &Sample, name: &str) -> Option<String> {
    data::label(sample, name).or_else(|| sample.at.get(name).map(|place| format!("{place}")))
}

/// Whether a sample passes a filter.
pub(super) fn passes(sample: &Sample, filter: Filter) -> bool {
    filter.iter().all(|(name, allowed)| {
        label_or_place(sample, name).is_some_and(|value| allowed.contains(&value.as_str()))
    })
}
