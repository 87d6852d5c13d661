//! How long a download takes, and how many bytes it puts on the uplinks: by plain TCP and through the proxies, by
//! congestion control, scheme and loss.

use super::ground::{DELAY, FAR_RTT, Ground, TCP_CONGESTION, even_links};
use super::scheme::{ADAPTIVE, Scheme};
use super::{Measured, Point, Series, by_length, repetitions};
use crate::figures::Length;
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;

/// All of it, or those lines only that tell of bytes.
pub(super) struct DownloadTime {
    name: &'static str,
    shows: &'static str,
    /// Way and congestion control.
    lines: &'static [(&'static str, &'static str)],
    /// Percent, the most telling first.
    losses: &'static [f64],
    quick_losses: &'static [f64],
}

impl DownloadTime {
    /// Figures 6 and 7 of the paper.
    pub(super) const ALL: DownloadTime = DownloadTime {
        name: "download-time",
        shows: "How long a download takes by loss: plain TCP and each congestion control of the proxies, each scheme",
        lines: &[
            ("direct", "cubic"),
            ("proxies", "bbr3"),
            ("proxies", "bbr1"),
            ("proxies", "bbr2"),
            ("proxies", "cubic"),
        ],
        losses: &[
            1.0, 0.0, 2.0, 10.0, 5.0, 20.0, 3.0, 0.1, 0.5, 7.0, 15.0, 30.0, 40.0,
        ],
        quick_losses: &[1.0, 0.0, 2.0, 10.0, 20.0],
    };

    /// Figure 12 of the paper: the same downloads, fewer of them.
    pub(super) const BYTES: DownloadTime = DownloadTime {
        name: "transmitted-bytes",
        shows: "Bytes on the uplinks for a download through the proxies, by loss and scheme",
        lines: &[("proxies", "bbr3"), ("proxies", "bbr1")],
        losses: &[0.0, 15.0, 5.0, 10.0, 1.0, 2.0, 3.0, 7.0, 0.1, 0.5],
        quick_losses: &[0.0, 10.0],
    };
}

impl Series for DownloadTime {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shows(&self) -> &'static str {
        self.shows
    }

    fn parameters(&self, length: Length) -> Value {
        json!({
            "bytes": size(length), "cap_s": cap(length).as_secs_f64(), "rate_mbit": 100,
            "rtt_ms": 2 * DELAY.as_millis(), "far_server_rtt_ms": FAR_RTT.as_millis(), "tcp": TCP_CONGESTION,
            "direct": "to a server beside the far proxy: the round trip between the sites only",
            "adaptive": ADAPTIVE,
        })
    }

    fn points(&self, length: Length, seed: u64) -> Vec<Point> {
        let losses = by_length(length, self.quick_losses, self.losses, self.losses);
        // The paper has no BBRv2: a quick run leaves it out.
        let left_out = |congestion: &str| length == Length::Quick && congestion == "bbr2";
        let mut points = Vec::new();
        for repetition in 0..repetitions(length) {
            for &loss in losses {
                for scheme in Scheme::ALL.into_iter().filter(|scheme| bearable(*scheme, loss)) {
                    for (via, congestion) in self.lines.iter().filter(|line| !left_out(line.1)) {
                        points.push(Point::new(
                            &[
                                ("via", via),
                                ("congestion", congestion),
                                ("scheme", scheme.name()),
                            ],
                            &[("loss_percent", loss)],
                            repetition,
                            seed,
                            PREPARATION + expected(congestion, scheme, loss, length),
                        ));
                    }
                }
            }
        }
        points
    }

    fn measure(&mut self, ground: &mut Ground, point: &Point, length: Length) -> Result<Measured> {
        ground.prepare(point.scheme()?, even_links(point.at("loss_percent")?, point.seed))?;
        let route = ground.route(point.label("via")?, point.label("congestion")?)?;
        let before = ground.uplink_bytes()?;
        ground.impair()?;
        let download = ground.download(&route, size(length), cap(length))?;
        let after = ground.uplink_bytes()?;
        Ok(Measured::new(&[
            ("seconds", download.took.as_secs_f64()),
            ("goodput_mbit", download.mbps()),
            ("bytes", download.bytes as f64),
            ("payload_bytes", download.bytes as f64),
            ("uplink_bytes_client", (after[0] - before[0]) as f64),
            ("uplink_bytes_server", (after[1] - before[1]) as f64),
        ])
        .capped(download.bytes < size(length)))
    }
}

/// Beyond 15 % a download whose data go one way only hardly ends.
fn bearable(scheme: Scheme, loss_percent: f64) -> bool {
    scheme.doubles_data() || loss_percent <= 15.0
}

/// A guess, good enough to tell how much is left.
fn expected(congestion: &str, scheme: Scheme, loss_percent: f64, length: Length) -> f64 {
    let loss = loss_percent / 100.0;
    let loss = if scheme.doubles_data() { loss * loss } else { loss };
    let mbit = match congestion {
        "bbr1" => 85.0,
        "bbr2" | "bbr3" => 90.0 / (1.0 + 100.0 * loss),
        _ => 90.0_f64.min(1.2 / loss.sqrt().max(0.001)),
    };
    (size(length) as f64 * 8e-6 / mbit).min(cap(length).as_secs_f64())
}

fn size(length: Length) -> u64 {
    by_length(length, 10_000_000, 100_000_000, 100_000_000)
}

fn cap(length: Length) -> Duration {
    Duration::from_secs(by_length(length, 6, 30, 120))
}

/// Seconds for policy, proxies and links.
const PREPARATION: f64 = 1.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavy_losses_are_for_schemes_that_double_the_data() {
        let points = DownloadTime::ALL.points(Length::Default, 1);
        let heavy = points.iter().filter(|point| point.at["loss_percent"] > 15.0);
        assert!(heavy.clone().count() > 0);
        assert!(
            heavy
                .into_iter()
                .all(|point| point.scheme().unwrap().doubles_data())
        );
    }

    #[test]
    fn the_first_points_compare_plain_tcp_with_the_proxies_at_one_percent() {
        let points = DownloadTime::ALL.points(Length::Full, 1);
        let first: Vec<&str> = points[..2]
            .iter()
            .map(|point| point.labels["via"].as_str())
            .collect();
        assert_eq!(first, ["direct", "proxies"]);
        assert!((points[0].at["loss_percent"] - 1.0).abs() < 1e-9);
    }
}
