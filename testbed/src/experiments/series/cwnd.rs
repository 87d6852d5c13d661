//! The congestion window of BBRv3 over time, and how many ACK frames come back to the sender: Figures 8 to 11 of the
//! paper.

use super::ground::{Ground, even_links};
use super::scheme::Scheme;
use super::{Measured, Point, Series, by_length, repetitions};
use crate::figures::Length;
use crate::lab::TracePoint;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::time::Duration;

pub(super) struct Cwnd;

impl Series for Cwnd {
    fn name(&self) -> &'static str {
        "cwnd"
    }

    fn shows(&self) -> &'static str {
        "BBRv3's congestion window over time and the ACK frames that reach the sender, each scheme"
    }

    fn parameters(&self, length: Length) -> Value {
        json!({ "bytes": size(length), "cap_s": cap(length).as_secs_f64(), "congestion": CONGESTION })
    }

    fn points(&self, length: Length, seed: u64) -> Vec<Point> {
        let mut points = Vec::new();
        for repetition in 0..repetitions(length) {
            // The four of the paper first.
            for (others, loss) in [(false, 10.0), (false, 20.0), (true, 10.0), (true, 20.0)] {
                let wanted = |scheme: &Scheme| scheme.doubles_data() == ((loss > 10.0) != others);
                if others && length == Length::Quick {
                    continue;
                }
                for scheme in STATIC.into_iter().filter(wanted) {
                    points.push(Point::new(
                        &[
                            ("congestion", CONGESTION),
                            ("scheme", scheme.name()),
                            ("via", "proxies"),
                        ],
                        &[("loss_percent", loss)],
                        repetition,
                        seed,
                        1.0 + cap(length).as_secs_f64() / 2.0,
                    ));
                }
            }
        }
        points
    }

    fn measure(&mut self, ground: &mut Ground, point: &Point, length: Length) -> Result<Measured> {
        ground.prepare(point.scheme()?, even_links(point.at("loss_percent")?, point.seed))?;
        let mut route = ground.route("proxies", CONGESTION)?;
        let trace = route.proxies.as_ref().map(|proxies| proxies.trace_at_server());
        ground.impair()?;
        let download = ground.download(&route, size(length), cap(length))?;
        let trace = trace.map(|trace| trace.stop()).unwrap_or_default();
        let proxies = route.proxies.as_mut().context("the route has proxies")?;
        let acks = proxies.streams_at_server()?["received_acks"].as_u64();
        Ok(Measured::new(&[
            (
                "ack_frames",
                acks.context("bicast-proxy does not count ACK frames")? as f64,
            ),
            ("seconds", download.took.as_secs_f64()),
            ("goodput_mbit", download.mbps()),
            ("bytes", download.bytes as f64),
        ])
        .capped(download.bytes < size(length))
        .with_trace("cwnd_bytes", series(&trace, |point| point.cwnd))
        .with_trace("in_flight_bytes", series(&trace, |point| point.in_flight)))
    }
}

fn series(trace: &[TracePoint], value: impl Fn(&TracePoint) -> u64) -> Vec<(f64, f64)> {
    let point = |point: &TracePoint| (point.seconds, value(point) as f64);
    trace.iter().map(point).collect()
}

fn size(length: Length) -> u64 {
    by_length(length, 10_000_000, 100_000_000, 100_000_000)
}

fn cap(length: Length) -> Duration {
    Duration::from_secs(by_length(length, 10, 60, 120))
}

const CONGESTION: &str = "bbr3";
const STATIC: [Scheme; 4] = [
    Scheme::Unicast,
    Scheme::ClientSide,
    Scheme::ServerSide,
    Scheme::Bidirectional,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_run_measures_the_four_combinations_of_the_paper() {
        let points = Cwnd.points(Length::Quick, 1);
        let combinations: Vec<_> = points
            .iter()
            .map(|point| (point.labels["scheme"].as_str(), point.at["loss_percent"]))
            .collect();
        assert_eq!(
            combinations,
            [
                ("unicast", 10.0),
                ("client-side", 10.0),
                ("server-side", 20.0),
                ("bidirectional", 20.0)
            ]
        );
        assert_eq!(Cwnd.points(Length::Default, 1).len(), 3 * 8);
    }
}
