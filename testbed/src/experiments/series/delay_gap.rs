//! What a slower second path costs applications: downloads through the proxies with every packet on two paths that both
//! lose, the second one later by a gap; with and without the proxies' resequencing.

use super::ground::{DELAY, Ground, even_links};
use super::scheme::Scheme;
use super::{Measured, Point, Series, by_length, repetitions};
use crate::experiment::Check;
use crate::figures::{Length, Sample};
use crate::lab::{LinkName, ProxyPlan};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::time::Duration;

#[derive(Default)]
pub(super) struct DelayGap;

impl Series for DelayGap {
    fn name(&self) -> &'static str {
        "delay-gap"
    }

    fn shows(&self) -> &'static str {
        "Through the proxies a copy that comes late still counts: little is declared lost that was not, at every gap"
    }

    fn parameters(&self, length: Length) -> Value {
        json!({ "seconds": seconds(length).as_secs(), "rtt_ms": 2 * DELAY.as_millis(),
                "gap": "path b is later by it each way", "scheme": Scheme::Bidirectional.name() })
    }

    fn points(&self, length: Length, seed: u64) -> Vec<Point> {
        let gaps = by_length(length, &[0.0, 20.0][..], &GAPS_MS, &GAPS_MS);
        let losses = by_length(length, &[5.0][..], &LOSSES, &LOSSES);
        let congestion = by_length(length, &["bbr3", "bbr1", "cubic"][..], &CONGESTION, &CONGESTION);
        let mut points = Vec::new();
        for repetition in 0..repetitions(length) {
            for &loss in losses {
                for &gap in gaps {
                    for congestion in congestion {
                        for resequencing in ["on", "off"] {
                            points.push(Point::new(
                                &[("congestion", congestion), ("resequencing", resequencing)],
                                &[("gap_ms", gap), ("loss_percent", loss)],
                                repetition,
                                seed,
                                1.5 + seconds(length).as_secs_f64(),
                            ));
                        }
                    }
                }
            }
        }
        points
    }

    fn measure(&mut self, ground: &mut Ground, point: &Point, length: Length) -> Result<Measured> {
        let mut links = even_links(point.at("loss_percent")?, point.seed);
        for spec in &mut links[LinkName::B.index()] {
            spec.delay = DELAY + Duration::from_secs_f64(point.at("gap_ms")? / 1e3);
        }
        ground.prepare(Scheme::Bidirectional, links)?;
        let mut route = ground.through_proxies(&ProxyPlan {
            resequencing: point.label("resequencing")? == "on",
            ..ProxyPlan::new(point.label("congestion")?)
        })?;
        ground.impair()?;
        let cpu = route
            .proxies
            .as_ref()
            .context("the route has proxies")?
            .usage_at_client()?
            .cpu;
        let download = ground.download(&route, crate::traffic::http::CONTENT_BYTES, seconds(length))?;
        let proxies = route.proxies.as_mut().context("the route has proxies")?;
        let (declared, copies) = (proxies.declared_lost_at_server()?, proxies.copies_to_client()?);
        Ok(Measured::new(&[
            ("declared_lost", declared as f64),
            ("really_lost", copies.none as f64),
            ("came_twice", copies.both as f64),
            ("came_once", copies.one as f64),
            ("mbit", download.mbps()),
            (
                "receiver_cpu_seconds",
                (proxies.usage_at_client()?.cpu - cpu).as_secs_f64(),
            ),
        ]))
    }

    fn checks(&self, samples: &[Sample]) -> Vec<Check> {
        let wanted = |sample: &&Sample| {
            sample.is_sound()
                && sample.label("resequencing") == Some("on")
                && sample.at["gap_ms"] <= PROMISED_MS
        };
        samples
            .iter()
            .filter(wanted)
            .flat_map(|sample| verdict(sample, samples))
            .collect()
    }
}

/// What is promised of one download, beside that without a gap.
fn verdict(sample: &Sample, samples: &[Sample]) -> Vec<Check> {
    let value = |name: &str| sample.values.get(name).copied().unwrap_or(f64::NAN);
    let (declared, really, mbit) = (value("declared_lost"), value("really_lost"), value("mbit"));
    let gap = sample.at["gap_ms"];
    let name = format!(
        "{}, {} %, gap {gap} ms",
        sample.label("congestion").unwrap_or_default(),
        sample.at["loss_percent"]
    );
    let mut checks = vec![Check::new(
        format!("{name}: declared lost"),
        declared,
        format!("≤ 1.5 × {really} + {SLACK}"),
        declared <= 1.5 * really + SLACK,
    )];
    let without_gap = samples.iter().find(|other| {
        other.is_sound()
            && other.labels == sample.labels
            && other.repetition == sample.repetition
            && other.at["loss_percent"] == sample.at["loss_percent"]
            && other.at["gap_ms"] == 0.0
    });
    if let Some(reference) = without_gap.and_then(|other| other.values.get("mbit")) {
        checks.push(Check::new(
            format!("{name}: Mbit/s"),
            format!("{mbit:.1}"),
            format!("≥ 80 % of {reference:.1}"),
            mbit >= 0.8 * reference,
        ));
    }
    checks
}

fn seconds(length: Length) -> Duration {
    Duration::from_secs(by_length(length, 4, 8, 8))
}

const GAPS_MS: [f64; 7] = [0.0, 20.0, 50.0, 10.0, 5.0, 2.0, 90.0];
/// Gaps up to here are promised to cost little.
const PROMISED_MS: f64 = 50.0;
const LOSSES: [f64; 3] = [5.0, 2.0, 1.0];
const CONGESTION: [&str; 4] = ["bbr3", "bbr1", "bbr2", "cubic"];
/// Losses that so few could be chance.
const SLACK: f64 = 20.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(gap: f64, declared: f64, mbit: f64) -> Sample {
        Point::new(
            &[("congestion", "bbr3"), ("resequencing", "on")],
            &[("gap_ms", gap), ("loss_percent", 5.0)],
            0,
            1,
            1.0,
        )
        .sample(
            "delay-gap",
            Measured::new(&[
                ("declared_lost", declared),
                ("really_lost", 100.0),
                ("mbit", mbit),
            ]),
            Vec::new(),
        )
    }

    #[test]
    fn a_gap_may_cost_a_fifth_and_half_as_many_losses_again() {
        let failed = |samples: &[Sample]| {
            DelayGap
                .checks(samples)
                .iter()
                .filter(|check| !check.passed)
                .count()
        };
        assert_eq!(failed(&[sample(0.0, 100.0, 90.0), sample(20.0, 170.0, 72.5)]), 0);
        assert_eq!(failed(&[sample(0.0, 100.0, 90.0), sample(20.0, 171.0, 71.0)]), 2);
        assert_eq!(
            failed(&[sample(0.0, 100.0, 90.0), sample(90.0, 900.0, 1.0)]),
            0,
            "not promised"
        );
    }
}
