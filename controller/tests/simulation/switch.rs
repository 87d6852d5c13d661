//! The fake switch behaves as Open vSwitch was seen to behave.

use controller::testing::{ArpPacket, Body, FakeDatapath, Ipv4Packet, Packet, Payload};
use ofproto::{
    Action, Actions, Bucket, Cookie, DatapathId, ErrorCode, FlowMod, FlowModCommand, FlowModFlags,
    FlowRemovedReason, FlowStatsRequest, GroupId, GroupMod, GroupModCommand, GroupType, Instruction,
    Instructions, MacAddr, Match, Message, MeterBand, MeterFlags, MeterId, MeterMod, MeterModCommand,
    MultipartReply, MultipartReplyBody, MultipartRequest, MultipartRequestBody, OxmField, PacketOut, PortNo,
    PortReason, TableId, Xid, list,
};
use policies::Timestamp;

use crate::common::*;

#[test]
fn a_packet_takes_the_entry_of_the_highest_priority_through_every_table() {
    let mut switch = switch();
    let to_second = list![
        Instruction::WriteMetadata {
            metadata: 5,
            mask: u64::MAX,
        },
        Instruction::GotoTable(TableId(1)),
    ];
    tell(&mut switch, flow(0, 10, Match::new(), to_second));
    tell(&mut switch, flow(0, 5, Match::new(), output(3)));
    let metadata = Match::new().with(OxmField::Metadata(5.into()));
    tell(&mut switch, flow(1, 1, metadata, output(2)));
    assert_eq!(ports(&switch.receive(NOW, PortNo(1), udp())), [2]);
}

#[test]
fn without_an_entry_a_packet_is_dropped_and_the_way_back_is_skipped() {
    let mut switch = switch();
    assert_eq!(switch.receive(NOW, PortNo(1), udp()), []);
    tell(
        &mut switch,
        flow(
            0,
            1,
            Match::new(),
            apply(list![Action::output(PortNo(1)), Action::output(PortNo(2))]),
        ),
    );
    assert_eq!(ports(&switch.receive(NOW, PortNo(1), udp())), [2]);
    tell(
        &mut switch,
        flow(0, 1, Match::new(), apply(list![Action::output(PortNo::IN_PORT)])),
    );
    assert_eq!(ports(&switch.receive(NOW, PortNo(1), udp())), [1]);
}

#[test]
fn each_bucket_of_all_starts_from_the_packet_as_it_came() {
    let mut switch = switch();
    let mark = |dscp: u8, port: u32| Bucket {
        actions: list![
            Action::output(PortNo(port)),
            Action::SetField(OxmField::IpDscp(dscp)),
        ],
        ..Bucket::default()
    };
    tell(
        &mut switch,
        group(
            GroupModCommand::Add,
            7,
            GroupType::All,
            vec![mark(3, 2), mark(7, 3)],
        ),
    );
    tell(
        &mut switch,
        flow(0, 1, ipv4(), apply(list![Action::Group(GroupId(7))])),
    );
    let out = switch.receive(NOW, PortNo(1), udp());
    let seen: Vec<(u32, u8)> = out
        .iter()
        .map(|(port, packet)| (port.0, packet.ipv4().unwrap().dscp))
        .collect();
    assert_eq!(
        seen,
        [(2, 3), (3, 7)],
        "a bucket is an action set: set before output"
    );
}

#[test]
fn fast_failover_moves_when_its_port_dies_and_says_so() {
    let mut switch = switch();
    let watched = |port: u32| Bucket {
        watch_port: PortNo(port),
        actions: list![Action::output(PortNo(port))],
        ..Bucket::default()
    };
    tell(
        &mut switch,
        group(
            GroupModCommand::Add,
            7,
            GroupType::FastFailover,
            vec![watched(2), watched(3)],
        ),
    );
    tell(
        &mut switch,
        flow(0, 1, Match::new(), apply(list![Action::Group(GroupId(7))])),
    );
    assert_eq!(ports(&switch.receive(NOW, PortNo(1), udp())), [2]);
    switch.set_port_up(NOW, "a", false);
    assert_eq!(ports(&switch.receive(NOW, PortNo(1), udp())), [3]);
    let said = switch.take_messages();
    let [(Xid(0), Message::PortStatus(status))] = said.as_slice() else {
        panic!("{said:?}")
    };
    assert_eq!(
        (status.reason, status.desc.name.as_str()),
        (PortReason::Modify, "a")
    );
}

#[test]
fn delete_is_by_match_and_cookie_and_tells_who_asked_for_it() {
    let mut switch = switch();
    for (cookie, port) in [(0x11, 1), (0x12, 2), (0x21, 3)] {
        let mut entry = flow_mod(
            0,
            port,
            Match::new().with(OxmField::InPort(PortNo(port.into()))),
            output(2),
        );
        entry.cookie = Cookie(cookie);
        entry.flags = FlowModFlags::SEND_FLOW_REM;
        tell(&mut switch, Message::FlowMod(entry));
    }
    let delete = FlowMod {
        table_id: TableId::ALL,
        command: FlowModCommand::Delete,
        cookie: Cookie(0x10),
        cookie_mask: 0xf0,
        ..FlowMod::default()
    };
    tell(&mut switch, Message::FlowMod(delete));
    assert_eq!(switch.flows().len(), 1);
    let removed: Vec<(u64, FlowRemovedReason)> = switch
        .take_messages()
        .into_iter()
        .map(|(_, message)| match message {
            Message::FlowRemoved(removed) => (removed.cookie.0, removed.reason),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(removed.len(), 2);
    assert!(
        removed
            .iter()
            .all(|(cookie, reason)| cookie >> 4 == 1 && *reason == FlowRemovedReason::Delete)
    );
}

#[test]
fn strict_commands_mean_one_entry_and_others_all_that_the_match_contains() {
    let mut switch = switch();
    let narrow = || ipv4().with(OxmField::IpProto(17));
    for priority in [1, 2] {
        tell(&mut switch, flow(0, priority, narrow(), output(2)));
    }
    let command = |command, match_, priority, instructions| {
        Message::FlowMod(FlowMod {
            command,
            ..flow_mod(0, priority, match_, instructions)
        })
    };
    tell(
        &mut switch,
        command(FlowModCommand::ModifyStrict, narrow(), 2, output(3)),
    );
    assert_eq!(ports(&switch.receive(NOW, PortNo(1), udp())), [3]);
    tell(
        &mut switch,
        command(FlowModCommand::ModifyStrict, ipv4(), 2, output(1)),
    );
    assert_eq!(
        ports(&switch.receive(NOW, PortNo(1), udp())),
        [3],
        "no such entry: nothing is changed or added"
    );
    tell(&mut switch, command(FlowModCommand::Modify, ipv4(), 0, output(2)));
    assert_eq!(ports(&switch.receive(NOW, PortNo(1), udp())), [2]);
    tell(
        &mut switch,
        command(FlowModCommand::DeleteStrict, narrow(), 2, list![]),
    );
    assert_eq!(switch.flows().len(), 1);
    tell(&mut switch, command(FlowModCommand::Delete, ipv4(), 0, list![]));
    assert!(switch.flows().is_empty());
}

#[test]
fn a_deleted_group_takes_its_entries_along() {
    let mut switch = switch();
    tell(
        &mut switch,
        group(GroupModCommand::Add, 7, GroupType::All, vec![]),
    );
    let mut entry = flow_mod(0, 1, Match::new(), apply(list![Action::Group(GroupId(7))]));
    entry.flags = FlowModFlags::SEND_FLOW_REM;
    tell(&mut switch, Message::FlowMod(entry));
    tell(
        &mut switch,
        group(GroupModCommand::Delete, 7, GroupType::All, vec![]),
    );
    assert!(switch.flows().is_empty());
    let said = switch.take_messages();
    let [(_, Message::FlowRemoved(removed))] = said.as_slice() else {
        panic!("{said:?}")
    };
    assert_eq!(removed.reason, FlowRemovedReason::GroupDelete);
}

#[test]
fn what_open_vswitch_refuses_is_refused_with_the_same_error() {
    let mut switch = switch();
    let meter = |command, bands| {
        Message::MeterMod(MeterMod {
            command,
            flags: MeterFlags::PKTPS,
            meter_id: MeterId(1),
            bands,
        })
    };
    let set_dscp = apply(list![Action::SetField(OxmField::IpDscp(3))]);
    for (message, error) in [
        (
            group(GroupModCommand::Modify, 1234, GroupType::All, vec![]),
            ErrorCode::GROUP_MOD_FAILED_UNKNOWN_GROUP,
        ),
        (
            flow(0, 1, Match::new(), apply(list![Action::Group(GroupId(4321))])),
            ErrorCode::BAD_ACTION_BAD_OUT_GROUP,
        ),
        (
            flow(0, 1, Match::new(), set_dscp),
            ErrorCode::BAD_ACTION_MATCH_INCONSISTENT,
        ),
        (
            flow(0, 1, Match::new(), list![Instruction::Meter(MeterId(9))]),
            ErrorCode::METER_MOD_FAILED_INVALID_METER,
        ),
        (
            flow(3, 1, Match::new(), list![Instruction::GotoTable(TableId(3))]),
            ErrorCode::BAD_INSTRUCTION_BAD_TABLE_ID,
        ),
        (
            meter(MeterModCommand::Add, vec![]),
            ErrorCode::METER_MOD_FAILED_OUT_OF_BANDS,
        ),
        (
            meter(
                MeterModCommand::Modify,
                vec![MeterBand::Drop {
                    rate: 1,
                    burst_size: 0,
                }],
            ),
            ErrorCode::METER_MOD_FAILED_UNKNOWN_METER,
        ),
        (
            request(MultipartRequestBody::Table),
            ErrorCode::BAD_REQUEST_BAD_MULTIPART,
        ),
    ] {
        let answers = switch.message(NOW, Xid(6), message.clone());
        let [(Xid(6), Message::Error(answer))] = answers.as_slice() else {
            panic!("{message:?} was answered by {answers:?}")
        };
        assert_eq!(answer.error, error);
        assert_eq!(
            answer.data.first().copied(),
            Some(4),
            "it begins with the message that caused it"
        );
    }
}

#[test]
fn a_list_comes_in_parts_and_only_the_last_one_says_so() {
    let mut switch = switch();
    for priority in 0..45 {
        tell(&mut switch, flow(0, priority, Match::new(), output(2)));
    }
    let answers = switch.message(
        NOW,
        Xid(1),
        request(MultipartRequestBody::Flow(FlowStatsRequest::default())),
    );
    let parts: Vec<(bool, usize)> = answers
        .iter()
        .map(|(_, answer)| match answer {
            Message::MultipartReply(MultipartReply {
                more,
                body: MultipartReplyBody::Flow(flows),
            }) => (*more, flows.len()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(parts, [(true, 20), (true, 20), (false, 5)]);
}

#[test]
fn packets_go_to_the_controller_and_come_from_it() {
    let mut switch = switch();
    let arp = Match::new().with(OxmField::EthType(0x0806));
    tell(
        &mut switch,
        flow(0, 1, arp, apply(list![Action::output(PortNo::CONTROLLER)])),
    );
    let question = ArpPacket::question(HOST, [10, 1, 0, 2].into(), [10, 1, 0, 1].into());
    assert_eq!(switch.receive(NOW, PortNo(1), question), []);
    let said = switch.take_messages();
    let [(_, Message::PacketIn(packet_in))] = said.as_slice() else {
        panic!("{said:?}")
    };
    assert_eq!(packet_in.in_port(), Some(PortNo(1)));
    assert_eq!(Packet::from_bytes(&packet_in.data), Some(question));

    let packet_out = PacketOut {
        buffer_id: ofproto::BufferId::NO_BUFFER,
        in_port: PortNo::CONTROLLER,
        actions: list![Action::output(PortNo(2))],
        data: question.to_bytes(),
    };
    tell(&mut switch, Message::PacketOut(packet_out));
    assert_eq!(switch.take_packets(), [(PortNo(2), question)]);
}

#[test]
fn the_datapath_follows_a_change_flow_by_flow_within_its_lag() {
    let mut switch = switch();
    switch.set_lag(ms(13));
    tell(&mut switch, flow(0, 1, Match::new(), output(2)));
    let flows: Vec<Packet> = (0..50).map(|port| udp_from(1_000 + port)).collect();
    for packet in &flows {
        assert_eq!(ports(&switch.receive(NOW, PortNo(1), *packet)), [2]);
    }
    tell(&mut switch, flow(0, 1, Match::new(), output(3)));
    let mut moved = |after: u64| {
        let now = NOW + ms(after);
        let moved = flows
            .iter()
            .filter(|packet| ports(&switch.receive(now, PortNo(1), **packet)) == [3]);
        moved.count()
    };
    let counts = [moved(0), moved(5), moved(10), moved(13)];
    assert!(
        counts.is_sorted() && counts[0] < 10 && counts[1] > 5,
        "{counts:?}"
    );
    assert_eq!(counts[3], flows.len());
    assert_eq!(
        ports(&switch.receive(NOW, PortNo(1), udp_from(9))),
        [3],
        "a new flow is new"
    );
}

fn switch() -> FakeDatapath {
    FakeDatapath::new(DatapathId(1), &["host", "a", "b"])
}

/// Sends a message that is not to be refused.
fn tell(switch: &mut FakeDatapath, message: Message) {
    assert_eq!(switch.message(NOW, Xid(1), message), []);
}

fn udp() -> Packet {
    udp_from(1_000)
}

fn udp_from(port: u16) -> Packet {
    let ip = Ipv4Packet::udp(
        ([10, 1, 0, 2].into(), port),
        ([10, 2, 0, 2].into(), 5001),
        Payload::default(),
    );
    Packet {
        eth_src: HOST,
        eth_dst: MacAddr::broadcast(),
        body: Body::Ipv4(ip),
    }
}

fn ports(out: &[(PortNo, Packet)]) -> Vec<u32> {
    out.iter().map(|(port, _)| port.0).collect()
}

fn ipv4() -> Match {
    Match::new().with(OxmField::EthType(0x0800))
}

fn apply(actions: Actions) -> Instructions {
    list![Instruction::ApplyActions(actions)]
}

fn output(port: u32) -> Instructions {
    apply(list![Action::output(PortNo(port))])
}

fn flow_mod(table: u8, priority: u16, match_: Match, instructions: Instructions) -> FlowMod {
    FlowMod {
        table_id: TableId(table),
        priority,
        match_,
        instructions,
        ..FlowMod::default()
    }
}

fn flow(table: u8, priority: u16, match_: Match, instructions: Instructions) -> Message {
    Message::FlowMod(flow_mod(table, priority, match_, instructions))
}

fn group(command: GroupModCommand, id: u32, type_: GroupType, buckets: Vec<Bucket>) -> Message {
    Message::GroupMod(GroupMod {
        command,
        type_,
        group_id: GroupId(id),
        buckets,
    })
}

fn request(body: MultipartRequestBody) -> Message {
    Message::MultipartRequest(MultipartRequest { more: false, body })
}

const NOW: Timestamp = Timestamp::from_millis(1_000);
const HOST: MacAddr = MacAddr::new(2, 0, 0, 0, 0, 9);
