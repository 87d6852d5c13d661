//! What is measured is what happened, to the packet.

use controller::testing::World;

use crate::audit::Audit;
use crate::common::*;

/// As measured on Open vSwitch: up to 13 ms after the barrier's answer.
const LAG: std::time::Duration = ms(13);

#[test]
fn losses_of_both_paths_are_measured_to_the_packet_in_bicast() {
    let mut world = World::settled(&video("mode: bicast"));
    world.datapath_lag(LAG);
    world.loss("a", Forward, 0.05);
    world.loss("b", Forward, 0.02);
    let video = world.traffic("video", Forward, 500);
    world.run(secs(20));
    drain(&mut world, video);
    assert_eq!(world.delivery(video).sent, 10_000);
    for path in ["a", "b"] {
        let truth = truth(&world, path, Forward, video);
        assert_eq!(measured(&mut world, "video", "client", path), truth, "{path}");
        assert!(truth.0 == 10_000 && truth.1 > 100, "{truth:?}");
    }
}

#[test]
fn each_direction_is_measured_by_itself() {
    let mut world = World::settled(&video("mode: bicast"));
    world.loss("a", Forward, 0.10);
    world.loss("b", Reverse, 0.03);
    let there = world.traffic("video", Forward, 300);
    let back = world.traffic("video", Reverse, 200);
    world.run(secs(10));
    world.stop(back);
    drain(&mut world, there);
    for path in ["a", "b"] {
        let (forward, reverse) = (
            truth(&world, path, Forward, there),
            truth(&world, path, Reverse, back),
        );
        assert_eq!(measured(&mut world, "video", "client", path), forward, "{path}");
        assert_eq!(measured(&mut world, "video", "server", path), reverse, "{path}");
    }
}

#[test]
fn every_counted_period_is_exact_through_changes_of_mode_and_a_lagging_datapath() {
    let mut world = two_uplinks();
    world.datapath_lag(LAG);
    world.delay("b", Forward, ms(35));
    let video = world.traffic("video", Forward, 500);
    let mut audit = Audit::new("video", Forward, video);
    audit.run(&mut world, secs(10));
    for (a, b) in [(0.05, 0.05), (0.0, 0.0), (0.05, 0.0), (0.0, 0.06)] {
        world.loss("a", Forward, a);
        world.loss("b", Forward, b);
        audit.run(&mut world, secs(25));
    }
    drain(&mut world, video);
    assert!(
        world.decisions().len() >= 4,
        "it changed to and fro: {:?}",
        world.decisions()
    );
    assert_eq!(audit.wrong, Vec::<String>::new());
    assert!(audit.periods.iter().all(|periods| *periods > 100), "{audit:?}");
}

#[test]
fn classes_that_differ_in_their_code_point_alone_are_told_apart_at_the_receiver() {
    let mut world = World::settled(&with_policies(
        "  voice: {match: {protocol: udp, dscp: 46}, mode: unicast, priority: 200, mark: {dscp: [11, 15]}}\n  bulk: {match: {protocol: udp}, mode: unicast, prefer: b}\n",
    ));
    let voice = world.traffic("voice", Forward, 100);
    let bulk = world.traffic("bulk", Forward, 300);
    world.run(secs(10));
    world.stop(voice);
    drain(&mut world, bulk);
    for (policy, path, stream, dscp) in [("voice", "a", voice, 46), ("bulk", "b", bulk, 0)] {
        assert_eq!(
            world.stream(stream).dscps().keys().collect::<Vec<_>>(),
            [&dscp],
            "{policy}"
        );
        assert_eq!(
            measured(&mut world, policy, "client", path),
            truth(&world, path, Forward, stream),
            "{policy}"
        );
    }
}

#[test]
fn whatever_the_rate_and_the_delay_the_sums_are_exact() {
    for (rate, delay) in [
        (5, 10),
        (5, 300),
        (50, 1),
        (50, 150),
        (1_000, 60),
        (1_000, 400),
        (3_000, 5),
    ] {
        let mut world = World::settled(&video("mode: bicast"));
        world.datapath_lag(ms(13));
        world.delay("a", Forward, ms(delay));
        world.loss("a", Forward, 0.1);
        world.loss("b", Forward, 0.05);
        let stream = world.traffic("video", Forward, rate);
        world.run(secs(8));
        drain(&mut world, stream);
        for path in ["a", "b"] {
            assert_eq!(
                measured(&mut world, "video", "client", path),
                truth(&world, path, Forward, stream),
                "{rate} pps, {delay} ms, {path}"
            );
        }
    }
}
