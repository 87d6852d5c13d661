//! Generators of multipart messages.

use ofproto::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::actions::instructions;
use super::administration::{group_features, table_features, table_stats};
use super::matching::matching;
use super::{group, mac, meter, nanoseconds, port, priority, zero_or};

pub(super) fn request() -> impl Strategy<Value = Message> {
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
        table_features().prop_map(Body::TableFeatures).boxed(),
    ]
    .prop_map(|body| Message::MultipartRequest(MultipartRequest { more: false, body }))
}

pub(super) fn reply() -> impl Strategy<Value = Message> {
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
        table_stats(),
        group_features(),
        table_features().prop_map(Body::TableFeatures).boxed(),
    ];
    (any::<bool>(), body).prop_map(|(more, body)| Message::MultipartReply(MultipartReply { more, body }))
}

pub(super) fn a_port() -> impl Strategy<Value = Port> {
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
