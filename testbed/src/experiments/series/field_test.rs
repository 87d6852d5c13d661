//! Many connections over a population of paths, each congestion control of the proxies on the same ones.

use super::ground::{FAR_RTT, Ground};
use super::population::{self, Path};
use super::scheme::Scheme;
use super::{Measured, Point, Series, by_length};
use crate::figures::Length;
use crate::lab::{FAR_SERVER_ADDRESS, ProxyPlan, TracePoint};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::time::Duration;

#[derive(Default)]
pub(super) struct FieldTest;

impl Series for FieldTest {
    fn name(&self) -> &'static str {
        "field-test"
    }

    fn shows(&self) -> &'static str {
        "CUBIC and three BBRs of the proxies over a population of paths: retransmissions, throughput, in-flight"
    }

    fn parameters(&self, length: Length) -> Value {
        json!({ "cap_s": CAP.as_secs(), "seconds_of_rate": SECONDS_OF_RATE, "least_bytes": LEAST_BYTES,
                "most_bytes": most_bytes(length), "far_server_rtt_ms": FAR_RTT.as_millis() })
    }

    fn points(&self, length: Length, seed: u64) -> Vec<Point> {
        let paths = population::draw(seed, by_length(length, 10, 50, 150));
        let mut points = Vec::new();
        for (number, path) in paths.iter().enumerate() {
            for congestion in CONGESTION {
                points.push(Point::new(
                    &[("congestion", congestion), ("via", "proxies")],
                    &[("path", number as f64), ("loss_percent", path.loss_percent)],
                    0,
                    seed,
                    1.5 + (bytes(path, length) as f64 * 8.0 / path.rate_bps as f64 * 1.5)
                        .min(CAP.as_secs_f64()),
                ));
            }
        }
        points
    }

    fn measure(&mut self, ground: &mut Ground, point: &Point, length: Length) -> Result<Measured> {
        let path = self.path(point, length, ground.seed)?;
        ground.prepare(Scheme::Unicast, path.links(point.seed))?;
        let mut route = ground.through_proxies(&ProxyPlan {
            target: FAR_SERVER_ADDRESS.to_owned(),
            stream_window: path.window,
            ..ProxyPlan::new(point.label("congestion")?)
        })?;
        ground.impair()?;
        let proxies = route.proxies.as_ref().context("the route has proxies")?;
        let (trace, cpu) = (proxies.trace_at_server(), proxies.cpu()?);
        let download = ground.download(&route, bytes(&path, length), CAP)?;
        let trace = trace.stop();
        let proxies = route.proxies.as_mut().context("the route has proxies")?;
        let cpu = proxies.cpu()? - cpu;
        let connection = proxies.streams_at_server()?;
        let really_lost = proxies.copies_to_client()?.none as f64;
        let count = |key: &str| connection[key].as_f64().with_context(|| format!("no `{key}`"));
        let (sent, lost) = (count("sent_packets")?.max(1.0), count("lost_packets")?);
        Ok(Measured::new(&[
            ("retransmitted_fraction", lost / sent),
            ("throughput_mbit", download.mbps()),
            ("inflight_bytes", mean(&trace, |point| point.in_flight as f64)),
            ("rtt_ms", mean(&trace, |point| point.rtt_us as f64 / 1e3)),
            ("min_rtt_ms", count("min_rtt_us")? / 1e3),
            ("path_rtt_ms", 1e3 * path.rtt.as_secs_f64()),
            ("rate_mbit", path.rate_bps as f64 / 1e6),
            (
                "receive_window_limited_fraction",
                mean(&trace, |point| f64::from(u8::from(point.app_limited))),
            ),
            // Declared lost, and yet it came: too late, behind others.
            ("reordered_fraction", (lost - really_lost).max(0.0) / sent),
            ("cpu_seconds", cpu.as_secs_f64()),
            ("bytes", download.bytes as f64),
        ])
        .capped(download.bytes < bytes(&path, length)))
    }
}

impl FieldTest {
    fn path(&self, point: &Point, length: Length, seed: u64) -> Result<Path> {
        let number = point.at("path")?;
        let paths = population::draw(seed, by_length(length, 10, 50, 150));
        let found = (0..)
            .zip(paths)
            .find(|(index, _)| (f64::from(*index) - number).abs() < 0.5);
        found
            .map(|(_, path)| path)
            .context("the population has such a path")
    }
}

/// As much as the path carries in a while.
fn bytes(path: &Path, length: Length) -> u64 {
    (path.rate_bps / 8 * SECONDS_OF_RATE).clamp(LEAST_BYTES, most_bytes(length))
}

fn most_bytes(length: Length) -> u64 {
    by_length(length, 6_000_000, 25_000_000, 25_000_000)
}

fn mean(trace: &[TracePoint], value: impl Fn(&TracePoint) -> f64) -> f64 {
    trace.iter().map(value).sum::<f64>() / (trace.len() as f64).max(1.0)
}

const CONGESTION: [&str; 4] = ["cubic", "bbr1", "bbr2", "bbr3"];
/// A transfer that is at least of this size counts as one of high throughput.
const LEAST_BYTES: u64 = 1_000_000;
const SECONDS_OF_RATE: u64 = 2;
const CAP: Duration = Duration::from_secs(8);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_paths_carry_a_megabyte_and_fast_ones_more() {
        let paths = population::draw(1, 50);
        for path in &paths {
            assert!((LEAST_BYTES..=25_000_000).contains(&bytes(path, Length::Default)));
        }
    }

    #[test]
    fn each_point_finds_its_path_again() {
        let points = FieldTest.points(Length::Quick, 3);
        let path = FieldTest.path(&points[39], Length::Quick, 3).unwrap();
        assert!((path.loss_percent - points[39].at["loss_percent"]).abs() < 1e-12);
        assert_eq!(points.len(), 40);
    }
}
