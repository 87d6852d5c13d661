//! Experiments that end in figures: many points, a sample for each.
//!
//! ```text
//!  a series ── points ──▶ engine ── point ──▶ measure, on the ground ── sample ──▶ store ──▶ figures
//! ```
//!
//! A series says what is to be measured and how one point is measured. The engine does the rest: it skips what the
//! recording holds already, keeps one lab up between points, and looks after each whether the lab was at fault.

mod adaptive;
mod cc_lab;
mod cwnd;
mod delay_gap;
mod download_time;
mod engine;
mod fairness;
mod field_test;
mod ground;
mod peers;
mod point;
mod population;
mod scheme;
mod stories;

pub use engine::run;
pub use ground::Ground;
pub use point::{Measured, Point};

use crate::experiment::Check;
use crate::figures::{Length, Sample};
use anyhow::Result;
use serde_json::Value;

/// An experiment that ends in a figure. To add one: a file in this folder and a line in [`all`].
pub trait Series {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// What it shows, in one sentence.
    fn shows(&self) -> &'static str;

    /// What all samples of a recording have in common, for the manifest.
    fn parameters(&self, length: Length) -> Value;

    /// What is to be measured, in an order in which the first part is worth something without the rest.
    fn points(&self, length: Length, seed: u64) -> Vec<Point>;

    /// Measures one point.
    ///
    /// # Errors
    /// When it could not be carried out. The engine records that and starts a new lab.
    fn measure(&mut self, ground: &mut Ground, point: &Point, length: Length) -> Result<Measured>;

    /// What must hold of a complete recording; most promise nothing here and leave the verdict to the report.
    fn checks(&self, _samples: &[Sample]) -> Vec<Check> {
        Vec::new()
    }
}

/// All series, in the order in which `testbed list` shows them.
pub fn all() -> Vec<Box<dyn Series>> {
    vec![
        Box::new(download_time::DownloadTime::ALL),
        Box::new(download_time::DownloadTime::BYTES),
        Box::<fairness::Fairness>::default(),
        Box::new(cwnd::Cwnd),
        Box::<cc_lab::CcLab>::default(),
        Box::<delay_gap::DelayGap>::default(),
        Box::<field_test::FieldTest>::default(),
        Box::<adaptive::Adaptive>::default(),
        Box::new(peers::Peers),
    ]
}

/// The series of this name.
pub fn named(name: &str) -> Option<Box<dyn Series>> {
    all().into_iter().find(|series| series.name() == name)
}

/// How often each point is measured.
fn repetitions(length: Length) -> u32 {
    match length {
        Length::Quick => 1,
        Length::Default => 3,
        Length::Full => 10,
    }
}

/// One of three values, by length.
fn by_length<T>(length: Length, quick: T, default: T, full: T) -> T {
    match length {
        Length::Quick => quick,
        Length::Default => default,
        Length::Full => full,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_point_of_every_series_is_planned_once() {
        for series in all() {
            for length in [Length::Quick, Length::Default, Length::Full] {
                let points = series.points(length, 1);
                let keys: HashSet<_> = points.iter().map(|point| point.key(series.name())).collect();
                assert_eq!(keys.len(), points.len(), "{} {length}", series.name());
                assert!(!points.is_empty(), "{} {length}", series.name());
                assert!(points.iter().all(|point| point.expected > 0.0));
            }
        }
    }

    #[test]
    fn a_plan_follows_from_its_seed() {
        for series in all() {
            let plan = |seed| series.points(Length::Quick, seed);
            assert_eq!(plan(7), plan(7), "{}", series.name());
            assert_ne!(plan(7), plan(8), "{}", series.name());
        }
    }

    #[test]
    fn a_quick_run_of_all_fits_into_twenty_minutes() {
        let seconds = |series: &dyn Series| -> f64 {
            series
                .points(Length::Quick, 1)
                .iter()
                .map(|point| point.expected)
                .sum()
        };
        let total: f64 = all().iter().map(|series| seconds(&**series)).sum();
        assert!(total < 20.0 * 60.0, "{total} s");
    }
}
