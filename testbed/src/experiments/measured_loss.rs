//! Does the measurement count what is lost? To the packet, on live traffic, on two paths at once.

use super::support::{Bench, Traffic, policy_file};
use crate::experiment::{Check, Context, Experiment, Outcome};
use crate::lab::LinkName;
use crate::link::{Direction, LossModel, Tally};
use anyhow::Result;
use controller::api::TotalView;
use serde_json::{Value, json};
use std::time::Duration;

pub(super) struct MeasuredLoss;

impl Experiment for MeasuredLoss {
    fn name(&self) -> &'static str {
        "measured-loss"
    }

    fn shows(&self) -> &'static str {
        "The loss that bicastd measures on live traffic is what the links drop, to the packet, per path and direction"
    }

    fn parameters(&self) -> Value {
        json!({ "pps_each_way": PPS, "seconds_each": DURATION.as_secs(), "period_ms": 500,
                "cases": CASES.map(|(name, a, b)| json!({ "name": name, "a": a, "b": b })) })
    }

    fn needs_emulator(&self) -> bool {
        true
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Outcome> {
        let policy = policy_file("{period: 500ms}", "3s", "    mode: bicast\n");
        let bench = Bench::start(context, &policy)?;
        let (cases, duration) = if context.quick {
            (QUICK_CASES, QUICK_DURATION)
        } else {
            (&CASES[..], DURATION)
        };
        let mut outcome = Outcome::default();
        let mut measurements = Vec::new();
        for (name, a, b) in cases {
            context.say(format!("loss {name}: a {a}, b {b}"));
            let before = Counts::read(&bench)?;
            bench.set_loss(LinkName::A, *a)?;
            bench.set_loss(LinkName::B, *b)?;
            let traffic = Traffic::start(&bench.lab, PPS)?;
            std::thread::sleep(duration);
            let reports = traffic.stop()?;
            bench.wait_until_counted()?;
            let counts = Counts::read(&bench)?.since(&before);
            for (link, direction, measured, dropped) in counts.all() {
                let sent = reports[direction.index()].sent;
                outcome
                    .checks
                    .push(compare(name, link, direction, measured, dropped, sent));
            }
            measurements.push(
                json!({ "case": name, "measured": counts.measured, "links": counts.links,
                                      "reports": reports }),
            );
        }
        outcome.measurements = Value::Array(measurements);
        outcome.doubts = bench.doubts()?;
        Ok(outcome)
    }
}

/// What `bicastd` and the links have counted of the class, by link and direction.
#[derive(Debug)]
struct Counts {
    measured: [[TotalView; 2]; 2],
    links: [[Tally; 2]; 2],
}

impl Counts {
    fn read(bench: &Bench) -> Result<Counts> {
        let mut counts = Counts {
            measured: [[TotalView::default(); 2]; 2],
            links: [[Tally::default(); 2]; 2],
        };
        let mut api = bench.api()?;
        for link in LinkName::ALL {
            for direction in Direction::ALL {
                let (row, column) = (link.index(), direction.index());
                counts.measured[row][column] = api.path(link, direction)?.total;
                counts.links[row][column] = bench.tally(link, direction)?;
            }
        }
        Ok(counts)
    }

    fn since(self, earlier: &Counts) -> Counts {
        let mut counts = self;
        for row in 0..2 {
            for column in 0..2 {
                let (now, before) = (&mut counts.measured[row][column], &earlier.measured[row][column]);
                now.periods -= before.periods;
                now.sampled_periods -= before.sampled_periods;
                now.sent -= before.sent;
                now.received -= before.received;
                counts.links[row][column] = counts.links[row][column].since(&earlier.links[row][column]);
            }
        }
        counts
    }

    fn all(&self) -> impl Iterator<Item = (LinkName, Direction, TotalView, Tally)> {
        LinkName::ALL.into_iter().flat_map(move |link| {
            Direction::ALL.into_iter().map(move |direction| {
                let (row, column) = (link.index(), direction.index());
                (
                    link,
                    direction,
                    self.measured[row][column],
                    self.links[row][column],
                )
            })
        })
    }
}

/// Lost packets must be the same; sent ones too, else periods were left out.
fn compare(
    case: &str,
    link: LinkName,
    direction: Direction,
    measured: TotalView,
    link_did: Tally,
    sent: u64,
) -> Check {
    // More received than sent would be a miscount, and must not pass for no loss.
    let lost = i128::from(measured.sent) - i128::from(measured.received);
    let dropped = link_did.lost + link_did.overflowed;
    Check::new(
        format!("loss {case}: {} {direction}: lost of sent", link.as_str()),
        format!("{lost} of {} in {} periods", measured.sent, measured.periods),
        format!("{dropped} of {sent}"),
        lost == i128::from(dropped) && measured.sent == sent && link_did.received == sent,
    )
}

const BURSTY: LossModel = LossModel::GilbertElliott {
    p: 0.01,
    r: 0.25,
    h: 0.0,
    k: 1.0,
};
const MILDER: LossModel = LossModel::GilbertElliott {
    p: 0.005,
    r: 0.1,
    h: 0.3,
    k: 0.999,
};
const CASES: [(&str, LossModel, LossModel); 6] = [
    ("0 %", LossModel::None, LossModel::None),
    ("0.1 %", LossModel::Bernoulli(0.001), LossModel::Bernoulli(0.001)),
    ("1 %", LossModel::Bernoulli(0.01), LossModel::Bernoulli(0.01)),
    ("5 %", LossModel::Bernoulli(0.05), LossModel::Bernoulli(0.05)),
    ("20 %", LossModel::Bernoulli(0.2), LossModel::Bernoulli(0.2)),
    ("in bursts", BURSTY, MILDER),
];
const QUICK_CASES: &[(&str, LossModel, LossModel)] = &[
    ("5 %, 1 %", LossModel::Bernoulli(0.05), LossModel::Bernoulli(0.01)),
    ("in bursts", BURSTY, MILDER),
];
const PPS: u32 = 2_000;
const DURATION: Duration = Duration::from_secs(10);
const QUICK_DURATION: Duration = Duration::from_secs(4);
