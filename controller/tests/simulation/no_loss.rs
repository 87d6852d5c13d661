//! What is missing at the far end without a path having lost it is nobody's loss.
use controller::api::ModeRequest;
use controller::testing::{Ipv4Packet, Payload, World};
use ofproto::{FlowMod, FlowModCommand, Message, TableId};

use crate::common::*;

#[test]
fn a_path_that_nothing_is_sent_on_is_not_counted_when_every_uplink_is_dead() {
    let mut world = World::settled(&video("mode: unicast"));
    let stream = world.traffic("video", Forward, 200);
    world.run(secs(3));
    world.port_up("server", "b", false);
    world.port_up("client", "a", false);
    world.run(secs(5));
    drain(&mut world, stream);
    let (sent, _) = measured(&mut world, "video", "client", "a");
    let (entered, _) = truth(&world, "a", Forward, stream);
    assert!(sent <= entered, "{sent} counted as sent on a, {entered} were");
}

#[test]
fn a_new_policy_never_shows_its_mark_while_the_receiver_is_away() {
    let mut world = World::settled(&with_policies("  {}\n"));
    let (src, dst) = world.hosts(Forward);
    let stream = world.flows(
        Forward,
        vec![Ipv4Packet::udp((src, 1111), (dst, 5001), Payload::default())],
        1000,
    );
    world.run(secs(1));
    world.disconnect("server");
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
fn loss_that_somebody_at_the_receiver_makes_is_not_the_paths() {
    let mut world = two_uplinks();
    world.traffic("video", Forward, 500);
    world.run(secs(5));
    for _ in 0..5 {
        let delete = Message::FlowMod(FlowMod {
            table_id: TableId(2),
            command: FlowModCommand::Delete,
            ..FlowMod::default()
        });
        world.meddle("server", delete);
        world.run(secs(2));
    }
    assert_eq!(world.decisions(), []);
}

#[test]
fn packets_that_had_no_next_hop_to_go_to_are_not_the_loss_of_a_path() {
    let mut world = World::new(&video("mode: adaptive"));
    for path in ["a", "b"] {
        world.silence_router("client", path, true);
    }
    world.run(secs(3));
    world.hosts_ask();
    let stream = world.traffic("video", Forward, 500);
    world.run(secs(5));
    for path in ["a", "b"] {
        world.silence_router("client", path, false);
    }
    world.run(secs(30));
    drain(&mut world, stream);
    let (sent, _) = measured(&mut world, "video", "client", "a");
    let (entered, _) = truth(&world, "a", Forward, stream);
    assert!(sent <= entered, "{sent} counted as sent on a, {entered} were");
    assert_eq!(world.decisions(), []);
}

#[test]
fn a_group_change_that_is_refused_is_not_counted_as_made() {
    let mut world = World::settled(&video("mode: adaptive"));
    let stream = world.traffic("video", Forward, 500);
    world.run(secs(2));
    world.at_switch("client", |switch| {
        switch.refuse(Some((
            ofproto::MessageType::GroupMod,
            ofproto::ErrorCode::GROUP_MOD_FAILED_OUT_OF_GROUPS,
        )))
    });
    world.set_mode("video", "client", ModeRequest::Bicast);
    world.run(secs(10));
    drain(&mut world, stream);
    let (sent, _) = measured(&mut world, "video", "client", "b");
    let (entered, _) = truth(&world, "b", Forward, stream);
    assert!(sent <= entered, "{sent} counted as sent on b, {entered} were");
}
