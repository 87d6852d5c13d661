//! What QUIC takes for lost is what is lost, and the gap between the paths costs little.

use std::sync::Arc;
use std::time::Duration;

use noq_proto::congestion::{Bbr3Config, ControllerFactory, CubicConfig};
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
