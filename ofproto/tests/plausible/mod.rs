//! Generators of messages that Open vSwitch takes: matches have their prerequisites, numbers are in range.

mod packet;

use bytes::Bytes;
use ofproto::oxm::VLAN_PRESENT;
use ofproto::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

pub(crate) fn message() -> impl Strategy<Value = Message> {
    prop_oneof![
        2 => session(),
        6 => flow_mod().prop_map(Message::FlowMod),
        3 => flow_removed(),
        3 => group_mod(),
        2 => meter_mod(),
        4 => packets(),
        2 => (select(vec![PortReason::Add, PortReason::Delete, PortReason::Modify]), a_port())
            .prop_map(|(reason, desc)| Message::PortStatus(PortStatus { reason, desc })),
        3 => request(),
        8 => reply(),
    ]
}

fn session() -> impl Strategy<Value = Message> {
    let config = || {
        (0u16..4, any::<u16>()).prop_map(|(flags, miss_send_len)| SwitchConfig {
            flags: ConfigFlags::from_bits_retain(flags),
            miss_send_len,
        })
    };
    let codes = select(vec![
        ErrorCode::BAD_ACTION_BAD_OUT_GROUP,
        ErrorCode::GROUP_MOD_FAILED_GROUP_EXISTS,
        ErrorCode::METER_MOD_FAILED_UNKNOWN_METER,
        ErrorCode::BUNDLE_FAILED_MSG_FAILED,
        ErrorCode::FLOW_MOD_FAILED_TABLE_FULL,
    ]);
    let quoted = prop_oneof![
        flow_mod().prop_map(Message::FlowMod),
        group_mod(),
        Just(Message::BarrierRequest),
        request(),
    ]
    .prop_map(|message| {
        let mut frame = bytes::BytesMut::new();
        message
            .encode(Xid(7), &mut frame)
            .expect("a generated message fits");
        frame.freeze()
    });
    let error = (codes, quoted, any::<bool>()).prop_map(|(error, mut data, cut)| {
        if cut {
            data.truncate(64);
        }
        Message::Error(ErrorMsg { error, data })
    });
    prop_oneof![
        vec(1u8..32, 1..5).prop_map(|versions| Message::Hello(Hello {
            header_version: 4,
            bitmap: Some(VersionBitmap::of(&versions)),
            other: vec![],
        })),
        (2u8..7).prop_map(|header_version| Message::Hello(Hello {
            header_version,
            bitmap: None,
            other: vec![]
        })),
        error,
        "[ -~é\\n\\t\"\\\\]{0,20}".prop_map(|text| Message::Error(ErrorMsg {
            error: ErrorCode::HELLO_FAILED_INCOMPATIBLE,
            data: Bytes::from(text),
        })),
        vec(any::<u8>(), 0..40).prop_map(|data| Message::EchoRequest(data.into())),
        any::<(u64, u32, u8, u8)>().prop_map(|(id, n_buffers, n_tables, auxiliary_id)| {
            Message::FeaturesReply(FeaturesReply {
                datapath_id: DatapathId(id),
                n_buffers,
                n_tables,
                auxiliary_id,
                capabilities: Capabilities::from_bits_retain(n_buffers & 0x16f),
            })
        }),
        config().prop_map(Message::SetConfig),
        config().prop_map(Message::GetConfigReply),
        (0u32..4, any::<u64>()).prop_map(|(role, generation_id)| Message::RoleRequest(Role {
            role: ControllerRole::from_wire(role),
            generation_id,
        })),
        (any::<u32>(), 0u16..8, 0u16..4).prop_map(|(id, type_, flags)| {
            let type_ = bundle::BundleControlType::from_wire(type_);
            let control = bundle::BundleControl::new(id, type_, bundle::BundleFlags::from_bits_retain(flags));
            Message::Experimenter(control.to_experimenter())
        }),
        (any::<u32>(), flow_mod()).prop_map(|(id, flow_mod)| {
            let flags = bundle::BundleFlags::ATOMIC;
            let add = bundle::BundleAdd::new(id, flags, &Message::FlowMod(flow_mod), Xid(0x1a));
            Message::Experimenter(add.expect("a generated message fits").to_experimenter())
        }),
    ]
}

fn flow_mod() -> impl Strategy<Value = FlowMod> {
    let commands = select(vec![
        FlowModCommand::Add,
        FlowModCommand::Modify,
        FlowModCommand::ModifyStrict,
        FlowModCommand::Delete,
        FlowModCommand::DeleteStrict,
    ]);
    let head = (any::<(u64, u8)>(), commands, zero_or(any::<u64>()), priority());
    let tail = (
        zero_or(any::<u16>()),
        zero_or(any::<u16>()),
        0u16..32,
        matching(),
        instructions(),
    );
    (
        head,
        tail,
        option::of(1u32..100),
        option::of(port()),
        option::of(1u32..100),
    )
        .prop_map(
            |((head, command, cookie_mask, priority), tail, buffer, out_port, out_group)| {
                let (idle_timeout, hard_timeout, flags, match_, mut instructions) = tail;
                let (cookie, table_id) = head;
                let deletes = matches!(command, FlowModCommand::Delete | FlowModCommand::DeleteStrict);
                if deletes {
                    instructions.clear();
                }
                FlowMod {
                    cookie: Cookie(cookie),
                    cookie_mask,
                    table_id: TableId(table_id % 3),
                    command,
                    idle_timeout,
                    hard_timeout,
                    priority,
                    buffer_id: buffer.map_or(BufferId::NO_BUFFER, BufferId),
                    out_port: out_port.filter(|_| deletes).unwrap_or(PortNo::ANY),
                    out_group: out_group.filter(|_| deletes).map_or(GroupId::ANY, GroupId),
                    flags: FlowModFlags::from_bits_retain(flags),
                    match_,
                    instructions,
                }
            },
        )
}

fn flow_removed() -> impl Strategy<Value = Message> {
    let counts = (
        any::<u32>(),
        nanoseconds(),
        zero_or(any::<u16>()),
        zero_or(any::<u16>()),
        0u64..1 << 40,
        0u64..1 << 40,
    );
    (
        zero_or(any::<u64>()),
        priority(),
        0u8..4,
        any::<u8>(),
        counts,
        matching(),
    )
        .prop_map(|(cookie, priority, reason, table_id, counts, match_)| {
            let (duration_sec, duration_nsec, idle_timeout, hard_timeout, packet_count, byte_count) = counts;
            Message::FlowRemoved(FlowRemoved {
                cookie: Cookie(cookie),
                priority,
                reason: FlowRemovedReason::from_wire(reason),
                table_id: TableId(table_id),
                duration_sec,
                duration_nsec,
                idle_timeout,
                hard_timeout,
                packet_count,
                byte_count,
                match_,
            })
        })
}

fn packets() -> impl Strategy<Value = Message> {
    let packet_in = (
        option::of(1u32..1000),
        0u8..3,
        0u8..3,
        prop_oneof![any::<u64>(), Just(u64::MAX)],
        matching(),
        packet::packet(),
        0u16..200,
        any::<bool>(),
    )
        .prop_map(
            |(buffer, reason, table_id, cookie, match_, data, other_len, whole)| {
                let total_len = if whole {
                    u16::try_from(data.len()).unwrap_or(0)
                } else {
                    other_len
                };
                Message::PacketIn(PacketIn {
                    buffer_id: buffer.map_or(BufferId::NO_BUFFER, BufferId),
                    total_len,
                    reason: PacketInReason::from_wire(reason),
                    table_id: TableId(table_id),
                    cookie: Cookie(cookie),
                    match_,
                    data,
                })
            },
        );
    let packet_out = (
        option::of(1u32..1000),
        prop_oneof![port(), Just(PortNo::CONTROLLER)],
        actions(),
        packet::packet(),
    )
        .prop_map(|(buffer, in_port, actions, data)| {
            Message::PacketOut(PacketOut {
                buffer_id: buffer.map_or(BufferId::NO_BUFFER, BufferId),
                in_port,
                actions,
                data: if buffer.is_some() { Bytes::new() } else { data },
            })
        });
    prop_oneof![packet_in, packet_out]
}

fn group_mod() -> impl Strategy<Value = Message> {
    let commands = select(vec![
        GroupModCommand::Add,
        GroupModCommand::Modify,
        GroupModCommand::Delete,
        GroupModCommand::AddOrModify,
    ]);
    (commands, group()).prop_map(|(command, (type_, group_id, buckets))| {
        let buckets = if command == GroupModCommand::Delete {
            vec![]
        } else {
            buckets
        };
        Message::GroupMod(GroupMod {
            command,
            type_,
            group_id,
            buckets,
        })
    })
}

fn group() -> impl Strategy<Value = (GroupType, GroupId, Vec<Bucket>)> {
    let types = select(vec![
        GroupType::All,
        GroupType::Select,
        GroupType::Indirect,
        GroupType::FastFailover,
    ]);
    let bucket = (0u16..3, option::of(1u32..9), option::of(1u32..9), actions());
    (types, 1u32..100, vec(bucket, 1..4)).prop_map(|(type_, group_id, buckets)| {
        let mut buckets: Vec<_> = buckets
            .into_iter()
            .map(|(weight, port, group, actions)| {
                let watches = type_ == GroupType::FastFailover;
                Bucket {
                    weight: if type_ == GroupType::Select { weight } else { 0 },
                    watch_port: if watches {
                        PortNo(port.unwrap_or(4))
                    } else {
                        PortNo::ANY
                    },
                    watch_group: group.filter(|_| watches).map_or(GroupId::ANY, GroupId),
                    actions,
                }
            })
            .collect();
        if type_ == GroupType::Indirect {
            buckets.truncate(1);
        }
        (type_, GroupId(group_id), buckets)
    })
}

fn meter_mod() -> impl Strategy<Value = Message> {
    (
        select(vec![
            MeterModCommand::Add,
            MeterModCommand::Modify,
            MeterModCommand::Delete,
        ]),
        meter(),
    )
        .prop_map(|(command, (flags, meter_id, bands))| {
            let bands = if command == MeterModCommand::Delete {
                vec![]
            } else {
                bands
            };
            Message::MeterMod(MeterMod {
                command,
                flags,
                meter_id,
                bands,
            })
        })
}

fn meter() -> impl Strategy<Value = (MeterFlags, MeterId, Vec<MeterBand>)> {
    let band =
        (1u32.., any::<u32>(), option::of(any::<u8>())).prop_map(|(rate, burst_size, level)| match level {
            None => MeterBand::Drop { rate, burst_size },
            Some(prec_level) => MeterBand::DscpRemark {
                rate,
                burst_size,
                prec_level,
            },
        });
    let id = prop_oneof![4 => (1u32..1000).prop_map(MeterId), 1 => select(vec![MeterId::SLOWPATH, MeterId::CONTROLLER])];
    (1u16..3, any::<(bool, bool)>(), id, vec(band, 0..3)).prop_map(|(unit, (burst, stats), id, bands)| {
        let flags = unit | u16::from(burst) << 2 | u16::from(stats) << 3;
        (MeterFlags::from_bits_retain(flags), id, bands)
    })
}

fn request() -> impl Strategy<Value = Message> {
    use MultipartRequestBody as Body;
    let flows = || {
        (any::<u8>(), option::of(port()), matching()).prop_map(|(table, out_port, match_)| FlowStatsRequest {
            table_id: TableId(table),
            out_port: out_port.unwrap_or(PortNo::ANY),
            match_,
            ..FlowStatsRequest::default()
        })
    };
    prop_oneof![
        select(vec![
            Body::Desc,
            Body::Table,
            Body::GroupDesc,
            Body::GroupFeatures,
            Body::MeterFeatures,
            Body::PortDesc
        ]),
        flows().prop_map(Body::Flow),
        flows().prop_map(Body::Aggregate),
        port().prop_map(Body::PortStats),
        Just(Body::PortStats(PortNo::ANY)),
        (port(), 0u32..9).prop_map(|(port_no, queue)| Body::Queue {
            port_no,
            queue_id: QueueId(queue)
        }),
        prop_oneof![(0u32..100).prop_map(GroupId), Just(GroupId::ALL)].prop_map(Body::Group),
        prop_oneof![(1u32..100).prop_map(MeterId), Just(MeterId::ALL)].prop_map(Body::Meter),
        prop_oneof![(1u32..100).prop_map(MeterId), Just(MeterId::ALL)].prop_map(Body::MeterConfig),
    ]
    .prop_map(|body| Message::MultipartRequest(MultipartRequest { more: false, body }))
}

fn reply() -> impl Strategy<Value = Message> {
    use MultipartReplyBody as Body;
    let text = || "[ -~]{0,20}";
    let desc = (text(), text(), text(), text(), text()).prop_map(|(a, b, c, d, e)| {
        Body::Desc(SwitchDesc {
            mfr_desc: a,
            hw_desc: b,
            sw_desc: c,
            serial_num: d,
            dp_desc: e,
        })
    });
    let flow = (
        (
            any::<u8>(),
            any::<u32>(),
            nanoseconds(),
            priority(),
            zero_or(any::<u16>()),
            zero_or(any::<u16>()),
        ),
        (
            0u16..32,
            any::<u64>(),
            0u64..1 << 50,
            0u64..1 << 50,
            matching(),
            instructions(),
        ),
    )
        .prop_map(
            |((table, duration_sec, duration_nsec, priority, idle_timeout, hard_timeout), rest)| {
                let (flags, cookie, packet_count, byte_count, match_, instructions) = rest;
                FlowStats {
                    table_id: TableId(table),
                    duration_sec,
                    duration_nsec,
                    priority,
                    idle_timeout,
                    hard_timeout,
                    flags: FlowModFlags::from_bits_retain(flags),
                    cookie: Cookie(cookie),
                    packet_count,
                    byte_count,
                    match_,
                    instructions,
                }
            },
        );
    let counter = || prop_oneof![4 => 0u64..1 << 50, 1 => Just(u64::MAX)];
    let port_stats = (port(), vec(counter(), 12), any::<u32>(), nanoseconds()).prop_map(
        |(port_no, c, duration_sec, duration_nsec)| PortStats {
            port_no,
            rx_packets: c[0],
            tx_packets: c[1],
            rx_bytes: c[2],
            tx_bytes: c[3],
            rx_dropped: c[4],
            tx_dropped: c[5],
            rx_errors: c[6],
            tx_errors: c[7],
            rx_frame_err: c[8],
            rx_over_err: c[9],
            rx_crc_err: c[10],
            collisions: c[11],
            duration_sec,
            duration_nsec,
        },
    );
    let group_stats = (
        1u32..100,
        0u32..9,
        any::<(u64, u64, u32)>(),
        nanoseconds(),
        vec(any::<(u64, u64)>(), 0..3),
    )
        .prop_map(
            |(group_id, ref_count, (packet_count, byte_count, duration_sec), duration_nsec, buckets)| {
                GroupStats {
                    group_id: GroupId(group_id),
                    ref_count,
                    packet_count,
                    byte_count,
                    duration_sec,
                    duration_nsec,
                    bucket_stats: buckets
                        .into_iter()
                        .map(|(packet_count, byte_count)| BucketCounter {
                            packet_count,
                            byte_count,
                        })
                        .collect(),
                }
            },
        );
    let meter_stats = (
        1u32..100,
        any::<(u32, u64, u64, u32)>(),
        nanoseconds(),
        vec(any::<(u64, u64)>(), 0..3),
    )
        .prop_map(
            |(meter_id, (flow_count, packet_in_count, byte_in_count, duration_sec), duration_nsec, bands)| {
                MeterStats {
                    meter_id: MeterId(meter_id),
                    flow_count,
                    packet_in_count,
                    byte_in_count,
                    duration_sec,
                    duration_nsec,
                    band_stats: bands
                        .into_iter()
                        .map(|(packet_band_count, byte_band_count)| MeterBandStats {
                            packet_band_count,
                            byte_band_count,
                        })
                        .collect(),
                }
            },
        );
    let queue_stats = (port(), 0u32..9, vec(counter(), 3), any::<u32>(), nanoseconds()).prop_map(
        |(port_no, queue, c, duration_sec, duration_nsec)| QueueStats {
            port_no,
            queue_id: QueueId(queue),
            tx_bytes: c[0],
            tx_packets: c[1],
            tx_errors: c[2],
            duration_sec,
            duration_nsec,
        },
    );
    let body = prop_oneof![
        desc,
        vec(flow, 0..4).prop_map(Body::Flow),
        any::<(u64, u64, u32)>().prop_map(|(packet_count, byte_count, flow_count)| Body::Aggregate(
            AggregateStats {
                packet_count,
                byte_count,
                flow_count
            }
        )),
        vec(port_stats, 0..4).prop_map(Body::PortStats),
        vec(queue_stats, 0..4).prop_map(Body::Queue),
        vec(group_stats, 0..4).prop_map(Body::Group),
        vec(group(), 0..4).prop_map(|groups| Body::GroupDesc(
            groups
                .into_iter()
                .map(|(type_, group_id, buckets)| GroupDesc {
                    type_,
                    group_id,
                    buckets
                })
                .collect()
        )),
        vec(meter_stats, 0..4).prop_map(Body::Meter),
        vec(meter(), 0..4).prop_map(|meters| Body::MeterConfig(
            meters
                .into_iter()
                .map(|(flags, meter_id, bands)| MeterConfig {
                    flags,
                    meter_id,
                    bands
                })
                .collect()
        )),
        any::<(u32, u32, u8, u8)>().prop_map(|(max_meter, bits, max_bands, max_color)| Body::MeterFeatures(
            MeterFeatures {
                max_meter,
                band_types: bits >> 8 & 7,
                capabilities: bits & 15,
                max_bands,
                max_color
            }
        )),
        vec(a_port(), 0..4).prop_map(Body::PortDesc),
    ];
    (any::<bool>(), body).prop_map(|(more, body)| Message::MultipartReply(MultipartReply { more, body }))
}

fn a_port() -> impl Strategy<Value = Port> {
    (port(), mac(), "[ -~]{0,15}", any::<[u32; 8]>()).prop_map(|(port_no, hw_addr, name, w)| Port {
        port_no,
        hw_addr,
        name,
        config: PortConfig::from_bits_retain(w[0] & 0x65),
        state: PortState::from_bits_retain(w[1] & 7),
        curr: PortFeatures::from_bits_retain(w[2] & 0xffff),
        advertised: PortFeatures::from_bits_retain(w[3] & 0xffff & w[0]),
        supported: PortFeatures::from_bits_retain(w[4] & 3),
        peer: PortFeatures::from_bits_retain(w[5] & 1),
        curr_speed: w[6],
        max_speed: w[7],
    })
}

fn matching() -> impl Strategy<Value = Match> {
    let first = option::of(prop_oneof![3 => port(), 1 => Just(PortNo::CONTROLLER)])
        .prop_map(|port| port.map(OxmField::InPort));
    let metadata = option::weighted(0.2, masked(any::<u64>(), |a, b| a & b))
        .prop_map(|value| value.map(OxmField::Metadata));
    let tunnel = option::weighted(0.2, masked(any::<u64>(), |a, b| a & b))
        .prop_map(|value| value.map(OxmField::TunnelId));
    let src = option::weighted(0.3, masked_mac()).prop_map(|mac| mac.map(OxmField::EthSrc));
    let dst = option::weighted(0.3, masked_mac()).prop_map(|mac| mac.map(OxmField::EthDst));
    let vlan = prop_oneof![
        3 => Just(vec![]),
        1 => (0u16..4096).prop_map(|vid| vec![OxmField::VlanVid((VLAN_PRESENT | vid).into())]),
        1 => Just(vec![OxmField::VlanVid(0.into())]),
        1 => Just(vec![OxmField::VlanVid(Masked::new(VLAN_PRESENT, VLAN_PRESENT))]),
        1 => (0u16..4096, 0u16..4096).prop_map(|(vid, mask)| vec![OxmField::VlanVid(Masked::new(VLAN_PRESENT | (vid & mask), VLAN_PRESENT | mask))]),
        1 => (0u16..4096, 0u8..8).prop_map(|(vid, pcp)| vec![OxmField::VlanVid((VLAN_PRESENT | vid).into()), OxmField::VlanPcp(pcp)]),
        1 => (0u8..8).prop_map(|pcp| vec![OxmField::VlanVid(Masked::new(VLAN_PRESENT, VLAN_PRESENT)), OxmField::VlanPcp(pcp)]),
    ];
    (first, metadata, tunnel, src, dst, vlan, upper()).prop_map(
        |(port, metadata, tunnel, src, dst, vlan, upper)| {
            let fields = [port, metadata, tunnel, src, dst]
                .into_iter()
                .flatten()
                .chain(vlan)
                .chain(upper)
                .collect();
            Match { fields }
        },
    )
}

/// Fields above Ethernet, after their prerequisites.
fn upper() -> impl Strategy<Value = Vec<OxmField>> {
    let some = |field: BoxedStrategy<OxmField>| {
        option::of(field)
            .prop_map(|field| field.into_iter().collect::<Vec<_>>())
            .boxed()
    };
    let tos = prop_oneof![
        2 => Just(vec![]),
        1 => (0u8..64).prop_map(|dscp| vec![OxmField::IpDscp(dscp)]),
        1 => (0u8..4).prop_map(|ecn| vec![OxmField::IpEcn(ecn)]),
    ]
    .boxed();
    let pair = |src: fn(u16) -> OxmField, dst: fn(u16) -> OxmField| {
        (option::of(any::<u16>()), option::of(any::<u16>()))
            .prop_map(move |(a, b)| a.map(src).into_iter().chain(b.map(dst)).collect::<Vec<_>>())
            .boxed()
    };
    let with = |fields: Vec<OxmField>, more: BoxedStrategy<Vec<OxmField>>| {
        more.prop_map(move |more| fields.iter().cloned().chain(more).collect::<Vec<_>>())
            .boxed()
    };
    let ports = |type_: u16| {
        prop_oneof![
            Just(vec![OxmField::EthType(type_)]),
            with(
                vec![OxmField::EthType(type_), OxmField::IpProto(6)],
                pair(OxmField::TcpSrc, OxmField::TcpDst)
            ),
            with(
                vec![OxmField::EthType(type_), OxmField::IpProto(17)],
                pair(OxmField::UdpSrc, OxmField::UdpDst)
            ),
            with(
                vec![OxmField::EthType(type_), OxmField::IpProto(132)],
                pair(OxmField::SctpSrc, OxmField::SctpDst)
            ),
            Just(vec![OxmField::EthType(type_), OxmField::IpProto(89)]),
            Just(vec![OxmField::EthType(type_), OxmField::IpProto(2)]),
        ]
        .boxed()
    };
    let icmp = prop_oneof![
        Just(vec![OxmField::Icmpv4Type(8)]),
        any::<(u8, u8)>().prop_map(|(a, b)| vec![OxmField::Icmpv4Type(a), OxmField::Icmpv4Code(b)]),
    ]
    .boxed();
    let icmp6 = prop_oneof![
        any::<(u8, u8)>().prop_map(|(a, b)| vec![OxmField::Icmpv6Type(a), OxmField::Icmpv6Code(b)]),
        (any::<u128>(), mac()).prop_map(|(target, mac)| vec![
            OxmField::Icmpv6Type(135),
            OxmField::Icmpv6Code(0),
            OxmField::Ipv6NdTarget(target.into()),
            OxmField::Ipv6NdSll(mac)
        ]),
        mac().prop_map(|mac| vec![
            OxmField::Icmpv6Type(136),
            OxmField::Icmpv6Code(0),
            OxmField::Ipv6NdTll(mac)
        ]),
    ]
    .boxed();
    let ipv4 = (
        prop_oneof![4 => ports(0x800), 1 => with(vec![OxmField::EthType(0x800), OxmField::IpProto(1)], icmp)],
        tos.clone(),
        some(masked_ipv4().prop_map(OxmField::Ipv4Src).boxed()),
        some(masked_ipv4().prop_map(OxmField::Ipv4Dst).boxed()),
    )
        .prop_map(|(a, b, c, d)| [a, b, c, d].concat());
    let ipv6 = (
        prop_oneof![4 => ports(0x86dd), 1 => with(vec![OxmField::EthType(0x86dd), OxmField::IpProto(58)], icmp6)],
        tos,
        some(masked_ipv6().prop_map(OxmField::Ipv6Src).boxed()),
        some(masked_ipv6().prop_map(OxmField::Ipv6Dst).boxed()),
        some(masked(0u32..1 << 20, |a, b| a & b).prop_map(OxmField::Ipv6Flabel).boxed()),
    )
        .prop_map(|(a, b, c, d, e)| [a, b, c, d, e].concat());
    let arp = (
        some((0u16..256).prop_map(OxmField::ArpOp).boxed()),
        some(masked_ipv4().prop_map(OxmField::ArpSpa).boxed()),
        some(masked_ipv4().prop_map(OxmField::ArpTpa).boxed()),
        some(masked_mac().prop_map(OxmField::ArpSha).boxed()),
        some(masked_mac().prop_map(OxmField::ArpTha).boxed()),
    )
        .prop_map(|(a, b, c, d, e)| [vec![OxmField::EthType(0x806)], a, b, c, d, e].concat());
    let mpls = (
        select(vec![0x8847u16, 0x8848]),
        some((0u32..1 << 20).prop_map(OxmField::MplsLabel).boxed()),
        some((0u8..8).prop_map(OxmField::MplsTc).boxed()),
        some((0u8..2).prop_map(OxmField::MplsBos).boxed()),
    )
        .prop_map(|(type_, a, b, c)| [vec![OxmField::EthType(type_)], a, b, c].concat());
    prop_oneof![
        2 => Just(vec![]),
        4 => ipv4,
        4 => ipv6,
        2 => arp,
        1 => mpls,
        1 => select(vec![0x88b5u16, 0x8035, 0x88cc, 0x600]).prop_map(|type_| vec![OxmField::EthType(type_)]),
    ]
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    vec(action(), 0..4)
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        4 => port().prop_map(Action::output),
        1 => (0u16..).prop_map(|max_len| Action::Output { port: PortNo::CONTROLLER, max_len }),
        1 => select(vec![PortNo::IN_PORT, PortNo::NORMAL, PortNo::FLOOD, PortNo::ALL, PortNo::LOCAL, PortNo::TABLE])
            .prop_map(Action::output),
        1 => (0u32..0xffff_ff00).prop_map(|id| Action::Group(GroupId(id))),
        1 => any::<u32>().prop_map(Action::SetQueue),
        1 => select(vec![Action::PushVlan(0x8100), Action::PushVlan(0x88a8), Action::PushMpls(0x8847), Action::PushMpls(0x8848)]),
        1 => masked_mac().prop_map(|mac| Action::SetField(OxmField::EthSrc(Masked::exact(mac.value)))),
        1 => mac().prop_map(|mac| Action::SetField(OxmField::EthDst(mac.into()))),
        1 => any::<u64>().prop_map(|value| Action::SetField(OxmField::Metadata(value.into()))),
        1 => any::<u64>().prop_map(|value| Action::SetField(OxmField::TunnelId(value.into()))),
        1 => port().prop_map(|port| Action::SetField(OxmField::InPort(port))),
    ]
}

/// Actions that need a match; most of them are refused, for most matches do not fit.
fn picky_action() -> impl Strategy<Value = Action> {
    let field = prop_oneof![
        (0u16..4096).prop_map(|vid| OxmField::VlanVid((VLAN_PRESENT | vid).into())),
        (0u8..8).prop_map(OxmField::VlanPcp),
        (0u8..64).prop_map(OxmField::IpDscp),
        (0u8..4).prop_map(OxmField::IpEcn),
        any::<u32>().prop_map(|a| OxmField::Ipv4Src(std::net::Ipv4Addr::from(a).into())),
        any::<u32>().prop_map(|a| OxmField::Ipv4Dst(std::net::Ipv4Addr::from(a).into())),
        any::<u128>().prop_map(|a| OxmField::Ipv6Src(std::net::Ipv6Addr::from(a).into())),
        any::<u128>().prop_map(|a| OxmField::Ipv6Dst(std::net::Ipv6Addr::from(a).into())),
        (0u32..1 << 20).prop_map(|label| OxmField::Ipv6Flabel(label.into())),
        any::<u16>().prop_map(OxmField::TcpSrc),
        any::<u16>().prop_map(OxmField::UdpDst),
        any::<u16>().prop_map(OxmField::SctpDst),
        any::<u8>().prop_map(OxmField::Icmpv4Type),
        any::<u8>().prop_map(OxmField::Icmpv6Code),
        (0u16..256).prop_map(OxmField::ArpOp),
        any::<u32>().prop_map(|a| OxmField::ArpSpa(std::net::Ipv4Addr::from(a).into())),
        any::<u32>().prop_map(|a| OxmField::ArpTpa(std::net::Ipv4Addr::from(a).into())),
        mac().prop_map(|mac| OxmField::ArpSha(mac.into())),
        mac().prop_map(|mac| OxmField::ArpTha(mac.into())),
        any::<u128>().prop_map(|a| OxmField::Ipv6NdTarget(a.into())),
        mac().prop_map(OxmField::Ipv6NdSll),
        (0u32..1 << 20).prop_map(OxmField::MplsLabel),
        (0u8..8).prop_map(OxmField::MplsTc),
        (0u8..2).prop_map(OxmField::MplsBos),
    ];
    prop_oneof![
        4 => field.prop_map(Action::SetField),
        1 => select(vec![Action::DecNwTtl, Action::DecMplsTtl, Action::PopVlan, Action::PopMpls(0x800)]),
        1 => any::<u8>().prop_map(Action::SetNwTtl),
        1 => any::<u8>().prop_map(Action::SetMplsTtl),
    ]
}

fn instructions() -> impl Strategy<Value = Vec<Instruction>> {
    let apply = prop_oneof![
        3 => actions(),
        2 => (actions(), picky_action()).prop_map(|(actions, action)| [vec![action], actions].concat()),
    ];
    (
        option::weighted(0.3, 1u32..100),
        option::weighted(0.7, apply),
        any::<bool>(),
        option::weighted(0.3, actions()),
        option::weighted(0.3, any::<(u64, u64)>()),
        option::weighted(0.3, 3u8..255),
    )
        .prop_map(|(meter, apply, clear, write, metadata, goto)| {
            let metadata = metadata.map(|(metadata, mask)| Instruction::WriteMetadata {
                metadata: metadata & mask,
                mask,
            });
            [
                meter.map(|id| Instruction::Meter(MeterId(id))),
                goto.map(|table| Instruction::GotoTable(TableId(table))),
                apply.map(Instruction::ApplyActions),
                metadata,
                clear.then_some(Instruction::ClearActions),
                write.map(Instruction::WriteActions),
            ]
            .into_iter()
            .flatten()
            .collect()
        })
}

fn port() -> impl Strategy<Value = PortNo> {
    prop_oneof![6 => (1u32..200).prop_map(PortNo), 1 => (1u32..0xff00).prop_map(PortNo), 1 => Just(PortNo::LOCAL)]
}

fn mac() -> impl Strategy<Value = MacAddr> + Clone {
    any::<[u8; 6]>().prop_map(MacAddr::from)
}

fn priority() -> impl Strategy<Value = u16> {
    prop_oneof![Just(0x8000), any::<u16>()]
}

fn nanoseconds() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(0),
        0u32..1_000_000_000,
        (0u32..1000).prop_map(|ms| ms * 1_000_000)
    ]
}

fn zero_or<T: Default + Clone + std::fmt::Debug>(
    values: impl Strategy<Value = T>,
) -> impl Strategy<Value = T> {
    prop_oneof![Just(T::default()), values]
}

fn masked<T: Copy + std::fmt::Debug>(
    values: impl Strategy<Value = T> + Clone,
    and: fn(T, T) -> T,
) -> impl Strategy<Value = Masked<T>> {
    (values.clone(), option::of(values)).prop_map(move |(value, mask)| match mask {
        Some(mask) => Masked::new(and(value, mask), mask),
        None => Masked::exact(value),
    })
}

fn masked_mac() -> impl Strategy<Value = Masked<MacAddr>> {
    masked(mac(), |a, b| {
        let (a, b) = (a.into_array(), b.into_array());
        MacAddr::from(std::array::from_fn(|at| a[at] & b[at]))
    })
}

fn masked_ipv4() -> impl Strategy<Value = Masked<std::net::Ipv4Addr>> {
    prop_oneof![
        masked(any::<u32>().prop_map(std::net::Ipv4Addr::from), |a, b| a & b),
        (any::<u32>(), 0u8..33).prop_map(|(a, n)| Masked::<std::net::Ipv4Addr>::prefix(a.into(), n)),
    ]
}

fn masked_ipv6() -> impl Strategy<Value = Masked<std::net::Ipv6Addr>> {
    let sparse = prop_oneof![
        any::<u128>(),
        any::<[u16; 3]>().prop_map(|[a, b, c]| u128::from(a) << 112 | u128::from(b) << 32 | u128::from(c)),
        any::<u32>().prop_map(u128::from),
        any::<u32>().prop_map(|a| 0xffff_0000_0000 | u128::from(a)),
    ];
    prop_oneof![
        masked(any::<u128>().prop_map(std::net::Ipv6Addr::from), |a, b| a & b),
        (sparse, 0u8..=128).prop_map(|(a, n)| Masked::<std::net::Ipv6Addr>::prefix(a.into(), n)),
    ]
}
