//! What a TCP flow with the kernel's CUBIC keeps of its throughput beside one of ours: on the reference path, and on
//! two of them with a TCP flow each and ours on both.

use std::fmt::Write;
use std::time::Duration;

use proxy::congestion::Algorithm;

use crate::network::Network;
use crate::{add, network};

const WARM_UP: Duration = Duration::from_secs(2);
const SECONDS: u64 = 12;

/// What came of it, Mbit/s.
struct Shares {
    /// The TCP flow alone on such a path.
    alone: f64,
    /// The mean of the TCP flows beside ours.
    beside: f64,
    ours: f64,
}

impl Shares {
    fn kept_percent(&self) -> f64 {
        100.0 * self.beside / self.alone
    }
}

/// Mean over the TCP flows, Mbit/s, and ours, if there is one.
fn run(mut network: Network, seconds: u64) -> (f64, f64) {
    network.run(WARM_UP);
    let before = network.kernel_received();
    let ours = network.measure(Duration::from_secs(seconds));
    let received = network.kernel_received().into_iter().zip(&before);
    let bytes: u64 = received.map(|(after, before)| after - before).sum();
    let mbps = bytes as f64 * 8e-6 / (seconds * before.len() as u64) as f64;
    (mbps, ours.first().map_or(0.0, |ours| ours.mbps))
}

/// A TCP flow alone on the reference path, Mbit/s.
pub(crate) fn alone(loss_percent: f64) -> f64 {
    let mut network = network(loss_percent, 0);
    network.add_kernel_flow(0);
    run(network, 200).0
}

fn shares(algorithm: Algorithm, loss_percent: f64, both_paths: bool, runs: u64) -> Shares {
    let (mut beside, mut ours) = (0.0, 0.0);
    for number in 0..runs {
        let mut network = network(loss_percent, number);
        if both_paths {
            network = network.bicast(Duration::ZERO, 100);
            network.add_kernel_flow(1);
        }
        network.add_kernel_flow(0);
        add(&mut network, algorithm);
        let (tcp, quic) = run(network, SECONDS);
        beside += tcp / runs as f64;
        ours += quic / runs as f64;
    }
    Shares {
        alone: alone(loss_percent),
        beside,
        ours,
    }
}

/// The model of the kernel's flow against what a kernel's was measured at on such a path.
#[test]
fn the_model_of_the_kernel_is_as_fast_as_the_kernel() {
    for (percent, kernel) in [(0.0, 95.0), (0.1, 42.5), (0.3, 22.7), (1.0, 12.0), (2.0, 7.0)] {
        let model = alone(percent);
        assert!(
            (model / kernel - 1.0).abs() < 0.2,
            "{model:.1} Mbit/s at {percent} %, the kernel's {kernel}"
        );
    }
}

#[test]
fn bbr3_leaves_a_cubic_flow_what_it_gets_alone() {
    let mut table =
        String::from("loss, paths | CUBIC alone, beside BBRv3: kept | BBRv3 | together, Mbit/s\n");
    for both_paths in [false, true] {
        let (mut kept, mut points) = (0.0, 0.0);
        for percent in [0.1, 0.2, 0.3, 0.5, 1.0] {
            let shares = shares(Algorithm::Bbr3, percent, both_paths, 2);
            let Shares { alone, beside, ours } = shares;
            let (paths, together) = (if both_paths { 2 } else { 1 }, beside + ours);
            writeln!(
                table,
                "{percent} %, {paths} | {alone:4.1}, {beside:4.1}: {:3.0} % | {ours:4.1} | {together:4.1}",
                shares.kept_percent()
            )
            .unwrap();
            kept += shares.kept_percent();
            points += 1.0;
            // Short runs scatter by a tenth.
            assert!(
                shares.kept_percent() >= if both_paths { 68.0 } else { 80.0 },
                "{table}"
            );
            assert!(together >= 84.0, "{table}");
        }
        assert!(kept / points >= if both_paths { 78.0 } else { 90.0 }, "{table}");
    }
    insta::assert_snapshot!(table);
}

/// A queue that stands whatever we do is not given way to for good.
#[test]
fn bbr3_has_its_share_beside_a_cubic_flow_that_loses_nothing() {
    let shares = shares(Algorithm::Bbr3, 0.0, false, 1);
    assert!(
        shares.beside >= 30.0 && shares.ours >= 20.0,
        "{:.1}, {:.1}",
        shares.beside,
        shares.ours
    );
}

#[test]
fn bbr1_takes_more_than_bbr3_does() {
    let (bbr1, bbr3) = (
        shares(Algorithm::Bbr1, 0.3, false, 1),
        shares(Algorithm::Bbr3, 0.3, false, 1),
    );
    assert!(
        bbr1.kept_percent() < 70.0 && bbr1.beside < bbr3.beside,
        "{:.1}, {:.1}",
        bbr1.beside,
        bbr3.beside
    );
}
