//! Does a change of mode cost a packet? A hundred changes in both directions at once, under load.

use super::support::{Bench, Traffic, policy_file};
use crate::clock;
use crate::experiment::{Check, Context, Experiment, Outcome};
use crate::lab::Site;
use crate::link::Direction;
use anyhow::Result;
use controller::api::ModeRequest;
use serde_json::{Value, json};
use std::time::Duration;

pub(super) struct HitlessSwitch;

impl Experiment for HitlessSwitch {
    fn name(&self) -> &'static str {
        "hitless-switch"
    }

    fn shows(&self) -> &'static str {
        "Changes between unicast and bicast under load lose no packet, and each is one GROUP_MOD"
    }

    fn parameters(&self) -> Value {
        json!({ "pairs": PAIRS, "pps_each_way": PPS, "ms_between_changes": INTERVAL.as_millis() })
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Outcome> {
        // Sampled periods go on meanwhile, at five times the usual rate: they must not cost a packet either.
        let policy = policy_file("{period: 250ms, sampling: 10%}", "3s", "    mode: adaptive\n");
        let bench = Bench::start(context, &policy)?;
        let (pairs, pps) = if context.quick {
            (QUICK_PAIRS, QUICK_PPS)
        } else {
            (PAIRS, PPS)
        };
        let mut api = bench.api()?;
        let groups_before = api.sites()?.map(|site| site.sent.group_mods);

        let traffic = Traffic::start(&bench.lab, pps)?;
        let mut next = clock::now() + INTERVAL;
        let mut modes_missed = 0;
        for _ in 0..pairs {
            for (mode, name) in [
                (ModeRequest::Bicast, "bicast a+b"),
                (
                    ModeRequest::Unicast {
                        path: Some("a".to_owned()),
                    },
                    "unicast a",
                ),
            ] {
                clock::sleep_until(next);
                next = next + INTERVAL;
                for direction in Direction::ALL {
                    api.set_mode(direction, mode.clone())?;
                }
                modes_missed += api.modes()?.iter().filter(|mode| *mode != name).count();
            }
        }
        clock::sleep_until(next);
        let reports = traffic.stop()?;
        bench.wait_until_counted()?;
        let (sites, paths) = (api.sites()?, api.paths()?);

        let changes = 2 * pairs;
        let mut checks = vec![Check::equal(
            format!("{changes} changes in each direction: not in force when answered"),
            modes_missed,
            0,
        )];
        for (direction, report) in Direction::ALL.iter().zip(&reports) {
            checks.push(Check::equal(
                format!("{direction}: lost of {}", report.sent),
                report.lost,
                0,
            ));
            checks.push(Check::at_most(
                format!("{direction}: most copies of a packet"),
                report.max_copies,
                2,
            ));
            // Half of the time is bicast, a tenth of the rest is sampled: without a change the rest would show nothing.
            let share = report.duplicated as f64 / report.sent as f64;
            checks.push(Check::near(
                format!("{direction}: share of packets that came twice"),
                share,
                0.55,
                0.1,
                3,
            ));
        }
        for (site, (now, before)) in Site::ALL.iter().zip(sites.iter().zip(groups_before)) {
            checks.push(Check::equal(
                format!("GROUP_MODs sent to `{}`", site.name()),
                now.sent.group_mods - before,
                changes,
            ));
            checks.push(Check::equal(
                format!("errors answered by `{}`", site.name()),
                now.sent.errors,
                0,
            ));
        }
        for path in &paths {
            // A period that a change fell into may be left out, but must not be miscounted.
            checks.push(Check::equal(
                format!(
                    "{} to {} by {}: lost by the measurement of {} in {} periods",
                    path.from, path.to, path.path, path.total.sent, path.total.periods
                ),
                i128::from(path.total.sent) - i128::from(path.total.received),
                0,
            ));
        }
        Ok(Outcome {
            checks,
            measurements: json!({ "reports": reports, "paths": paths }),
            doubts: bench.doubts()?,
        })
    }
}

const PAIRS: u64 = 50;
const PPS: u32 = 5_000;
/// A hundred changes fill a minute.
const INTERVAL: Duration = Duration::from_millis(600);
const QUICK_PAIRS: u64 = 8;
const QUICK_PPS: u32 = 2_000;
