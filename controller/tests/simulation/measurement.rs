//! What is measured is what happened, to the packet.

use controller::testing::{StreamId, World};
use policies::Direction;

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
    assert!(audit.periods[0] > 300, "{audit:?}");
    assert!(audit.periods[1] > 100, "{audit:?}");
}

/// Watches the totals of a class, and compares each period that is added with the packets of that colour that the
/// link really took and lost.
#[derive(Debug)]
struct Audit {
    policy: &'static str,
    direction: Direction,
    stream: StreamId,
    /// By path: periods, sent, received so far, and the runs that they were found in.
    totals: [(u64, u64, u64); 2],
    next_run: [usize; 2],
    periods: [u64; 2],
}

impl Audit {
    fn new(policy: &'static str, direction: Direction, stream: StreamId) -> Audit {
        Audit {
            policy,
            direction,
            stream,
            totals: [(0, 0, 0); 2],
            next_run: [0; 2],
            periods: [0; 2],
        }
    }

    fn run(&mut self, world: &mut World, time: std::time::Duration) {
        let end = world.now() + time;
        while world.now() < end {
            world.run(ms(20));
            for (index, path) in ["a", "b"].into_iter().enumerate() {
                self.look(world, index, path);
            }
        }
    }

    fn look(&mut self, world: &mut World, index: usize, path: &str) {
        let from = ["client", "server"][self.direction.sender()];
        let total = world.path(self.policy, from, path).total;
        let (periods, sent, received) = self.totals[index];
        self.totals[index] = (total.periods, total.sent, total.received);
        if total.sent == sent {
            assert_eq!(total.received, received, "nothing came late on {path}");
            return;
        }
        assert_eq!(total.periods, periods + 1, "{path}");
        let (sent, lost) = (total.sent - sent, total.sent - sent - (total.received - received));
        let runs = world.link(path, self.direction).truth(self.stream).runs;
        let later = &runs[self.next_run[index]..];
        let found = later
            .iter()
            .position(|run| (run.entered, run.dropped) == (sent, lost));
        assert!(
            found.is_some(),
            "{path}: a period with {lost} of {sent} lost, but the link had {later:?}"
        );
        let found = found.unwrap_or_default();
        self.next_run[index] += found + 1;
        self.periods[index] += 1;
    }
}
