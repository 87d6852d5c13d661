//! A pulled cable: how many packets does it cost, and does the uplink come back when it should?

use super::support::{Bench, PATIENCE, Traffic, policy_file, wait_for};
use crate::clock;
use crate::experiment::{Check, Context, Experiment, Outcome};
use crate::lab::LinkName;
use crate::link::Direction;
use crate::moment::Moment;
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;

pub(super) struct UplinkDown;

impl Experiment for UplinkDown {
    fn name(&self) -> &'static str {
        "uplink-down"
    }

    fn shows(&self) -> &'static str {
        "An uplink that loses its carrier hands its traffic over at once and takes it back after its recovery time"
    }

    fn parameters(&self) -> Value {
        json!({ "pps_each_way": PPS, "recovery_s": RECOVERY.as_secs(), "near_limit": NEAR_LIMIT,
                "far_limit_s": FAR_LIMIT.as_secs_f64() })
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Outcome> {
        let policy = policy_file(
            "{period: 250ms, sampling: 0%}",
            &format!("{}s", RECOVERY.as_secs()),
            "    mode: unicast\n",
        );
        let mut bench = Bench::start(context, &policy)?;
        let pps = if context.quick { QUICK_PPS } else { PPS };
        let mut checks = Vec::new();

        let traffic = Traffic::start(&bench.lab, pps)?;
        std::thread::sleep(BEFORE);
        let mut doubts = bench.doubts()?;
        let pulled = clock::now();
        bench.lab.set_carrier("client", "a", false)?;
        std::thread::sleep(DOWN);
        let on_b = Direction::ALL.map(|direction| bench.tally(LinkName::B, direction));
        let on_a_before = received(&bench, LinkName::A)?;

        let plugged = clock::now();
        bench.lab.set_carrier("client", "a", true)?;
        // Frames for a device that is down are refused: that was the cable's doing, not the lab's.
        bench.lab.reset_self_check()?;
        // The last look at the counts that still lies before the end of the recovery time.
        clock::sleep_until(plugged + (RECOVERY - MARGIN));
        let on_a_during = received(&bench, LinkName::A)?;
        let looked = clock::now();
        let returned = Direction::ALL.map(|direction| {
            wait_for("the traffic returns to the uplink", PATIENCE, || {
                let now = bench.tally(LinkName::A, direction)?.received;
                Ok((now > on_a_during[direction.index()]).then(clock::now))
            })
        });
        std::thread::sleep(AFTER);
        let on_a_after = received(&bench, LinkName::A)?;
        let on_b_after = received(&bench, LinkName::B)?;
        let until = clock::now();
        let reports = traffic.stop()?;
        doubts.extend(bench.doubts()?);

        let mut measurements = Vec::new();
        let far_limit = (f64::from(pps) * FAR_LIMIT.as_secs_f64()).ceil();
        for (direction, (on_b, returned)) in Direction::ALL.into_iter().zip(on_b.into_iter().zip(returned)) {
            let (index, report) = (direction.index(), &reports[direction.index()]);
            let (sent, lost) = report.lost_between(Moment::ZERO, plugged);
            // The client's own bridge sees its carrier go; the server's has to be told by bicastd.
            let (limit, why) = match direction {
                Direction::ClientToServer => (NEAR_LIMIT as f64, "its sender sees it"),
                Direction::ServerToClient => (far_limit, "its sender is told"),
            };
            checks.push(Check::new(
                format!("{direction} ({why}): lost of {sent} when the cable is pulled"),
                lost,
                format!("≤ {limit}"),
                lost as f64 <= limit,
            ));
            let gap = outage(report, pulled);
            context.say(format!(
                "{direction}: {lost} lost, the longest time without a packet {:.1} ms",
                gap.as_secs_f64() * 1e3
            ));
            let on_b = on_b?.received;
            checks.push(Check::new(
                format!("{direction}: packets on link b while a is down"),
                on_b,
                "> 0",
                on_b > 0,
            ));
            checks.push(Check::equal(
                format!(
                    "{direction}: packets on link a in the {:.1} s after plugging in again",
                    looked.saturating_since(plugged).as_secs_f64()
                ),
                on_a_during[index] - on_a_before[index],
                0,
            ));
            let returned = returned?.saturating_since(plugged);
            checks.push(Check::new(
                format!("{direction}: on link a again after, s"),
                format!("{:.2}", returned.as_secs_f64()),
                format!(
                    "{:.1} to {:.1}",
                    RECOVERY.as_secs_f64(),
                    LATEST_RETURN.as_secs_f64()
                ),
                (RECOVERY..=LATEST_RETURN).contains(&returned),
            ));
            let (sent, lost) = report.lost_between(plugged, until);
            checks.push(Check::equal(
                format!("{direction}: lost of {sent} since plugging in again"),
                lost,
                0,
            ));
            measurements.push(json!({
                "direction": direction, "report": report, "outage_s": gap.as_secs_f64(),
                "returned_after_s": returned.as_secs_f64(), "on_a": on_a_after[index], "on_b": on_b_after[index]
            }));
        }
        Ok(Outcome {
            checks,
            measurements: Value::Array(measurements),
            doubts,
        })
    }
}

fn received(bench: &Bench, link: LinkName) -> Result<[u64; 2]> {
    let [up, down] = Direction::ALL.map(|direction| bench.tally(link, direction));
    Ok([up?.received, down?.received])
}

/// The longest time without an arrival among packets sent around the moment at which the cable was pulled.
fn outage(report: &crate::traffic::Report, pulled: Moment) -> Duration {
    let around = report
        .records
        .iter()
        .filter(|record| record.copies > 0 && record.sent_at < pulled + DOWN);
    let mut arrivals: Vec<Moment> = around.map(|record| record.first_at).collect();
    arrivals.sort_unstable();
    let gaps = arrivals.windows(2).map(|pair| pair[1].saturating_since(pair[0]));
    gaps.max().unwrap_or_default()
}

const PPS: u32 = 5_000;
const QUICK_PPS: u32 = 2_000;
const BEFORE: Duration = Duration::from_secs(2);
const DOWN: Duration = Duration::from_secs(2);
const AFTER: Duration = Duration::from_secs(1);
const RECOVERY: Duration = Duration::from_secs(3);
/// Between the last look that finds the uplink unused and the end of its recovery.
const MARGIN: Duration = Duration::from_millis(200);
const LATEST_RETURN: Duration = Duration::from_secs(5);
const NEAR_LIMIT: u64 = 50;
/// The time in which the far side's bridge hears of it.
const FAR_LIMIT: Duration = Duration::from_millis(200);
