//! How soon does a bridge forward again that has lost everything?

use super::support::{Bench, PATIENCE, Traffic, Watch, policy_file, wait_for};
use crate::clock;
use crate::experiment::{Check, Context, Experiment, Outcome};
use crate::lab::Site;
use crate::link::Direction;
use crate::moment::Moment;
use crate::traffic::Report;
use anyhow::Result;
use controller::api::SwitchState;
use serde_json::{Value, json};
use std::time::Duration;

pub(super) struct VswitchdRestart;

impl Experiment for VswitchdRestart {
    fn name(&self) -> &'static str {
        "vswitchd-restart"
    }

    fn shows(&self) -> &'static str {
        "An Open vSwitch that comes back with empty tables forwards again within two seconds of its reconnection"
    }

    fn parameters(&self) -> Value {
        json!({ "restarts": RESTARTS, "pps_each_way": PPS })
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Outcome> {
        let policy = policy_file("{period: 250ms}", "3s", "    mode: adaptive\n");
        let mut bench = Bench::start(context, &policy)?;
        let watch = Watch::start(&bench)?;
        let restarts = if context.quick { QUICK_RESTARTS } else { RESTARTS };
        let mut outcome = Outcome::default();
        let mut measurements = Vec::new();
        for number in 0..restarts {
            let site = Site::ALL[number % 2];
            let traffic = Traffic::start(&bench.lab, PPS)?;
            std::thread::sleep(Duration::from_secs(1));
            outcome.doubts.extend(bench.doubts()?);

            let killed = clock::now();
            bench.lab.site(site.name())?.restart_vswitchd()?;
            let reconnected = wait_for("the switch has reconnected", PATIENCE, || {
                Ok(watch.switch_was(site, SwitchState::Reading, killed))
            })?;
            bench.wait_until_ready()?;
            std::thread::sleep(Duration::from_secs(1));
            let reports = traffic.stop()?;

            let mut backs = Vec::new();
            for (direction, report) in Direction::ALL.iter().zip(&reports) {
                let back = first_arrival_after_outage(report, killed);
                let name = format!("restart {number} at `{}`, {direction}", site.name());
                let seconds = back.map(|at| at.saturating_since(reconnected).as_secs_f64());
                outcome.checks.push(Check::new(
                    format!("{name}: forwards again after, s"),
                    seconds.map_or("never".to_owned(), |seconds| format!("{seconds:.3}")),
                    format!("≤ {LIMIT_SECONDS:.3}"),
                    seconds.is_some_and(|seconds| seconds <= LIMIT_SECONDS),
                ));
                let (sent, lost) = back.map_or((0, 0), |back| report.lost_between(back, clock::now()));
                outcome.checks.push(Check::equal(
                    format!("{name}: lost of {sent} from then on"),
                    lost,
                    0,
                ));
                backs.push(
                    json!({ "reconnected_after_s": reconnected.saturating_since(killed).as_secs_f64(),
                                   "forwards_after_s": seconds }),
                );
            }
            measurements.push(json!({ "site": site.name(), "directions": backs, "reports": reports }));
            // What the bridge did not read while it was down says nothing about the lab.
            bench.wait_until_counted()?;
            bench.lab.reset_self_check()?;
        }
        outcome.measurements = Value::Array(measurements);
        Ok(outcome)
    }
}

/// The first arrival after the longest time without any since `killed`.
fn first_arrival_after_outage(report: &Report, killed: Moment) -> Option<Moment> {
    let mut arrivals: Vec<Moment> = report
        .records
        .iter()
        .filter(|record| record.copies > 0 && record.sent_at >= killed)
        .map(|record| record.first_at)
        .collect();
    arrivals.sort_unstable();
    let before = std::iter::once(killed).chain(arrivals.iter().copied());
    let gaps = before
        .zip(&arrivals)
        .map(|(before, after)| (after.saturating_since(before), *after));
    gaps.max().map(|(_, after)| after)
}

const RESTARTS: usize = 3;
const QUICK_RESTARTS: usize = 2;
const PPS: u32 = 2_000;
const LIMIT_SECONDS: f64 = 2.0;
