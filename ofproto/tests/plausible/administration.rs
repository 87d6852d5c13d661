//! Generators of messages that configure a switch, and of what it says about its tables and queues.

use bytes::{BufMut, BytesMut};
use ofproto::multipart::{FeatureId, GroupCapabilities, TableFeatureProperty};
use ofproto::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::{mac, port};

pub(super) fn administration() -> impl Strategy<Value = Message> {
    let port_mod = (port(), mac(), any::<[u32; 3]>()).prop_map(|(port_no, hw_addr, bits)| {
        Message::PortMod(PortMod {
            port_no,
            hw_addr,
            config: PortConfig::from_bits_retain(bits[0] & 0x65),
            mask: PortConfig::from_bits_retain(bits[1] & 0x65),
            advertise: PortFeatures::from_bits_retain(bits[2] & 0xffff & bits[0]),
        })
    });
    let table_mod = prop_oneof![0u8..10, Just(255)].prop_map(|table| {
        Message::TableMod(TableMod {
            table_id: TableId(table),
            config: 0,
        })
    });
    let masks = || (0u32..8, 0u32..8);
    let asynchronous = (any::<bool>(), masks(), masks(), (0u32..16, 0u32..16)).prop_map(|(set, a, b, c)| {
        let config = AsyncConfig {
            packet_in_mask: a.into(),
            port_status_mask: b.into(),
            flow_removed_mask: c.into(),
        };
        if set {
            Message::SetAsync(config)
        } else {
            Message::GetAsyncReply(config)
        }
    });
    let request = prop_oneof![port(), Just(PortNo::ANY)]
        .prop_map(|port| Message::QueueGetConfigRequest(QueueGetConfigRequest { port }));
    prop_oneof![
        port_mod,
        table_mod,
        asynchronous,
        request,
        (port(), vec(queue(), 0..4)).prop_map(|(port, mut queues)| {
            for queue in &mut queues {
                queue.port = port;
            }
            Message::QueueGetConfigReply(QueueGetConfigReply { port, queues })
        }),
        nicira(),
    ]
}

fn queue() -> impl Strategy<Value = PacketQueue> {
    let rate = || option::of(prop_oneof![0u16..1001, 1000u16..]);
    (0u32..9, rate(), rate()).prop_map(|(queue, min, max)| PacketQueue {
        queue_id: QueueId(queue),
        port: PortNo(1),
        properties: min
            .map(QueueProperty::MinRate)
            .into_iter()
            .chain(max.map(QueueProperty::MaxRate))
            .collect(),
    })
}

/// Nicira's messages; among them some of a wrong length.
fn nicira() -> impl Strategy<Value = Message> {
    let types = select(vec![10u32, 11, 15, 16, 18, 19, 20, 24, 25, 26, 29]);
    let maps = vec((any::<u16>(), any::<u8>(), 0u16..64), 0..3);
    (types, 0u8..4, any::<u16>(), any::<[u32; 6]>(), maps).prop_map(
        |(exp_type, small, number, words, maps)| {
            let mut data = BytesMut::new();
            match exp_type {
                10 | 11 | 16 => data.put_u32(small.into()),
                15 => data.put_u64(u64::from(small) << 56),
                19 => words.iter().for_each(|word| data.put_u32(word & 7)),
                20 | 29 => data.put_u64(number.into()),
                24 => data.put_u64(u64::from(small) << 48),
                26 => {
                    data.put_u32(words[0]);
                    data.put_u16(number);
                    data.put_bytes(0, 10);
                }
                _ => {}
            }
            if matches!(exp_type, 24 | 26) {
                for (class, type_, index) in maps {
                    data.put_u16(class);
                    data.put_u8(type_);
                    data.put_u8(small << 2 | 4);
                    data.put_u16(index);
                    data.put_u16(0);
                }
            }
            Message::Experimenter(Experimenter {
                experimenter: ExperimenterId::NICIRA.0,
                exp_type,
                data: data.freeze(),
            })
        },
    )
}

pub(super) fn table_stats() -> impl Strategy<Value = MultipartReplyBody> {
    vec((0u32..2, 0u64..2), 0..9).prop_map(|counts| {
        let tables = (0u8..)
            .zip(counts)
            .map(|(table, (active_count, lookup_count))| TableStats {
                table_id: TableId(table),
                active_count,
                lookup_count,
                matched_count: lookup_count,
            });
        MultipartReplyBody::Table(tables.collect())
    })
}

pub(super) fn group_features() -> impl Strategy<Value = MultipartReplyBody> {
    (0u32..16, 0u32..16, any::<[u32; 4]>(), any::<[u32; 4]>()).prop_map(
        |(types, capabilities, max_groups, actions)| {
            MultipartReplyBody::GroupFeatures(GroupFeatures {
                types,
                capabilities: GroupCapabilities::from_bits_retain(capabilities),
                max_groups,
                actions,
            })
        },
    )
}

pub(super) fn table_features() -> impl Strategy<Value = Vec<TableFeatures>> {
    // Few kinds of tables in a row, so that some are like the one before.
    (
        vec(table_kind(), 1..3),
        vec(any::<prop::sample::Index>(), 0..5),
        0u8..250,
    )
        .prop_map(|(kinds, chosen, first)| {
            (first..)
                .zip(chosen)
                .map(|(table, kind)| {
                    let mut features = kind.get(&kinds).clone();
                    features.table_id = TableId(table);
                    features
                })
                .collect()
        })
}

fn table_kind() -> BoxedStrategy<TableFeatures> {
    let head = (
        select(vec!["", "", "", "classifier"]),
        select(vec![0, u64::MAX, 0xff00]),
        select(vec![0, u64::MAX]),
        select(vec![0u32, 1_000_000]),
    );
    let instructions = || subsequence(vec![1u16, 2, 3, 4, 5, 6], 0..=6).prop_map(feature_ids);
    let actions = || {
        subsequence(
            vec![0u16, 11, 12, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27],
            0..=16,
        )
        .prop_map(feature_ids)
    };
    let next = || vec(0u8..255, 0..6).prop_map(|tables| tables.into_iter().map(TableId).collect::<Vec<_>>());
    let usual = (
        instructions(),
        next(),
        actions(),
        option::of(actions()),
        oxm_ids(),
        option::of(oxm_ids()),
    );
    let miss = (
        option::of(instructions()),
        option::of(next()),
        option::of(actions()),
        option::of(oxm_ids()),
    );
    (head, usual, miss, masked_oxm_ids(), oxm_ids())
        .prop_map(|(head, usual, miss, match_, wildcards)| {
            use TableFeatureProperty as Property;
            let (name, metadata_match, metadata_write, max_entries) = head;
            let (instructions, next, write, apply, write_fields, apply_fields) = usual;
            let apply = apply.unwrap_or_else(|| write.clone());
            let apply_fields = apply_fields.unwrap_or_else(|| write_fields.clone());
            let properties = vec![
                Property::Instructions(instructions),
                Property::NextTables(next),
                Property::WriteActions(write),
                Property::ApplyActions(apply),
                Property::Match(match_),
                Property::Wildcards(wildcards),
                Property::WriteSetField(write_fields),
                Property::ApplySetField(apply_fields),
            ];
            let (instructions, next, actions, fields) = miss;
            let misses = [
                instructions.map(Property::InstructionsMiss),
                next.map(Property::NextTablesMiss),
                actions.clone().map(Property::WriteActionsMiss),
                actions.map(Property::ApplyActionsMiss),
                fields.clone().map(Property::WriteSetFieldMiss),
                fields.map(Property::ApplySetFieldMiss),
            ];
            TableFeatures {
                table_id: TableId(0),
                name: name.to_owned(),
                metadata_match,
                metadata_write,
                config: 0,
                max_entries,
                properties: properties
                    .into_iter()
                    .chain(misses.into_iter().flatten())
                    .collect(),
            }
        })
        .boxed()
}

fn feature_ids(types: Vec<u16>) -> Vec<FeatureId> {
    types.into_iter().map(FeatureId::new).collect()
}

fn oxm_ids() -> impl Strategy<Value = Vec<OxmId>> {
    subsequence(all_oxm_ids(), 0..20)
}

/// Those that can have a mask have one now and then.
fn masked_oxm_ids() -> impl Strategy<Value = Vec<OxmId>> {
    (subsequence(all_oxm_ids(), 0..60), any::<u64>()).prop_map(|(mut ids, masks)| {
        for (at, id) in ids.iter_mut().enumerate() {
            let maskable = match id.class {
                0x8000 => matches!(id.field, 2..=4 | 11..=18 | 22..=28 | 38),
                0x0001 => matches!(id.field, 0..=15),
                _ => true,
            };
            id.has_mask = maskable && masks >> (at % 64) & 1 == 1;
            if id.has_mask {
                id.length *= 2;
            }
        }
        ids
    })
}

fn all_oxm_ids() -> Vec<OxmId> {
    let widths = [
        4, 0, 8, 6, 6, 2, 2, 1, 1, 1, 1, 4, 4, 2, 2, 2, 2, 2, 2, 1, 1, 2, 4, 4, 6, 6, 16, 16, 4, 1, 1, 16, 6,
        6, 4, 1, 1, 0, 8,
    ];
    let id = |class, field, length| OxmId {
        class,
        field,
        has_mask: false,
        length,
        experimenter: None,
    };
    let basic = (0u8..).zip(widths).filter(|(_, width)| *width > 0);
    let registers = (0u8..16).map(|register| id(1, register, 4));
    let wide = (0u8..8).map(|register| id(0x8001, register, 8));
    basic
        .map(|(field, width)| id(0x8000, field, width))
        .chain(registers)
        .chain(wide)
        .collect()
}
