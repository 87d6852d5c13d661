//! What others have published, each number of it as data: where it is stated, and how ours is computed from samples.

mod download;
mod fairness;
mod labs;
mod marks;
mod measure;

pub use marks::published_marks;
pub use measure::Measured;

use super::data::{Quantity, Series};

/// A number that somebody states.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statement {
    /// What explanations call it.
    pub id: &'static str,
    /// Where it stands.
    pub source: &'static str,
    /// What it is a number of.
    pub says: &'static str,
    /// The number.
    pub published: Published,
    /// Of both numbers.
    pub unit: Unit,
    /// How ours is computed.
    pub ours: Ours,
    /// Which way is better.
    pub better: Better,
}

/// A published number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Published {
    /// This, as far as words like "approximately" go.
    About(f64),
    /// At least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
    /// From here to there; in a series by loss the first belongs to the lowest loss.
    Range(f64, f64),
    /// No number.
    Words(&'static str),
}

/// Units, and how near two numbers count as equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A change in percent, with its sign.
    Change,
    /// Percent of something.
    Percent,
    /// How many times as much.
    Times,
    /// Throughput.
    Mbit,
    /// A count.
    Count,
    /// Milliseconds.
    Ms,
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Less of it.
    Lower,
    /// More of it.
    Higher,
    /// Neither: it tells what happens, not how well.
    Neither,
}

/// How our number is computed from samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ours {
    /// The means of a series over some losses.
    Level {
        /// Which samples.
        of: Series,
        /// What of them.
        quantity: Quantity,
        /// Lowest and highest loss in percent.
        losses: (f64, f64),
        /// Which of the means.
        take: Take,
    },
    /// The means of one series against those of another at the same losses.
    Relation {
        /// Which samples.
        of: Series,
        /// Compared with which.
        to: Series,
        /// What of them.
        quantity: Quantity,
        /// Lowest and highest loss in percent.
        losses: (f64, f64),
        /// Which of the relations.
        take: Take,
    },
    /// The mean of a series at one loss against its own at another.
    Growth {
        /// Which samples.
        of: Series,
        /// What of them.
        quantity: Quantity,
        /// Loss in percent, compared with which loss.
        losses: (f64, f64),
    },
    /// A percentile, or the mean, of all samples against the same of others.
    Population {
        /// Which samples.
        of: Series,
        /// Compared with which.
        to: Series,
        /// What of them.
        quantity: Quantity,
        /// Which percentile, 0 to 1; the mean when there is none.
        percentile: Option<f64>,
    },
}

/// Which of several numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// Lowest and highest.
    Span,
    /// The lowest.
    Lowest,
    /// The highest.
    Highest,
    /// Their mean.
    Average,
}

/// How our number compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Better than published.
    Better,
    /// As published, within the margin of [`Unit`].
    Equal,
    /// Worse than published.
    Worse,
    /// Another number, neither better nor worse.
    Different,
    /// There is nothing to compare: words instead of a number.
    Words,
    /// Samples for it are missing.
    NotMeasured,
}

/// All statements, in the order of their sources.
pub fn all() -> impl Iterator<Item = &'static Statement> {
    [download::ALL, fairness::ALL, labs::ALL].into_iter().flatten()
}

impl Statement {
    /// How ours compares with what is published.
    pub fn verdict(&self, ours: Option<&Measured>) -> Verdict {
        let Some(ours) = ours else {
            return Verdict::NotMeasured;
        };
        let value = ours.middle();
        let (low, high) = match self.published {
            Published::About(number) => (number, number),
            Published::AtLeast(number) => (number, f64::INFINITY),
            Published::AtMost(number) => (f64::NEG_INFINITY, number),
            Published::Range(one, other) => (one.min(other), one.max(other)),
            Published::Words(_) => return Verdict::Words,
        };
        let margin = |number: f64| self.unit.margin(number);
        let (below, above) = (value < low - margin(low), value > high + margin(high));
        match (below, above, self.better) {
            (false, false, _) => Verdict::Equal,
            (true, _, Better::Lower) | (_, true, Better::Higher) => Verdict::Better,
            (true, _, Better::Higher) | (_, true, Better::Lower) => Verdict::Worse,
            (_, _, Better::Neither) => Verdict::Different,
        }
    }
}

impl Published {
    /// As the report shows it.
    pub fn text(self, unit: Unit) -> String {
        match self {
            Published::About(number) => unit.text(number),
            Published::AtLeast(number) => format!("≥ {}", unit.text(number)),
            Published::AtMost(number) => format!("≤ {}", unit.text(number)),
            Published::Range(one, other) => unit.range(one.min(other), one.max(other)),
            Published::Words(words) => words.to_owned(),
        }
    }
}

impl Unit {
    /// A number with its unit.
    pub fn text(self, number: f64) -> String {
        let shown = self.bare(number);
        match self.name() {
            "" => shown,
            "×" => format!("{shown}×"),
            name => format!("{shown} {name}"),
        }
    }

    /// Two numbers with their unit.
    pub fn range(self, low: f64, high: f64) -> String {
        format!("{} to {}", self.bare(low), self.text(high))
    }

    fn bare(self, number: f64) -> String {
        let text = match self {
            Unit::Change if number.abs() < 0.5 => "0".to_owned(),
            Unit::Change => format!("{number:+.0}"),
            Unit::Percent | Unit::Mbit | Unit::Ms => format!("{number:.1}"),
            Unit::Times => format!("{number:.2}"),
            Unit::Count => format!("{number:.0}"),
        };
        text.replace('-', "−")
    }

    fn name(self) -> &'static str {
        match self {
            Unit::Change | Unit::Percent => "%",
            Unit::Times => "×",
            Unit::Mbit => "Mbit/s",
            Unit::Count => "",
            Unit::Ms => "ms",
        }
    }

    /// How far from a published number ours may be and count as equal: five points of a percentage, a tenth of
    /// anything else.
    fn margin(self, number: f64) -> f64 {
        match self {
            Unit::Change | Unit::Percent => 5.0,
            Unit::Times | Unit::Mbit | Unit::Count | Unit::Ms => 0.1 * number.abs(),
        }
    }
}

impl Verdict {
    /// Whether ours is another number than the published one.
    pub fn differs(self) -> bool {
        matches!(self, Verdict::Better | Verdict::Worse | Verdict::Different)
    }

    /// As the report shows it.
    pub fn text(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Equal => "equal",
            Verdict::Worse => "worse",
            Verdict::Different => "different",
            Verdict::Words => "–",
            Verdict::NotMeasured => "not measured",
        }
    }
}

#[cfg(test)]
mod tests;
