//! What is to be measured, and what was.

use super::scheme::Scheme;
use crate::figures::{Key, Sample};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fmt;

/// One point of a figure, to be measured once.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// What makes a line of the figure.
    pub labels: BTreeMap<String, String>,
    /// Where on the axes it stands.
    pub at: BTreeMap<String, f64>,
    /// Which repetition, from 0.
    pub repetition: u32,
    /// Seed of everything random in it. Points at the same place share it: each line of a figure meets the same links.
    pub seed: u64,
    /// Seconds that it is expected to take, preparations included.
    pub expected: f64,
}

/// What was measured at a point.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// By name, units in the names.
    pub values: BTreeMap<String, f64>,
    /// Time series: seconds, value.
    pub traces: BTreeMap<String, Vec<(f64, f64)>>,
    /// Whether the time cap ended it.
    pub capped: bool,
    /// Why this is no evidence, a sentence each, beside what the lab's self-check says.
    pub faults: Vec<String>,
}

impl Point {
    /// A point of a run with this seed.
    pub fn new(
        labels: &[(&str, &str)],
        at: &[(&str, f64)],
        repetition: u32,
        seed: u64,
        expected: f64,
    ) -> Self {
        let at: BTreeMap<String, f64> = at
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect();
        Point {
            labels: labels
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            seed: mix(seed, &at, repetition),
            at,
            repetition,
            expected,
        }
    }

    /// What identifies its sample.
    pub fn key(&self, experiment: &str) -> Key {
        Key::new(experiment, &self.labels, &self.at, self.repetition)
    }

    /// The value of a label.
    ///
    /// # Errors
    /// When it has no such label.
    pub fn label(&self, name: &str) -> Result<&str> {
        let label = self.labels.get(name);
        label
            .map(String::as_str)
            .with_context(|| format!("the point has no label `{name}`"))
    }

    /// Where it stands on an axis.
    ///
    /// # Errors
    /// When it has no such axis.
    pub fn at(&self, name: &str) -> Result<f64> {
        let at = self.at.get(name).copied();
        at.with_context(|| format!("the point has no place `{name}`"))
    }

    /// Its label `scheme`.
    ///
    /// # Errors
    /// When it has none.
    pub(super) fn scheme(&self) -> Result<Scheme> {
        let name = self.label("scheme")?;
        Scheme::named(name).with_context(|| format!("no scheme `{name}`"))
    }

    /// The sample of what was measured here.
    pub(super) fn sample(&self, experiment: &str, measured: Measured, mut faults: Vec<String>) -> Sample {
        faults.extend(measured.faults);
        Sample {
            experiment: experiment.to_owned(),
            labels: self.labels.clone(),
            at: self.at.clone(),
            repetition: self.repetition,
            seed: self.seed,
            values: measured.values,
            traces: measured.traces,
            capped: measured.capped,
            faults,
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels = self.labels.values().map(String::as_str);
        formatter.write_str(&labels.collect::<Vec<_>>().join(" "))?;
        for (name, value) in &self.at {
            write!(formatter, ", {name} {value}")?;
        }
        if self.repetition > 0 {
            write!(formatter, ", repetition {}", self.repetition + 1)?;
        }
        Ok(())
    }
}

impl Measured {
    /// Values by name.
    pub fn new(values: &[(&str, f64)]) -> Self {
        Measured {
            values: values
                .iter()
                .map(|(name, value)| ((*name).to_owned(), *value))
                .collect(),
            ..Measured::default()
        }
    }

    /// Nothing, for a reason.
    pub fn skipped(reason: &str) -> Self {
        Measured {
            faults: vec![reason.to_owned()],
            ..Measured::default()
        }
    }

    /// The same, ended by the time cap or not.
    #[must_use]
    pub fn capped(mut self, capped: bool) -> Self {
        self.capped = capped;
        self
    }

    /// The same with a time series.
    #[must_use]
    pub fn with_trace(mut self, name: &str, trace: Vec<(f64, f64)>) -> Self {
        self.traces.insert(name.to_owned(), trace);
        self
    }
}

/// FNV-1a over all of it: the same on every machine and in every version of the compiler.
fn mix(seed: u64, at: &BTreeMap<String, f64>, repetition: u32) -> u64 {
    let mut bytes = seed.to_be_bytes().to_vec();
    bytes.extend(repetition.to_be_bytes());
    for (name, value) in at {
        bytes.extend(name.bytes());
        bytes.extend(value.to_bits().to_be_bytes());
    }
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // Seeds of links are a few more than four times this.
    hash >> 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_at_one_place_share_the_seed_and_repetitions_do_not() {
        let point = |scheme, loss, repetition| {
            Point::new(
                &[("scheme", scheme)],
                &[("loss_percent", loss)],
                repetition,
                1,
                1.0,
            )
        };
        assert_eq!(point("unicast", 1.0, 0).seed, point("adaptive", 1.0, 0).seed);
        assert_ne!(point("unicast", 1.0, 0).seed, point("unicast", 1.0, 1).seed);
        assert_ne!(point("unicast", 1.0, 0).seed, point("unicast", 2.0, 0).seed);
        assert_eq!(point("adaptive", 1.0, 0).scheme().unwrap(), Scheme::Adaptive);
        assert!(point("tricast", 1.0, 0).scheme().is_err());
    }

    #[test]
    fn a_point_reads_like_a_sentence() {
        let point = Point::new(
            &[("congestion", "bbr3"), ("scheme", "unicast")],
            &[("loss_percent", 0.5)],
            1,
            1,
            1.0,
        );
        assert_eq!(point.to_string(), "bbr3 unicast, loss_percent 0.5, repetition 2");
    }
}
