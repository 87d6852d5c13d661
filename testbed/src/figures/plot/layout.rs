//! A whole figure: title, legend, panels.

use super::panel::{self, Place};
use super::svg::{Anchor, Svg, TEXT, width_of};
use super::{AxisKind, Line, Plot, Shape, Style};

/// The figure as an SVG document. `id` makes the ids in it differ from those of other figures on the same page.
pub fn svg(plot: &Plot, id: &str) -> String {
    let columns = plot.columns.clamp(1, plot.panels.len().max(1));
    let rows = plot.panels.len().div_ceil(columns);
    let named = plot
        .panels
        .iter()
        .all(|panel| matches!(panel.y.kind, AxisKind::Names(_)));
    let (panel_width, panel_height) = match columns {
        // Names need little height.
        _ if named => (WIDTH / columns as f64, 150.0),
        1 if rows > 1 => (WIDTH, 230.0),
        1 => (WIDTH, 380.0),
        2 => (WIDTH / 2.0, 300.0),
        _ => (WIDTH / columns as f64, 250.0),
    };
    // The same for all, so that panels stand exactly above each other.
    let labels = plot.panels.iter().map(panel::label_width).fold(0.0, f64::max);
    let legend = Legend::of(plot);
    let top = TITLE + legend.height();
    let mut svg = Svg::new(WIDTH, top + rows as f64 * panel_height + 8.0, &plot.title);
    svg.words(14.0, 24.0, Anchor::Start, 15.5, true, &plot.title);
    legend.draw(&mut svg);
    for (index, panel) in plot.panels.iter().enumerate() {
        let (row, column) = (index / columns, index % columns);
        let place = Place {
            x: 6.0 + column as f64 * panel_width,
            y: top + row as f64 * panel_height,
            width: panel_width - 6.0,
            height: panel_height - 4.0,
        };
        panel::draw(&mut svg, panel, place, labels, &format!("{id}-{index}"));
    }
    svg.finish()
}

/// The names of all lines, in rows.
struct Legend {
    rows: Vec<Vec<Entry>>,
}

struct Entry {
    x: f64,
    name: String,
    sign: Sign,
}

enum Sign {
    Line(Style, Shape),
    Arrow,
}

impl Legend {
    fn of(plot: &Plot) -> Self {
        let mut named: Vec<(String, Sign)> = Vec::new();
        let lines = || plot.panels.iter().flat_map(|panel| &panel.lines);
        for line in lines().filter(|line| line.shape != Shape::Published && !line.points.is_empty()) {
            if named.iter().all(|(name, _)| *name != line.name) {
                named.push((line.name.clone(), Sign::Line(line.style, line.shape)));
            }
        }
        let published = lines().find(|line| line.shape == Shape::Published);
        if named.len() == 1 && published.is_none() {
            named.clear();
        }
        if let Some(Line { name, .. }) = published {
            named.push((name.clone(), Sign::Line(Style::numbered(0), Shape::Published)));
        }
        if lines().any(|line| line.points.iter().any(|point| point.capped)) {
            named.push(("stopped at the time cap".to_owned(), Sign::Arrow));
        }
        let mut legend = Legend { rows: Vec::new() };
        let mut x = f64::INFINITY;
        for (name, sign) in named {
            let width = SIGN + width_of(&name, TEXT) + GAP;
            if x + width > WIDTH {
                legend.rows.push(Vec::new());
                x = 14.0;
            }
            if let Some(row) = legend.rows.last_mut() {
                row.push(Entry { x, name, sign });
            }
            x += width;
        }
        legend
    }

    fn height(&self) -> f64 {
        ROW * self.rows.len() as f64 + 8.0
    }

    fn draw(&self, svg: &mut Svg) {
        for (row, entries) in self.rows.iter().enumerate() {
            let y = TITLE + ROW * row as f64 + 8.0;
            for entry in entries {
                let (left, right) = (entry.x, entry.x + SIGN - 8.0);
                let middle = f64::midpoint(left, right);
                match entry.sign {
                    Sign::Line(style, shape) => {
                        match shape {
                            Shape::Curve | Shape::Bare => {
                                svg.line(style, 1.8, true, &[(left, y), (right, y)])
                            }
                            Shape::Trace | Shape::Steps => {
                                svg.line(style, 1.8, false, &[(left, y), (right, y)])
                            }
                            Shape::Marks | Shape::Dots | Shape::Published => {}
                        }
                        match shape {
                            Shape::Curve | Shape::Marks | Shape::Dots => {
                                svg.marker(style, (middle, y), 4.0, false)
                            }
                            Shape::Published => svg.marker(style, (middle, y), 5.5, true),
                            Shape::Bare | Shape::Trace | Shape::Steps => {}
                        }
                    }
                    Sign::Arrow => svg.arrow_up(Style::numbered(0), (middle, y + 11.0)),
                }
                svg.words(entry.x + SIGN, y + 4.3, Anchor::Start, TEXT, false, &entry.name);
            }
        }
    }
}

/// Of every figure, in the unit of the SVG.
const WIDTH: f64 = 860.0;
/// Height of the title.
const TITLE: f64 = 38.0;
/// Height of a row of the legend.
const ROW: f64 = 20.0;
/// Width of a line's sign in the legend.
const SIGN: f64 = 42.0;
/// Between two entries of the legend.
const GAP: f64 = 20.0;
