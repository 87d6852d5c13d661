//! Flows, groups and meters read from text.

mod plausible;

use ofproto::text::{parse_flow_mod, parse_group_mod, parse_match, parse_meter_mod};
use ofproto::*;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn what_is_printed_is_read_as_it_was(message in plausible::message()) {
        let message = without_empty_writes(message);
        let text = message.text(Xid(1)).to_string();
        let (_, body) = text.split_once("):").expect("a heading");
        let read = match &message {
            Message::FlowMod(_) => parse_flow_mod(body).map(Message::FlowMod),
            Message::GroupMod(_) => parse_group_mod(body).map(Message::GroupMod),
            Message::MeterMod(_) => parse_meter_mod(body).map(Message::MeterMod),
            _ => return Ok(()),
        };
        let read = read.map_err(|error| TestCaseError::fail(format!("{error}: {body:?}")))?;
        prop_assert_eq!(&read.text(Xid(1)).to_string(), &text);
        prop_assert_eq!(as_printed(read), as_printed(message), "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[a-z0-9_=:,()/>\\[\\]ü -]{0,60}") {
        let _ = parse_flow_mod(&text);
        let _ = parse_group_mod(&text);
        let _ = parse_meter_mod(&text);
        let _ = parse_match(&text);
    }

    #[test]
    fn any_change_of_a_flow_is_read_or_refused(at in any::<prop::sample::Index>(), change in "[=:,()/ 0-]{0,2}") {
        let mut text = "table=0,ct_state=+trk-new,udp,nw_src=10.0.0.0/8,actions=meter:1,set_field:8->ip_dscp".to_owned();
        let at = at.index(text.len());
        text.replace_range(at..=at, &change);
        let _ = parse_flow_mod(&text);
    }
}

/// Without instructions to write no actions, which are not read.
fn without_empty_writes(mut message: Message) -> Message {
    if let Message::FlowMod(flow) = &mut message {
        flow.instructions
            .retain(|instruction| *instruction != Instruction::WriteActions(list![]));
    }
    message
}

/// Without what the text does not say.
fn as_printed(message: Message) -> Message {
    match message {
        Message::FlowMod(mut flow) => {
            flow.match_ = flow.match_.sorted();
            flow.out_group = GroupId::ANY;
            if flow.command == FlowModCommand::Add {
                flow.cookie_mask = 0;
            } else if flow.cookie_mask == 0 {
                flow.cookie = Cookie(0);
            }
            flow.instructions
                .retain(|instruction| *instruction != Instruction::ApplyActions(list![]));
            flow.instructions.sort_by_key(|instruction| match instruction {
                Instruction::Meter(_) => 0,
                Instruction::ApplyActions(_) => 1,
                Instruction::ClearActions => 2,
                Instruction::WriteActions(_) => 3,
                Instruction::WriteMetadata { .. } => 4,
                _ => 5,
            });
            Message::FlowMod(flow)
        }
        Message::MeterMod(mut meter) => {
            if meter.command == MeterModCommand::Delete {
                meter.flags = MeterFlags::empty();
            }
            for band in &mut meter.bands {
                if let MeterBand::Drop { burst_size, .. } | MeterBand::DscpRemark { burst_size, .. } = band
                    && !meter.flags.contains(MeterFlags::BURST)
                {
                    *burst_size = 0;
                }
            }
            Message::MeterMod(meter)
        }
        other => other,
    }
}

#[test]
fn a_flow_in_the_words_of_ovs_ofctl() {
    let flow =
        parse_flow_mod("table=0,priority=10,udp,tp_dst=5001,actions=meter:1,set_field:8->ip_dscp,group:1");
    let expected = FlowMod {
        priority: 10,
        match_: Match::new()
            .with(OxmField::EthType(0x800))
            .with(OxmField::IpProto(17))
            .with(OxmField::UdpDst(5001)),
        instructions: list![
            Instruction::Meter(MeterId(1)),
            Instruction::ApplyActions(list![
                Action::SetField(OxmField::IpDscp(8)),
                Action::Group(GroupId(1)),
            ]),
        ],
        ..FlowMod::default()
    };
    assert_eq!(flow, Ok(expected));
}

#[test]
fn a_group_in_the_words_of_ovs_ofctl() {
    let group = parse_group_mod(
        "group_id=1,type=all,bucket=actions=output:2,bucket=set_field:02:00:00:00:00:01->eth_dst,3",
    );
    let bucket = |actions| Bucket {
        actions,
        ..Bucket::default()
    };
    let expected = GroupMod {
        command: GroupModCommand::Add,
        type_: GroupType::All,
        group_id: GroupId(1),
        buckets: vec![
            bucket(list![Action::output(PortNo(2))]),
            bucket(list![
                Action::SetField(OxmField::EthDst(MacAddr::new(2, 0, 0, 0, 0, 1).into())),
                Action::output(PortNo(3)),
            ]),
        ],
    };
    assert_eq!(group, Ok(expected));
}

#[test]
fn a_meter_in_the_words_of_ovs_ofctl() {
    let meter = parse_meter_mod("meter=1,pktps,stats,bands=type=drop,rate=1000");
    let expected = MeterMod {
        command: MeterModCommand::Add,
        flags: MeterFlags::PKTPS | MeterFlags::STATS,
        meter_id: MeterId(1),
        bands: vec![MeterBand::Drop {
            rate: 1000,
            burst_size: 0,
        }],
    };
    assert_eq!(meter, Ok(expected));
}

#[test]
fn commands_have_the_tables_that_they_have_with_ovs_ofctl() {
    for (text, command, table) in [
        ("actions=drop", FlowModCommand::Add, TableId(0)),
        ("add table=3,actions=1", FlowModCommand::Add, TableId(3)),
        ("delete", FlowModCommand::Delete, TableId::ALL),
        (
            "delete_strict table=0 in_port=1",
            FlowModCommand::DeleteStrict,
            TableId(0),
        ),
        (" DEL priority=5 actions=drop", FlowModCommand::Delete, TableId(0)),
        ("modify ip actions=1", FlowModCommand::Modify, TableId(0)),
        ("mod ip actions=1", FlowModCommand::Modify, TableId(0)),
    ] {
        let flow = parse_flow_mod(text).unwrap();
        assert_eq!((flow.command, flow.table_id), (command, table), "{text}");
    }
}

#[test]
fn errors_point_to_the_place_and_say_what_was_expected() {
    let flow = |text| parse_flow_mod(text).unwrap_err().to_string();
    for (text, error) in [
        ("udp,tp_dst=5001", "column 16: expected `actions=`, found nothing"),
        (
            "udp,tp_dts=5001,actions=drop",
            "column 5: expected a field to match, an option of the flow, or `actions=`, found `tp_dts`",
        ),
        (
            "tp_dst=5001,actions=drop",
            "column 1: expected `tcp`, `udp`, `sctp` or `icmp` beside `tp_dst`, found `tp_dst`",
        ),
        (
            "nw_src=10.0.0.1,actions=drop",
            "column 1: expected `ip` beside `nw_src`, found `nw_src`",
        ),
        (
            "ip,nw_src=10.0.0.300,actions=drop",
            "column 11: expected an IPv4 address, found `10.0.0.300`",
        ),
        (
            "ip,nw_src=10.0.0.0/33,actions=drop",
            "column 20: expected a number from 0 to 32, found `33`",
        ),
        (
            "priority=65536,actions=drop",
            "column 10: expected a number from 0 to 65535, found `65536`",
        ),
        (
            "priority,actions=drop",
            "column 9: expected `=` and a number, found nothing",
        ),
        (
            "in_port=1,actions=outptu:2",
            "column 19: expected an action, found `outptu`",
        ),
        (
            "in_port=1,actions=write_actions(2,3",
            "column 36: expected `)`, found nothing",
        ),
        (
            "actions=set_field:5->vlan_vdi",
            "column 22: expected a field to set, found `vlan_vdi`",
        ),
        (
            "actions=drop,output:1",
            "column 9: expected `drop` alone, found `drop`",
        ),
        (
            "dl_src=02:00:00,actions=drop",
            "column 8: expected an Ethernet address such as 02:00:00:00:00:01, found `02:00:00`",
        ),
    ] {
        assert_eq!(flow(text), error, "{text}");
    }
    let group = |text| parse_group_mod(text).unwrap_err().to_string();
    for (text, error) in [
        (
            "type=all,bucket=1",
            "column 9: expected `group_id=`, found nothing",
        ),
        (
            "group_id=1,bucket=1",
            "column 11: expected `type=`, found nothing",
        ),
        (
            "group_id=1,type=any",
            "column 17: expected `all`, `select`, `indirect` or `ff`, found `any`",
        ),
        (
            "group_id=1,type=all,bucket=weight:5,actions=1",
            "column 35: expected no weight outside a select group, found `5`",
        ),
        (
            "group_id=1,type=indirect,bucket=1,bucket=2",
            "column 35: expected only one bucket in an indirect group, found `bucket=2`",
        ),
    ] {
        assert_eq!(group(text), error, "{text}");
    }
    let meter = |text| parse_meter_mod(text).unwrap_err().to_string();
    for (text, error) in [
        (
            "meter=1,bands=type=drop,rate=1",
            "column 31: expected `kbps` or `pktps`, found nothing",
        ),
        ("meter=1,kbps", "column 13: expected `bands=`, found nothing"),
        (
            "meter=0,kbps,bands=",
            "column 7: expected a meter from 1 to 4294901760, found `0`",
        ),
        (
            "meter=1,kbps,bands=rate=5",
            "column 20: expected `type=`, found `rate`",
        ),
        (
            "meter=1,kbps,bands=type=drop",
            "column 25: expected a band with `rate=`, found `drop`",
        ),
    ] {
        assert_eq!(meter(text), error, "{text}");
    }
}

#[test]
fn buckets_are_inserted_and_removed_without_the_ids_that_openflow_1_3_does_not_have() {
    for (text, printed) in [
        (
            "insert_bucket group_id=1,bucket=weight:2,output:3",
            "INSERT_BUCKET group_id=1,bucket=weight:2,actions=output:3",
        ),
        ("remove_bucket group_id=1", "REMOVE_BUCKET group_id=1"),
        (
            "remove_bucket group_id=1,command_bucket_id=all",
            "REMOVE_BUCKET group_id=1",
        ),
    ] {
        let group = Message::GroupMod(parse_group_mod(text).unwrap());
        let expected = format!("OFPT_GROUP_MOD (OF1.3) (xid=0x1):\n {printed}");
        assert_eq!(group.text(Xid(1)).to_string(), expected);
    }
    for (text, error) in [
        (
            "insert_bucket group_id=1,command_bucket_id=last,bucket=1",
            "column 26: expected no place among the buckets, which OpenFlow 1.3 cannot say, found `command_bucket_id`",
        ),
        (
            "remove_bucket group_id=1,command_bucket_id=7",
            "column 44: expected `all`, as buckets have no ids in OpenFlow 1.3, found `7`",
        ),
        (
            "group_id=1,type=select,selection_method=hash,bucket=1",
            "column 24: expected nothing that OpenFlow 1.3 has no place for, found `selection_method`",
        ),
    ] {
        assert_eq!(parse_group_mod(text).unwrap_err().to_string(), error);
    }
}
