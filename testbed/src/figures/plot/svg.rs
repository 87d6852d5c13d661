//! The few elements of SVG that figures are made of.
//!
//! Colours are attributes, which a style sheet of the page around it overrules by the classes `ground`, `ink`, `grid`
//! and `black`; that is how figures follow a dark page.

use super::style::{Marker, Style};
use std::fmt::Write;

/// An SVG document that grows.
#[derive(Debug)]
pub(super) struct Svg {
    text: String,
}

/// Where text stands relative to its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    pub(super) fn new(width: f64, height: f64, title: &str) -> Self {
        let mut svg = Svg { text: String::new() };
        svg.put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" role=\"img\" font-family=\"{FONTS}\" font-size=\"{TEXT}\">\n<title>{}</title>\n\
             <rect class=\"ground\" width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#ffffff\"/>",
            escaped(title)
        ));
        svg
    }

    pub(super) fn finish(mut self) -> String {
        self.text += "</svg>\n";
        self.text
    }

    /// Everything until [`Svg::end_group`] is cut off at this rectangle.
    pub(super) fn begin_clip(&mut self, id: &str, x: f64, y: f64, width: f64, height: f64) {
        self.put(format_args!(
            "<clipPath id=\"{id}\"><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>\
             </clipPath>\n<g clip-path=\"url(#{id})\">"
        ));
    }

    pub(super) fn end_group(&mut self) {
        self.put(format_args!("</g>"));
    }

    pub(super) fn words(&mut self, x: f64, y: f64, anchor: Anchor, size: f64, bold: bool, words: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if bold { " font-weight=\"bold\"" } else { "" };
        self.put(format_args!(
            "<text class=\"ink\" x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\"{anchor}{weight} fill=\"{INK}\">{}</text>",
            escaped(words)
        ));
    }

    /// Words that run upwards, their middle at this place.
    pub(super) fn upward_words(&mut self, x: f64, y: f64, words: &str) {
        self.put(format_args!(
            "<text class=\"ink\" transform=\"translate({x:.1} {y:.1}) rotate(-90)\" text-anchor=\"middle\" \
             fill=\"{INK}\">{}</text>",
            escaped(words)
        ));
    }

    pub(super) fn grid_line(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.put(format_args!(
            "<path class=\"grid\" d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"#dddddd\" fill=\"none\"/>",
            from.0, from.1, to.0, to.1
        ));
    }

    pub(super) fn frame(&mut self, x: f64, y: f64, width: f64, height: f64) {
        self.put(format_args!(
            "<rect class=\"frame\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             stroke=\"#777777\" fill=\"none\"/>"
        ));
    }

    /// A line through these places.
    pub(super) fn line(&mut self, style: Style, width: f64, dashed: bool, places: &[(f64, f64)]) {
        let mut path = String::new();
        for (index, (x, y)) in places.iter().enumerate() {
            let command = if index == 0 { 'M' } else { 'L' };
            // Writing to a string cannot fail.
            let _ = write!(path, "{command}{x:.1} {y:.1}");
        }
        let dash = style.dash().filter(|_| dashed);
        let dash = dash
            .map(|dash| format!(" stroke-dasharray=\"{dash}\""))
            .unwrap_or_default();
        self.put(format_args!(
            "<path class=\"{}\" d=\"{path}\" stroke=\"{}\" stroke-width=\"{width}\" stroke-linejoin=\"round\" \
             fill=\"none\"{dash}/>",
            style.class(),
            style.colour()
        ));
    }

    /// A marker of the line's kind, filled or open.
    pub(super) fn marker(&mut self, style: Style, place: (f64, f64), size: f64, open: bool) {
        let (x, y) = place;
        let shape = match style.marker() {
            Marker::Circle => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{size:.1}\""),
            Marker::Square => polygon(
                place,
                size * 0.9,
                &[(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)],
            ),
            Marker::Triangle => polygon(place, size * 1.15, &[(0.0, -1.0), (1.0, 0.8), (-1.0, 0.8)]),
            Marker::Diamond => polygon(
                place,
                size * 1.25,
                &[(0.0, -1.0), (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)],
            ),
            Marker::TriangleDown => polygon(place, size * 1.15, &[(0.0, 1.0), (1.0, -0.8), (-1.0, -0.8)]),
            Marker::Cross => polygon(place, size * 1.1, &CROSS),
        };
        let (class, colour) = (style.class(), style.colour());
        if open {
            self.put(format_args!(
                "{shape} class=\"open {class}\" fill=\"#ffffff\" stroke=\"{colour}\" stroke-width=\"1.6\"/>"
            ));
        } else {
            self.put(format_args!("{shape} class=\"{class} full\" fill=\"{colour}\"/>"));
        }
    }

    /// A small dot, so many of which may lie over each other.
    pub(super) fn dot(&mut self, style: Style, place: (f64, f64)) {
        self.put(format_args!(
            "<circle class=\"{} full\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.2\" fill=\"{}\" fill-opacity=\"0.45\"/>",
            style.class(),
            place.0,
            place.1,
            style.colour()
        ));
    }

    /// A small arrow upwards from a marker: the true value is above.
    pub(super) fn arrow_up(&mut self, style: Style, place: (f64, f64)) {
        let (x, y) = place;
        let tip = y - 17.0;
        self.line(style, 1.4, false, &[(x, y - 5.0), (x, tip)]);
        self.line(
            style,
            1.4,
            false,
            &[(x - 3.5, tip + 4.5), (x, tip), (x + 3.5, tip + 4.5)],
        );
    }

    fn put(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{element}");
    }
}

/// How wide a text is about, in the widest of the fonts that may be used.
pub(super) fn width_of(words: &str, size: f64) -> f64 {
    let letters: f64 = words
        .chars()
        .map(|letter| match letter {
            'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ' ' | '(' | ')' | '|' => 0.37,
            'm' | 'w' | 'M' | 'W' | '%' => 0.93,
            'A'..='Z' => 0.69,
            _ => 0.61,
        })
        .sum();
    letters * size
}

/// With the characters that XML takes for its own replaced.
pub(in crate::figures) fn escaped(words: &str) -> String {
    words
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn polygon(place: (f64, f64), size: f64, corners: &[(f64, f64)]) -> String {
    let corners: Vec<String> = corners
        .iter()
        .map(|(x, y)| format!("{:.1},{:.1}", place.0 + x * size, place.1 + y * size))
        .collect();
    format!("<polygon points=\"{}\"", corners.join(" "))
}

const CROSS: [(f64, f64); 12] = [
    (-1.0, -0.6),
    (-0.6, -1.0),
    (0.0, -0.4),
    (0.6, -1.0),
    (1.0, -0.6),
    (0.4, 0.0),
    (1.0, 0.6),
    (0.6, 1.0),
    (0.0, 0.4),
    (-0.6, 1.0),
    (-1.0, 0.6),
    (-0.4, 0.0),
];

/// Size of ordinary text.
pub(super) const TEXT: f64 = 12.5;
const INK: &str = "#222222";
const FONTS: &str = "system-ui, Helvetica, Arial, 'DejaVu Sans', sans-serif";
