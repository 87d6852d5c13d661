//! What does the traffic notice of a controller that is killed and comes back? Nothing.

use super::support::{Bench, PATIENCE, Traffic, policy_file, wait_for};
use crate::clock;
use crate::experiment::{Check, Context, Experiment, Outcome};
use crate::lab::{LinkName, Site};
use crate::link::{Direction, LossModel};
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;

pub(super) struct ControllerRestart;

impl Experiment for ControllerRestart {
    fn name(&self) -> &'static str {
        "controller-restart"
    }

    fn shows(&self) -> &'static str {
        "bicastd killed in bicast and started again: no packet lost, the same mode, no group and no meter touched"
    }

    fn parameters(&self) -> Value {
        json!({ "pps_each_way": PPS, "seconds_away": AWAY.as_secs() })
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Outcome> {
        // Adaptive, because a mode that the file commands would come back without being read from the groups.
        let policy = policy_file(
            "{period: 250ms}",
            "3s",
            "    mode: adaptive\n    bicast: {enter: 1%, exit: 0.2% for 60s}\n",
        );
        let bench = Bench::start(context, &policy)?;
        let pps = if context.quick { QUICK_PPS } else { PPS };
        let traffic = Traffic::start(&bench.lab, pps)?;
        bench.set_loss(LinkName::A, LossModel::Bernoulli(0.05))?;
        let before = wait_for("both directions are doubled", PATIENCE, || {
            let modes = bench.api()?.modes()?;
            Ok(modes
                .iter()
                .all(|mode| mode.starts_with("bicast"))
                .then_some(modes))
        })?;
        bench.set_loss(LinkName::A, LossModel::None)?;
        std::thread::sleep(Duration::from_secs(1));

        let from = clock::now();
        bench.bicastd.kill()?;
        context.say(format!("killed in {}", before.join(", ")));
        std::thread::sleep(AWAY);
        bench.bicastd.start()?;
        bench.wait_until_ready()?;
        context.say("back in charge");
        std::thread::sleep(AFTERWARDS);
        let until = clock::now();
        let mut api = bench.api()?;
        let (after, sites) = (api.modes()?, api.sites()?);
        let reports = traffic.stop()?;

        let mut checks = Vec::new();
        for (index, (direction, report)) in Direction::ALL.iter().zip(&reports).enumerate() {
            let (sent, lost) = report.lost_between(from, until);
            checks.push(Check::equal(
                format!("{direction}: lost of {sent} since the kill"),
                lost,
                0,
            ));
            let once = report
                .records
                .iter()
                .filter(|record| (from..until).contains(&record.sent_at) && record.copies != 2)
                .count();
            checks.push(Check::equal(
                format!("{direction}: packets since the kill that did not come twice"),
                once,
                0,
            ));
            checks.push(Check::equal(
                format!("{direction}: mode after"),
                after[index].as_str(),
                before[index].as_str(),
            ));
        }
        for (site, view) in Site::ALL.iter().zip(&sites) {
            let name = site.name();
            checks.push(Check::equal(
                format!("GROUP_MODs sent to `{name}` since it is back"),
                view.sent.group_mods,
                0,
            ));
            checks.push(Check::equal(
                format!("METER_MODs sent to `{name}` since it is back"),
                view.sent.meter_mods,
                0,
            ));
        }
        Ok(Outcome {
            checks,
            measurements: json!({ "reports": reports }),
            doubts: bench.doubts()?,
        })
    }
}

const PPS: u32 = 5_000;
const QUICK_PPS: u32 = 2_000;
const AWAY: Duration = Duration::from_secs(5);
const AFTERWARDS: Duration = Duration::from_secs(3);
