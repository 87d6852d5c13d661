//! Known answers of multipart requests and replies.

use bytes::Bytes;

use super::*;
use crate::vector::{bytes, check};
use crate::{
    Action, Bucket, Cookie, Experimenter, FlowModFlags, GroupId, GroupType, Instruction, MacAddr, Match,
    Message, MeterBand, MeterFlags, MeterId, OxmField, OxmId, Port, PortConfig, PortFeatures, PortNo,
    PortState, QueueId, TableId,
};

fn request(body: MultipartRequestBody) -> Message {
    Message::MultipartRequest(MultipartRequest { more: false, body })
}

fn reply(body: MultipartReplyBody) -> Message {
    Message::MultipartReply(MultipartReply { more: false, body })
}

#[test]
fn request_vectors() {
    check(&[
        (
            "04 12 0010 00000002 0000 0000 00000000",
            request(MultipartRequestBody::Desc),
        ),
        (
            "04 12 0040 00000002 0001 0000 00000000           # header, flow
             05 000000 00000002 ffffffff 00000000              # table 5, out_port 2
             b1ca000000000000 ffff000000000000                 # cookie, mask
             0001 000c 80000004 00000001 00000000              # in_port 1",
            request(MultipartRequestBody::Flow(FlowStatsRequest {
                table_id: TableId(5),
                out_port: PortNo(2),
                cookie: Cookie(0xb1ca_0000_0000_0000),
                cookie_mask: 0xffff_0000_0000_0000,
                match_: Match::new().with(OxmField::InPort(PortNo(1))),
                ..FlowStatsRequest::default()
            })),
        ),
        (
            "04 12 0038 00000002 0002 0000 00000000           # header, aggregate
             ff 000000 ffffffff ffffffff 00000000
             0000000000000000 0000000000000000 0001 0004 00000000",
            request(MultipartRequestBody::Aggregate(FlowStatsRequest::default())),
        ),
        (
            "04 12 0010 00000002 0003 0000 00000000",
            request(MultipartRequestBody::Table),
        ),
        (
            "04 12 0018 00000002 0004 0000 00000000 ffffffff 00000000",
            request(MultipartRequestBody::PortStats(PortNo::ANY)),
        ),
        (
            "04 12 0018 00000002 0005 0000 00000000 00000001 ffffffff",
            request(MultipartRequestBody::Queue {
                port_no: PortNo(1),
                queue_id: QueueId::ALL,
            }),
        ),
        (
            "04 12 0018 00000002 0006 0000 00000000 fffffffc 00000000",
            request(MultipartRequestBody::Group(GroupId::ALL)),
        ),
        (
            "04 12 0010 00000002 0007 0000 00000000",
            request(MultipartRequestBody::GroupDesc),
        ),
        (
            "04 12 0010 00000002 0008 0000 00000000",
            request(MultipartRequestBody::GroupFeatures),
        ),
        (
            "04 12 0018 00000002 0009 0000 00000000 00000007 00000000",
            request(MultipartRequestBody::Meter(MeterId(7))),
        ),
        (
            "04 12 0018 00000002 000a 0000 00000000 ffffffff 00000000",
            request(MultipartRequestBody::MeterConfig(MeterId::ALL)),
        ),
        (
            "04 12 0010 00000002 000b 0000 00000000",
            request(MultipartRequestBody::MeterFeatures),
        ),
        (
            "04 12 0010 00000002 000c 0000 00000000",
            request(MultipartRequestBody::TableFeatures(vec![])),
        ),
        (
            "04 12 0010 00000002 000d 0000 00000000",
            request(MultipartRequestBody::PortDesc),
        ),
        (
            "04 12 001a 00000002 ffff 0001 00000000 00002320 00000003 abcd",
            Message::MultipartRequest(MultipartRequest {
                more: true,
                body: MultipartRequestBody::Experimenter(Experimenter {
                    experimenter: 0x2320,
                    exp_type: 3,
                    data: Bytes::from_static(&[0xab, 0xcd]),
                }),
            }),
        ),
        (
            "04 12 0011 00000002 1234 0000 00000000 ee",
            request(MultipartRequestBody::Unknown {
                type_: 0x1234,
                data: Bytes::from_static(&[0xee]),
            }),
        ),
    ]);
}

#[test]
fn desc_vectors() {
    let zeros = |count: usize| "00".repeat(count);
    let text = format!(
        "04 13 0430 00000002 0000 0000 00000000
         4e6963697261 {}        # Nicira
         4f5653 {}              # OVS
         332e31 {}              # 3.1
         4e6f6e65 {}            # None
         627230 {}              # br0",
        zeros(250),
        zeros(253),
        zeros(253),
        zeros(28),
        zeros(253)
    );
    let desc = SwitchDesc {
        mfr_desc: "Nicira".to_owned(),
        hw_desc: "OVS".to_owned(),
        sw_desc: "3.1".to_owned(),
        serial_num: "None".to_owned(),
        dp_desc: "br0".to_owned(),
    };
    check(&[(&text, reply(MultipartReplyBody::Desc(desc)))]);
}

#[test]
fn flow_vectors() {
    check(&[
        (
            "04 13 0070 00000002 0001 0000 00000000            # header, flow
             0060 02 00 00000003 1dcd6500                       # length, table 2, 3.5 s
             0064 003c 0258 0001 00000000                       # priority, idle, hard, flags
             000000000000b1ca 0000000000000006 0000000000000258 # cookie, packets, bytes
             0001 000c 80000004 00000001 00000000               # in_port 1
             0001 0008 05 000000                                # goto table 5
             0004 0018 00000000                                 # apply actions
               0000 0010 00000002 0000 000000000000             #   output to port 2",
            reply(MultipartReplyBody::Flow(vec![FlowStats {
                table_id: TableId(2),
                duration_sec: 3,
                duration_nsec: 500_000_000,
                priority: 100,
                idle_timeout: 60,
                hard_timeout: 600,
                flags: FlowModFlags::SEND_FLOW_REM,
                cookie: Cookie(0xb1ca),
                packet_count: 6,
                byte_count: 600,
                match_: Match::new().with(OxmField::InPort(PortNo(1))),
                instructions: list![
                    Instruction::GotoTable(TableId(5)),
                    Instruction::ApplyActions(list![Action::output(PortNo(2))]),
                ],
            }])),
        ),
        (
            "04 13 0010 00000002 0001 0001 00000000",
            Message::MultipartReply(MultipartReply {
                more: true,
                body: MultipartReplyBody::Flow(vec![]),
            }),
        ),
        (
            "04 13 0028 00000002 0002 0000 00000000 0000000000000001 0000000000000002 00000003 00000000",
            reply(MultipartReplyBody::Aggregate(AggregateStats {
                packet_count: 1,
                byte_count: 2,
                flow_count: 3,
            })),
        ),
        (
            "04 13 0028 00000002 0003 0000 00000000 07 000000 00000001 0000000000000002 0000000000000003",
            reply(MultipartReplyBody::Table(vec![TableStats {
                table_id: TableId(7),
                active_count: 1,
                lookup_count: 2,
                matched_count: 3,
            }])),
        ),
    ]);
}

#[test]
fn port_and_queue_vectors() {
    check(&[
        (
            "04 13 0080 00000002 0004 0000 00000000 00000002 00000000
             0000000000000001 0000000000000002 0000000000000003 0000000000000004  # packets, bytes
             0000000000000005 0000000000000006 0000000000000007 0000000000000008  # dropped, errors
             0000000000000009 000000000000000a 000000000000000b ffffffffffffffff  # kinds of errors
             0000000d 0000000e",
            reply(MultipartReplyBody::PortStats(vec![PortStats {
                port_no: PortNo(2),
                rx_packets: 1,
                tx_packets: 2,
                rx_bytes: 3,
                tx_bytes: 4,
                rx_dropped: 5,
                tx_dropped: 6,
                rx_errors: 7,
                tx_errors: 8,
                rx_frame_err: 9,
                rx_over_err: 10,
                rx_crc_err: 11,
                collisions: u64::MAX,
                duration_sec: 13,
                duration_nsec: 14,
            }])),
        ),
        (
            "04 13 0038 00000002 0005 0000 00000000 00000002 00000007
             0000000000000001 0000000000000002 0000000000000003 00000004 00000005",
            reply(MultipartReplyBody::Queue(vec![QueueStats {
                port_no: PortNo(2),
                queue_id: QueueId(7),
                tx_bytes: 1,
                tx_packets: 2,
                tx_errors: 3,
                duration_sec: 4,
                duration_nsec: 5,
            }])),
        ),
        (
            "04 13 0050 00000002 000d 0000 00000000
             fffffffe 00000000 0200000000fe 0000        # LOCAL
             62723000000000000000000000000000          # br0
             00000001 00000001
             00000000 00000000 00000000 00000000 00000000 00000000",
            reply(MultipartReplyBody::PortDesc(vec![Port {
                port_no: PortNo::LOCAL,
                hw_addr: MacAddr::new(2, 0, 0, 0, 0, 0xfe),
                name: "br0".to_owned(),
                config: PortConfig::PORT_DOWN,
                state: PortState::LINK_DOWN,
                curr: PortFeatures::empty(),
                advertised: PortFeatures::empty(),
                supported: PortFeatures::empty(),
                peer: PortFeatures::empty(),
                curr_speed: 0,
                max_speed: 0,
            }])),
        ),
    ]);
}

#[test]
fn group_vectors() {
    check(&[
        (
            "04 13 0058 00000002 0006 0000 00000000
             0048 0000 00000001 00000002 00000000                # group 1, used twice
             0000000000000003 0000000000000004 00000005 00000006 # packets, bytes, duration
             0000000000000007 0000000000000008                   # bucket 0
             0000000000000009 000000000000000a                   # bucket 1",
            reply(MultipartReplyBody::Group(vec![GroupStats {
                group_id: GroupId(1),
                ref_count: 2,
                packet_count: 3,
                byte_count: 4,
                duration_sec: 5,
                duration_nsec: 6,
                bucket_stats: vec![
                    BucketCounter {
                        packet_count: 7,
                        byte_count: 8,
                    },
                    BucketCounter {
                        packet_count: 9,
                        byte_count: 10,
                    },
                ],
            }])),
        ),
        (
            "04 13 0040 00000002 0007 0000 00000000
             0028 00 00 00000001                                 # type all, group 1
             0020 0000 ffffffff ffffffff 00000000
               0000 0010 00000002 0000 000000000000              #   output to port 2
             0008 02 00 00000009                                 # type indirect, group 9, no buckets",
            reply(MultipartReplyBody::GroupDesc(vec![
                GroupDesc {
                    type_: GroupType::All,
                    group_id: GroupId(1),
                    buckets: vec![Bucket {
                        actions: list![Action::output(PortNo(2))],
                        ..Bucket::default()
                    }],
                },
                GroupDesc {
                    type_: GroupType::Indirect,
                    group_id: GroupId(9),
                    buckets: vec![],
                },
            ])),
        ),
        (
            "04 13 0038 00000002 0008 0000 00000000 0000000f 00000007
             00000001 00000002 00000003 00000004 00000011 00000012 00000013 00000014",
            reply(MultipartReplyBody::GroupFeatures(GroupFeatures {
                types: 15,
                capabilities: GroupCapabilities::SELECT_WEIGHT
                    | GroupCapabilities::SELECT_LIVENESS
                    | GroupCapabilities::CHAINING,
                max_groups: [1, 2, 3, 4],
                actions: [0x11, 0x12, 0x13, 0x14],
            })),
        ),
    ]);
}

#[test]
fn meter_vectors() {
    check(&[
        (
            "04 13 0048 00000002 0009 0000 00000000
             00000001 0038 000000000000 00000002                  # meter 1, two flows
             0000000000000003 0000000000000004 00000005 00000006
             0000000000000007 0000000000000008                    # band 0",
            reply(MultipartReplyBody::Meter(vec![MeterStats {
                meter_id: MeterId(1),
                flow_count: 2,
                packet_in_count: 3,
                byte_in_count: 4,
                duration_sec: 5,
                duration_nsec: 6,
                band_stats: list![MeterBandStats {
                    packet_band_count: 7,
                    byte_band_count: 8,
                }],
            }])),
        ),
        (
            "04 13 0028 00000002 000a 0000 00000000
             0018 000a 00000001  0001 0010 ee6b2800 00000000 00000000",
            reply(MultipartReplyBody::MeterConfig(vec![MeterConfig {
                flags: MeterFlags::PKTPS | MeterFlags::STATS,
                meter_id: MeterId(1),
                bands: vec![MeterBand::Drop {
                    rate: 4_000_000_000,
                    burst_size: 0,
                }],
            }])),
        ),
        (
            "04 13 0020 00000002 000b 0000 00000000 00040000 00000002 0000000f 08 00 0000",
            reply(MultipartReplyBody::MeterFeatures(MeterFeatures {
                max_meter: 262_144,
                band_types: 2,
                capabilities: 15,
                max_bands: 8,
                max_color: 0,
            })),
        ),
    ]);
}

#[test]
fn table_features_vectors() {
    let id = FeatureId::new;
    let oxm = |field, has_mask, length| OxmId {
        class: 0x8000,
        field,
        has_mask,
        length,
        experimenter: None,
    };
    check(&[(
        "04 13 00b8 00000002 000c 0000 00000000
         00a8 02 0000000000                                   # table 2
         636c617373696679 000000000000000000000000000000000000000000000000  # classify
         ffffffffffffffff 00000000000000ff 00000003 000f4240
         0000 0014 0001 0004 0004 0004 ffff 0008 00002320 00000000  # instructions, one an experimenter's
         0002 0007 030405 00                                  # next tables
         0006 000c 0000 0004 0016 0004 00000000               # apply actions: output, group
         0008 000c 80000004 80000706 00000000                 # match: in_port, eth_dst with mask
         000e 000c ffff0206 00004f4e 00000000                 # set-field: class of an experimenter
         ffff 000e 00002320 00000001 abcd 0000                # experimenter's, table miss
         0077 0005 ee 000000                                  # unknown",
        reply(MultipartReplyBody::TableFeatures(vec![TableFeatures {
            table_id: TableId(2),
            name: "classify".to_owned(),
            metadata_match: u64::MAX,
            metadata_write: 0xff,
            config: 3,
            max_entries: 1_000_000,
            properties: vec![
                TableFeatureProperty::Instructions(vec![
                    id(1),
                    id(4),
                    FeatureId {
                        type_: 0xffff,
                        experimenter: Some(0x2320),
                    },
                ]),
                TableFeatureProperty::NextTables(vec![TableId(3), TableId(4), TableId(5)]),
                TableFeatureProperty::ApplyActions(vec![id(0), id(22)]),
                TableFeatureProperty::Match(vec![oxm(0, false, 4), oxm(3, true, 6)]),
                TableFeatureProperty::ApplySetField(vec![OxmId {
                    class: 0xffff,
                    field: 1,
                    has_mask: false,
                    length: 6,
                    experimenter: Some(0x4f4e),
                }]),
                TableFeatureProperty::Experimenter {
                    miss: true,
                    experimenter: 0x2320,
                    exp_type: 1,
                    data: Bytes::from_static(&[0xab, 0xcd]),
                },
                TableFeatureProperty::Unknown {
                    type_: 0x77,
                    data: Bytes::from_static(&[0xee]),
                },
            ],
        }])),
    )]);
}

#[test]
fn lengths_inside_a_reply_are_checked() {
    for (body, said) in [
        (
            "0001 0000 00000000 0037 0000
             00000000 00000000 0000 0000 0000 0000 00000000 0000000000000000 0000000000000000 0000000000000000",
            "ofp_flow_stats.length at byte 16: length is 55, expected at least 56",
        ),
        (
            "0001 0000 00000000 0068 02 00",
            "ofp_flow_stats at byte 20: ends too early, 44 more bytes expected",
        ),
        (
            "0001 0000 00000000 0068 0000
             00000000 00000000 0000 0000 0000 0000 00000000 0000000000000000 0000000000000000 0000000000000000",
            "ofp_flow_stats.length at byte 64: ends too early, 56 more bytes expected",
        ),
        (
            "0007 0000 00000000 0007 0000 00000001",
            "ofp_group_desc.length at byte 16: length is 7, expected at least 8",
        ),
        (
            "0004 0000 00000000 00000001",
            "ofp_port_stats at byte 20: ends too early, 4 more bytes expected",
        ),
    ] {
        let body = bytes(body);
        let mut frame = bytes("04 13 0000 00000002");
        frame.extend(body);
        frame[3] = u8::try_from(frame.len()).unwrap();
        let error = Message::decode(&frame.into()).unwrap_err();
        assert_eq!(error.to_string(), said);
    }
}
