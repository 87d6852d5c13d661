//! One panel: axes, grid, lines, markers.

use super::scale::Scale;
use super::svg::{Anchor, Svg, TEXT, width_of};
use super::{AxisKind, Line, Panel, Point, Shape};

/// Where a panel stands, axis labels included.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A panel with its scales and the rectangle between its axes.
struct Area {
    x: Scale,
    y: Scale,
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

/// Draws a panel with room for labels so wide beside its axis. `number` makes its ids differ from those of other panels of the same document.
pub(super) fn draw(svg: &mut Svg, panel: &Panel, place: Place, labels: f64, number: &str) {
    let area = Area::new(panel, place, labels);
    let bottom = area.top + area.height;
    if !panel.title.is_empty() {
        svg.words(area.left, place.y + 15.0, Anchor::Start, 13.5, true, &panel.title);
    }
    for tick in area.y.ticks() {
        let y = area.y_of(tick.at);
        svg.grid_line((area.left, y), (area.left + area.width, y));
        svg.words(area.left - 7.0, y + 4.3, Anchor::End, TEXT, false, &tick.label);
    }
    let mut free = f64::NEG_INFINITY;
    for tick in area.x.ticks() {
        let x = area.x_of(tick.at);
        if !matches!(panel.x.kind, AxisKind::Names(_)) {
            svg.grid_line((x, area.top), (x, bottom));
        }
        // A label that would touch the one before it is left out.
        let half = width_of(&tick.label, TEXT) / 2.0;
        if x - half > free {
            svg.words(x, bottom + 17.0, Anchor::Middle, TEXT, false, &tick.label);
            free = x + half + 1.5;
        }
    }
    svg.frame(area.left, area.top, area.width, area.height);
    svg.words(
        area.left + area.width / 2.0,
        bottom + 36.0,
        Anchor::Middle,
        TEXT,
        false,
        &panel.x.label,
    );
    svg.upward_words(place.x + 13.0, area.top + area.height / 2.0, &panel.y.label);
    // Markers at the edge and arrows above them are not to be cut.
    svg.begin_clip(
        number,
        area.left - 8.0,
        area.top - 18.0,
        area.width + 16.0,
        area.height + 26.0,
    );
    for (index, line) in panel.lines.iter().enumerate() {
        area.draw(svg, line, area.sidestep(panel, index));
    }
    svg.end_group();
    if panel.lines.iter().all(|line| line.points.is_empty()) {
        let middle = (area.left + area.width / 2.0, area.top + area.height / 2.0);
        svg.words(middle.0, middle.1, Anchor::Middle, TEXT, false, "not measured");
    }
}

impl Area {
    fn new(panel: &Panel, place: Place, labels: f64) -> Self {
        let points = || panel.lines.iter().flat_map(|line| &line.points);
        let y_label = if panel.y.label.is_empty() { 12.0 } else { 28.0 };
        let x_label = if panel.x.label.is_empty() { 24.0 } else { 44.0 };
        let left = place.x + y_label + labels;
        let top = place.y + if panel.title.is_empty() { 14.0 } else { 26.0 };
        let width = place.x + place.width - left - 20.0;
        Area {
            x: Scale::new(
                &panel.x,
                points().map(|point| point.x),
                if width < 400.0 { 5 } else { 8 },
            ),
            y: y_scale(panel),
            left,
            top,
            width,
            height: place.y + place.height - top - x_label,
        }
    }

    fn x_of(&self, value: f64) -> f64 {
        self.left + self.x.place(value) * self.width
    }

    fn y_of(&self, value: f64) -> f64 {
        self.top + (1.0 - self.y.place(value)) * self.height
    }

    /// How far a line is drawn beside its true place, so that marks at the same name do not cover each other.
    fn sidestep(&self, panel: &Panel, index: usize) -> f64 {
        let AxisKind::Names(names) = &panel.x.kind else {
            return 0.0;
        };
        let lines = panel
            .lines
            .iter()
            .filter(|line| line.shape == Shape::Marks)
            .count();
        let step = (self.width / names.len().max(1) as f64 / (lines + 1) as f64).min(22.0);
        match panel.lines.get(index).map(|line| line.shape) {
            Some(Shape::Marks) => step * (index as f64 - (lines.saturating_sub(1)) as f64 / 2.0),
            _ => 0.0,
        }
    }

    fn draw(&self, svg: &mut Svg, line: &Line, aside: f64) {
        let place = |point: &Point| (self.x_of(point.x) + aside, self.y_of(point.y));
        let places: Vec<(f64, f64)> = line.points.iter().map(place).collect();
        match line.shape {
            Shape::Curve | Shape::Bare => svg.line(line.style, 1.8, true, &places),
            Shape::Trace => svg.line(line.style, 1.1, false, &places),
            Shape::Steps => svg.line(line.style, 1.8, false, &steps(&places)),
            Shape::Marks | Shape::Dots | Shape::Published => {}
        }
        for (point, &place) in line.points.iter().zip(&places) {
            match line.shape {
                Shape::Curve | Shape::Marks => {
                    self.bar(svg, line, point, place.0);
                    svg.marker(line.style, place, 4.0, false);
                    if point.capped {
                        svg.arrow_up(line.style, place);
                    }
                }
                Shape::Published => svg.marker(line.style, place, 5.5, true),
                Shape::Dots => svg.dot(line.style, place),
                Shape::Bare | Shape::Trace | Shape::Steps => {}
            }
        }
    }

    fn bar(&self, svg: &mut Svg, line: &Line, point: &Point, x: f64) {
        let (low, high) = (self.y_of(point.low), self.y_of(point.high));
        if low - high > 2.0 {
            svg.line(line.style, 1.2, false, &[(x, low), (x, high)]);
            for end in [low, high] {
                svg.line(line.style, 1.2, false, &[(x - 3.0, end), (x + 3.0, end)]);
            }
        }
    }
}

/// How wide the labels beside the panel's axis are.
pub(super) fn label_width(panel: &Panel) -> f64 {
    let scale = y_scale(panel);
    let widths = scale.ticks().iter().map(|tick| width_of(&tick.label, TEXT));
    widths.fold(0.0, f64::max)
}

fn y_scale(panel: &Panel) -> Scale {
    let points = panel.lines.iter().flat_map(|line| &line.points);
    Scale::new(
        &panel.y,
        points.flat_map(|point| [point.y, point.low, point.high]),
        5,
    )
}

fn steps(places: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut path: Vec<(f64, f64)> = Vec::new();
    for &(x, y) in places {
        if let Some(&(_, before)) = path.last() {
            path.push((x, before));
        }
        path.push((x, y));
    }
    path
}
