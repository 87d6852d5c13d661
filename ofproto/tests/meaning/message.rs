//! Each message in the words of Ryu's files.

use ofproto::{AsyncConfig, Message, Role, SwitchConfig};
use serde_json::{Value, json};

use crate::multipart;
use crate::parts::{action, address, band, base64, bucket, instruction, list, match_, port, queue};

pub(crate) fn value(message: &Message) -> Value {
    match message {
        Message::Hello(hello) => {
            let versions = || hello.versions(hello.header_version);
            let elements: Vec<_> = hello
                .bitmap
                .iter()
                .map(|_| json!({"type": 1, "versions": versions()}))
                .collect();
            json!({"message": "OFPHello", "elements": elements})
        }
        Message::Error(error) => {
            let (type_, code, data) = (error.error.type_(), error.error.code(), base64(&error.data));
            match error.error.experimenter() {
                None => json!({"message": "OFPErrorMsg", "type": type_, "code": code, "data": data}),
                Some(experimenter) => json!({
                    "message": "OFPErrorMsg", "type": type_, "code": null, "exp_type": code,
                    "experimenter": experimenter, "data": data,
                }),
            }
        }
        Message::EchoRequest(data) => json!({"message": "OFPEchoRequest", "data": base64(data)}),
        Message::EchoReply(data) => json!({"message": "OFPEchoReply", "data": base64(data)}),
        Message::Experimenter(message) => json!({
            "message": "OFPExperimenter", "experimenter": message.experimenter, "exp_type": message.exp_type,
            "data": base64(&message.data),
        }),
        Message::FeaturesRequest => json!({"message": "OFPFeaturesRequest"}),
        Message::FeaturesReply(features) => json!({
            "message": "OFPSwitchFeatures", "datapath_id": features.datapath_id.0,
            "n_buffers": features.n_buffers, "n_tables": features.n_tables,
            "auxiliary_id": features.auxiliary_id, "capabilities": features.capabilities.bits(),
        }),
        Message::GetConfigRequest => json!({"message": "OFPGetConfigRequest"}),
        Message::GetConfigReply(it) => config("OFPGetConfigReply", it),
        Message::SetConfig(it) => config("OFPSetConfig", it),
        Message::PacketIn(packet_in) => json!({
            "message": "OFPPacketIn", "buffer_id": packet_in.buffer_id.0, "total_len": packet_in.total_len,
            "reason": packet_in.reason.to_wire(), "table_id": packet_in.table_id.0,
            "cookie": packet_in.cookie.0, "match": match_(&packet_in.match_), "data": base64(&packet_in.data),
        }),
        Message::FlowRemoved(removed) => json!({
            "message": "OFPFlowRemoved", "cookie": removed.cookie.0, "priority": removed.priority,
            "reason": removed.reason.to_wire(), "table_id": removed.table_id.0,
            "duration_sec": removed.duration_sec, "duration_nsec": removed.duration_nsec,
            "idle_timeout": removed.idle_timeout, "hard_timeout": removed.hard_timeout,
            "packet_count": removed.packet_count, "byte_count": removed.byte_count,
            "match": match_(&removed.match_),
        }),
        Message::PortStatus(status) => json!({
            "message": "OFPPortStatus", "reason": status.reason.to_wire(), "desc": port(&status.desc),
        }),
        Message::PacketOut(packet_out) => json!({
            "message": "OFPPacketOut", "buffer_id": packet_out.buffer_id.0, "in_port": packet_out.in_port.0,
            "actions": list(&packet_out.actions, action), "data": base64(&packet_out.data),
        }),
        Message::FlowMod(flow) => json!({
            "message": "OFPFlowMod", "cookie": flow.cookie.0, "cookie_mask": flow.cookie_mask,
            "table_id": flow.table_id.0, "command": flow.command.to_wire(),
            "idle_timeout": flow.idle_timeout, "hard_timeout": flow.hard_timeout, "priority": flow.priority,
            "buffer_id": flow.buffer_id.0, "out_port": flow.out_port.0, "out_group": flow.out_group.0,
            "flags": flow.flags.bits(), "match": match_(&flow.match_),
            "instructions": list(&flow.instructions, instruction),
        }),
        Message::GroupMod(group) => json!({
            "message": "OFPGroupMod", "command": group.command.to_wire(), "type": group.type_.to_wire(),
            "group_id": group.group_id.0, "buckets": list(&group.buckets, bucket),
        }),
        Message::PortMod(it) => json!({
            "message": "OFPPortMod", "port_no": it.port_no.0, "hw_addr": address(&it.hw_addr),
            "config": it.config.bits(), "mask": it.mask.bits(), "advertise": it.advertise.bits(),
        }),
        Message::TableMod(it) => json!({
            "message": "OFPTableMod", "table_id": it.table_id.0, "config": it.config,
        }),
        Message::MultipartRequest(request) => multipart::request(request),
        Message::MultipartReply(reply) => multipart::reply(reply),
        Message::BarrierRequest => json!({"message": "OFPBarrierRequest"}),
        Message::BarrierReply => json!({"message": "OFPBarrierReply"}),
        Message::QueueGetConfigRequest(request) => json!({
            "message": "OFPQueueGetConfigRequest", "port": request.port.0,
        }),
        Message::QueueGetConfigReply(reply) => json!({
            "message": "OFPQueueGetConfigReply", "port": reply.port.0, "queues": list(&reply.queues, queue),
        }),
        Message::RoleRequest(it) => role("OFPRoleRequest", it),
        Message::RoleReply(it) => role("OFPRoleReply", it),
        Message::GetAsyncRequest => json!({"message": "OFPGetAsyncRequest"}),
        Message::GetAsyncReply(it) => async_config("OFPGetAsyncReply", it),
        Message::SetAsync(it) => async_config("OFPSetAsync", it),
        Message::MeterMod(meter) => json!({
            "message": "OFPMeterMod", "command": meter.command.to_wire(), "flags": meter.flags.bits(),
            "meter_id": meter.meter_id.0, "bands": list(&meter.bands, band),
        }),
    }
}

fn config(message: &str, config: &SwitchConfig) -> Value {
    json!({"message": message, "flags": config.flags.bits(), "miss_send_len": config.miss_send_len})
}

fn role(message: &str, role: &Role) -> Value {
    json!({"message": message, "role": role.role.to_wire(), "generation_id": role.generation_id})
}

fn async_config(message: &str, config: &AsyncConfig) -> Value {
    json!({
        "message": message, "packet_in_mask": config.packet_in_mask,
        "port_status_mask": config.port_status_mask, "flow_removed_mask": config.flow_removed_mask,
    })
}
