//! What second copies cost who receives them: they are dropped before they cost a decryption.

use super::proxied;
use crate::experiment::{Check, Context, Experiment, Outcome};
use crate::lab::{FORWARD_PORT, HTTP_PORT, Proxies, ProxyPlan, Site};
use crate::traffic::{HttpServer, download};
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::time::Duration;

pub(super) struct ReceiverCost;

impl Experiment for ReceiverCost {
    fn name(&self) -> &'static str {
        "receiver-cost"
    }

    fn shows(&self) -> &'static str {
        "A proxy that receives every packet twice needs little more processor time than one that receives it once"
    }

    fn parameters(&self) -> Value {
        json!({ "rounds": ROUNDS, "seconds_each": DURATION.as_secs(), "congestion": CONGESTION, "most": MOST })
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Outcome> {
        let bench = proxied::start(context, 0.0)?;
        let _server = HttpServer::start(&bench.lab, Site::Server.host(), HTTP_PORT, "cubic")?;
        let mut proxies = bench.lab.spawn_proxies(&ProxyPlan::new(CONGESTION))?;
        let url = format!("http://127.0.0.1:{FORWARD_PORT}/");
        let rounds = if context.quick { QUICK_ROUNDS } else { ROUNDS };
        let mut runs = Vec::new();
        // In turn, so that whatever else the machine does meets both.
        for _ in 0..rounds {
            for mode in MODES {
                proxied::set_mode(&bench, mode)?;
                let (cpu, copies) = (proxies.usage_at_client()?.cpu, Arrivals::at_client(&mut proxies)?);
                let download = download(&bench.lab, Site::Client.host(), &url, DURATION)?;
                let run = Run {
                    bytes: download.bytes,
                    cpu: proxies.usage_at_client()?.cpu - cpu,
                    twice: Arrivals::at_client(&mut proxies)?.share_of_seconds_since(&copies),
                };
                context.say(format!(
                    "{mode:8} {:6.1} Mbit/s, {:5.2} CPU seconds/GB, {:3.0} % of the packets came twice",
                    download.mbps(),
                    run.seconds_per_gb(),
                    run.twice * 100.0
                ));
                runs.push(run);
            }
        }
        let of = |mode: usize, figure: fn(&Run) -> f64| {
            let mut figures: Vec<f64> = runs.iter().skip(mode).step_by(MODES.len()).map(figure).collect();
            figures.sort_by(f64::total_cmp);
            figures[figures.len() / 2]
        };
        let [unicast, bicast] = [0, 1].map(|mode| of(mode, Run::seconds_per_gb));
        let [once, twice] = [0, 1].map(|mode| of(mode, |run| run.twice));
        let ratio = bicast / unicast;
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        Ok(Outcome {
            checks: vec![
                Check::new(
                    "packets that came twice, unicast",
                    percent(once),
                    "≤ 10 %",
                    once <= 0.1,
                ),
                Check::new(
                    "packets that came twice, bicast",
                    percent(twice),
                    "≥ 90 %",
                    twice >= 0.9,
                ),
                Check::new(
                    "receiver's CPU seconds/GB, bicast to unicast",
                    format!("{bicast:.2} / {unicast:.2} = {ratio:.2}"),
                    format!("≤ {MOST}"),
                    ratio <= MOST,
                ),
            ],
            measurements: runs.iter().map(Run::record).collect(),
            ..Outcome::default()
        })
    }
}

/// One download.
struct Run {
    bytes: u64,
    /// Of the receiving proxy.
    cpu: Duration,
    /// Share of the packets.
    twice: f64,
}

impl Run {
    fn seconds_per_gb(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e9 / self.bytes.max(1) as f64
    }

    fn record(&self) -> Value {
        json!({ "bytes": self.bytes, "receiver_cpu_s": self.cpu.as_secs_f64(), "twice": self.twice })
    }
}

/// Packets of streams to the client, and their second copies.
struct Arrivals {
    first: u64,
    second: u64,
}

impl Arrivals {
    fn at_client(proxies: &mut Proxies) -> Result<Arrivals> {
        let [client, _] = proxies.stats()?;
        let connections = client.pointer("/peers/0/connections").and_then(Value::as_array);
        let mut connections = connections.into_iter().flatten();
        let streams = connections.find(|connection| connection["class"] == "streams");
        let paths = streams.and_then(|streams| streams.pointer("/shim/paths")?.as_array());
        let paths = paths.context("bicast-proxy knows no paths")?;
        let sum = |name: &str| paths.iter().filter_map(|path| path[name].as_u64()).sum();
        Ok(Arrivals {
            first: sum("first_arrivals"),
            second: sum("second_copies"),
        })
    }

    fn share_of_seconds_since(&self, before: &Arrivals) -> f64 {
        (self.second - before.second) as f64 / (self.first - before.first).max(1) as f64
    }
}

/// In the order of the runs.
const MODES: [&str; 2] = ["unicast", "bicast"];
const CONGESTION: &str = "bbr3";
const MOST: f64 = 1.25;
const ROUNDS: usize = 5;
const QUICK_ROUNDS: usize = 2;
const DURATION: Duration = Duration::from_secs(6);
