//! What the ways to spend a second copy are worth, in virtual time: goodput, declared and true losses, by gap.
//!
//! `cargo run --release --example shim_goodput -- [Mbit/s] [loss per mille] [seconds] [gaps in ms, by comma]`
//!
//! Two paths, each packet on both; round trip 10 ms and the second path later by the gap; CUBIC and BBRv3 of noq.
//! *none*: no holding, RFC 9002's thresholds. *hold*: strictly in order. *lead*: as the shim does by default.

use std::sync::Arc;
use std::time::Duration;

use noq_proto::congestion::{Bbr3Config, ControllerFactory, CubicConfig};
use proxy::delay_gap::DelayGap;
use proxy::shim::{Hold, LossThresholds, ShimConfig};

#[path = "../tests/shim/simulation.rs"]
mod simulation;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| {
        arguments
            .next()
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let (mbits, loss_per_mille, seconds) = (number(100), number(50), number(5));
    let gaps = std::env::args()
        .nth(4)
        .unwrap_or_else(|| "0,2,5,10,20,50".to_owned());
    println!("{mbits} Mbit/s, {loss_per_mille} per mille lost on each path, {seconds} s");
    println!("cc     gap   way  Mbit/s  declared  lost  rescued  late   held  longest  gap told");
    let ccs: [(&str, Arc<dyn ControllerFactory + Send + Sync>); 2] = [
        ("cubic", Arc::new(CubicConfig::default())),
        ("bbr3", Arc::new(Bbr3Config::default())),
    ];
    let usual = ShimConfig::default();
    let ways = [
        (
            "none",
            ShimConfig {
                hold: Hold::Off,
                ..usual
            },
            false,
        ),
        ("hold", ShimConfig { lead: 0, ..usual }, true),
        ("lead", usual, true),
    ];
    let rtt = Duration::from_millis(10);
    for gap in gaps
        .split(',')
        .filter_map(|gap| gap.parse().ok())
        .map(Duration::from_millis)
    {
        for (cc, congestion) in &ccs {
            for (way, config, tolerant) in &ways {
                let spec = simulation::Spec {
                    congestion: congestion.clone(),
                    delay_gap: DelayGap::default(),
                    config: *config,
                    thresholds: tolerant.then(|| LossThresholds::new(gap, rtt, config.lead)),
                    rate_bps: mbits * 1_000_000,
                    rtt,
                    gap,
                    loss_per_mille,
                    time: Duration::from_secs(seconds),
                };
                let outcome = spec.run();
                let got = &outcome.received;
                println!(
                    "{cc:<6} {:>3}  {way}  {:>6.1} {:>9} {:>5} {:>8} {:>5} {:>6} {:>5.1} ms {:>6.1} ms",
                    gap.as_millis(),
                    outcome.mbps,
                    outcome.declared,
                    outcome.lost,
                    got.paths.iter().map(|path| path.rescued).sum::<u64>(),
                    got.late,
                    got.held,
                    got.longest_hold.as_secs_f64() * 1e3,
                    outcome.told.as_secs_f64() * 1e3,
                );
            }
        }
    }
}
