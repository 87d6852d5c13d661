//! Does a lab work at all? Everything in it once, in a few seconds, without looking at a clock.

use crate::experiment::{Check, Context, Experiment, Outcome};
use crate::lab::{Forwarding, Lab, LabOptions, LinkName, default_links};
use crate::link::loss::LossProcess;
use crate::link::{ClassKey, Direction, LinkSpec, LossModel};
use crate::traffic::{Iperf, Report, SequencedUdp};
use anyhow::{Context as _, Result};
use serde_json::json;
use std::time::Duration;

pub(super) struct Smoke;

impl Experiment for Smoke {
    fn name(&self) -> &'static str {
        "smoke"
    }

    fn shows(&self) -> &'static str {
        "A lab forwards, duplicates, loses what it is told to lose, and survives a restarted switch and a pulled cable"
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
        let lab = context.start_lab(options)?;
        let mut checks = Vec::new();
        let class = ClassKey::udp_to(PORT);
        lab.count_class(class)?;
        let link = lab.link("a", Direction::ClientToServer)?;

        context.say("unicast");
        lab.forward_statically(Forwarding::Unicast(LinkName::A))?;
        let clean = flow(&lab)?;
        checks.push(Check::equal("unicast: lost", clean.lost, 0));
        checks.push(Check::equal("unicast: copies", clean.copies, clean.sent));
        checks.push(Check::equal("unicast: reordered", clean.reordered, 0));
        let tally = link
            .counters()?
            .class(class)
            .context("the class was registered")?
            .total;
        checks.push(Check::equal(
            "unicast: packets of the class on link a",
            tally.forwarded,
            clean.sent,
        ));

        context.say("loss");
        let spec = link.spec()?;
        let model = LossModel::Bernoulli(0.2);
        link.set(LinkSpec {
            loss: model,
            seed: context.seed,
            ..spec.clone()
        })?;
        let lossy = flow(&lab)?;
        link.set(spec)?;
        let mut process = LossProcess::new(model, context.seed);
        let astray = lossy
            .records
            .iter()
            .filter(|record| process.lose() != (record.copies == 0))
            .count();
        checks.push(Check::equal(
            "loss: packets whose fate the seed did not foretell",
            astray,
            0,
        ));
        let dropped = link
            .counters()?
            .class(class)
            .context("the class was registered")?
            .total
            .lost;
        checks.push(Check::equal(
            "loss: packets missed and dropped, difference",
            lossy.lost.abs_diff(dropped),
            0,
        ));

        context.say("bicast");
        lab.forward_statically(Forwarding::Bicast)?;
        let bicast = flow(&lab)?;
        checks.push(Check::equal(
            "bicast: packets that came twice",
            bicast.duplicated,
            bicast.sent,
        ));
        checks.push(Check::equal(
            "bicast: most copies of a packet",
            bicast.max_copies,
            2,
        ));

        context.say("a restarted switch");
        lab.site("client")?.restart_vswitchd()?;
        checks.push(Check::equal(
            "restarted switch, no flows: received",
            flow(&lab)?.unique,
            0,
        ));
        lab.forward_statically(Forwarding::Unicast(LinkName::A))?;
        checks.push(Check::equal(
            "restarted switch, flows again: lost",
            flow(&lab)?.lost,
            0,
        ));

        context.say("a pulled cable");
        lab.set_carrier("client", "a", false)?;
        checks.push(Check::equal("pulled cable: received", flow(&lab)?.unique, 0));
        lab.set_carrier("client", "a", true)?;
        checks.push(Check::equal("plugged in again: lost", flow(&lab)?.lost, 0));

        context.say("TCP");
        let tcp = Iperf {
            from: "server-host".to_owned(),
            to: "client-host".to_owned(),
            port: 5201,
            warm_up: Duration::ZERO,
            duration: Duration::from_secs(1),
            congestion: Some("cubic".to_owned()),
            limit_bps: None,
        };
        let tcp = tcp.start(&lab)?.finish()?;
        checks.push(Check::new(
            "TCP: bytes received",
            tcp.received_bytes,
            "> 0",
            tcp.received_bytes > 0,
        ));

        let drops = lab.self_check()?.switch_drops.values().sum::<u64>();
        checks.push(Check::equal(
            "packets that a switch did not read in time",
            drops,
            0,
        ));
        Ok(Outcome {
            checks,
            measurements: json!({ "lossy": lossy, "bicast": bicast, "tcp": tcp }),
            ..Outcome::default()
        })
    }
}

fn flow(lab: &Lab) -> Result<Report> {
    let flow = SequencedUdp {
        from: "client-host".to_owned(),
        to: "server-host".to_owned(),
        source_port: 0,
        port: PORT,
        pps: 2_000,
        payload: 100,
    };
    let running = flow.start(lab)?;
    std::thread::sleep(Duration::from_millis(500));
    running.stop()
}

const PORT: u16 = 5001;
