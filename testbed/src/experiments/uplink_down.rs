//! A pulled cable: how many packets does it cost, and does the uplink come back when it should?

use super::support::{Bench, PATIENCE, Traffic, policy_file, sender, wait_for};
use crate::clock;
use crate::experiment::{Check, Context, Experiment, Outcome};
use crate::lab::{LinkName, Site};
use crate::link::Direction;
use crate::moment::Moment;
use crate::traffic::Report;
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
        json!({ "pps_each_way": PPS, "pulls": PULLS, "recovery_s": RECOVERY.as_secs(), "near_limit": NEAR_LIMIT,
                "far_limit_s": 1.0 / FAR_LIMIT_PER_SECOND as f64 })
    }

    fn needs_emulator(&self) -> bool {
        true
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Outcome> {
        let policy = policy_file(
            "{period: 250ms, sampling: 0%}",
            &format!("{}s", RECOVERY.as_secs()),
            "    mode: unicast\n",
        );
        let mut bench = Bench::start(context, &policy)?;
        let (pps, pulls) = if context.quick {
            (QUICK_PPS, QUICK_PULLS)
        } else {
            (PPS, PULLS)
        };
        let mut outcome = Outcome::default();
        let mut measurements = Vec::new();
        for number in 0..pulls {
            let site = Site::ALL[number % 2];
            let (pull, doubts) = Pull::perform(&mut bench, site, pps)?;
            outcome.doubts.extend(doubts);
            for direction in Direction::ALL {
                let gap = pull.longest_gap(direction).as_secs_f64();
                let (_, lost) = pull.lost_to_the_pull(direction);
                context.say(format!(
                    "pull {number} at `{}`, {direction}: {lost} lost, the longest time without a packet {:.1} ms",
                    site.name(),
                    gap * 1e3
                ));
                let name = format!("pull {number} at `{}`, {direction}", site.name());
                outcome.checks.extend(pull.checks(&name, direction, pps));
                measurements.push(json!({
                    "site": site.name(), "direction": direction, "lost": lost, "longest_gap_s": gap,
                    "back_after_s": pull.back[direction.index()].saturating_since(pull.plugged).as_secs_f64(),
                    "report": pull.reports[direction.index()]
                }));
            }
        }
        outcome.measurements = Value::Array(measurements);
        Ok(outcome)
    }
}

/// What became of the traffic of one pull. Arrays are in the order of [`Direction::ALL`].
#[derive(Debug)]
struct Pull {
    site: Site,
    pulled: Moment,
    plugged: Moment,
    /// When the counts of link a were last read before the end of the recovery time.
    looked: Moment,
    /// When link a was first seen to carry packets again.
    back: [Moment; 2],
    ended: Moment,
    /// Packets of the class on link b from the pull until plugging in again.
    on_b: [u64; 2],
    /// Packets of the class on link a from plugging in again until the last look.
    on_a: [u64; 2],
    reports: [Report; 2],
}

impl Pull {
    /// Pulls and plugs in uplink a of `site` under traffic; also says what puts it into doubt.
    fn perform(bench: &mut Bench, site: Site, pps: u32) -> Result<(Pull, Vec<String>)> {
        let traffic = Traffic::start(&bench.lab, pps)?;
        std::thread::sleep(BEFORE);
        let mut doubts = bench.doubts()?;
        let b_before = received(bench, LinkName::B)?;
        let pulled = clock::now();
        bench.lab.set_carrier(site.name(), "a", false)?;
        std::thread::sleep(DOWN);
        let b_after = received(bench, LinkName::B)?;

        let a_before = received(bench, LinkName::A)?;
        let plugged = clock::now();
        bench.lab.set_carrier(site.name(), "a", true)?;
        // Frames for a device that is down are refused: that was the cable's doing, not the lab's.
        bench.lab.reset_self_check()?;
        clock::sleep_until(plugged + (RECOVERY - MARGIN));
        let a_during = received(bench, LinkName::A)?;
        let looked = clock::now();
        let mut back = [looked; 2];
        for (direction, back) in Direction::ALL.into_iter().zip(&mut back) {
            *back = wait_for("the traffic returns to the uplink", PATIENCE, || {
                let now = bench.tally(LinkName::A, direction)?.received;
                Ok((now > a_during[direction.index()]).then(clock::now))
            })?;
        }
        std::thread::sleep(AFTER);
        let ended = clock::now();
        let reports = traffic.stop()?;
        doubts.extend(bench.doubts()?);
        let difference = |after: [u64; 2], before: [u64; 2]| [after[0] - before[0], after[1] - before[1]];
        let pull = Pull {
            site,
            pulled,
            plugged,
            looked,
            back,
            ended,
            on_b: difference(b_after, b_before),
            on_a: difference(a_during, a_before),
            reports,
        };
        Ok((pull, doubts))
    }

    fn report(&self, direction: Direction) -> &Report {
        &self.reports[direction.index()]
    }

    /// Packets sent, and lost, until plugging in again.
    fn lost_to_the_pull(&self, direction: Direction) -> (u64, u64) {
        self.report(direction).lost_between(Moment::ZERO, self.plugged)
    }

    fn checks(&self, name: &str, direction: Direction, pps: u32) -> [Check; 5] {
        // The bridge that loses its carrier sees that itself; the one at the other end has to be told by bicastd.
        let (who, limit) = if sender(direction) == self.site {
            ("sees it", NEAR_LIMIT)
        } else {
            ("is told", u64::from(pps) / FAR_LIMIT_PER_SECOND)
        };
        let (sent, lost) = self.lost_to_the_pull(direction);
        let on_b = self.on_b[direction.index()];
        let back = self.back[direction.index()].saturating_since(self.plugged);
        let (sent_after, lost_after) = self.report(direction).lost_between(self.plugged, self.ended);
        [
            Check::at_most(
                format!("{name}: lost of {sent} to the pull, the sender {who}"),
                lost,
                limit,
            ),
            Check::new(
                format!("{name}: packets on link b meanwhile"),
                on_b,
                "> 0",
                on_b > 0,
            ),
            Check::equal(
                format!(
                    "{name}: packets on link a for {:.1} s after plugging in",
                    self.looked.saturating_since(self.plugged).as_secs_f64()
                ),
                self.on_a[direction.index()],
                0,
            ),
            Check::new(
                format!("{name}: on link a again after, s"),
                format!("{:.2}", back.as_secs_f64()),
                format!(
                    "{:.1} to {:.1}",
                    RECOVERY.as_secs_f64(),
                    LATEST_RETURN.as_secs_f64()
                ),
                (RECOVERY..=LATEST_RETURN).contains(&back),
            ),
            Check::equal(
                format!("{name}: lost of {sent_after} after plugging in"),
                lost_after,
                0,
            ),
        ]
    }

    /// The longest time without an arrival around the pull.
    fn longest_gap(&self, direction: Direction) -> Duration {
        let around = self
            .report(direction)
            .records
            .iter()
            .filter(|record| record.copies > 0 && record.sent_at < self.plugged);
        let mut arrivals: Vec<Moment> = around.map(|record| record.first_at).collect();
        arrivals.sort_unstable();
        let gaps = arrivals
            .windows(2)
            .filter(|pair| pair[1] >= self.pulled)
            .map(|pair| pair[1].saturating_since(pair[0]));
        gaps.max().unwrap_or_default()
    }
}

/// Packets of the class that have come to a link.
fn received(bench: &Bench, link: LinkName) -> Result<[u64; 2]> {
    let [up, down] = Direction::ALL.map(|direction| bench.tally(link, direction));
    Ok([up?.received, down?.received])
}

const PPS: u32 = 5_000;
const QUICK_PPS: u32 = 2_000;
const PULLS: usize = 4;
const QUICK_PULLS: usize = 1;
const BEFORE: Duration = Duration::from_secs(2);
const DOWN: Duration = Duration::from_secs(2);
const AFTER: Duration = Duration::from_secs(1);
const RECOVERY: Duration = Duration::from_secs(3);
/// Between the last look that finds the uplink unused and the end of its recovery.
const MARGIN: Duration = Duration::from_millis(200);
const LATEST_RETURN: Duration = Duration::from_secs(5);
/// Packets that the bridge whose carrier is gone may lose.
const NEAR_LIMIT: u64 = 50;
/// What the other bridge may lose: what it sends in a fifth of a second.
const FAR_LIMIT_PER_SECOND: u64 = 5;
