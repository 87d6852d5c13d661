//! Drawing: a [`Plot`] in, SVG and PNG out. Nothing here knows what is drawn.
//!
//! ```text
//!  Plot ─▶ layout (titles, legend, panels) ─▶ panel (axes, lines, markers) ─▶ svg (elements) ─▶ png
//! ```

mod layout;
mod panel;
mod png;
mod scale;
mod style;
mod svg;

pub use layout::svg;
pub use png::png;
pub use style::Style;
pub(super) use svg::escaped;

/// A figure: panels with a common legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// Above all.
    pub title: String,
    /// From left to right, then downwards.
    pub panels: Vec<Panel>,
    /// Panels beside each other.
    pub columns: usize,
}

/// One pair of axes and what is drawn on them.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Above the panel; may be empty.
    pub title: String,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// In the order of the legend.
    pub lines: Vec<Line>,
}

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it shows, and in which unit.
    pub label: String,
    /// How.
    pub kind: AxisKind,
    /// Values that must be on it whatever is measured.
    pub must_show: Vec<f64>,
}

/// How an axis maps numbers to places.
#[derive(Debug, Clone, PartialEq)]
pub enum AxisKind {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal ratios.
    Log,
    /// Equal distances are equal differences of square roots; ticks where something is.
    Root,
    /// Names at 0, 1, 2, …
    Names(Vec<String>),
}

/// One entry of the legend and its points.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// In the legend.
    pub name: String,
    /// Colour, marker, dashes.
    pub style: Style,
    /// How the points are shown.
    pub shape: Shape,
    /// In the order in which they are joined.
    pub points: Vec<Point>,
}

/// How points are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Markers joined by lines, with bars from low to high.
    Curve,
    /// Markers with bars, not joined.
    Marks,
    /// A line without markers.
    Bare,
    /// A thin line without dashes, for many points.
    Trace,
    /// A line that stays at each value until the next point.
    Steps,
    /// Many small dots.
    Dots,
    /// Open markers: numbers that somebody else has published.
    Published,
}

/// A point with its bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Place on the axis to the right.
    pub x: f64,
    /// Place on the axis upwards.
    pub y: f64,
    /// Lower end of the bar.
    pub low: f64,
    /// Upper end of the bar.
    pub high: f64,
    /// Whether the true value is above: marked with an arrow.
    pub capped: bool,
}

impl Point {
    /// A point without a bar.
    pub fn at(x: f64, y: f64) -> Self {
        Point {
            x,
            y,
            low: y,
            high: y,
            capped: false,
        }
    }
}
