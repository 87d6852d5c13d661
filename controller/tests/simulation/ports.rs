//! Ports that go down and come back.

use controller::testing::World;

use crate::common::*;

#[test]
fn a_dead_uplink_moves_the_traffic_and_gets_it_back_only_after_its_recovery() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Forward, 200);
    world.run(secs(3));
    world.port_up("client", "a", false);
    world.run(secs(2));
    assert_eq!(world.mode("video", "client"), "unicast b");
    assert_eq!(world.delivery(video).missing, on_the_way(200));

    world.port_up("client", "a", true);
    let a = truth(&world, "a", Forward, video).0;
    world.run(secs(9));
    assert_eq!(truth(&world, "a", Forward, video).0, a, "not before its recovery");
    assert_eq!(world.mode("video", "client"), "unicast b");
    let back = world.run_until(secs(5), |world| world.mode("video", "client") == "unicast a");
    assert!(
        back.is_some(),
        "it is preferred, and it was left because it was down"
    );
    world.run(secs(1));
    assert!(truth(&world, "a", Forward, video).0 > a);
    drain(&mut world, video);
    assert_eq!(world.delivery(video).missing, 0);
}

#[test]
fn the_switch_fails_over_before_the_controller_hears_of_it() {
    let mut world = two_uplinks();
    world.control_latency("client", secs(1));
    world.run(secs(10));
    let video = world.traffic("video", Forward, 200);
    world.run(secs(2));
    world.port_up("client", "a", false);
    world.run(ms(900));
    assert_eq!(
        world.mode("video", "client"),
        "unicast a",
        "nobody has told it yet"
    );
    assert_eq!(world.delivery(video).missing, on_the_way(200));
}

#[test]
fn an_uplink_that_flaps_is_not_used_until_it_stays_up() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Forward, 200);
    world.run(secs(2));
    world.port_up("client", "a", false);
    world.run(secs(1));
    let a = truth(&world, "a", Forward, video).0;
    for _ in 0..10 {
        world.port_up("client", "a", true);
        world.run(secs(5));
        world.port_up("client", "a", false);
        world.run(secs(1));
    }
    assert_eq!(truth(&world, "a", Forward, video).0, a);
    drain(&mut world, video);
    assert_eq!(world.delivery(video).missing, 0);
}

#[test]
fn a_dead_uplink_at_the_far_site_moves_the_traffic_too() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Forward, 200);
    world.run(secs(2));
    world.port_up("server", "a", false);
    world.run(secs(3));
    assert_eq!(world.mode("video", "client"), "unicast b");
    let missing = world.delivery(video).missing;
    assert!(missing < 20, "only what was on its way over a: {missing}");
    world.run(secs(3));
    drain(&mut world, video);
    assert!(world.delivery(video).missing <= missing);
}

#[test]
fn in_bicast_the_death_of_one_path_loses_nothing() {
    let mut world = World::settled(&video("mode: bicast"));
    let video = world.traffic("video", Forward, 500);
    world.run(secs(2));
    world.port_up("client", "b", false);
    world.run(secs(2));
    world.port_up("client", "b", true);
    world.run(secs(15));
    assert_eq!(world.mode("video", "client"), "bicast a+b");
    let b = truth(&world, "b", Forward, video).0;
    world.run(secs(1));
    assert_eq!(truth(&world, "b", Forward, video).0 - b, 500);
    drain(&mut world, video);
    assert_eq!(world.delivery(video).missing, 0);
}

#[test]
fn when_every_uplink_is_dead_the_first_to_come_back_carries_the_traffic() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Forward, 200);
    world.run(secs(2));
    for port in ["a", "b"] {
        world.port_up("client", port, false);
    }
    world.run(secs(5));
    world.port_up("client", "b", true);
    world.run(secs(1));
    let b = truth(&world, "b", Forward, video).0;
    world.run(secs(1));
    assert_eq!(
        truth(&world, "b", Forward, video).0 - b,
        200,
        "there is no better one to wait for"
    );
}

#[test]
fn a_port_that_leaves_the_switch_and_comes_back_is_used_again() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Forward, 200);
    world.run(secs(2));
    let now = world.now();
    world.at_switch("client", |switch| switch.remove_port(now, "a"));
    world.run(secs(2));
    assert_eq!(world.mode("video", "client"), "unicast b");
    let now = world.now();
    world.at_switch("client", |switch| switch.add_port(now, ofproto::PortNo(2), "a"));
    world.run(secs(15));
    assert_eq!(world.mode("video", "client"), "unicast a");
    drain(&mut world, video);
    assert_eq!(world.delivery(video).missing, 0);
}

#[test]
fn a_path_without_a_next_hop_is_not_used() {
    let mut world = World::new(TWO_UPLINKS);
    world.silence_router("client", "a", true);
    world.run(secs(3));
    world.hosts_ask();
    world.run(secs(2));
    let video = world.traffic("video", Forward, 200);
    world.run(secs(1));
    assert_eq!(world.mode("video", "client"), "unicast b");
    assert_eq!(world.delivery(video).missing, on_the_way(200));
    let problems = world.switch_view("client").problems;
    assert!(
        problems.iter().any(|problem| problem.contains("`a`")),
        "{problems:?}"
    );
    world.silence_router("client", "a", false);
    let back = world.run_until(secs(30), |world| world.mode("video", "client") == "unicast a");
    assert!(back.is_some());
}

/// Packets that a stream of this rate has on its way at any moment: 10 ms over the link.
fn on_the_way(packets_per_second: u64) -> u64 {
    packets_per_second / 100
}
