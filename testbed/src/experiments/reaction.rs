//! How long does a loss last before copies make up for it? Steps of loss at random moments of the colour periods.

use super::support::{Bench, PATIENCE, Traffic, policy_file, wait_for};
use crate::clock;
use crate::experiment::{Check, Context, Experiment, Outcome};
use crate::lab::LinkName;
use crate::link::{Direction, LossModel};
use crate::moment::Moment;
use crate::traffic::Report;
use anyhow::Result;
use controller::api::ModeRequest;
use rand::RngExt;
use rand::rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use std::time::Duration;

pub(super) struct Reaction;

impl Experiment for Reaction {
    fn name(&self) -> &'static str {
        "reaction"
    }

    fn shows(&self) -> &'static str {
        "A path that begins to lose packets is doubled within a second of the first lost packet"
    }

    fn parameters(&self) -> Value {
        json!({ "steps": STEPS, "pps_each_way": PPS, "loss": LOSS, "enter": ENTER, "confidence": CONFIDENCE })
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Outcome> {
        // Without samples every packet that comes twice is due to the decision.
        let policy = policy_file(
            "{period: 250ms, sampling: 0%, confidence: 99.99%}",
            "3s",
            "    mode: adaptive\n    bicast: {enter: 1%, exit: 0.2% for 10s}\n",
        );
        let bench = Bench::start(context, &policy)?;
        let count = if context.quick { QUICK_STEPS } else { STEPS };
        let mut phase = Xoshiro256PlusPlus::seed_from_u64(context.seed);
        let traffic = Traffic::start(&bench.lab, PPS)?;
        let mut steps = Vec::new();
        for _ in 0..count {
            steps.push(step(&bench, phase.random_range(0.0..1.0))?);
        }
        let reports = traffic.stop()?;

        let mut checks = Vec::new();
        let mut times = Vec::new();
        let mut early = 0;
        for (direction, report) in Direction::ALL.iter().zip(&reports) {
            for (number, step) in steps.iter().enumerate() {
                early += duplicates_between(report, step.released, step.at);
                let reaction = reaction(report, step.at);
                if let Some((first_lost, first_twice)) = reaction {
                    times.push(first_twice.saturating_since(first_lost));
                } else {
                    checks.push(Check::new(
                        format!("step {number} {direction}: packets lost, then doubled"),
                        "no",
                        "yes",
                        false,
                    ));
                }
            }
        }
        times.sort_unstable();
        let seconds = |time: Option<&Duration>| time.map_or(f64::NAN, Duration::as_secs_f64);
        let packets = packets_needed();
        let (median, worst) = (seconds(times.get(times.len() / 2)), seconds(times.last()));
        context.say(format!(
            "bound by information theory: {packets:.0} packets, {:.3} s; colour periods are 0.25 s",
            packets / f64::from(PPS)
        ));
        context.say(format!(
            "first lost packet to first packet that came twice, s: best {:.3}, median {median:.3}, worst {worst:.3}",
            seconds(times.first())
        ));
        for (name, measured, limit) in [
            ("median reaction", median, MEDIAN_LIMIT),
            ("worst reaction", worst, WORST_LIMIT),
        ] {
            checks.push(Check::new(
                format!("{name} of {}, s", times.len()),
                format!("{measured:.3}"),
                format!("≤ {limit:.3}"),
                measured <= limit,
            ));
        }
        checks.push(Check::equal("packets doubled before a step", early, 0));
        Ok(Outcome {
            checks,
            measurements: json!({ "reactions_s": times.iter().map(Duration::as_secs_f64).collect::<Vec<_>>(),
                                  "bound_packets": packets, "bound_s": packets / f64::from(PPS) }),
            doubts: bench.doubts()?,
        })
    }
}

/// One step of loss.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// When the policy was free to decide again.
    released: Moment,
    /// When the loss began.
    at: Moment,
}

/// Waits until nothing is left of the step before, then begins a loss and waits until both directions have answered.
fn step(bench: &Bench, phase: f64) -> Result<Step> {
    let mut api = bench.api()?;
    for direction in Direction::ALL {
        let path = Some("a".to_owned());
        api.set_mode(direction, ModeRequest::Unicast { path })?;
    }
    std::thread::sleep(FORGET);
    for direction in Direction::ALL {
        api.set_mode(direction, ModeRequest::Auto)?;
    }
    let released = clock::now();
    std::thread::sleep(Duration::from_secs_f64(SETTLE_SECONDS + phase));
    let at = clock::now();
    bench.set_loss(LinkName::A, LossModel::Bernoulli(LOSS))?;
    wait_for("both directions are doubled", PATIENCE, || {
        Ok(api
            .modes()?
            .iter()
            .all(|mode| mode.starts_with("bicast"))
            .then_some(()))
    })?;
    std::thread::sleep(Duration::from_millis(200));
    bench.set_loss(LinkName::A, LossModel::None)?;
    Ok(Step { released, at })
}

/// When the first packet after `step` that was lost was sent, and when a packet arrived for the second time first.
fn reaction(report: &Report, step: Moment) -> Option<(Moment, Moment)> {
    let mut lost = report
        .records
        .iter()
        .filter(|record| record.sent_at >= step && record.copies == 0);
    let first_lost = lost.next()?.sent_at;
    Some((first_lost, report.first_duplicate_of_packets_sent_after(step)?))
}

fn duplicates_between(report: &Report, from: Moment, until: Moment) -> usize {
    let sent = report
        .records
        .iter()
        .filter(|record| (from..until).contains(&record.sent_at));
    sent.filter(|record| record.copies > 1).count()
}

/// Packets that any test needs on average before it may say, at this confidence, that a loss of [`LOSS`] is above
/// [`ENTER`]: |ln α| over the Kullback-Leibler divergence of the two.
fn packets_needed() -> f64 {
    let divergence = LOSS * (LOSS / ENTER).ln() + (1.0 - LOSS) * ((1.0 - LOSS) / (1.0 - ENTER)).ln();
    -(1.0 - CONFIDENCE).ln() / divergence
}

const STEPS: usize = 20;
const QUICK_STEPS: usize = 3;
const PPS: u32 = 2_000;
const LOSS: f64 = 0.05;
const ENTER: f64 = 0.01;
const CONFIDENCE: f64 = 0.9999;
const MEDIAN_LIMIT: f64 = 1.0;
const WORST_LIMIT: f64 = 2.0;
/// Samples of the last five seconds speak about the present; the period under way and some more on top.
const FORGET: Duration = Duration::from_secs(6);
const SETTLE_SECONDS: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_percent_takes_some_two_hundred_packets_to_tell_from_one() {
        assert!((packets_needed() - 223.0).abs() < 1.0, "{}", packets_needed());
    }
}
