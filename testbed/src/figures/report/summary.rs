//! Everything that the report says in numbers, for programs and for the eyes of a diff.

use crate::figures::data::Data;
use crate::figures::goals::{Goal, goals};
use crate::figures::paper::{self, Measured, Statement, Verdict};
use crate::figures::record::{Manifest, Sample};
use crate::figures::statistics;
use anyhow::Result;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The whole report in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Of each recording.
    pub manifests: Vec<Manifest>,
    /// What the whole must show.
    pub goals: Vec<Goal>,
    /// Each published number beside ours.
    pub published: Vec<Row>,
    /// Each point that was measured.
    pub points: Vec<PointSummary>,
    /// Samples that do not count, and why.
    pub left_out: Vec<LeftOut>,
}

/// A published number beside ours.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Of the statement.
    pub id: &'static str,
    /// Where it stands.
    pub source: &'static str,
    /// What it is a number of.
    pub says: &'static str,
    /// With its unit.
    pub published: String,
    /// With its unit.
    pub ours: Option<String>,
    /// How many samples that took.
    pub samples: usize,
    /// How many of them were stopped at the time cap.
    pub capped: usize,
    /// How they compare.
    pub verdict: &'static str,
    #[serde(skip)]
    pub(super) kind: Verdict,
}

/// A point: samples that differ in their repetition only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PointSummary {
    /// Experiment, labels and place.
    pub point: String,
    /// Sound samples.
    pub n: usize,
    /// How many of them were stopped at the time cap.
    pub capped: usize,
    /// Faulty samples, which do not count.
    pub left_out: usize,
    /// Mean, smallest, largest of each value.
    pub values: BTreeMap<String, (f64, f64, f64)>,
}

/// A reason for which samples were left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeftOut {
    /// Of which experiment.
    pub experiment: String,
    /// The self-check that failed, without its numbers; `skipped: …` when it was not even tried.
    pub reason: String,
    /// Which samples, and what the self-check said of each.
    pub samples: Vec<String>,
}

impl Summary {
    /// Of all recordings.
    pub fn of(data: &Data) -> Self {
        Summary {
            manifests: data
                .recordings
                .iter()
                .map(|recording| recording.manifest.clone())
                .collect(),
            goals: goals(data),
            published: paper::all().map(|statement| row(statement, data)).collect(),
            points: points(data),
            left_out: left_out(data),
        }
    }

    /// As JSON with an entry in each line.
    ///
    /// # Errors
    /// When a number in it is not finite.
    pub fn text(&self) -> Result<String> {
        let mut parts = Vec::new();
        if let Value::Object(all) = serde_json::to_value(self)? {
            for (name, entries) in all {
                let entries: Vec<String> = entries
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(Value::to_string)
                    .collect();
                parts.push(format!("\"{name}\": [\n{}\n]", entries.join(",\n")));
            }
        }
        Ok(format!("{{\n{}\n}}\n", parts.join(",\n")))
    }
}

fn row(statement: &'static Statement, data: &Data) -> Row {
    let ours = statement.measure(data);
    let verdict = statement.verdict(ours.as_ref());
    let count = |number: fn(&Measured) -> usize| ours.as_ref().map(number).unwrap_or_default();
    Row {
        id: statement.id,
        source: statement.source,
        says: statement.says,
        published: statement.published.text(statement.unit),
        ours: ours.as_ref().map(|ours| ours.text(statement.unit)),
        samples: count(|ours| ours.samples),
        capped: count(|ours| ours.capped),
        verdict: verdict.text(),
        kind: verdict,
    }
}

fn points(data: &Data) -> Vec<PointSummary> {
    let mut points: BTreeMap<String, Vec<&Sample>> = BTreeMap::new();
    for sample in data.all() {
        points.entry(point_of(sample)).or_default().push(sample);
    }
    points
        .into_iter()
        .map(|(point, samples)| {
            let (sound, faulty): (Vec<&Sample>, Vec<&Sample>) =
                samples.into_iter().partition(|sample| sample.is_sound());
            let mut values: BTreeMap<String, (f64, f64, f64)> = BTreeMap::new();
            for name in sound.iter().flat_map(|sample| sample.values.keys()) {
                let of_it = sound.iter().filter_map(|sample| sample.values.get(name));
                let summary = statistics::Summary::of(of_it.map(|value| (*value, false)));
                let rounded = summary.map(|all| (rounded(all.mean), rounded(all.min), rounded(all.max)));
                values.extend(rounded.map(|all| (name.clone(), all)));
            }
            PointSummary {
                point,
                n: sound.len(),
                capped: sound.iter().filter(|sample| sample.capped).count(),
                left_out: faulty.len(),
                values,
            }
        })
        .collect()
}

/// To six digits: no measurement here has more.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// The sample's key without its repetition.
pub(super) fn point_of(sample: &Sample) -> String {
    let key = sample.key().to_string();
    key.rsplit_once(" #")
        .map_or(key.clone(), |(point, _)| point.to_owned())
}

fn left_out(data: &Data) -> Vec<LeftOut> {
    let mut reasons: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for sample in data.all() {
        for fault in &sample.faults {
            let (reason, detail) = match fault.split_once(": ") {
                Some((reason, detail)) if reason != SKIPPED => (reason, format!(": {detail}")),
                _ => (fault.as_str(), String::new()),
            };
            let reason = (sample.experiment.clone(), reason.to_owned());
            reasons
                .entry(reason)
                .or_default()
                .push(format!("{}{detail}", sample.key()));
        }
    }
    reasons
        .into_iter()
        .map(|((experiment, reason), samples)| LeftOut {
            experiment,
            reason,
            samples,
        })
        .collect()
}

/// How faults of samples begin that were not even tried.
pub(super) const SKIPPED: &str = "skipped";
