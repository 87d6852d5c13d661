//! The adaptive scheme beside always unicast and always bicast, while the links change: numbered UDP both ways and a
//! download through the proxies.

use super::ground::{Ground, even_links};
use super::scheme::{ADAPTIVE, Scheme};
use super::stories::Story;
use super::{Measured, Point, Series, by_length, repetitions};
use crate::clock;
use crate::experiments::support::{POLICY, Traffic, Watch};
use crate::figures::Length;
use crate::lab::{LinkSpecs, Site};
use crate::link::Direction;
use crate::moment::Moment;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::time::Duration;

#[derive(Default)]
pub(super) struct Adaptive;

impl Series for Adaptive {
    fn name(&self) -> &'static str {
        "adaptive"
    }

    fn shows(&self) -> &'static str {
        "Adaptive beside always unicast and always bicast while links fade, burst, flap and go dark"
    }

    fn parameters(&self, length: Length) -> Value {
        json!({ "seconds": seconds(length).as_secs(), "udp_pps_each_way": PPS, "congestion": CONGESTION,
                "adaptive": ADAPTIVE })
    }

    fn points(&self, length: Length, seed: u64) -> Vec<Point> {
        let mut points = Vec::new();
        for repetition in 0..repetitions(length) {
            for story in Story::all() {
                for scheme in [Scheme::Adaptive, Scheme::Unicast, Scheme::Bidirectional] {
                    points.push(Point::new(
                        &[
                            ("story", story.name),
                            ("scheme", scheme.name()),
                            ("congestion", CONGESTION),
                        ],
                        &[],
                        repetition,
                        seed,
                        2.0 + seconds(length).as_secs_f64(),
                    ));
                }
            }
        }
        points
    }

    fn measure(&mut self, ground: &mut Ground, point: &Point, length: Length) -> Result<Measured> {
        let story = Story::named(point.label("story")?).context("there is such a story")?;
        let scheme = point.scheme()?;
        ground.prepare(scheme, even_links(0.0, point.seed))?;
        let route = ground.route("proxies", CONGESTION)?;
        let watch = Watch::start(&ground.bench)?;
        let before = ground.uplink_bytes()?;
        let traffic = Traffic::start(&ground.bench.lab, PPS)?;
        let start = clock::now();
        let lossless = even_links(0.0, point.seed);
        let (told, download) = std::thread::scope(|scope| {
            let shared = &*ground;
            let teller = scope.spawn(|| tell(shared, &story, &lossless, start, seconds(length)));
            let download = shared.download(&route, crate::traffic::http::CONTENT_BYTES, seconds(length));
            let told = teller.join().map_err(|_| anyhow::anyhow!("the teller panicked"));
            (told, download)
        });
        told??;
        let download = download?;
        let after = ground.uplink_bytes()?;
        // What was sent last must not meet a dark link on its way.
        let reports = traffic.stop()?;
        let sent: u64 = reports.iter().map(|report| report.sent).sum();
        let lost: u64 = reports.iter().map(|report| report.lost).sum();
        let delay = reports.iter().map(|report| report.first_copy_delay.p99).max();
        let decisions = watch.modes_of(POLICY, Site::Server, start);
        let mut measured = Measured::new(&[
            ("goodput_mbit", download.mbps()),
            ("residual_loss_percent", 100.0 * lost as f64 / sent.max(1) as f64),
            ("p99_delay_ms", 1e3 * delay.unwrap_or_default().as_secs_f64()),
            ("uplink_bytes_client", (after[0] - before[0]) as f64),
            ("uplink_bytes_server", (after[1] - before[1]) as f64),
        ]);
        if let Some(reaction) = reaction(&story, &decisions, seconds(length)) {
            measured.values.insert("reaction_ms".to_owned(), 1e3 * reaction);
        }
        Ok(measured.with_trace("decisions", trace(scheme, &decisions, seconds(length))))
    }
}

/// Changes the links as the story goes.
fn tell(ground: &Ground, story: &Story, lossless: &LinkSpecs, start: Moment, length: Duration) -> Result<()> {
    for (at, event) in story.timed(length) {
        clock::sleep_until(start + at);
        for direction in Direction::ALL {
            let mut spec = lossless[event.link.index()][direction.index()].clone();
            spec.loss = event.loss;
            ground.bench.lab.link(event.link.as_str(), direction)?.set(spec)?;
        }
    }
    Ok(())
}

/// Seconds from the first loss of path a to the first decision after it.
fn reaction(story: &Story, decisions: &[(f64, String)], length: Duration) -> Option<f64> {
    let onset = story.onset()? * length.as_secs_f64();
    let after = decisions.iter().find(|(at, _)| *at >= onset)?;
    Some(after.0 - onset)
}

/// Whether copies are sent, from the beginning to the end.
fn trace(scheme: Scheme, decisions: &[(f64, String)], length: Duration) -> Vec<(f64, f64)> {
    let copies = |mode: &str| f64::from(u8::from(mode.starts_with("bicast")));
    let mut trace = vec![(0.0, copies(scheme.first_mode(Site::Server)))];
    trace.extend(decisions.iter().map(|(at, mode)| (*at, copies(mode))));
    let last = trace.last().map_or(0.0, |(_, copies)| *copies);
    trace.push((
        length.as_secs_f64().max(trace.last().map_or(0.0, |(at, _)| *at)),
        last,
    ));
    trace
}

fn seconds(length: Length) -> Duration {
    Duration::from_secs(by_length(length, 8, 30, 60))
}

const CONGESTION: &str = "bbr3";
const PPS: u32 = 500;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trace_begins_with_the_first_mode_and_lasts_to_the_end() {
        let decisions = [(3.0, "bicast a+b".to_owned()), (7.0, "unicast b".to_owned())];
        assert_eq!(
            trace(Scheme::Adaptive, &decisions, Duration::from_secs(10)),
            [(0.0, 0.0), (3.0, 1.0), (7.0, 0.0), (10.0, 0.0)]
        );
        assert_eq!(
            trace(Scheme::Bidirectional, &[], Duration::from_secs(10)),
            [(0.0, 1.0), (10.0, 1.0)]
        );
    }

    #[test]
    fn a_reaction_is_the_first_decision_after_the_onset() {
        let story = Story::named("step").unwrap();
        let decisions = [(1.0, "unicast b".to_owned()), (2.9, "bicast a+b".to_owned())];
        let reaction = reaction(&story, &decisions, Duration::from_secs(10)).unwrap();
        assert!((reaction - 0.4).abs() < 1e-9);
        assert_eq!(
            super::reaction(&story, &decisions[..1], Duration::from_secs(10)),
            None
        );
    }
}
