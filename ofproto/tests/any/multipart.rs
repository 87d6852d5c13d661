//! Generators of multipart requests and replies.

use ofproto::multipart::{FeatureId, GroupCapabilities, TableFeatureProperty};
use ofproto::{
    AggregateStats, BucketCounter, Cookie, FlowStats, FlowStatsRequest, GroupDesc, GroupFeatures, GroupStats,
    MeterBandStats, MeterConfig, MeterFeatures, MeterStats, MultipartReply, MultipartReplyBody,
    MultipartRequest, MultipartRequestBody, OxmId, PortStats, QueueId, QueueStats, SwitchDesc, TableFeatures,
    TableId, TableStats,
};
use proptest::collection::vec;
use proptest::prelude::*;

use super::experimenter;
use super::parts::{
    buckets, data, flow_flags, group_id, group_type, instructions, match_, meter_bands, meter_flags,
    meter_id, port, port_no, text,
};

pub(super) fn request() -> impl Strategy<Value = MultipartRequest> {
    use MultipartRequestBody as Body;

    let body = prop_oneof![
        prop::sample::select(vec![
            Body::Desc,
            Body::Table,
            Body::GroupDesc,
            Body::GroupFeatures,
            Body::MeterFeatures,
            Body::PortDesc,
        ]),
        flow_request().prop_map(Body::Flow),
        flow_request().prop_map(Body::Aggregate),
        port_no().prop_map(Body::PortStats),
        (port_no(), any::<u32>()).prop_map(|(port_no, queue)| Body::Queue {
            port_no,
            queue_id: QueueId(queue)
        }),
        group_id().prop_map(Body::Group),
        meter_id().prop_map(Body::Meter),
        meter_id().prop_map(Body::MeterConfig),
        vec(table_features(), 0..3).prop_map(Body::TableFeatures),
        experimenter().prop_map(Body::Experimenter),
        (14u16..0xffff, data(20)).prop_map(|(type_, data)| Body::Unknown { type_, data }),
    ];
    (any::<bool>(), body).prop_map(|(more, body)| MultipartRequest { more, body })
}

pub(super) fn reply() -> impl Strategy<Value = MultipartReply> {
    (any::<bool>(), reply_body()).prop_map(|(more, body)| MultipartReply { more, body })
}

fn reply_body() -> impl Strategy<Value = MultipartReplyBody> {
    use MultipartReplyBody as Body;

    let desc = (text(256), text(256), text(256), text(32), text(256)).prop_map(
        |(mfr_desc, hw_desc, sw_desc, serial_num, dp_desc)| SwitchDesc {
            mfr_desc,
            hw_desc,
            sw_desc,
            serial_num,
            dp_desc,
        },
    );
    let aggregate =
        any::<(u64, u64, u32)>().prop_map(|(packet_count, byte_count, flow_count)| AggregateStats {
            packet_count,
            byte_count,
            flow_count,
        });
    let table =
        any::<(u8, u32, u64, u64)>().prop_map(|(id, active_count, lookup_count, matched_count)| TableStats {
            table_id: TableId(id),
            active_count,
            lookup_count,
            matched_count,
        });
    let group_desc = (group_type(), group_id(), buckets()).prop_map(|(type_, group_id, buckets)| GroupDesc {
        type_,
        group_id,
        buckets,
    });
    let group_features =
        any::<(u32, u32, [u32; 4], [u32; 4])>().prop_map(|(types, capabilities, max_groups, actions)| {
            GroupFeatures {
                types,
                capabilities: GroupCapabilities::from_bits_retain(capabilities),
                max_groups,
                actions,
            }
        });
    let meter_config =
        (meter_flags(), meter_id(), meter_bands()).prop_map(|(flags, meter_id, bands)| MeterConfig {
            flags,
            meter_id,
            bands,
        });
    let meter_features = any::<(u32, u32, u32, u8, u8)>().prop_map(
        |(max_meter, band_types, capabilities, max_bands, max_color)| MeterFeatures {
            max_meter,
            band_types,
            capabilities,
            max_bands,
            max_color,
        },
    );
    prop_oneof![
        desc.prop_map(Body::Desc),
        vec(flow_stats(), 0..4).prop_map(Body::Flow),
        aggregate.prop_map(Body::Aggregate),
        vec(table, 0..4).prop_map(Body::Table),
        vec(port_stats(), 0..4).prop_map(Body::PortStats),
        vec(queue_stats(), 0..4).prop_map(Body::Queue),
        vec(group_stats(), 0..4).prop_map(Body::Group),
        vec(group_desc, 0..4).prop_map(Body::GroupDesc),
        group_features.prop_map(Body::GroupFeatures),
        vec(meter_stats(), 0..4).prop_map(Body::Meter),
        vec(meter_config, 0..4).prop_map(Body::MeterConfig),
        meter_features.prop_map(Body::MeterFeatures),
        vec(table_features(), 0..3).prop_map(Body::TableFeatures),
        vec(port(), 0..4).prop_map(Body::PortDesc),
        experimenter().prop_map(Body::Experimenter),
        (14u16..0xffff, data(20)).prop_map(|(type_, data)| Body::Unknown { type_, data }),
    ]
}

fn flow_request() -> impl Strategy<Value = FlowStatsRequest> {
    (any::<(u8, u64, u64)>(), port_no(), group_id(), match_()).prop_map(
        |((table_id, cookie, cookie_mask), out_port, out_group, match_)| FlowStatsRequest {
            table_id: TableId(table_id),
            out_port,
            out_group,
            cookie: Cookie(cookie),
            cookie_mask,
            match_,
        },
    )
}

fn flow_stats() -> impl Strategy<Value = FlowStats> {
    let fixed = any::<(u8, u32, u32, u16, u16, u16, u64, u64, u64)>();
    (fixed, flow_flags(), match_(), instructions()).prop_map(|(fixed, flags, match_, instructions)| {
        let (
            table_id,
            duration_sec,
            duration_nsec,
            priority,
            idle_timeout,
            hard_timeout,
            cookie,
            packets,
            bytes,
        ) = fixed;
        FlowStats {
            table_id: TableId(table_id),
            duration_sec,
            duration_nsec,
            priority,
            idle_timeout,
            hard_timeout,
            flags,
            cookie: Cookie(cookie),
            packet_count: packets,
            byte_count: bytes,
            match_,
            instructions,
        }
    })
}

fn port_stats() -> impl Strategy<Value = PortStats> {
    (port_no(), any::<[u64; 12]>(), any::<(u32, u32)>()).prop_map(
        |(port_no, counters, (duration_sec, duration_nsec))| {
            let [a, b, c, d, e, f, g, h, i, j, k, l] = counters;
            PortStats {
                port_no,
                rx_packets: a,
                tx_packets: b,
                rx_bytes: c,
                tx_bytes: d,
                rx_dropped: e,
                tx_dropped: f,
                rx_errors: g,
                tx_errors: h,
                rx_frame_err: i,
                rx_over_err: j,
                rx_crc_err: k,
                collisions: l,
                duration_sec,
                duration_nsec,
            }
        },
    )
}

fn queue_stats() -> impl Strategy<Value = QueueStats> {
    (port_no(), any::<(u32, u64, u64, u64, u32, u32)>()).prop_map(
        |(port_no, (queue, tx_bytes, tx_packets, tx_errors, duration_sec, duration_nsec))| QueueStats {
            port_no,
            queue_id: QueueId(queue),
            tx_bytes,
            tx_packets,
            tx_errors,
            duration_sec,
            duration_nsec,
        },
    )
}

fn group_stats() -> impl Strategy<Value = GroupStats> {
    (
        group_id(),
        any::<(u32, u64, u64, u32, u32)>(),
        vec(any::<(u64, u64)>(), 0..4),
    )
        .prop_map(
            |(group_id, (ref_count, packet_count, byte_count, duration_sec, duration_nsec), buckets)| {
                GroupStats {
                    group_id,
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
        )
}

fn meter_stats() -> impl Strategy<Value = MeterStats> {
    (
        meter_id(),
        any::<(u32, u64, u64, u32, u32)>(),
        vec(any::<(u64, u64)>(), 0..4),
    )
        .prop_map(
            |(meter_id, (flow_count, packet_in_count, byte_in_count, duration_sec, duration_nsec), bands)| {
                MeterStats {
                    meter_id,
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
        )
}

fn table_features() -> impl Strategy<Value = TableFeatures> {
    (any::<(u8, u64, u64, u32, u32)>(), text(32), vec(property(), 0..6)).prop_map(
        |((table_id, metadata_match, metadata_write, config, max_entries), name, properties)| TableFeatures {
            table_id: TableId(table_id),
            name,
            metadata_match,
            metadata_write,
            config,
            max_entries,
            properties,
        },
    )
}

fn property() -> impl Strategy<Value = TableFeatureProperty> {
    use TableFeatureProperty as Property;

    let ids = || {
        let id =
            any::<(u16, Option<u32>)>().prop_map(|(type_, experimenter)| FeatureId { type_, experimenter });
        vec(id, 0..4)
    };
    let tables = || vec(any::<u8>().prop_map(TableId), 0..9);
    let fields = || {
        let field = (
            prop_oneof![Just(0x8000u16), any::<u16>()],
            0u8..128,
            any::<(bool, u8, u32)>(),
        )
            .prop_map(|(class, field, (has_mask, length, id))| OxmId {
                class,
                field,
                has_mask,
                length,
                experimenter: (class == 0xffff).then_some(id),
            });
        vec(field, 0..4)
    };
    prop_oneof![
        prop_oneof![
            ids().prop_map(Property::Instructions),
            ids().prop_map(Property::InstructionsMiss),
            tables().prop_map(Property::NextTables),
            tables().prop_map(Property::NextTablesMiss),
            ids().prop_map(Property::WriteActions),
            ids().prop_map(Property::WriteActionsMiss),
            ids().prop_map(Property::ApplyActions),
            ids().prop_map(Property::ApplyActionsMiss),
        ],
        prop_oneof![
            fields().prop_map(Property::Match),
            fields().prop_map(Property::Wildcards),
            fields().prop_map(Property::WriteSetField),
            fields().prop_map(Property::WriteSetFieldMiss),
            fields().prop_map(Property::ApplySetField),
            fields().prop_map(Property::ApplySetFieldMiss),
        ],
        (any::<(bool, u32, u32)>(), data(9)).prop_map(|((miss, experimenter, exp_type), data)| {
            Property::Experimenter {
                miss,
                experimenter,
                exp_type,
                data,
            }
        }),
        (16u16..0xfffe, data(9)).prop_map(|(type_, data)| Property::Unknown { type_, data }),
    ]
}
