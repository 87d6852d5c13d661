//! When the mode changes, and what a change costs.

use controller::api::{ModeRequest, Response};
use controller::testing::{Sent, World};
use ofproto::{GroupId, Message};

use crate::common::*;

#[test]
fn loss_enters_bicast_and_its_end_leaves_it_after_the_hold() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Forward, 500);
    world.run(secs(5));
    assert_eq!(world.mode("video", "client"), "unicast a");

    world.loss("a", Forward, 0.05);
    world.loss("b", Forward, 0.05);
    let entered = world.run_until(secs(10), |world| world.mode("video", "client") == "bicast a+b");
    assert!(entered.expect("bicast is entered") < secs(5), "{entered:?}");

    world.run(secs(30));
    assert_eq!(world.mode("video", "client"), "bicast a+b");

    world.loss("a", Forward, 0.0);
    let left = world.run_until(secs(30), |world| world.mode("video", "client") == "unicast a");
    let left = left.expect("bicast is left");
    assert!((secs(9)..secs(16)).contains(&left), "{left:?}");
    assert_eq!(
        world.mode("video", "server"),
        "unicast a",
        "the other direction has its own mode"
    );
    assert_eq!(world.decisions().len(), 2);
    let _ = video;
}

#[test]
fn only_the_class_that_loses_is_copied() {
    let mut world = two_uplinks();
    world.traffic("telemetry", Reverse, 200);
    world.traffic("video", Forward, 200);
    world.loss("a", Reverse, 0.08);
    world.loss("b", Reverse, 0.08);
    world.run(secs(15));
    assert_eq!(world.mode("telemetry", "server"), "bicast a+b");
    assert_eq!(world.mode("video", "client"), "unicast a");
}

#[test]
fn a_mode_change_is_one_group_mod_and_loses_no_packet() {
    let mut world = two_uplinks();
    world.datapath_lag(ms(13));
    let video = world.traffic("video", Forward, 1_000);
    world.run(secs(3));
    let unicast_b = || ModeRequest::Unicast {
        path: Some("b".to_owned()),
    };
    for (mode, expected) in [
        (ModeRequest::Bicast, "bicast a+b"),
        (unicast_b(), "unicast b"),
        (ModeRequest::Bicast, "bicast a+b"),
        (ModeRequest::Auto, "bicast a+b"),
    ] {
        let begin = world.sent().len();
        let before = world.mode("video", "client");
        assert_eq!(
            world.set_mode("video", "client", mode.clone()),
            Response::Done,
            "{mode:?}"
        );
        world.run(secs(2));
        assert_eq!(world.mode("video", "client"), expected);
        let changes = changes_of_the_main_group(&world.sent()[begin..]);
        assert_eq!(changes, usize::from(before != expected), "{before} → {expected}");
    }
    drain(&mut world, video);
    assert_eq!(world.delivery(video).missing, 0);
}

#[test]
fn an_adaptive_change_is_one_group_mod_each_way_and_loses_no_packet_itself() {
    let mut world = two_uplinks();
    world.datapath_lag(ms(13));
    let video = world.traffic("video", Forward, 500);
    world.run(secs(3));
    let begin = world.sent().len();
    world.loss("a", Forward, 0.05);
    world
        .run_until(secs(10), |world| world.mode("video", "client") == "bicast a+b")
        .expect("bicast");
    world.run(secs(1));
    world.loss("a", Forward, 0.0);
    let lost = truth(&world, "a", Forward, video).1;
    let rescued_from = world.now();
    world
        .run_until(secs(30), |world| {
            world.mode("video", "client").starts_with("unicast")
        })
        .expect("unicast");
    world.run(secs(3));
    drain(&mut world, video);
    assert_eq!(changes_of_the_main_group(&world.sent()[begin..]), 2);
    assert!(lost > 0);
    let missing = world.stream(video).sent_with_copies(|copies| copies == 0);
    assert!(
        missing.iter().all(|at| *at < rescued_from),
        "nothing is lost once no link loses"
    );
}

#[test]
fn an_operator_holds_a_mode_and_gives_it_back() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Forward, 500);
    world.run(secs(2));
    let pinned = ModeRequest::Unicast {
        path: Some("b".to_owned()),
    };
    world.set_mode("video", "client", pinned);
    world.loss("b", Forward, 0.10);
    world.run(secs(20));
    assert_eq!(world.mode("video", "client"), "unicast b");
    assert!(world.direction("video", "client").pinned);
    let b = truth(&world, "b", Forward, video);
    world.run(secs(1));
    assert_eq!(truth(&world, "b", Forward, video).0 - b.0, 500);

    world.set_mode("video", "client", ModeRequest::Auto);
    world.run(secs(5));
    assert!(!world.direction("video", "client").pinned);
    assert_ne!(world.mode("video", "client"), "unicast b");
}

#[test]
fn an_operator_is_told_what_cannot_be_done() {
    let mut world = two_uplinks();
    let nowhere = ModeRequest::Unicast {
        path: Some("c".to_owned()),
    };
    for (policy, from, mode) in [
        ("video", "client", nowhere),
        ("video", "nowhere", ModeRequest::Bicast),
        ("nothing", "client", ModeRequest::Bicast),
    ] {
        let response = world.set_mode(policy, from, mode);
        assert!(matches!(response, Response::Error(_)), "{policy} {from}");
    }
}

#[test]
fn loss_at_the_threshold_does_not_flap() {
    let mut world = World::settled(&video("mode: adaptive, bicast: {enter: 2%, exit: 0.5% for 10s}"));
    world.loss("a", Forward, 0.02);
    world.loss("b", Forward, 0.02);
    world.traffic("video", Forward, 200);
    world.run(secs(300));
    assert!(world.decisions().len() <= 2, "{:?}", world.decisions());
}

#[test]
fn an_hour_of_little_loss_changes_nothing() {
    let mut world = World::settled(&video("mode: adaptive"));
    world.without_the_wire();
    world.loss("a", Forward, 0.001);
    world.loss("b", Forward, 0.001);
    let video = world.traffic("video", Forward, 200);
    world.run(secs(3_600));
    drain(&mut world, video);
    assert!(world.decisions().is_empty(), "{:?}", world.decisions());
    assert_eq!(
        measured(&mut world, "video", "client", "a"),
        truth(&world, "a", Forward, video)
    );
}

/// GROUP_MODs of a class's main group: even ids in our range are main groups, odd ones those of samples.
fn changes_of_the_main_group(sent: &[Sent]) -> usize {
    let group_mods = sent.iter().filter_map(|sent| match &sent.message {
        Message::GroupMod(group_mod) => Some(group_mod.group_id),
        _ => None,
    });
    group_mods.filter(|GroupId(id)| id % 2 == 0).count()
}
