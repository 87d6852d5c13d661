//! What QUIC takes for lost is what is lost, and the gap between the paths costs little.

use std::sync::Arc;
use std::time::Duration;

use noq_proto::congestion::{Bbr3Config, ControllerFactory, CubicConfig};
use proxy::congestion::Algorithm;
use proxy::delay_gap::DelayGap;
use proxy::shim::{Hold, LossThresholds, ShimConfig};

use crate::simulation::{Outcome, Spec};

fn run(congestion: Arc<dyn ControllerFactory + Send + Sync>, gap_ms: u64, aided: bool) -> Outcome {
    let (rtt, gap) = (Duration::from_millis(10), Duration::from_millis(gap_ms));
    let usual = ShimConfig::default();
    let config = if aided {
        usual
    } else {
        ShimConfig {
            hold: Hold::Off,
            ..usual
        }
    };
    let thresholds = aided.then(|| LossThresholds::new(gap, rtt, usual.lead));
    let (rate_bps, loss_per_mille, time) = (20_000_000, 50, Duration::from_secs(3));
    Spec {
        congestion,
        delay_gap: DelayGap::default(),
        config,
        thresholds,
        rate_bps,
        rtt,
        gap,
        loss_per_mille,
        time,
    }
    .run()
}

#[test]
fn declared_losses_are_true_ones_at_any_gap() {
    let algorithms: [Arc<dyn ControllerFactory + Send + Sync>; 2] =
        [Arc::new(CubicConfig::default()), Arc::new(Bbr3Config::default())];
    for congestion in algorithms {
        let without_gap = run(congestion.clone(), 0, true).mbps;
        for gap in [0, 5, 20, 50] {
            let Outcome {
                mbps,
                declared,
                lost,
                received,
                told,
            } = run(congestion.clone(), gap, true);
            println!("gap {gap} ms: {mbps:.1} Mbit/s, declared {declared}, lost {lost}, told {told:?}");
            let rescued: u64 = received.paths.iter().map(|path| path.rescued).sum();
            assert!(rescued > 100 && received.late * 50 < rescued);
            assert!(
                declared * 2 <= lost * 3 + 10,
                "gap {gap} ms: {declared} declared, {lost} lost"
            );
            assert!(
                mbps >= without_gap * 0.8,
                "gap {gap} ms: {mbps} of {without_gap} Mbit/s"
            );
            assert!(told >= Duration::from_millis(gap) * 9 / 10);
            assert!(received.longest_hold <= ShimConfig::default().max_hold);
        }
        let unaided = run(congestion, 20, false);
        assert!(
            unaided.declared > unaided.lost * 3 / 2 + 30,
            "{} declared",
            unaided.declared
        );
    }
}

/// A transfer under one of our congestion controls at 100 Mbit/s, a round trip of 10 ms, 5 % loss on each path.
fn run_ours(algorithm: Algorithm, gap_ms: u64, time: Duration) -> Outcome {
    let (rtt, gap) = (Duration::from_millis(10), Duration::from_millis(gap_ms));
    let (config, delay_gap) = (ShimConfig::default(), DelayGap::default());
    Spec {
        congestion: algorithm.factory_with_seed(delay_gap.clone(), 7),
        delay_gap,
        config,
        thresholds: Some(LossThresholds::new(gap, rtt, config.lead)),
        rate_bps: 100_000_000,
        rtt,
        gap,
        loss_per_mille: 50,
        time,
    }
    .run()
}

/// At 50 ms BBRv3 is bounded by the stream's window of 1.25 MB: it is used up while a packet is repaired that both
/// paths lost.
#[test]
fn our_congestion_controls_withstand_a_gap_of_many_packets() {
    for algorithm in Algorithm::ALL {
        let without_gap = run_ours(algorithm, 0, Duration::from_secs(2)).mbps;
        for (gap, part) in [(20, 0.8), (50, 0.4)] {
            let outcome = run_ours(algorithm, gap, Duration::from_secs(2));
            let Outcome {
                mbps, declared, lost, ..
            } = outcome;
            println!(
                "{algorithm} {gap} ms: {mbps:.1} of {without_gap:.1} Mbit/s, declared {declared}, lost {lost}"
            );
            assert!(mbps >= part * without_gap);
            assert!(declared * 2 <= lost * 3 + 20);
        }
    }
}
