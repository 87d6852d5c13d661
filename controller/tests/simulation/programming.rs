//! What switches hold: made as it should be, kept so, and left alone when it is.

use controller::api::ModeRequest;
use controller::pipeline::{COOKIE_PREFIX, Slot, Table};
use controller::testing::World;
use ofproto::{
    Action, Bucket, Cookie, ErrorCode, FlowMod, FlowModCommand, FlowModFlags, GroupId, GroupMod,
    GroupModCommand, GroupType, Instruction, Match, Message, MessageType, MeterBand, MeterFlags, MeterId,
    MeterMod, MeterModCommand, MultipartRequestBody, OxmField, PortNo, TableId, list,
};

use crate::audit::Audit;
use crate::common::*;

#[test]
fn a_switch_that_lost_everything_is_programmed_again() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Forward, 200);
    world.run(secs(3));
    let before = contents(&world, "client");
    for site in ["client", "server"] {
        world.wipe(site);
        assert!(world.site(site).switch.flows().is_empty());
        let missing = world.delivery(video).missing;
        world.run(secs(2));
        assert!(world.delivery(video).missing - missing < 230, "{site}");
    }
    let after_repair = world.delivery(video).missing;
    world.run(secs(20));
    drain(&mut world, video);
    assert!(world.delivery(video).missing <= after_repair);
    assert_eq!(contents(&world, "client").len(), before.len());
}

#[test]
fn the_mode_survives_a_wiped_switch() {
    let mut world = two_uplinks();
    world.traffic("video", Forward, 500);
    world.loss("a", Forward, 0.05);
    world.loss("b", Forward, 0.05);
    world
        .run_until(secs(10), |world| world.mode("video", "client") == "bicast a+b")
        .expect("bicast");
    world.wipe("client");
    world.run(secs(3));
    assert_eq!(world.mode("video", "client"), "bicast a+b");
    let b = world.link("b", Forward).entered();
    world.run(secs(1));
    assert_eq!(world.link("b", Forward).entered() - b, 500);
}

#[test]
fn measurement_is_exact_again_after_a_switch_was_wiped() {
    for site in ["client", "server"] {
        let mut world = World::settled(&video("mode: bicast"));
        world.loss("a", Forward, 0.05);
        let before = world.traffic("video", Forward, 500);
        world.run(secs(3));
        world.wipe(site);
        world.run(secs(3));
        drain(&mut world, before);
        let counted = measured(&mut world, "video", "client", "a");
        let after = world.traffic("video", Forward, 500);
        world.run(secs(10));
        drain(&mut world, after);
        let (sent, lost) = truth(&world, "a", Forward, after);
        let now = measured(&mut world, "video", "client", "a");
        assert_eq!(
            (now.0 - counted.0, now.1 - counted.1),
            (sent, lost),
            "{site} was wiped"
        );
    }
}

#[test]
fn what_others_put_on_a_switch_is_left_alone() {
    let mut world = two_uplinks();
    for message in foreign_things() {
        assert_eq!(world.meddle("client", message), []);
    }
    let foreign = |world: &World| {
        let switch = &world.site("client").switch;
        let flows = switch
            .flows()
            .iter()
            .filter(|entry| entry.cookie.0 >> 40 != COOKIE_PREFIX >> 40)
            .count();
        (
            flows,
            switch.groups().contains(FOREIGN_GROUP),
            switch.meters().contains(FOREIGN_METER),
        )
    };
    let since = world.sent().len();
    assert_eq!(foreign(&world), (2, true, true));
    world.traffic("video", Forward, 200);
    world.restart_core();
    world.run(secs(5));
    assert_eq!(
        changes(&world, "client", since),
        [],
        "they are no reason to change ours"
    );
    assert!(world.reload(&with_policies("  {}\n")));
    world.run(secs(5));
    assert!(world.reload(TWO_UPLINKS));
    world.run(secs(5));
    assert_eq!(foreign(&world), (2, true, true));
}

#[test]
fn an_entry_of_ours_that_somebody_deletes_comes_back() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Forward, 200);
    world.run(secs(2));
    let before = contents(&world, "client").len();
    for table in [Table::Classify, Table::Steer, Table::Receive, Table::Deliver] {
        let missing = world.delivery(video).missing;
        world.meddle("client", delete_flows(table.id()));
        world.meddle("server", delete_flows(table.id()));
        world.run(secs(3));
        assert_eq!(contents(&world, "client").len(), before, "{table:?}");
        let lost = world.delivery(video).missing - missing;
        assert!(lost < 200, "{table:?}: {lost} packets until it was repaired");
    }
    let missing = world.delivery(video).missing;
    world.run(secs(5));
    drain(&mut world, video);
    assert!(world.delivery(video).missing <= missing);
}

#[test]
fn groups_and_meters_that_somebody_deletes_come_back() {
    let mut world = two_uplinks();
    let video = world.traffic("video", Forward, 200);
    world.run(secs(2));
    let before = contents(&world, "client").len();
    let groups = Message::GroupMod(GroupMod {
        command: GroupModCommand::Delete,
        type_: GroupType::All,
        group_id: GroupId::ALL,
        buckets: vec![],
    });
    let meters = Message::MeterMod(MeterMod {
        command: MeterModCommand::Delete,
        flags: MeterFlags::empty(),
        meter_id: MeterId::ALL,
        bands: vec![],
    });
    for message in [groups, meters] {
        for site in ["client", "server"] {
            world.meddle(site, message.clone());
        }
        world.run(secs(3));
        assert_eq!(contents(&world, "client").len(), before, "{}", message.name());
        let missing = world.delivery(video).missing;
        world.run(secs(3));
        assert!(world.delivery(video).missing <= missing, "{}", message.name());
    }
}

#[test]
fn a_switch_that_refuses_changes_is_not_pestered() {
    for (refused, error) in [
        (MessageType::GroupMod, ErrorCode::GROUP_MOD_FAILED_OUT_OF_GROUPS),
        (MessageType::FlowMod, ErrorCode::FLOW_MOD_FAILED_TABLE_FULL),
        (MessageType::MeterMod, ErrorCode::METER_MOD_FAILED_OUT_OF_METERS),
        (
            MessageType::MultipartRequest,
            ErrorCode::BAD_REQUEST_BAD_MULTIPART,
        ),
        (MessageType::BarrierRequest, ErrorCode::BAD_REQUEST_BAD_TYPE),
        (MessageType::PacketOut, ErrorCode::BAD_REQUEST_BAD_PACKET),
    ] {
        let mut world = two_uplinks();
        world.traffic("video", Forward, 200);
        world.run(secs(2));
        world.at_switch("client", |switch| switch.refuse(Some((refused, error))));
        world.meddle("client", delete_flows(TableId::ALL));
        world.set_mode("video", "client", ModeRequest::Bicast);
        let since = world.sent().len();
        world.run(secs(60));
        let sent = attempts(&world, "client", since);
        assert!(sent < 200, "{sent} messages in a minute of {refused:?} refused");
        world.at_switch("client", |switch| switch.refuse(None));
        world.run(secs(90));
        let view = world.switch_view("client");
        assert_eq!(
            view.state,
            controller::api::SwitchState::Programmed,
            "{refused:?}"
        );
        let b = world.link("b", Forward).entered();
        world.run(secs(1));
        assert_eq!(
            world.link("b", Forward).entered() - b,
            200,
            "{refused:?}: the switch does what it should in the end"
        );
    }
}

#[test]
fn a_deleted_sample_group_comes_back_and_counts_stay_exact() {
    let mut world = World::settled(&video("mode: adaptive, sampling: 20%"));
    world.loss("b", Forward, 0.1);
    let stream = world.traffic("video", Forward, 500);
    let mut audit = Audit::new("video", Forward, stream);
    audit.run(&mut world, secs(5));
    for _ in 0..5 {
        let slot = Slot::assign(["video"])["video"];
        let delete = Message::GroupMod(GroupMod {
            command: GroupModCommand::Delete,
            type_: GroupType::All,
            group_id: slot.sample_group(),
            buckets: vec![],
        });
        world.meddle("client", delete);
        audit.run(&mut world, ms(2_345));
    }
    audit.run(&mut world, secs(10));
    assert_eq!(audit.wrong, Vec::<String>::new());
    assert!(audit.periods[1] > 5, "{:?}", audit.periods);
    let slot = Slot::assign(["video"])["video"];
    assert!(world.site("client").switch.groups().contains(slot.sample_group()));
}

#[test]
fn a_colour_flip_that_is_refused_spoils_no_count() {
    let mut world = World::settled(&video("mode: bicast"));
    world.loss("a", Forward, 0.1);
    let stream = world.traffic("video", Forward, 500);
    let mut audit = Audit::new("video", Forward, stream);
    audit.run(&mut world, secs(2));
    for pause in [100, 1_000, 5_000] {
        world.at_switch("client", |switch| {
            switch.refuse(Some((
                MessageType::FlowMod,
                ErrorCode::FLOW_MOD_FAILED_TABLE_FULL,
            )))
        });
        audit.run(&mut world, ms(pause));
        world.at_switch("client", |switch| switch.refuse(None));
        audit.run(&mut world, secs(20));
    }
    assert_eq!(audit.wrong, Vec::<String>::new());
    assert!(audit.periods[0] > 150);
}

/// Changes of what a switch holds, and requests for it; not what measuring takes: colour flips and meter statistics.
fn attempts(world: &World, site: &str, since: usize) -> usize {
    let sent = world.sent()[since..].iter().filter(|sent| sent.site == site);
    let reads = sent.filter(|sent| match &sent.message {
        Message::MultipartRequest(request) => !matches!(request.body, MultipartRequestBody::Meter(_)),
        Message::PacketOut(_) => true,
        _ => false,
    });
    reads.count() + changes(world, site, since).len()
}

fn delete_flows(table: TableId) -> Message {
    Message::FlowMod(FlowMod {
        table_id: table,
        command: FlowModCommand::Delete,
        ..FlowMod::default()
    })
}

/// A learning switch's entries, a group and a meter, outside our ranges.
fn foreign_things() -> Vec<Message> {
    let group = GroupMod {
        command: GroupModCommand::Add,
        type_: GroupType::All,
        group_id: FOREIGN_GROUP,
        buckets: vec![Bucket {
            actions: list![Action::output(PortNo(1))],
            ..Bucket::default()
        }],
    };
    let meter = MeterMod {
        command: MeterModCommand::Add,
        flags: MeterFlags::PKTPS,
        meter_id: FOREIGN_METER,
        bands: vec![MeterBand::Drop {
            rate: 10,
            burst_size: 0,
        }],
    };
    let flow = |cookie: u64, table: u8, instruction: Instruction| {
        Message::FlowMod(FlowMod {
            cookie: Cookie(cookie),
            table_id: TableId(table),
            priority: 7,
            flags: FlowModFlags::SEND_FLOW_REM,
            match_: Match::new().with(OxmField::EthType(0x88cc)),
            instructions: list![instruction],
            ..FlowMod::default()
        })
    };
    vec![
        Message::GroupMod(group),
        Message::MeterMod(meter),
        flow(
            0,
            0,
            Instruction::ApplyActions(list![Action::Group(FOREIGN_GROUP)]),
        ),
        flow(0x1234, 9, Instruction::Meter(FOREIGN_METER)),
    ]
}

const FOREIGN_GROUP: GroupId = GroupId(7);
const FOREIGN_METER: MeterId = MeterId(5);
