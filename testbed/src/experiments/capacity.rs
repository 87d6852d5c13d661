//! How much does a lab carry before it loses packets itself? Every other experiment stands on this one.

use crate::experiment::{Check, Context, Experiment, Outcome};
use crate::lab::{Forwarding, Lab, LabOptions, LinkName, default_links};
use crate::machine::Load;
use crate::traffic::{Report, SequencedUdp};
use anyhow::Result;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

pub(super) struct Capacity;

impl Experiment for Capacity {
    fn name(&self) -> &'static str {
        "capacity"
    }

    fn shows(&self) -> &'static str {
        "The lab loses nothing of its own at 5,000 packets a second each way, unicast and bicast"
    }

    fn parameters(&self) -> Value {
        json!({ "pps_each_way": PPS, "payload_bytes": PAYLOAD, "seconds": DURATION.as_secs() })
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Outcome> {
        let options = LabOptions {
            links: default_links(context.seed),
            controller: false,
            static_neighbours: true,
            ..LabOptions::default()
        };
        let mut lab = context.start_lab(options)?;
        let mut checks = Vec::new();
        let duration = if context.quick { DURATION / 5 } else { DURATION };
        let mut measurements = serde_json::Map::new();
        for (name, forwarding, copies) in [
            ("unicast", Forwarding::Unicast(LinkName::A), 1),
            ("bicast", Forwarding::Bicast, 2),
        ] {
            lab.forward_statically(forwarding)?;
            lab.reset_self_check()?;
            let (reports, usage) = run_for(&lab, duration)?;
            context.say(format!("{name}: {usage}"));
            for (direction, report) in ["client-to-server", "server-to-client"].iter().zip(&reports) {
                checks.push(Check::equal(
                    format!("{name} {direction}: lost of {}", report.sent),
                    report.lost,
                    0,
                ));
                checks.push(Check::equal(
                    format!("{name} {direction}: copies of each packet"),
                    format!(
                        "{} to {}",
                        report
                            .records
                            .iter()
                            .map(|record| record.copies)
                            .min()
                            .unwrap_or(0),
                        report.max_copies
                    ),
                    format!("{copies} to {copies}"),
                ));
            }
            checks.push(Check {
                name: format!("{name}: the lab itself lost or delayed"),
                ..Check::healthy(&lab)?
            });
            measurements.insert(
                name.to_owned(),
                json!({ "reports": reports, "usage": usage, "health": lab.self_check()? }),
            );
        }
        Ok(Outcome {
            checks,
            measurements: Value::Object(measurements),
            ..Outcome::default()
        })
    }
}

/// Processor use in percent of one processor.
#[derive(Debug, serde::Serialize)]
struct Usage {
    switch_client: f64,
    switch_server: f64,
    emulator: f64,
    endpoints: f64,
    whole_machine: f64,
}

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "processor use, % of one: switches {:.0} and {:.0}, emulator {:.0}, endpoints {:.0}; whole machine {:.0}",
            self.switch_client, self.switch_server, self.emulator, self.endpoints, self.whole_machine
        )
    }
}

fn run_for(lab: &Lab, duration: Duration) -> Result<([Report; 2], Usage)> {
    let up = flow("client-host", "server-host").start(lab)?;
    let down = flow("server-host", "client-host").start(lab)?;
    let cpu = || -> Result<[Duration; 3]> {
        Ok([
            lab.site("client")?.usage()?.cpu,
            lab.site("server")?.usage()?.cpu,
            lab.emulator_cpu()?,
        ])
    };
    let (before, load, start) = (cpu()?, Load::now()?, Instant::now());
    std::thread::sleep(duration);
    let (after, elapsed) = (cpu()?, start.elapsed().as_secs_f64());
    let whole_machine = Load::now()?.busy_since(&load);
    up.stop_sending();
    down.stop_sending();
    let reports = [up.stop()?, down.stop()?];
    let percent = |used: Duration| used.as_secs_f64() / elapsed * 100.0;
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    let usage = Usage {
        switch_client: percent(after[0] - before[0]),
        switch_server: percent(after[1] - before[1]),
        emulator: percent(after[2] - before[2]),
        endpoints: percent(reports[0].cpu + reports[1].cpu),
        whole_machine: whole_machine * processors * 100.0,
    };
    Ok((reports, usage))
}

fn flow(from: &str, to: &str) -> SequencedUdp {
    SequencedUdp {
        from: from.to_owned(),
        to: to.to_owned(),
        source_port: 0,
        port: PORT,
        pps: PPS,
        payload: PAYLOAD,
    }
}

const PORT: u16 = 5001;
const PPS: u32 = 5_000;
const PAYLOAD: usize = 200;
const DURATION: Duration = Duration::from_secs(20);
