//! Multipart messages in the words of Ryu's files.

use ofproto::multipart::TableFeatureProperty;
use ofproto::{
    ExperimenterId, FlowStats, FlowStatsRequest, GroupStats, MeterStats, MultipartReply, MultipartReplyBody,
    MultipartRequest, MultipartRequestBody, OxmId, PortStats, TableFeatures,
};
use serde_json::{Value, json};

use crate::parts::{band, base64, bucket, instruction, list, match_, name, port};

pub(crate) fn request(request: &MultipartRequest) -> Value {
    use MultipartRequestBody as B;
    let (message, mut value) = match &request.body {
        B::Desc => ("OFPDescStatsRequest", json!({})),
        B::Flow(it) => ("OFPFlowStatsRequest", flow_request(it)),
        B::Aggregate(it) => ("OFPAggregateStatsRequest", flow_request(it)),
        B::Table => ("OFPTableStatsRequest", json!({})),
        B::PortStats(port) => ("OFPPortStatsRequest", json!({"port_no": port.0})),
        B::Queue { port_no, queue_id } => (
            "OFPQueueStatsRequest",
            json!({"port_no": port_no.0, "queue_id": queue_id.0}),
        ),
        B::Group(group) => ("OFPGroupStatsRequest", json!({"group_id": group.0})),
        B::GroupDesc => ("OFPGroupDescStatsRequest", json!({})),
        B::GroupFeatures => ("OFPGroupFeaturesStatsRequest", json!({})),
        B::Meter(meter) => ("OFPMeterStatsRequest", json!({"meter_id": meter.0})),
        B::MeterConfig(meter) => ("OFPMeterConfigStatsRequest", json!({"meter_id": meter.0})),
        B::MeterFeatures => ("OFPMeterFeaturesStatsRequest", json!({})),
        B::TableFeatures(tables) => (
            "OFPTableFeaturesStatsRequest",
            json!({"body": list(tables, table_features)}),
        ),
        B::PortDesc => ("OFPPortDescStatsRequest", json!({})),
        B::Experimenter(it) => (
            if it.experimenter == ExperimenterId::ONF.0 {
                "ONFFlowMonitorStatsRequest"
            } else {
                "OFPExperimenterStatsRequest"
            },
            json!({"experimenter": it.experimenter, "exp_type": it.exp_type, "data": base64(&it.data)}),
        ),
        B::Unknown { .. } => ("unknown", json!({})),
    };
    value["message"] = message.into();
    value["type"] = request.body.multipart_type().to_wire().into();
    value["flags"] = u8::from(request.more).into();
    value
}

pub(crate) fn reply(reply: &MultipartReply) -> Value {
    use MultipartReplyBody as B;
    let (message, body) = match &reply.body {
        B::Desc(it) => (
            "OFPDescStatsReply",
            json!({
                "mfr_desc": it.mfr_desc, "hw_desc": it.hw_desc, "sw_desc": it.sw_desc,
                "serial_num": it.serial_num, "dp_desc": it.dp_desc,
            }),
        ),
        B::Flow(flows) => ("OFPFlowStatsReply", list(flows, flow)),
        B::Aggregate(it) => (
            "OFPAggregateStatsReply",
            json!({"packet_count": it.packet_count, "byte_count": it.byte_count, "flow_count": it.flow_count}),
        ),
        B::Table(tables) => (
            "OFPTableStatsReply",
            list(tables, |it| {
                json!({
                    "table_id": it.table_id.0, "active_count": it.active_count,
                    "lookup_count": it.lookup_count, "matched_count": it.matched_count,
                })
            }),
        ),
        B::PortStats(ports) => ("OFPPortStatsReply", list(ports, port_stats)),
        B::Queue(queues) => (
            "OFPQueueStatsReply",
            list(queues, |it| {
                json!({
                    "port_no": it.port_no.0, "queue_id": it.queue_id.0, "tx_bytes": it.tx_bytes,
                    "tx_packets": it.tx_packets, "tx_errors": it.tx_errors,
                    "duration_sec": it.duration_sec, "duration_nsec": it.duration_nsec,
                })
            }),
        ),
        B::Group(groups) => ("OFPGroupStatsReply", list(groups, group_stats)),
        B::GroupDesc(groups) => (
            "OFPGroupDescStatsReply",
            list(groups, |it| {
                json!({
                    "type": it.type_.to_wire(), "group_id": it.group_id.0, "buckets": list(&it.buckets, bucket),
                })
            }),
        ),
        B::GroupFeatures(it) => (
            "OFPGroupFeaturesStatsReply",
            json!({
                "types": it.types, "capabilities": it.capabilities.bits(), "max_groups": it.max_groups,
                "actions": it.actions,
            }),
        ),
        B::Meter(meters) => ("OFPMeterStatsReply", list(meters, meter_stats)),
        B::MeterConfig(meters) => (
            "OFPMeterConfigStatsReply",
            list(
                meters,
                |it| json!({"flags": it.flags.bits(), "meter_id": it.meter_id.0, "bands": list(&it.bands, band)}),
            ),
        ),
        B::MeterFeatures(it) => (
            "OFPMeterFeaturesStatsReply",
            json!([{
                "max_meter": it.max_meter, "band_types": it.band_types, "capabilities": it.capabilities,
                "max_bands": it.max_bands, "max_color": it.max_color,
            }]),
        ),
        B::TableFeatures(tables) => ("OFPTableFeaturesStatsReply", list(tables, table_features)),
        B::PortDesc(ports) => ("OFPPortDescStatsReply", list(ports, port)),
        B::Experimenter(it) => (
            "OFPExperimenterStatsReply",
            json!({"experimenter": it.experimenter, "exp_type": it.exp_type, "data": base64(&it.data)}),
        ),
        B::Unknown { .. } => ("unknown", json!(null)),
    };
    json!({
        "message": message, "type": reply.body.multipart_type().to_wire(), "flags": u8::from(reply.more),
        "body": body,
    })
}

fn flow_request(it: &FlowStatsRequest) -> Value {
    json!({
        "table_id": it.table_id.0, "out_port": it.out_port.0, "out_group": it.out_group.0,
        "cookie": it.cookie.0, "cookie_mask": it.cookie_mask, "match": match_(&it.match_),
    })
}

fn flow(it: &FlowStats) -> Value {
    json!({
        "table_id": it.table_id.0, "duration_sec": it.duration_sec, "duration_nsec": it.duration_nsec,
        "priority": it.priority, "idle_timeout": it.idle_timeout, "hard_timeout": it.hard_timeout,
        "flags": it.flags.bits(), "cookie": it.cookie.0, "packet_count": it.packet_count,
        "byte_count": it.byte_count, "match": match_(&it.match_),
        "instructions": list(&it.instructions, instruction),
    })
}

fn port_stats(it: &PortStats) -> Value {
    json!({
        "port_no": it.port_no.0, "rx_packets": it.rx_packets, "tx_packets": it.tx_packets,
        "rx_bytes": it.rx_bytes, "tx_bytes": it.tx_bytes, "rx_dropped": it.rx_dropped,
        "tx_dropped": it.tx_dropped, "rx_errors": it.rx_errors, "tx_errors": it.tx_errors,
        "rx_frame_err": it.rx_frame_err, "rx_over_err": it.rx_over_err, "rx_crc_err": it.rx_crc_err,
        "collisions": it.collisions, "duration_sec": it.duration_sec, "duration_nsec": it.duration_nsec,
    })
}

fn group_stats(it: &GroupStats) -> Value {
    let counters = list(
        &it.bucket_stats,
        |it| json!({"packet_count": it.packet_count, "byte_count": it.byte_count}),
    );
    json!({
        "group_id": it.group_id.0, "ref_count": it.ref_count, "packet_count": it.packet_count,
        "byte_count": it.byte_count, "duration_sec": it.duration_sec, "duration_nsec": it.duration_nsec,
        "bucket_stats": counters,
    })
}

fn meter_stats(it: &MeterStats) -> Value {
    let bands = list(
        &it.band_stats,
        |it| json!({"packet_band_count": it.packet_band_count, "byte_band_count": it.byte_band_count}),
    );
    json!({
        "meter_id": it.meter_id.0, "flow_count": it.flow_count, "packet_in_count": it.packet_in_count,
        "byte_in_count": it.byte_in_count, "duration_sec": it.duration_sec,
        "duration_nsec": it.duration_nsec, "band_stats": bands,
    })
}

fn table_features(it: &TableFeatures) -> Value {
    json!({
        "table_id": it.table_id.0, "name": it.name, "metadata_match": it.metadata_match,
        "metadata_write": it.metadata_write, "config": it.config, "max_entries": it.max_entries,
        "properties": list(&it.properties, property),
    })
}

fn property(property: &TableFeatureProperty) -> Value {
    use TableFeatureProperty as P;
    let oxm = |type_: u8, ids: &[OxmId]| {
        let id = |id: &OxmId| json!({"type": name(id.field), "hasmask": u8::from(id.has_mask)});
        json!({"type": type_, "oxm_ids": list(ids, id)})
    };
    let ids = |ids: &[ofproto::multipart::FeatureId]| list(ids, |id| json!({"type": id.type_}));
    match property {
        P::Instructions(it) => json!({"type": 0, "instruction_ids": ids(it)}),
        P::InstructionsMiss(it) => json!({"type": 1, "instruction_ids": ids(it)}),
        P::NextTables(it) => json!({"type": 2, "table_ids": list(it, |id| id.0.into())}),
        P::NextTablesMiss(it) => json!({"type": 3, "table_ids": list(it, |id| id.0.into())}),
        P::WriteActions(it) => json!({"type": 4, "action_ids": ids(it)}),
        P::WriteActionsMiss(it) => json!({"type": 5, "action_ids": ids(it)}),
        P::ApplyActions(it) => json!({"type": 6, "action_ids": ids(it)}),
        P::ApplyActionsMiss(it) => json!({"type": 7, "action_ids": ids(it)}),
        P::Match(it) => oxm(8, it),
        P::Wildcards(it) => oxm(10, it),
        P::WriteSetField(it) => oxm(12, it),
        P::WriteSetFieldMiss(it) => oxm(13, it),
        P::ApplySetField(it) => oxm(14, it),
        P::ApplySetFieldMiss(it) => oxm(15, it),
        P::Experimenter {
            miss,
            experimenter,
            exp_type,
            data,
        } => {
            let words: Vec<_> = data
                .chunks(4)
                .map(|word| word.iter().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte)))
                .collect();
            json!({
                "type": if *miss { 0xffff } else { 0xfffe }, "experimenter": experimenter,
                "exp_type": exp_type, "data": words,
            })
        }
        P::Unknown { type_, .. } => json!({"type": type_}),
    }
}
