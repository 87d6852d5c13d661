//! Generators of messages that Open vSwitch takes: matches have their prerequisites, numbers are in range.

mod actions;
mod administration;
mod matching;
mod multipart;
mod packet;

use bytes::Bytes;
use ofproto::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use actions::{actions, instructions};
use administration::administration;
use matching::matching;
use multipart::{a_port, reply, request};

pub(crate) fn message() -> impl Strategy<Value = Message> {
    prop_oneof![
        2 => session().boxed(),
        5 => administration().boxed(),
        6 => flow_mod().prop_map(Message::FlowMod).boxed(),
        3 => flow_removed().boxed(),
        3 => group_mod(),
        2 => meter_mod(),
        4 => packets(),
        2 => (select(vec![PortReason::Add, PortReason::Delete, PortReason::Modify]), a_port())
            .prop_map(|(reason, desc)| Message::PortStatus(PortStatus { reason, desc })),
        3 => request().boxed(),
        8 => reply().boxed(),
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
                    instructions = Instructions::new();
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
        0u8..7,
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
