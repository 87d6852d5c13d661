//! Generators of messages in their canonical form.

mod multipart;
mod parts;

use ofproto::{
    AsyncConfig, BufferId, Capabilities, ConfigFlags, ControllerRole, Cookie, DatapathId, ErrorCode,
    ErrorMsg, Experimenter, FeaturesReply, FlowMod, FlowModCommand, FlowRemoved, FlowRemovedReason, GroupMod,
    GroupModCommand, Hello, HelloElement, Message, MeterMod, MeterModCommand, PacketIn, PacketInReason,
    PacketOut, PacketQueue, PortConfig, PortFeatures, PortMod, PortReason, PortStatus, QueueGetConfigReply,
    QueueGetConfigRequest, QueueId, QueueProperty, Role, SwitchConfig, TableId, TableMod, VersionBitmap,
};
use proptest::collection::vec;
use proptest::prelude::*;

use parts::{
    actions, buckets, data, flow_flags, group_id, group_type, instructions, mac, match_, meter_bands,
    meter_flags, meter_id, port, port_no,
};

/// Any message.
pub(crate) fn message() -> impl Strategy<Value = Message> {
    prop_oneof![
        4 => session(),
        4 => asynchronous(),
        6 => modification(),
        3 => administration(),
        4 => multipart::request().prop_map(Message::MultipartRequest),
        8 => multipart::reply().prop_map(Message::MultipartReply),
    ]
}

pub(crate) fn experimenter() -> impl Strategy<Value = Experimenter> {
    (any::<u32>(), any::<u32>(), data(20)).prop_map(|(experimenter, exp_type, data)| Experimenter {
        experimenter,
        exp_type,
        data,
    })
}

fn session() -> impl Strategy<Value = Message> {
    let element = (2u16.., data(9)).prop_map(|(type_, data)| HelloElement { type_, data });
    let hello = (
        4u8..,
        prop::option::of(vec(any::<u32>(), 0..4)),
        vec(element, 0..3),
    )
        .prop_map(|(header_version, words, other)| Hello {
            header_version,
            bitmap: words.map(VersionBitmap),
            other,
        });
    let error = prop_oneof![
        (0u16..0xffff, any::<u16>()).prop_map(|(type_, code)| ErrorCode::new(type_, code)),
        any::<(u32, u16)>().prop_map(|(id, exp_type)| ErrorCode::from_experimenter(id, exp_type)),
    ];
    let features =
        any::<(u64, u32, u8, u8, u32)>().prop_map(|(id, n_buffers, n_tables, auxiliary_id, bits)| {
            FeaturesReply {
                datapath_id: DatapathId(id),
                n_buffers,
                n_tables,
                auxiliary_id,
                capabilities: Capabilities::from_bits_retain(bits),
            }
        });
    prop_oneof![
        hello.prop_map(Message::Hello),
        (error, data(70)).prop_map(|(error, data)| Message::Error(ErrorMsg { error, data })),
        data(20).prop_map(Message::EchoRequest),
        data(20).prop_map(Message::EchoReply),
        experimenter().prop_map(Message::Experimenter),
        Just(Message::FeaturesRequest),
        features.prop_map(Message::FeaturesReply),
        Just(Message::GetConfigRequest),
        config().prop_map(Message::GetConfigReply),
        config().prop_map(Message::SetConfig),
        Just(Message::BarrierRequest),
        Just(Message::BarrierReply),
    ]
}

fn asynchronous() -> impl Strategy<Value = Message> {
    let packet_in =
        (any::<(u32, u16, u8, u8, u64)>(), match_(), data(60)).prop_map(|(fixed, match_, data)| {
            let (buffer_id, total_len, reason, table_id, cookie) = fixed;
            PacketIn {
                buffer_id: BufferId(buffer_id),
                total_len,
                reason: PacketInReason::from_wire(reason),
                table_id: TableId(table_id),
                cookie: Cookie(cookie),
                match_,
                data,
            }
        });
    let removed = (
        any::<(u64, u16, u8, u8)>(),
        any::<(u32, u32, u16, u16, u64, u64)>(),
        match_(),
    )
        .prop_map(|(head, tail, match_)| {
            let (cookie, priority, reason, table_id) = head;
            let (duration_sec, duration_nsec, idle_timeout, hard_timeout, packet_count, byte_count) = tail;
            FlowRemoved {
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
            }
        });
    let status = (any::<u8>(), port()).prop_map(|(reason, desc)| PortStatus {
        reason: PortReason::from_wire(reason),
        desc,
    });
    prop_oneof![
        packet_in.prop_map(Message::PacketIn),
        removed.prop_map(Message::FlowRemoved),
        status.prop_map(Message::PortStatus),
    ]
}

fn modification() -> impl Strategy<Value = Message> {
    let packet_out =
        (any::<u32>(), port_no(), actions(), data(60)).prop_map(|(id, in_port, actions, data)| PacketOut {
            buffer_id: BufferId(id),
            in_port,
            actions,
            data,
        });
    let flow_mod = (
        any::<(u64, u64, u8, u8, u16, u16, u16, u32)>(),
        (port_no(), group_id(), flow_flags(), match_(), instructions()),
    )
        .prop_map(|(fixed, (out_port, out_group, flags, match_, instructions))| {
            let (cookie, cookie_mask, table_id, command, idle_timeout, hard_timeout, priority, buffer_id) =
                fixed;
            FlowMod {
                cookie: Cookie(cookie),
                cookie_mask,
                table_id: TableId(table_id),
                command: FlowModCommand::from_wire(command),
                idle_timeout,
                hard_timeout,
                priority,
                buffer_id: BufferId(buffer_id),
                out_port,
                out_group,
                flags,
                match_,
                instructions,
            }
        });
    let group_mod = (any::<u16>(), group_type(), group_id(), buckets()).prop_map(
        |(command, type_, group_id, buckets)| GroupMod {
            command: GroupModCommand::from_wire(command),
            type_,
            group_id,
            buckets,
        },
    );
    let meter_mod = (any::<u16>(), meter_flags(), meter_id(), meter_bands()).prop_map(
        |(command, flags, meter_id, bands)| MeterMod {
            command: MeterModCommand::from_wire(command),
            flags,
            meter_id,
            bands,
        },
    );
    prop_oneof![
        packet_out.prop_map(Message::PacketOut),
        flow_mod.prop_map(Message::FlowMod),
        group_mod.prop_map(Message::GroupMod),
        meter_mod.prop_map(Message::MeterMod),
    ]
}

fn administration() -> impl Strategy<Value = Message> {
    let port_mod = (port_no(), mac(), any::<(u32, u32, u32)>()).prop_map(
        |(port_no, hw_addr, (config, mask, advertise))| PortMod {
            port_no,
            hw_addr,
            config: PortConfig::from_bits_retain(config),
            mask: PortConfig::from_bits_retain(mask),
            advertise: PortFeatures::from_bits_retain(advertise),
        },
    );
    let table_mod = any::<(u8, u32)>().prop_map(|(id, config)| TableMod {
        table_id: TableId(id),
        config,
    });
    let role = || {
        any::<(u32, u64)>().prop_map(|(role, generation_id)| Role {
            role: ControllerRole::from_wire(role % 6),
            generation_id,
        })
    };
    let async_config = || {
        any::<([u32; 2], [u32; 2], [u32; 2])>().prop_map(
            |(packet_in_mask, port_status_mask, flow_removed_mask)| AsyncConfig {
                packet_in_mask,
                port_status_mask,
                flow_removed_mask,
            },
        )
    };
    let property = prop_oneof![
        any::<u16>().prop_map(QueueProperty::MinRate),
        any::<u16>().prop_map(QueueProperty::MaxRate),
        (any::<u32>(), data(9))
            .prop_map(|(experimenter, data)| QueueProperty::Experimenter { experimenter, data }),
        (3u16..0xffff, data(9)).prop_map(|(type_, data)| QueueProperty::Unknown { type_, data }),
    ];
    let queue =
        (any::<u32>(), port_no(), vec(property, 0..4)).prop_map(|(id, port, properties)| PacketQueue {
            queue_id: QueueId(id),
            port,
            properties,
        });
    prop_oneof![
        port_mod.prop_map(Message::PortMod),
        table_mod.prop_map(Message::TableMod),
        role().prop_map(Message::RoleRequest),
        role().prop_map(Message::RoleReply),
        Just(Message::GetAsyncRequest),
        async_config().prop_map(Message::GetAsyncReply),
        async_config().prop_map(Message::SetAsync),
        port_no().prop_map(|port| Message::QueueGetConfigRequest(QueueGetConfigRequest { port })),
        (port_no(), vec(queue, 0..4))
            .prop_map(|(port, queues)| Message::QueueGetConfigReply(QueueGetConfigReply { port, queues })),
    ]
}

fn config() -> impl Strategy<Value = SwitchConfig> {
    any::<(u16, u16)>().prop_map(|(flags, miss_send_len)| SwitchConfig {
        flags: ConfigFlags::from_bits_retain(flags),
        miss_send_len,
    })
}
