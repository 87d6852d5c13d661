//! Copies onto a path that is not in use, now and then: exact, and only then.

use controller::pipeline::Table;
use controller::testing::World;
use ofproto::{Action, Instruction, Message};
use policies::Timestamp;

use crate::common::*;

#[test]
fn the_standby_path_is_measured_to_the_packet() {
    let mut world = World::settled(&video("mode: adaptive, sampling: 10%"));
    world.datapath_lag(ms(13));
    world.delay("b", Forward, ms(60));
    world.loss("b", Forward, 0.20);
    let video = world.traffic("video", Forward, 500);
    world.run(secs(60));
    drain(&mut world, video);
    assert_eq!(world.mode("video", "client"), "unicast a");
    let b = truth(&world, "b", Forward, video);
    assert_eq!(measured(&mut world, "video", "client", "b"), b);
    let view = world.path("video", "client", "b").total;
    assert_eq!(view.periods, view.sampled_periods);
    let share = b.0 as f64 / world.delivery(video).sent as f64;
    assert!((0.05..0.12).contains(&share), "{share}");
}

#[test]
fn applications_see_duplicates_in_sampled_periods_only() {
    let mut world = World::settled(&video("mode: adaptive, sampling: 10%"));
    world.datapath_lag(ms(13));
    let video = world.traffic("video", Forward, 500);
    world.run(secs(30));
    drain(&mut world, video);
    let duplicated = world.stream(video).sent_with_copies(|copies| copies > 1);
    assert_eq!(
        duplicated.len() as u64,
        truth(&world, "b", Forward, video).0,
        "every copy arrived"
    );
    let sampled = sampled_periods(&world);
    assert!(
        sampled.len() >= 5 && duplicated.len() > 500,
        "{}",
        duplicated.len()
    );
    let settling = ms(20);
    for at in duplicated {
        let within = |(from, until): &(Timestamp, Timestamp)| *from <= at && at <= *until + settling;
        assert!(sampled.iter().any(within), "{at:?} is in none of {sampled:?}");
    }
    assert_eq!(world.delivery(video).missing, 0);
}

#[test]
fn without_sampling_the_standby_path_stays_empty() {
    let mut world = World::settled(&video("mode: adaptive, sampling: 0%"));
    let video = world.traffic("video", Forward, 500);
    world.run(secs(60));
    assert_eq!(truth(&world, "b", Forward, video), (0, 0));
}

#[test]
fn a_path_that_was_left_for_its_loss_is_taken_again_when_samples_show_it_clean() {
    let mut world = World::settled(&video("mode: adaptive, sampling: 10%"));
    world.traffic("video", Forward, 500);
    world.loss("a", Forward, 0.10);
    world
        .run_until(secs(60), |world| world.mode("video", "client") == "unicast b")
        .expect("a is left");
    world.run(secs(60));
    assert_eq!(
        world.mode("video", "client"),
        "unicast b",
        "a still loses packets"
    );
    world.loss("a", Forward, 0.0);
    let back = world.run_until(secs(120), |world| world.mode("video", "client") == "unicast a");
    assert!(back.expect("a is taken again") > secs(9));
}

#[test]
fn three_paths_take_turns_and_the_best_steps_in() {
    let mut world = World::settled(&three_uplinks("mode: adaptive, sampling: 20%"));
    world.datapath_lag(ms(13));
    world.loss("b", Forward, 0.10);
    world.loss("c", Forward, 0.005);
    let first = world.traffic("video", Forward, 500);
    world.run(secs(40));
    drain(&mut world, first);
    assert_eq!(world.mode("video", "client"), "unicast a");
    for path in ["b", "c"] {
        let truth = truth(&world, path, Forward, first);
        assert!(truth.0 > 1_000, "{path}");
        assert_eq!(measured(&mut world, "video", "client", path), truth, "{path}");
    }
    world.traffic("video", Forward, 500);
    world.port_up("server", "b", false);
    world.loss("a", Forward, 0.10);
    world.run(secs(5));
    assert_eq!(world.mode("video", "client"), "bicast a+c");
}

/// `video` over a third path beside those of the example.
fn three_uplinks(keys: &str) -> String {
    let uplink = |before: &str, address: &str| {
        format!("      c: {{port: c, next_hop: {address}.1, address: {address}.2/24}}\n{before}")
    };
    let two = video(keys);
    let (client, server) = ("    default: a   ", "    default: a\n");
    two.replace(client, &uplink(client, "10.13.0"))
        .replace(server, &uplink(server, "10.23.0"))
        .replace(
            "      b: {client: b, server: b}\n",
            "      b: {client: b, server: b}\n      c: {client: c, server: c}\n",
        )
}

/// From when until when the steer entry of the client sent to the sample group, by the messages that changed it.
fn sampled_periods(world: &World) -> Vec<(Timestamp, Timestamp)> {
    let mut periods = vec![];
    let mut since = None;
    for sent in world.sent().iter().filter(|sent| sent.site == "client") {
        let Message::FlowMod(flow_mod) = &sent.message else {
            continue;
        };
        if flow_mod.table_id != Table::Steer.id() {
            continue;
        }
        let to_sample = flow_mod.instructions.iter().any(|instruction| {
            matches!(instruction, Instruction::ApplyActions(actions) if actions.iter().any(is_sample_group))
        });
        match (since, to_sample) {
            (None, true) => since = Some(sent.at),
            (Some(from), false) => {
                periods.push((from, sent.at));
                since = None;
            }
            _ => {}
        }
    }
    periods
}

fn is_sample_group(action: &Action) -> bool {
    matches!(action, Action::Group(group) if group.0 % 2 == 1)
}
