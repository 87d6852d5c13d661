//! A controller that dies, and the one that takes its place.

use controller::api::ModeRequest;
use controller::testing::World;

use crate::common::*;

#[test]
fn a_restarted_controller_takes_over_the_mode_and_changes_nothing() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Forward, 500);
    world.loss("a", Forward, 0.05);
    world.loss("b", Forward, 0.05);
    world
        .run_until(secs(10), |world| world.mode("video", "client") == "bicast a+b")
        .expect("bicast");
    world.run(secs(5));

    let since = world.sent().len();
    world.restart_core();
    world.run(secs(10));
    assert_eq!(world.mode("video", "client"), "bicast a+b");
    assert_eq!(changes(&world, "client", since), []);
    assert_eq!(changes(&world, "server", since), []);

    world.loss("a", Forward, 0.0);
    let left = world.run_until(secs(40), |world| world.mode("video", "client") == "unicast a");
    assert!(left.is_some(), "the new one goes on deciding");
    let _ = video;
}

#[test]
fn traffic_does_not_notice_a_restart() {
    let mut world = two_uplinks();
    world.datapath_lag(ms(13));
    let video = world.traffic("video", Forward, 500);
    let back = world.traffic("telemetry", Reverse, 200);
    world.run(secs(3));
    for _ in 0..3 {
        world.restart_core();
        world.run(secs(7));
    }
    world.stop(back);
    drain(&mut world, video);
    assert_eq!(world.delivery(video).missing, 0);
    assert_eq!(world.delivery(back).missing, 0);
}

#[test]
fn a_restart_at_any_moment_keeps_an_idle_switch_as_it_is() {
    let mut world = two_uplinks();
    let since = world.sent().len();
    for step in 0..40 {
        world.restart_core();
        world.run(ms(1_000 + step * 7));
    }
    world.run(secs(5));
    assert_eq!(changes(&world, "client", since), []);
    assert_eq!(changes(&world, "server", since), []);
}

#[test]
fn a_restart_at_any_moment_under_traffic_changes_nothing() {
    for (keys, mode) in [
        ("mode: adaptive, sampling: 50%", None),
        ("mode: adaptive, sampling: 50%", Some("b")),
        ("mode: bicast", None),
    ] {
        let mut world = World::settled(&video(keys));
        world.datapath_lag(ms(13));
        if let Some(path) = mode {
            world.set_mode(
                "video",
                "client",
                ModeRequest::Unicast {
                    path: Some(path.to_owned()),
                },
            );
        }
        let stream = world.traffic("video", Forward, 500);
        world.run(secs(3));
        let before = world.mode("video", "client");
        let since = world.sent().len();
        for step in 0..10 {
            world.restart_core();
            world.run(ms(2_000 + step * 111));
            assert_eq!(changes(&world, "client", since), [], "{keys} {mode:?} {step}");
            assert_eq!(world.mode("video", "client"), before);
        }
        drain(&mut world, stream);
        assert_eq!(changes(&world, "server", since), []);
        assert_eq!(world.delivery(stream).missing, 0);
    }
}

#[test]
fn killed_halfway_through_programming_the_next_one_finishes() {
    for step in (0..30).step_by(4) {
        let mut world = two_uplinks();
        world.wipe("client");
        world.wipe("server");
        world.run(ms(1_000 + step));
        world.restart_core();
        world.run(secs(4));
        world.hosts_ask();
        world.run(secs(1));
        let video = world.traffic("video", Forward, 200);
        world.run(secs(2));
        drain(&mut world, video);
        assert_eq!(world.delivery(video).missing, 0, "killed after {step} ms");
        let since = world.sent().len();
        world.restart_core();
        world.run(secs(4));
        assert_eq!(changes(&world, "client", since), [], "killed after {step} ms");
    }
}

#[test]
fn a_connection_that_ends_and_comes_back_changes_nothing() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Forward, 500);
    world.run(secs(2));
    let since = world.sent().len();
    for round in 0..10 {
        let site = ["client", "server"][round % 2];
        world.disconnect(site);
        world.run(ms(1_500 + 37 * round as u64));
    }
    world.run(secs(2));
    drain(&mut world, video);
    assert_eq!(world.delivery(video).missing, 0);
    assert_eq!(changes(&world, "client", since), []);
    assert_eq!(changes(&world, "server", since), []);
}
