//! CUBIC and BBR on one long lossy path: kernel TCP by iperf3, then the same path through the proxies.
//!
//! Leaves `ss-CONGESTION.txt` (what `ss -tin` said of the sender once a second), `proxy-CONGESTION.json` (the same by
//! the proxies, at the end) and `verification.json` beside the samples.

use super::ground::{Ground, link_seed, loss};
use super::scheme::Scheme;
use super::{Measured, Point, Series, by_length, repetitions};
use crate::experiment::Check;
use crate::figures::{Length, Sample};
use crate::lab::{LinkName, LinkSpecs, ProxyPlan, Site};
use crate::link::{Direction, LinkSpec};
use crate::process;
use crate::traffic::Iperf;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

#[derive(Default)]
pub(super) struct CcLab {
    folder: Option<PathBuf>,
}

impl Series for CcLab {
    fn name(&self) -> &'static str {
        "cc-lab"
    }

    fn shows(&self) -> &'static str {
        "CUBIC against BBR at 100 ms and 2 % loss: the kernel's TCP, then the proxies on the same path"
    }

    fn parameters(&self, length: Length) -> Value {
        json!({ "seconds": seconds(length).as_secs(), "rtt_ms": 2 * DELAY.as_millis(), "loss_percent": LOSS_PERCENT,
                "loss": "in the direction of the data only", "rate_mbit": 100, "queue_bytes": QUEUE_BYTES })
    }

    fn points(&self, length: Length, seed: u64) -> Vec<Point> {
        let mut points = Vec::new();
        for repetition in 0..repetitions(length) {
            for (via, congestion) in LINES {
                points.push(Point::new(
                    &[("via", via), ("congestion", congestion)],
                    &[("loss_percent", LOSS_PERCENT)],
                    repetition,
                    seed,
                    2.0 + seconds(length).as_secs_f64(),
                ));
            }
        }
        points
    }

    fn measure(&mut self, ground: &mut Ground, point: &Point, length: Length) -> Result<Measured> {
        self.folder = Some(ground.bench.lab.folder().to_owned());
        ground.prepare(Scheme::Unicast, links(point.seed))?;
        let congestion = point.label("congestion")?;
        match point.label("via")? {
            "direct" => by_tcp(ground, congestion, seconds(length)),
            _ => by_proxies(ground, congestion, seconds(length)),
        }
    }

    fn checks(&self, samples: &[Sample]) -> Vec<Check> {
        let checks = checks(samples);
        if let Some(folder) = &self.folder {
            // The samples are on disk: without this file the run has still succeeded.
            let _ = std::fs::write(folder.join("verification.json"), verification(&checks));
        }
        checks
    }
}

fn links(seed: u64) -> LinkSpecs {
    LinkName::ALL.map(|link| {
        Direction::ALL.map(|direction| LinkSpec {
            delay: DELAY,
            queue_bytes: QUEUE_BYTES,
            loss: loss(if direction == Direction::ServerToClient {
                LOSS_PERCENT
            } else {
                0.0
            }),
            seed: link_seed(seed, link, direction),
            ..LinkSpec::default()
        })
    })
}

fn by_tcp(ground: &Ground, congestion: &str, duration: Duration) -> Result<Measured> {
    ground.impair()?;
    let lab = &ground.bench.lab;
    let iperf = Iperf {
        from: Site::Server.host().to_owned(),
        to: Site::Client.host().to_owned(),
        port: PORT,
        warm_up: Duration::ZERO,
        duration,
        congestion: Some(congestion.to_owned()),
        limit_bps: None,
    };
    let running = iperf.start(lab)?;
    let look = || {
        let mut command = lab.ns(Site::Server.host())?.command("ss");
        process::run(command.args(["-tin", &format!("sport = :{PORT}")]))
    };
    let (report, snapshots) = while_looking(look, || running.finish())?;
    let report = report?;
    std::fs::write(
        lab.folder().join(format!("ss-{congestion}.txt")),
        snapshots.join("\n"),
    )?;
    let seen: Vec<(f64, f64)> = snapshots.iter().filter_map(|text| read_ss(text)).collect();
    Ok(Measured::new(&[
        ("mbit", report.received_bps / 1e6),
        ("retransmits", report.retransmits as f64),
        ("cwnd", mean(seen.iter().map(|(cwnd, _)| *cwnd))),
        ("rtt_ms", mean(seen.iter().map(|(_, rtt)| *rtt))),
    ]))
}

fn by_proxies(ground: &Ground, congestion: &str, duration: Duration) -> Result<Measured> {
    let mut route = ground.through_proxies(&ProxyPlan::new(congestion))?;
    ground.impair()?;
    let trace = route.proxies.as_ref().map(|proxies| proxies.trace_at_server());
    let download = ground.download(&route, crate::traffic::http::CONTENT_BYTES, duration)?;
    let trace = trace.map(|trace| trace.stop()).unwrap_or_default();
    let connection = route
        .proxies
        .as_mut()
        .context("the route has proxies")?
        .streams_at_server()?;
    let log = ground.bench.lab.folder().join(format!("proxy-{congestion}.json"));
    std::fs::write(log, serde_json::to_string_pretty(&connection)?)?;
    let packet = connection["mtu"].as_f64().context("bicast-proxy tells no MTU")?;
    Ok(Measured::new(&[
        ("mbit", download.mbps()),
        (
            "retransmits",
            connection["lost_packets"].as_f64().unwrap_or_default(),
        ),
        ("cwnd", mean(trace.iter().map(|point| point.cwnd as f64 / packet))),
        (
            "rtt_ms",
            mean(trace.iter().map(|point| point.rtt_us as f64 / 1e3)),
        ),
    ]))
}

/// Does something and looks once a second meanwhile.
fn while_looking<T: Send>(
    look: impl Fn() -> Result<String> + Send,
    work: impl FnOnce() -> T,
) -> Result<(T, Vec<String>)> {
    let stop = AtomicBool::new(false);
    let stopped = &stop;
    std::thread::scope(|scope| {
        let watcher = scope.spawn(move || {
            let mut seen = Vec::new();
            while !stopped.load(Relaxed) {
                std::thread::sleep(Duration::from_secs(1));
                // The connection may be gone already.
                seen.extend(look());
            }
            seen
        });
        let result = work();
        stop.store(true, Relaxed);
        let seen = watcher
            .join()
            .map_err(|_| anyhow::anyhow!("the watcher panicked"))?;
        Ok((result, seen))
    })
}

/// Congestion window in packets and smoothed round trip in milliseconds, of the connection with the largest window:
/// iperf3's own talk is among them.
fn read_ss(text: &str) -> Option<(f64, f64)> {
    let read = |line: &str| {
        let value = |key: &str| line.split_whitespace().find_map(|word| word.strip_prefix(key));
        let rtt = value("rtt:")?.split('/').next()?;
        Some((value("cwnd:")?.parse().ok()?, rtt.parse().ok()?))
    };
    text.lines()
        .filter_map(read)
        .max_by(|one: &(f64, f64), other| one.0.total_cmp(&other.0))
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

fn checks(samples: &[Sample]) -> Vec<Check> {
    let mbit = |via: &str, congestion: &str| {
        let of = |sample: &&Sample| {
            sample.is_sound()
                && sample.label("via") == Some(via)
                && sample.label("congestion") == Some(congestion)
        };
        mean(samples.iter().filter(of).map(|sample| sample.values["mbit"]))
    };
    let cubic = mbit("direct", "cubic");
    let mut checks = Vec::new();
    for (name, measured, least) in [
        (
            "kernel TCP: BBR, Mbit/s, at least 3 times CUBIC",
            mbit("direct", "bbr"),
            3.0 * cubic,
        ),
        (
            "kernel TCP: BBR, Mbit/s, at least 60 % of the link",
            mbit("direct", "bbr"),
            60.0,
        ),
        (
            "proxies: BBRv1, Mbit/s, at least 3 times TCP CUBIC",
            mbit("proxies", "bbr1"),
            3.0 * cubic,
        ),
    ] {
        let passed = cubic > 0.0 && measured >= least;
        checks.push(Check::new(
            name,
            format!("{measured:.1}"),
            format!("≥ {least:.1}"),
            passed,
        ));
    }
    checks
}

/// In the form that labs of this kind leave behind.
fn verification(checks: &[Check]) -> String {
    let passed = checks.iter().all(|check| check.passed);
    let message = checks
        .iter()
        .map(|check| format!("{}: {} ({})", check.name, check.measured, check.expected));
    let verification = json!({
        "lab": "cc-lab",
        "status": if passed { "verified" } else { "failed" },
        "message": message.collect::<Vec<_>>().join("; "),
    });
    format!("{verification:#}\n")
}

fn seconds(length: Length) -> Duration {
    Duration::from_secs(by_length(length, 10, 20, 60))
}

const LINES: [(&str, &str); 5] = [
    ("direct", "cubic"),
    ("direct", "bbr"),
    ("proxies", "bbr1"),
    ("proxies", "bbr3"),
    ("proxies", "cubic"),
];
const LOSS_PERCENT: f64 = 2.0;
const DELAY: Duration = Duration::from_millis(50);
/// What netem's usual 1,000 packets leave beside the packets on the line.
const QUEUE_BYTES: u64 = 875_000;
const PORT: u16 = 5201;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_of_the_busiest_connection_is_read() {
        let text = "State Recv-Q Send-Q\nESTAB 0 0 10.2.0.2:5201 10.1.0.2:40000\n\t cubic wscale:7,7 rto:304 rtt:100.2/0.1 mss:1448 cwnd:10 bytes_sent:4\n\
                    ESTAB 0 9 10.2.0.2:5201 10.1.0.2:40001\n\t bbr wscale:7,7 rto:304 rtt:104.5/3 mss:1448 cwnd:1700 bytes_sent:9\n";
        assert_eq!(read_ss(text), Some((1700.0, 104.5)));
        assert_eq!(read_ss("State\n"), None);
    }

    #[test]
    fn a_lab_in_which_bbr_is_no_better_is_not_verified() {
        let sample = |via: &str, congestion: &str, mbit: f64| {
            Point::new(&[("via", via), ("congestion", congestion)], &[], 0, 1, 1.0).sample(
                "cc-lab",
                Measured::new(&[("mbit", mbit)]),
                Vec::new(),
            )
        };
        let samples = |bbr| {
            vec![
                sample("direct", "cubic", 8.0),
                sample("direct", "bbr", bbr),
                sample("proxies", "bbr1", 80.0),
            ]
        };
        assert!(verification(&checks(&samples(88.0))).contains("verified"));
        assert!(verification(&checks(&samples(12.0))).contains("failed"));
        assert!(verification(&checks(&[])).contains("failed"));
    }
}
