//! All recordings of a folder, and how samples are chosen from them.

use super::record::Sample;
use super::statistics::Summary;
use super::store::Recording;
use anyhow::{Context, Result, ensure};
use std::path::Path;

/// All recordings of a folder.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Data {
    /// In the order of the names of their folders.
    pub recordings: Vec<Recording>,
}

/// Samples of an experiment that have certain labels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Series {
    /// Names of experiments; of several, the first that has any samples.
    pub experiments: &'static [&'static str],
    /// Labels that a sample must have.
    pub labels: Labels,
}

/// Labels and their values.
pub type Labels = &'static [(&'static str, &'static str)];

/// A number that a sample gives: a value of it, or one per another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity {
    of: &'static str,
    per: Option<&'static str>,
    factor: f64,
}

impl Data {
    /// Reads the recordings in the folders below `dir`, or the one in `dir` itself.
    ///
    /// # Errors
    /// When there is none, or one of them is damaged.
    pub fn read(dir: &Path) -> Result<Self> {
        let mut folders = vec![dir.to_owned()];
        for entry in std::fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))? {
            folders.push(entry?.path());
        }
        folders.retain(|folder| Recording::is_in(folder));
        folders.sort();
        let recordings: Result<Vec<Recording>> =
            folders.iter().map(|folder| Recording::read(folder)).collect();
        let recordings = recordings?;
        ensure!(
            !recordings.is_empty(),
            "{} holds no recordings: make some with `testbed run NAME --out {}/NAME`",
            dir.display(),
            dir.display()
        );
        Ok(Data { recordings })
    }

    /// All samples, faulty ones included.
    pub fn all(&self) -> impl Iterator<Item = &Sample> {
        self.recordings.iter().flat_map(|recording| &recording.samples)
    }

    /// The sound samples of the first of these experiments that has any.
    pub fn of(&self, experiments: &[&str]) -> Vec<&Sample> {
        let of = |name: &str| {
            let samples = self
                .all()
                .filter(|sample| sample.experiment == name && sample.is_sound());
            samples.collect::<Vec<_>>()
        };
        experiments
            .iter()
            .map(|name| of(name))
            .find(|samples| !samples.is_empty())
            .unwrap_or_default()
    }

    /// The sound samples of a series.
    pub fn series(&self, series: &Series) -> Vec<&Sample> {
        let mut samples = self.of(series.experiments);
        samples.retain(|sample| has_labels(sample, series.labels));
        samples
    }
}

impl Quantity {
    /// What the samples call `name`, a value or a place on an axis.
    pub const fn of(name: &'static str) -> Self {
        Quantity {
            of: name,
            per: None,
            factor: 1.0,
        }
    }

    /// The same divided by what they call `name`.
    #[must_use]
    pub const fn per(self, name: &'static str) -> Self {
        Quantity {
            per: Some(name),
            ..self
        }
    }

    /// The same in another unit.
    #[must_use]
    pub const fn times(self, factor: f64) -> Self {
        Quantity { factor, ..self }
    }

    /// The name of the value itself.
    pub fn name(&self) -> &'static str {
        self.of
    }

    /// What it is multiplied by.
    pub(super) fn factor(&self) -> f64 {
        self.factor
    }

    /// The number that this sample gives.
    pub fn get(&self, sample: &Sample) -> Option<f64> {
        let find = |name: &str| sample.values.get(name).or_else(|| sample.at.get(name)).copied();
        let value = find(self.of)? * self.factor;
        match self.per {
            None => Some(value),
            Some(per) => find(per).filter(|&per| per != 0.0).map(|per| value / per),
        }
    }

    /// What several samples give.
    pub fn summary<'a>(&self, samples: impl IntoIterator<Item = &'a Sample>) -> Option<Summary> {
        let values = samples.into_iter();
        Summary::of(values.filter_map(|sample| Some((self.get(sample)?, sample.capped))))
    }
}

/// Whether a sample has these labels.
pub fn has_labels(sample: &Sample, labels: Labels) -> bool {
    labels
        .iter()
        .all(|(name, value)| label(sample, name).as_deref() == Some(*value))
}

/// A label of a sample. `transport` is made of two: plain TCP (`tcp-cubic`) is another line than the same congestion
/// control through the proxies.
pub fn label(sample: &Sample, name: &str) -> Option<String> {
    if name != "transport" {
        return sample.label(name).map(str::to_owned);
    }
    let congestion = sample.label("congestion")?;
    Some(match sample.label("via") {
        Some("direct") => format!("tcp-{congestion}"),
        _ => congestion.to_owned(),
    })
}

/// What labels are called in figures and tables.
pub fn display(value: &str) -> String {
    let name = match value {
        "tcp-cubic" => "TCP CUBIC",
        "tcp-bbr" | "tcp-bbr1" => "TCP BBR",
        "cubic" => "CUBIC",
        "bbr1" => "BBRv1",
        "bbr2" => "BBRv2",
        "bbr3" => "BBRv3",
        "on" => "with resequencing",
        "off" => "without resequencing",
        other => return other.replace('-', " ").replace(" side", "-side"),
    };
    name.to_owned()
}

/// What samples give at each loss between two, the lowest first.
pub(super) fn by_loss(samples: &[&Sample], quantity: Quantity, losses: (f64, f64)) -> Vec<(f64, Summary)> {
    let loss = |sample: &Sample| sample.at.get("loss_percent").copied();
    let mut places: Vec<f64> = samples
        .iter()
        .filter_map(|sample| loss(sample))
        .filter(|&place| place >= losses.0 - 1e-6 && place <= losses.1 + 1e-6)
        .collect();
    places.sort_by(f64::total_cmp);
    places.dedup_by(|a, b| same_place(*a, *b));
    places
        .into_iter()
        .filter_map(|place| {
            let here = samples
                .iter()
                .copied()
                .filter(|sample| loss(sample).is_some_and(|at| same_place(at, place)));
            Some((place, quantity.summary(here)?))
        })
        .collect()
}

/// Whether two places on an axis are the same one.
pub fn same_place(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * (1.0 + a.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::store::Store;
    use crate::figures::testing::{data, data_with, manifest, sample};

    #[test]
    fn recordings_are_read_from_the_folders_below() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("figures")).unwrap();
        for experiment in ["fairness", "cwnd"] {
            let mut store = Store::open(&dir.path().join(experiment), manifest(experiment)).unwrap();
            store
                .append(sample(experiment, &[], &[], 0, &[("mbit", 1.0)]))
                .unwrap();
        }
        let read = |dir: &Path| -> Vec<String> {
            let data = Data::read(dir).unwrap();
            data.recordings
                .into_iter()
                .map(|one| one.manifest.experiment)
                .collect()
        };
        assert_eq!(read(dir.path()), ["cwnd", "fairness"]);
        assert_eq!(read(&dir.path().join("cwnd")), ["cwnd"]);
        let error = Data::read(&dir.path().join("figures")).unwrap_err().to_string();
        assert!(error.contains("holds no recordings"), "{error}");
    }

    #[test]
    fn plain_tcp_is_another_transport_than_the_same_congestion_control_through_the_proxies() {
        let transports = |via: &str| {
            label(
                &sample("", &[("via", via), ("congestion", "cubic")], &[], 0, &[]),
                "transport",
            )
        };
        assert_eq!(transports("direct").as_deref(), Some("tcp-cubic"));
        assert_eq!(transports("proxies").as_deref(), Some("cubic"));
        assert_eq!(label(&Sample::default(), "transport"), None);
    }

    #[test]
    fn the_first_experiment_with_sound_samples_is_taken() {
        let of = |data: &Data| data.of(&["cwnd", "cc-lab"])[0].experiment.clone();
        assert_eq!(of(&data()), "cwnd");
        let faulty = data_with(|sample| {
            if sample.experiment == "cwnd" {
                sample.faults.push("late".to_owned());
            }
        });
        assert_eq!(of(&faulty), "cc-lab");
    }

    #[test]
    fn a_quantity_may_be_one_value_per_another() {
        let one = sample(
            "",
            &[],
            &[("gap_ms", 20.0)],
            0,
            &[("lost", 30.0), ("sent", 1000.0), ("none", 0.0)],
        );
        assert_eq!(Quantity::of("lost").per("sent").times(100.0).get(&one), Some(3.0));
        assert_eq!(Quantity::of("gap_ms").get(&one), Some(20.0));
        assert_eq!(Quantity::of("lost").per("none").get(&one), None);
        assert_eq!(Quantity::of("unknown").get(&one), None);
    }
}
