//! Does the link do what it is told? Delay, rate, queue and both loss models, seen by the hosts behind it.

use crate::experiment::{Check, Context, Experiment, Outcome};
use crate::lab::{Forwarding, Lab, LabOptions, LinkName, default_links};
use crate::link::loss::LossProcess;
use crate::link::{ClassKey, Counters, Direction, LossModel};
use crate::traffic::{Report, SequencedUdp, measure_rtt};
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::time::Duration;

pub(super) struct Emulator;

impl Experiment for Emulator {
    fn name(&self) -> &'static str {
        "emulator"
    }

    fn shows(&self) -> &'static str {
        "A link has the delay, the rate, the queue and exactly the losses that it was told, and is not late itself"
    }

    fn parameters(&self) -> Value {
        json!({ "echoes": ECHOES, "pps": PPS, "loss": LOSS, "gilbert_elliott": { "p": GE_P, "r": GE_R },
                "rate_bps": RATE_BPS, "frame_bytes": FRAME_BYTES })
    }

    fn needs_emulator(&self) -> bool {
        true
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Outcome> {
        let options = LabOptions {
            links: default_links(context.seed),
            controller: false,
            static_neighbours: true,
            ..LabOptions::default()
        };
        let mut lab = context.start_lab(options)?;
        lab.forward_statically(Forwarding::Unicast(LinkName::A))?;
        lab.count_class(ClassKey::udp_to(PORT))?;
        // Flows and neighbours that are met for the first time cost a detour.
        flow(&lab, 200, 100, Duration::from_millis(500))?;
        lab.reset_self_check()?;

        let mut checks = Vec::new();
        context.say("round trips over the link alone");
        let rtt = measure_rtt(
            &lab,
            "a-client",
            ("a-server", "10.31.0.2"),
            ECHOES,
            Duration::from_millis(10),
        )?;
        let millis = |duration: Duration| duration.as_secs_f64() * 1e3;
        checks.push(Check::equal("round trips answered", rtt.answered, rtt.sent));
        checks.push(Check::new(
            "shortest round trip, ms",
            format!("{:.3}", millis(rtt.times.min)),
            "≥ 10.000",
            rtt.times.min >= Duration::from_millis(10),
        ));
        checks.push(Check::near(
            "mean round trip, ms",
            millis(rtt.times.mean),
            10.3,
            0.3,
            3,
        ));

        context.say("a Bernoulli loss");
        let bernoulli = losses(
            &lab,
            LossModel::Bernoulli(LOSS),
            context.seed.wrapping_add(100),
            &mut checks,
        )?;
        context.say("a Gilbert-Elliott loss");
        let model = LossModel::GilbertElliott {
            p: GE_P,
            r: GE_R,
            h: 0.0,
            k: 1.0,
        };
        let bursty = losses(&lab, model, context.seed.wrapping_add(200), &mut checks)?;
        let bursts = bursts(&bursty);
        let mean_burst = bursty.lost as f64 / bursts.max(1) as f64;
        // A geometric length of mean 1/r has a standard deviation of √(1−r)/r.
        let error = (1.0 - GE_R).sqrt() / GE_R / (bursts.max(1) as f64).sqrt();
        checks.push(Check::near(
            "Gilbert-Elliott: mean burst, packets",
            mean_burst,
            1.0 / GE_R,
            4.0 * error,
            2,
        ));

        context.say("a rate below what is offered");
        let rate = overload(&lab, &mut checks)?;
        let health = lab.self_check()?;
        if let Some(emulator) = &health.emulator {
            let micros = |duration: Duration| duration.as_micros();
            checks.push(Check::at_most(
                "lateness of 99 % of packets, µs",
                micros(emulator.lateness.p99),
                1000,
            ));
        }
        checks.push(Check::healthy(&lab)?);
        let measurements = json!({
            "rtt": rtt, "bernoulli": bernoulli, "gilbert_elliott": bursty, "rate_bps": rate, "health": health
        });
        Ok(Outcome {
            checks,
            measurements,
            ..Outcome::default()
        })
    }
}

/// A flow over link `a` with a loss: what the receiver misses is what the link dropped, and that is to the
/// packet what the seed foretells.
fn losses(lab: &Lab, model: LossModel, seed: u64, checks: &mut Vec<Check>) -> Result<Report> {
    let link = lab.link("a", Direction::ClientToServer)?;
    let spec = link.spec()?;
    let before = class(&link.counters()?)?;
    link.set(crate::link::LinkSpec {
        loss: model,
        seed,
        ..spec.clone()
    })?;
    let report = flow(lab, PPS, 100, LOSS_DURATION)?;
    link.set(spec)?;
    let dropped = class(&link.counters()?)?.since(&before).lost;

    let name = match model {
        LossModel::GilbertElliott { .. } => "Gilbert-Elliott",
        LossModel::Bernoulli(_) | LossModel::None => "Bernoulli",
    };
    let mut process = LossProcess::new(model, seed);
    let astray = report
        .records
        .iter()
        .filter(|record| process.lose() != (record.copies == 0))
        .count();
    checks.push(Check::equal(
        format!("{name}: packets missed and dropped, difference"),
        report.lost.abs_diff(dropped),
        0,
    ));
    checks.push(Check::equal(
        format!("{name}: packets whose fate the seed did not foretell"),
        astray,
        0,
    ));
    let sent = report.sent as f64;
    // Losses in bursts of mean 1/r make the count that much more uncertain.
    let burst = if let LossModel::GilbertElliott { r, .. } = model {
        2.0 / r
    } else {
        1.0
    };
    let error = (model.mean() * (1.0 - model.mean()) * burst / sent).sqrt();
    let measured = report.lost as f64 / sent;
    checks.push(Check::near(
        format!("{name}: loss, %"),
        measured * 100.0,
        model.mean() * 100.0,
        400.0 * error,
        3,
    ));
    Ok(report)
}

/// Offers twice the rate; returns the rate that came out.
fn overload(lab: &Lab, checks: &mut Vec<Check>) -> Result<f64> {
    let link = lab.link("a", Direction::ClientToServer)?;
    let spec = link.spec()?;
    link.set(crate::link::LinkSpec {
        rate_bps: Some(RATE_BPS),
        ..spec.clone()
    })?;
    let before = class(&link.counters()?)?;
    let pps = u32::try_from(2 * RATE_BPS / 8 / FRAME_BYTES as u64)?;
    let report = flow(lab, pps, FRAME_BYTES - HEADER_BYTES, Duration::from_secs(5))?;
    link.set(spec)?;
    let tally = class(&link.counters()?)?.since(&before);

    let arrivals = report
        .records
        .iter()
        .filter(|record| record.copies > 0)
        .map(|record| record.first_at);
    let (first, last) = (arrivals.clone().min(), arrivals.max());
    let (first, last) = first
        .zip(last)
        .context("nothing came through the overloaded link")?;
    let bits = (report.unique - 1) * FRAME_BYTES as u64 * 8;
    let rate = bits as f64 / last.saturating_since(first).as_secs_f64();
    checks.push(Check::near(
        "rate, Mbit/s",
        rate / 1e6,
        RATE_BPS as f64 / 1e6,
        RATE_BPS as f64 / 1e8,
        3,
    ));
    checks.push(Check::equal(
        "overload: packets missed and overflowed, difference",
        report.lost.abs_diff(tally.overflowed),
        0,
    ));
    Ok(rate)
}

fn flow(lab: &Lab, pps: u32, payload: usize, duration: Duration) -> Result<Report> {
    let flow = SequencedUdp {
        from: "client-host".to_owned(),
        to: "server-host".to_owned(),
        source_port: 0,
        port: PORT,
        pps,
        payload,
    };
    let running = flow.start(lab)?;
    std::thread::sleep(duration);
    running.stop()
}

fn class(counters: &Counters) -> Result<crate::link::Tally> {
    Ok(counters
        .class(ClassKey::udp_to(PORT))
        .context("the class was registered")?
        .total)
}

/// Runs of consecutive losses.
fn bursts(report: &Report) -> usize {
    let lost: Vec<bool> = report.records.iter().map(|record| record.copies == 0).collect();
    lost.chunk_by(|one, next| one == next)
        .filter(|run| run[0])
        .count()
}

const PORT: u16 = 5001;
const ECHOES: u32 = 500;
const PPS: u32 = 5_000;
const LOSS: f64 = 0.05;
const GE_P: f64 = 0.01;
const GE_R: f64 = 0.25;
const LOSS_DURATION: Duration = Duration::from_secs(8);
const RATE_BPS: u64 = 20_000_000;
const FRAME_BYTES: usize = 1_200;
/// Ethernet, IPv4 and UDP headers.
const HEADER_BYTES: usize = 14 + 20 + 8;
