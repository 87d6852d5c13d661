//! What both paths lost: kept for the bicast in force, told at its end, and no reason for anything.

use std::time::Duration;

use policies::{Direction, JointCounts, JointSample, Mode, PathSet};

use crate::chance::seed;
use crate::simulation::Simulation;

const ADAPTIVE: &str = "mode: adaptive\nbicast: {enter: 2%, exit: 0.5% for 10s}";

/// Both paths lose 10 %, and `joint` of each 1,000 packets on both at once, which a proxy reports every second.
fn in_bicast(seconds: u64, joint: u64) -> Simulation {
    let mut simulation = Simulation::new(&["a", "b"], ADAPTIVE, seed());
    simulation.loss = vec![0.1, 0.1];
    simulation.run(Duration::from_secs(3));
    assert_eq!(simulation.mode(), "bicast a+b");
    assert_eq!(simulation.engine.joint_counts(), None);
    report(&mut simulation, seconds, joint);
    simulation
}

fn report(simulation: &mut Simulation, seconds: u64, joint: u64) {
    for _ in 0..seconds {
        let from = simulation.now;
        simulation.run(Duration::from_secs(1));
        simulation.engine.observe_joint(&JointSample {
            paths: PathSet::all(2),
            direction: Direction::Forward,
            from,
            until: simulation.now,
            counts: JointCounts {
                packets: 1_000,
                lost: joint,
                rescued: 90,
            },
        });
    }
}

#[test]
fn losses_that_come_together_are_seen_although_each_path_alone_looks_the_same() {
    for (joint, certainly_above_the_product) in [(10, false), (100, true)] {
        let simulation = in_bicast(30, joint);
        let product = simulation.engine.independent_loss().unwrap();
        assert!((0.005..0.02).contains(&product), "{product}");
        let measured = simulation.engine.joint_estimate().unwrap();
        assert_eq!((measured.sent, measured.lost), (2_000, 2 * joint));
        assert_eq!(
            measured.lower > product,
            certainly_above_the_product,
            "{measured:?}"
        );
    }
}

#[test]
fn the_end_of_bicast_tells_what_it_was_worth() {
    let mut simulation = in_bicast(30, 10);
    simulation.loss = vec![0.0, 0.0];
    simulation.run(Duration::from_secs(15));
    assert_eq!(simulation.mode(), "unicast a");
    let told = simulation.sentences().pop().unwrap();
    assert!(
        told.ends_with("; meanwhile 1 % lost both copies (300 of 30,000), 2,700 were rescued by the second"),
        "{told}"
    );
    assert_eq!(
        (
            simulation.engine.joint_counts(),
            simulation.engine.independent_loss()
        ),
        (None, None),
        "nothing of it is said of the mode that follows"
    );
}

#[test]
fn only_what_speaks_of_the_bicast_in_force_counts() {
    let mut simulation = Simulation::new(&["a", "b", "c"], ADAPTIVE, seed());
    report(&mut simulation, 5, 10);
    assert_eq!(simulation.engine.joint_counts(), None, "unicast is not bicast");

    let b_and_c = PathSet::all(3).without(simulation.path("a"));
    simulation.pin(Some(Mode::Bicast(b_and_c)));
    report(&mut simulation, 5, 10);
    assert_eq!(
        simulation.engine.joint_counts(),
        None,
        "other paths, other packets"
    );

    simulation.pin(Some(Mode::Bicast(PathSet::all(2))));
    report(&mut simulation, 5, 10);
    let counts = simulation.engine.joint_counts().unwrap();
    assert_eq!(
        (counts.packets, counts.lost),
        (4_000, 40),
        "the first second may speak of packets that were sent before"
    );
}
