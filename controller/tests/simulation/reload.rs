//! A policy file that changes while the controller runs.

use controller::api::{Request, Response};
use controller::pipeline::Slot;
use controller::testing::{Ipv4Packet, Payload, World};
use ofproto::{Cookie, Message};

use crate::common::*;

#[test]
fn a_new_policy_leaves_the_groups_of_the_others_untouched() {
    let mut world = World::settled(&with_policies(VIDEO));
    let video = world.traffic("video", Forward, 500);
    world.run(secs(2));
    let since = world.sent().len();
    assert!(world.reload(&with_policies(&format!("{VIDEO}{VOICE}"))));
    world.run(secs(3));
    let video_slot = slot(&["video", "voice"], "video");
    for change in changes(&world, "client", since) {
        match change {
            Message::GroupMod(group_mod) => {
                assert!(![video_slot.main_group(), video_slot.sample_group()].contains(&group_mod.group_id));
            }
            Message::FlowMod(flow_mod) => assert_ne!(Slot::of_cookie(flow_mod.cookie), video_slot),
            Message::MeterMod(meter_mod) => {
                assert_ne!(
                    Slot::of_meter(meter_mod.meter_id).map(|(slot, _)| slot),
                    Some(video_slot)
                );
            }
            _ => {}
        }
    }
    let voice = world.traffic("voice", Reverse, 100);
    world.run(secs(2));
    world.stop(voice);
    drain(&mut world, video);
    assert_eq!(world.delivery(video).missing, 0);
    assert_eq!(world.delivery(voice).missing, 0);
    assert_eq!(world.mode("voice", "server"), "unicast b");
}

#[test]
fn a_removed_policy_leaves_nothing_behind() {
    let mut world = World::settled(&with_policies(VIDEO));
    let before = [contents(&world, "client"), contents(&world, "server")];
    assert!(world.reload(&with_policies(&format!("{VIDEO}{VOICE}"))));
    world.run(secs(3));
    assert!(contents(&world, "client").len() > before[0].len());
    assert!(world.reload(&with_policies(VIDEO)));
    world.run(secs(3));
    let slot = slot(&["video", "voice"], "voice");
    for (site, before) in ["client", "server"].into_iter().zip(before) {
        assert_eq!(contents(&world, site).len(), before.len(), "{site}");
        let switch = &world.site(site).switch;
        let of_voice = |cookie: Cookie| Slot::of_cookie(cookie) == slot;
        assert!(!switch.flows().iter().any(|entry| of_voice(entry.cookie)));
    }
}

#[test]
fn a_bad_file_keeps_the_old_one_and_is_reported() {
    let mut world = World::settled(TWO_UPLINKS);
    let video = world.traffic("video", Forward, 200);
    let before = contents(&world, "server");
    let since = world.sent().len();
    assert!(!world.reload("sites: {client: }"));
    world.run(secs(3));
    assert_eq!(changes(&world, "server", since), []);
    assert_eq!(contents(&world, "server"), before);
    let Response::Status(status) = world.ask(Request::Status) else {
        panic!("no status")
    };
    assert!(status.policy_problems.is_some());
    assert!(world.reload(TWO_UPLINKS));
    let Response::Status(status) = world.ask(Request::Status) else {
        panic!("no status")
    };
    assert_eq!(status.policy_problems, None);
    drain(&mut world, video);
    assert_eq!(world.delivery(video).missing, 0);
}

#[test]
fn the_same_file_again_changes_nothing() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Forward, 500);
    world.run(secs(2));
    let since = world.sent().len();
    for _ in 0..5 {
        assert!(world.reload(TWO_UPLINKS));
        world.run(ms(400));
    }
    assert_eq!(changes(&world, "client", since), []);
    assert_eq!(changes(&world, "server", since), []);
    drain(&mut world, video);
    assert_eq!(
        measured(&mut world, "video", "client", "a"),
        truth(&world, "a", Forward, video)
    );
}

#[test]
fn other_colours_are_taken_over_without_a_loss() {
    let mut world = World::settled(&video("mode: bicast"));
    world.datapath_lag(ms(13));
    let video_stream = world.traffic("video", Forward, 500);
    world.run(secs(3));
    let changed = video("mode: bicast").replace("mark: {dscp: [3, 7]}", "mark: {dscp: [11, 15]}");
    assert!(world.reload(&changed));
    world.run(secs(5));
    drain(&mut world, video_stream);
    assert_eq!(world.delivery(video_stream).missing, 0);
    assert_eq!(
        world
            .stream(video_stream)
            .last_delivered()
            .unwrap()
            .ipv4()
            .unwrap()
            .dscp,
        0
    );
}

#[test]
fn measurement_is_exact_after_other_colours() {
    let mut world = World::settled(&video("mode: bicast"));
    let changed = video("mode: bicast").replace("mark: {dscp: [3, 7]}", "mark: {dscp: [11, 15]}");
    assert!(world.reload(&changed));
    world.run(secs(5));
    world.loss("a", Forward, 0.05);
    let stream = world.traffic("video", Forward, 500);
    world.run(secs(10));
    drain(&mut world, stream);
    assert_eq!(
        measured(&mut world, "video", "client", "a"),
        truth(&world, "a", Forward, stream)
    );
}

#[test]
fn a_changed_mode_is_in_force_at_once() {
    let mut world = World::settled(&video("mode: adaptive"));
    world.traffic("video", Forward, 500);
    world.run(secs(2));
    assert!(world.reload(&video("mode: bicast")));
    world.run(secs(1));
    assert_eq!(world.mode("video", "client"), "bicast a+b");
    assert!(world.reload(&video("mode: unicast, prefer: b")));
    world.run(secs(1));
    assert_eq!(world.mode("video", "client"), "unicast b");
    let b = world.link("b", Forward).entered();
    world.run(secs(1));
    assert_eq!(world.link("b", Forward).entered() - b, 500);
}

#[test]
fn a_class_that_changes_is_followed() {
    let mut world = World::settled(&video("mode: bicast"));
    let changed = video("mode: bicast").replace("server: 5001", "server: 5005");
    assert!(world.reload(&changed));
    world.run(secs(2));
    let stream = world.traffic("video", Forward, 200);
    world.run(secs(2));
    drain(&mut world, stream);
    assert_eq!(
        measured(&mut world, "video", "client", "b"),
        truth(&world, "b", Forward, stream)
    );
    assert_eq!(truth(&world, "b", Forward, stream).0, 400);
}

#[test]
fn a_site_that_is_no_longer_named_is_cleaned() {
    let mut world = World::settled(TWO_UPLINKS);
    let alone = TWO_UPLINKS.split_once("\npeerings:").unwrap().0;
    let (before_server, _) = alone.split_once("\n  server:").unwrap();
    assert!(world.reload(before_server));
    world.run(secs(3));
    assert_eq!(contents(&world, "server"), Vec::<String>::new());
    assert!(world.reload(TWO_UPLINKS));
    world.run(secs(3));
    let video = world.traffic("video", Forward, 200);
    world.run(secs(1));
    drain(&mut world, video);
    assert!(
        world.delivery(video).delivered > 190,
        "{:?}",
        world.delivery(video)
    );
}

#[test]
fn a_new_policy_never_shows_its_mark_to_an_application() {
    let mut world = World::settled(&with_policies("  {}\n"));
    let (src, dst) = world.hosts(Forward);
    let stream = world.flows(
        Forward,
        vec![Ipv4Packet::udp((src, 1111), (dst, 5001), Payload::default())],
        1000,
    );
    world.run(secs(1));
    assert!(world.reload(&video("mode: unicast")));
    world.run(secs(3));
    assert_eq!(
        world.stream(stream).dscps().keys().collect::<Vec<_>>(),
        [&0],
        "{:?}",
        world.stream(stream).dscps()
    );
}

#[test]
fn a_renamed_policy_loses_nothing() {
    let mut world = World::settled(&video("mode: bicast"));
    world.datapath_lag(ms(13));
    let stream = world.traffic("video", Forward, 1000);
    world.run(secs(2));
    for name in ["film", "cinema", "video"] {
        assert!(world.reload(&video("mode: bicast").replace("  video:", &format!("  {name}:"))));
        world.run(secs(3));
        assert_eq!(world.mode(name, "client"), "bicast a+b");
    }
    drain(&mut world, stream);
    assert_eq!(world.delivery(stream).missing, 0);
}

fn slot(names: &[&str], name: &str) -> Slot {
    Slot::assign(names.iter().copied())[name]
}

const VIDEO: &str = "  video: {match: {protocol: udp, port: {server: 5001}}, mode: adaptive}\n";
const VOICE: &str =
    "  voice: {match: {protocol: tcp, port: {server: 5060}}, mode: unicast, prefer: b, priority: 200}\n";
