//! One suite for all congestion controls: noq's own connections, with its loss detection, pacer and
//! acknowledgments, over simulated paths in virtual time. Runs are equal to the bit for equal seeds;
//! `CONGESTION_SEED` sets another one, for which the tables differ a little.
//!
//! The path of most tests is the one on which others were measured: 100 Mbit/s, a round trip of 10 ms, room for
//! 250 kB before the bottleneck, random loss both ways.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends where something fails"
)]

mod fairness;
mod kernel_cubic;
mod network;
mod path;
mod peer;
mod shim;

use std::fmt::Write;
use std::time::Duration;

use network::{Measured, Network};
use noq_proto::TransportConfig;
use path::Loss;
use proxy::congestion::Algorithm;
use proxy::delay_gap::DelayGap;

const MBIT: u64 = 1_000_000;
const MS: Duration = Duration::from_millis(1);
const RTT: Duration = Duration::from_millis(10);

fn seed() -> u64 {
    std::env::var("CONGESTION_SEED").map_or(7, |seed| seed.parse().expect("CONGESTION_SEED is a number"))
}

/// The reference path with this much random loss.
fn network(loss_percent: f64, run: u64) -> Network {
    Network::new(
        100 * MBIT,
        RTT,
        250_000,
        Loss::Random(loss_percent / 100.0),
        seed() + 10 * run,
    )
}

fn add(network: &mut Network, algorithm: Algorithm) {
    network.add_flow(algorithm.factory_with_seed(DelayGap::default(), seed()));
}

/// A bulk transfer alone on its path.
fn alone(mut network: Network, algorithm: Algorithm, duration: Duration) -> (Measured, f64) {
    add(&mut network, algorithm);
    network.run_until_received(100_000);
    let measured = network.measure(duration).remove(0);
    (measured, network.overflow_percent())
}

/// Mean goodput of several runs of a transfer alone on the reference path, Mbit/s.
fn mean_goodput(algorithm: Algorithm, loss_percent: f64, runs: u64, duration: Duration) -> f64 {
    let goodput = |run| alone(network(loss_percent, run), algorithm, duration).0.mbps;
    (0..runs).map(goodput).sum::<f64>() / runs as f64
}

#[test]
fn goodput_by_loss() {
    let mut table =
        String::from("Mbit/s of 100      0 %    1 %    2 %    5 %   10 %   15 %   2 % in bursts of 5\n");
    for algorithm in Algorithm::ALL {
        write!(table, "{algorithm:<13}").unwrap();
        for percent in [0.0, 1.0, 2.0, 5.0, 10.0, 15.0] {
            write!(table, "{:7.0}", mean_goodput(algorithm, percent, 1, 3000 * MS)).unwrap();
        }
        let bursts = Loss::Bursts {
            length: 5.0,
            mean: 0.02,
        };
        let network = Network::new(100 * MBIT, RTT, 250_000, bursts, seed());
        writeln!(table, "{:7.0}", alone(network, algorithm, 3000 * MS).0.mbps).unwrap();
    }
    insta::assert_snapshot!(table);
}

#[test]
fn goodput_and_overflow_by_round_trip_and_queue() {
    let mut table =
        String::from("Mbit/s of 20, share of packets that found the queue full, round trip at the end\n");
    for (rtt, queue) in [(10, 12_500), (10, 100_000), (50, 62_500), (50, 500_000)] {
        for loss in [0.0, 1.0] {
            write!(table, "{rtt} ms, {queue:6} B, {loss} %").unwrap();
            for algorithm in Algorithm::ALL {
                let loss = Loss::Random(loss / 100.0);
                let network = Network::new(20 * MBIT, rtt * MS, queue, loss, seed());
                let (measured, overflow) = alone(network, algorithm, 4000 * MS);
                let rtt = measured.stats.rtt.as_millis();
                write!(
                    table,
                    " | {algorithm} {:2.0} {overflow:4.1} % {rtt:3} ms",
                    measured.mbps
                )
                .unwrap();
            }
            table.push('\n');
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn bbr1_fills_the_path_at_any_loss_and_overflows_little() {
    for (percent, least) in [(1.0, 90.0), (5.0, 90.0), (10.0, 85.0), (15.0, 80.0)] {
        let mbps = mean_goodput(Algorithm::Bbr1, percent, 1, 4000 * MS);
        assert!(mbps >= least, "{mbps:.1} Mbit/s at {percent} %");
    }
    let (measured, overflow) = alone(network(0.0, 0), Algorithm::Bbr1, 4000 * MS);
    assert!(
        measured.mbps >= 90.0 && overflow <= 2.0,
        "{:.1} Mbit/s, {overflow:.2} %",
        measured.mbps
    );
}

#[test]
fn bbr3_withstands_random_loss_up_to_its_threshold() {
    for (percent, least) in [(0.0, 90.0), (1.0, 80.0), (2.0, 40.0)] {
        let mbps = mean_goodput(Algorithm::Bbr3, percent, 3, 6000 * MS);
        assert!(mbps >= least, "{mbps:.1} Mbit/s at {percent} %");
    }
}

#[test]
fn cubic_is_no_slower_than_the_kernels() {
    for percent in [0.0, 0.1, 0.3, 1.0, 2.0, 5.0] {
        let (ours, kernels) = (
            mean_goodput(Algorithm::Cubic, percent, 2, 5000 * MS),
            fairness::alone(percent),
        );
        assert!(
            ours >= 0.8 * kernels,
            "{ours:.1} Mbit/s at {percent} %, the kernel's {kernels:.1}"
        );
    }
}

/// Bicast with 5 % loss on both paths; up to 100 datagrams pass a hole, and losses are declared no earlier than
/// the slower path could have filled it.
fn bicast(algorithm: Algorithm, gap: Duration) -> Measured {
    let mut network = network(5.0, 0).bicast(gap, 100);
    let delay_gap = DelayGap::default();
    delay_gap.set(gap);
    let mut transport = TransportConfig::default();
    transport
        .packet_threshold(1000)
        .time_threshold(1.125 + gap.as_secs_f32() / RTT.as_secs_f32());
    network.add_flow_with(algorithm.factory_with_seed(delay_gap, seed()), transport);
    network.run_until_received(100_000);
    network.measure(4000 * MS).remove(0)
}

#[test]
fn a_later_second_path_rescues_packets_for_every_algorithm() {
    for algorithm in Algorithm::ALL {
        let (together, later) = (bicast(algorithm, Duration::ZERO), bicast(algorithm, 5 * MS));
        assert!(
            later.mbps >= 0.7 * together.mbps,
            "{algorithm}: {:.1} of {:.1}",
            later.mbps,
            together.mbps
        );
        let (declared, really) = (later.stats.lost_packets, later.really_lost);
        assert!(
            declared <= 3 * really,
            "{algorithm}: {declared} declared lost, {really} really"
        );
        let unicast = alone(network(5.0, 0), algorithm, 4000 * MS).0.mbps;
        assert!(
            later.mbps > unicast,
            "{algorithm}: {:.1}, unicast {unicast:.1}",
            later.mbps
        );
    }
}
