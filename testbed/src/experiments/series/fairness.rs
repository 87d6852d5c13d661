//! What is left for others: a download through the proxies beside a TCP CUBIC flow on each path, Figures 14 and 15 of
//! the paper.
//!
//! ```text
//!  TCP 1: a-server ──▶ a-client ╲ the routers at the ends of each link, so that the flows share its queue
//!  TCP 2: b-server ──▶ b-client ╱ with the proxies' packets and nothing else
//! ```

use super::ground::{Ground, even_links};
use super::scheme::{ADAPTIVE, Scheme};
use super::{Measured, Point, Series, by_length, repetitions};
use crate::figures::Length;
use crate::figures::statistics::jain;
use crate::lab::{LinkName, Site};
use crate::traffic::Iperf;
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Duration;

/// Remembers what the TCP flows got alone, by seed of the point.
#[derive(Default)]
pub(super) struct Fairness {
    alone: HashMap<u64, [f64; 2]>,
}

impl Series for Fairness {
    fn name(&self) -> &'static str {
        "fairness"
    }

    fn shows(&self) -> &'static str {
        "What a download through the proxies leaves to TCP CUBIC flows on the same links, by loss and scheme"
    }

    fn parameters(&self, length: Length) -> Value {
        json!({ "seconds": seconds(length).as_secs(), "warm_up_s": WARM_UP.as_secs(), "tcp": "cubic",
                "rtt_ms": 10, "rate_mbit": 100, "adaptive": ADAPTIVE,
                "jain": "of the download and TCP 1, which share link a",
                "combined": "the download and TCP 1" })
    }

    fn points(&self, length: Length, seed: u64) -> Vec<Point> {
        let all = [1.0, 0.1, 0.5, 0.0, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9];
        let losses = by_length(length, &all[..2], &all[..], &all[..]);
        let mut points = Vec::new();
        for repetition in 0..repetitions(length) {
            for &loss in losses {
                for (number, congestion) in ["bbr3", "bbr1"].into_iter().enumerate() {
                    for (place, scheme) in Scheme::ALL.into_iter().enumerate() {
                        let flows = seconds(length) + WARM_UP;
                        let alone = if number + place == 0 {
                            flows
                        } else {
                            Duration::ZERO
                        };
                        points.push(Point::new(
                            &[
                                ("congestion", congestion),
                                ("scheme", scheme.name()),
                                ("via", "proxies"),
                            ],
                            &[("loss_percent", loss)],
                            repetition,
                            seed,
                            1.5 + (flows + alone).as_secs_f64(),
                        ));
                    }
                }
            }
        }
        points
    }

    fn measure(&mut self, ground: &mut Ground, point: &Point, length: Length) -> Result<Measured> {
        let links = even_links(point.at("loss_percent")?, point.seed);
        ground.prepare(point.scheme()?, links)?;
        let alone = match self.alone.get(&point.seed) {
            Some(alone) => *alone,
            None => {
                ground.impair()?;
                let (alone, ()) = beside_tcp(ground, seconds(length), |_| Ok(()))?;
                self.alone.insert(point.seed, alone);
                ground.prepare(point.scheme()?, even_links(point.at("loss_percent")?, point.seed))?;
                alone
            }
        };
        let route = ground.route("proxies", point.label("congestion")?)?;
        ground.impair()?;
        let (tcp, download) = beside_tcp(ground, seconds(length), |ground| {
            ground.download(&route, crate::traffic::http::CONTENT_BYTES, seconds(length))
        })?;
        Ok(shares(alone, tcp, download.mbps()))
    }
}

/// Runs both TCP flows, does something meanwhile, and returns the Mbit/s that they got.
fn beside_tcp<T>(
    ground: &Ground,
    duration: Duration,
    work: impl FnOnce(&Ground) -> Result<T>,
) -> Result<([f64; 2], T)> {
    let start = |link: LinkName, port| {
        let iperf = Iperf {
            from: Site::Server.router(link),
            to: Site::Client.router(link),
            port,
            warm_up: WARM_UP,
            duration,
            congestion: Some("cubic".to_owned()),
            limit_bps: None,
        };
        iperf.start(&ground.bench.lab)
    };
    let [one, two] = [start(LinkName::A, PORTS[0]), start(LinkName::B, PORTS[1])];
    let (one, two) = (one?, two?);
    std::thread::sleep(WARM_UP);
    let result = work(ground)?;
    let mbit = [one.finish()?, two.finish()?].map(|report| report.received_bps / 1e6);
    Ok((mbit, result))
}

/// Who got what, in Mbit/s and as shares.
fn shares(alone: [f64; 2], tcp: [f64; 2], quic: f64) -> Measured {
    let utilisation = |flow: usize| {
        if alone[flow] > 0.0 {
            tcp[flow] / alone[flow]
        } else {
            0.0
        }
    };
    Measured::new(&[
        ("tcp1_mbit", tcp[0]),
        ("tcp2_mbit", tcp[1]),
        ("quic_mbit", quic),
        ("tcp1_alone_mbit", alone[0]),
        ("tcp2_alone_mbit", alone[1]),
        ("utilisation1", utilisation(0)),
        ("utilisation2", utilisation(1)),
        ("combined_mbit", quic + tcp[0]),
        // Nobody got anything: none has more than another.
        ("jain", jain(&[quic, tcp[0]]).unwrap_or(1.0)),
    ])
}

fn seconds(length: Length) -> Duration {
    Duration::from_secs(by_length(length, 8, 30, 100))
}

/// TCP's slow start is over before the download begins.
const WARM_UP: Duration = Duration::from_secs(1);
const PORTS: [u16; 2] = [5301, 5302];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jain_is_one_for_equals_and_one_over_n_for_one_that_takes_all() {
        let index = |tcp, quic| shares([50.0, 50.0], [tcp, 0.0], quic).values["jain"];
        assert!((index(40.0, 40.0) - 1.0).abs() < 1e-12);
        assert!((index(0.0, 80.0) - 0.5).abs() < 1e-12);
        assert!((index(0.0, 0.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn utilisation_compares_with_being_alone() {
        let measured = shares([40.0, 50.0], [36.0, 50.0], 60.0);
        let value = |name: &str| measured.values[name];
        assert!((value("utilisation1") - 0.9).abs() < 1e-12);
        assert!((value("utilisation2") - 1.0).abs() < 1e-12);
        assert!((value("combined_mbit") - 96.0).abs() < 1e-12);
    }
}
