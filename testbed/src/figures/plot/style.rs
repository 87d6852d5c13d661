//! Colours, markers and dashes: two lines differ in at least two of them.

/// How a line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Style {
    colour: usize,
    marker: usize,
    dash: usize,
}

/// Markers, by their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    TriangleDown,
    Cross,
}

impl Style {
    /// The style of a line that is told by two names, as `bbr3` and `bidirectional`: colour by the first, marker and
    /// dashes by the second. Known names look the same in every figure.
    pub fn of(names: &[&str]) -> Self {
        match names {
            [] => Style::numbered(0),
            [name] => Style::numbered(number(name)),
            [first, second, ..] => Style {
                colour: number(first),
                marker: number(second),
                dash: number(second),
            },
        }
    }

    /// The style of the n-th line of a figure.
    pub const fn numbered(number: usize) -> Self {
        Style {
            colour: number,
            marker: number,
            dash: number,
        }
    }

    /// As `#rrggbb`.
    pub(super) fn colour(self) -> &'static str {
        COLOURS[self.colour % COLOURS.len()]
    }

    /// The class that a page may restyle the colour by: black is no good on a dark page.
    pub(super) fn class(self) -> &'static str {
        if self.colour.is_multiple_of(COLOURS.len()) {
            "black"
        } else {
            "colour"
        }
    }

    pub(super) fn marker(self) -> Marker {
        MARKERS[self.marker % MARKERS.len()]
    }

    /// As in `stroke-dasharray`.
    pub(super) fn dash(self) -> Option<&'static str> {
        DASHES[self.dash % DASHES.len()]
    }
}

/// Names that look the same everywhere; others get a number from their letters.
fn number(name: &str) -> usize {
    let known = KNOWN.iter().position(|names| names.contains(&name));
    known.unwrap_or_else(|| name.bytes().map(usize::from).sum::<usize>())
}

const KNOWN: [&[&str]; 7] = [
    &["tcp-cubic", "unicast", "off"],
    &["bbr3", "bidirectional", "bicast", "on"],
    &["bbr1", "server-side"],
    &["adaptive", "tcp-bbr", "tcp-bbr1"],
    &["bbr2", "client-side"],
    &["cubic"],
    &["tcp"],
];

/// Okabe and Ito's palette for the colour-blind, without its yellow, which does not show on white.
const COLOURS: [&str; 7] = [
    "#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
];

const MARKERS: [Marker; 6] = [
    Marker::Circle,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::TriangleDown,
    Marker::Cross,
];

const DASHES: [Option<&str>; 5] = [
    None,
    Some("7 3"),
    Some("2 3"),
    Some("9 3 2 3"),
    Some("5 2 1 2 1 2"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_and_congestion_controls_all_look_different() {
        for names in [
            &[
                "unicast",
                "client-side",
                "server-side",
                "bidirectional",
                "adaptive",
            ][..],
            &["tcp-cubic", "tcp-bbr", "cubic", "bbr1", "bbr2", "bbr3"],
        ] {
            let styles: std::collections::HashSet<(&str, Option<&str>)> = names
                .iter()
                .map(|name| Style::of(&[name]))
                .map(|style| (style.colour(), style.dash()))
                .collect();
            assert_eq!(styles.len(), names.len());
        }
    }

    #[test]
    fn a_second_name_keeps_the_colour_of_the_first() {
        let (one, other) = (Style::of(&["bbr3", "unicast"]), Style::of(&["bbr3", "adaptive"]));
        assert_eq!(one.colour(), Style::of(&["bbr3"]).colour());
        assert_eq!(one.colour(), other.colour());
        assert_ne!(one.marker(), other.marker());
        assert_ne!(one.dash(), other.dash());
    }
}
