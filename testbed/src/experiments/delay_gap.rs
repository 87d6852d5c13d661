//! What a slower second path costs applications: downloads through the proxies with every packet on two paths that both
//! lose, the second one later by a gap.

use super::proxied;
use super::support::Bench;
use crate::experiment::{Check, Context, Experiment, Outcome};
use crate::lab::{Copies, FORWARD_PORT, HTTP_PORT, Site};
use crate::link::Direction;
use crate::traffic::{Download, HttpServer, download};
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;

pub(super) struct DelayGap;

impl Experiment for DelayGap {
    fn name(&self) -> &'static str {
        "delay-gap"
    }

    fn shows(&self) -> &'static str {
        "Through the proxies a copy that comes late still counts: little is declared lost that was not, at every gap"
    }

    fn parameters(&self) -> Value {
        json!({ "loss": LOSS, "rtt_ms": 2 * DELAY.as_millis(), "gaps_ms": GAPS_MS, "congestion": CONGESTION,
                "seconds_each": DURATION.as_secs() })
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Outcome> {
        let bench = proxied::start(context, LOSS)?;
        let _server = HttpServer::start(&bench.lab, Site::Server.host(), HTTP_PORT, "cubic")?;
        let (gaps, duration) = if context.quick {
            (&[0, 20][..], QUICK_DURATION)
        } else {
            (&GAPS_MS[..], DURATION)
        };
        context.say(format!(
            "{:9} {:>12} {:>8} {:>14} {:>12} {:>12}",
            "", "gap", "Mbit/s", "declared lost", "really lost", "came twice"
        ));
        let mut outcome = Outcome::default();
        let mut measurements = Vec::new();
        for congestion in CONGESTION {
            let mut without_gap = None;
            for (mode, gap) in [("unicast", 0)]
                .into_iter()
                .chain(gaps.iter().map(|gap| ("bicast", *gap)))
            {
                set(&bench, mode, Duration::from_millis(gap))?;
                let run = transfer(&bench, congestion, duration)?;
                let case = match mode {
                    "unicast" => "unicast".to_owned(),
                    _ => format!("{gap} ms"),
                };
                context.say(format!(
                    "{congestion:9} {case:>12} {:>8.1} {:>14} {:>12} {:>12}",
                    run.download.mbps(),
                    run.declared_lost,
                    run.copies.none,
                    run.copies.both
                ));
                measurements.push(run.record(congestion, mode, gap));
                if mode == "bicast" {
                    let reference = *without_gap.get_or_insert(run.download.mbps());
                    outcome.checks.extend(run.checks(congestion, gap, reference));
                }
            }
        }
        outcome.measurements = Value::Array(measurements);
        Ok(outcome)
    }
}

/// One download.
struct Run {
    download: Download,
    /// By QUIC at the server's side.
    declared_lost: u64,
    /// By the shim at the client's side.
    copies: Copies,
    /// Processor time of the proxy at the client's side.
    receiver_cpu: Duration,
}

impl Run {
    fn checks(&self, congestion: &str, gap: u64, without_gap: f64) -> [Check; 2] {
        let (declared, really) = (self.declared_lost, self.copies.none);
        let mbps = self.download.mbps();
        [
            Check::new(
                format!("{congestion}, gap {gap} ms: declared lost"),
                declared,
                format!("≤ 1.5 × {really} + {SLACK}"),
                2 * declared <= 3 * really + 2 * SLACK,
            ),
            Check::new(
                format!("{congestion}, gap {gap} ms: Mbit/s"),
                format!("{mbps:.1}"),
                format!("≥ 80 % of {without_gap:.1}"),
                mbps >= 0.8 * without_gap,
            ),
        ]
    }

    fn record(&self, congestion: &str, mode: &str, gap: u64) -> Value {
        json!({ "congestion": congestion, "mode": mode, "gap_ms": gap, "mbps": self.download.mbps(),
                "bytes": self.download.bytes, "declared_lost": self.declared_lost, "both": self.copies.both,
                "one": self.copies.one, "none": self.copies.none,
                "receiver_cpu_s": self.receiver_cpu.as_secs_f64() })
    }
}

fn set(bench: &Bench, mode: &str, gap: Duration) -> Result<()> {
    for (link, delay) in [("a", DELAY), ("b", DELAY + gap)] {
        for direction in Direction::ALL {
            let delay = format!("delay={}us", delay.as_micros());
            bench.lab.link(link, direction)?.change(&[delay])?;
        }
    }
    proxied::set_mode(bench, mode)
}

fn transfer(bench: &Bench, congestion: &str, duration: Duration) -> Result<Run> {
    let mut proxies = bench.lab.spawn_proxies(congestion)?;
    let before = proxies.usage_at_client()?.cpu;
    let url = format!("http://127.0.0.1:{FORWARD_PORT}/");
    let download = download(&bench.lab, Site::Client.host(), &url, duration)?;
    Ok(Run {
        download,
        receiver_cpu: proxies.usage_at_client()?.cpu - before,
        declared_lost: proxies.declared_lost_at_server()?,
        copies: proxies.copies_to_client()?,
    })
}

const LOSS: f64 = 0.05;
const DELAY: Duration = Duration::from_millis(5);
const GAPS_MS: [u64; 6] = [0, 2, 5, 10, 20, 50];
const CONGESTION: [&str; 4] = ["cubic", "bbr1", "bbr2", "bbr3"];
/// Losses that so few could be chance.
const SLACK: u64 = 20;
const DURATION: Duration = Duration::from_secs(8);
const QUICK_DURATION: Duration = Duration::from_secs(4);
