//! Text of multipart messages.

use super::flow::put_flow_stats;
use super::group::{put_group, put_group_features, put_group_stats};
use super::hex::put_hex;
use super::matching::put_match;
use super::meter::{put_meter, put_meter_features, put_meter_stats};
use super::nicira::describe;
use super::port::{put_port, put_port_stats};
use super::queue::put_queue_stats;
use super::session::put_opaque;
use super::table::{put_table_features, put_table_stats};
use crate::bundle::{BundleAdd, BundleControl};
use crate::{
    FlowStatsRequest, Message, MessageType, MultipartReply, MultipartReplyBody, MultipartRequest,
    MultipartRequestBody, MultipartType, PortNo, SwitchDesc, TableId,
};

/// What a message is called, and what is said of it.
pub(super) type NameAndText = (&'static str, String);

/// The name of a message; multipart, bundle and Nicira's messages have names of their own.
pub(super) fn name(message: &Message) -> &'static str {
    match message {
        Message::MultipartRequest(request) => request_name(request.body.multipart_type()),
        Message::MultipartReply(reply) => reply_name(reply.body.multipart_type()),
        Message::Experimenter(experimenter) => {
            if let Ok(Some(_)) = BundleControl::from_experimenter(experimenter) {
                "ONFT_BUNDLE_CONTROL"
            } else if let Ok(Some(_)) = BundleAdd::from_experimenter(experimenter) {
                "ONFT_BUNDLE_ADD_MESSAGE"
            } else if let Some((name, _)) = describe(experimenter) {
                name
            } else {
                message.name()
            }
        }
        _ => message.name(),
    }
}

/// The name of the message that begins with these bytes.
pub(super) fn name_of_part(bytes: &[u8]) -> Option<&'static str> {
    let type_ = MessageType::from_wire(*bytes.get(1)?);
    let number = |at: usize| Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
    Some(match type_ {
        MessageType::Unknown(_) => return None,
        MessageType::MultipartRequest => request_name(MultipartType::from_wire(number(8)?)),
        MessageType::MultipartReply => reply_name(MultipartType::from_wire(number(8)?)),
        MessageType::Experimenter => match bytes.get(8..16)? {
            [0x4f, 0x4e, 0x46, 0, 0, 0, 0x08, 0xfc] => "ONFT_BUNDLE_CONTROL",
            [0x4f, 0x4e, 0x46, 0, 0, 0, 0x08, 0xfd] => "ONFT_BUNDLE_ADD_MESSAGE",
            _ => return None,
        },
        other => other.name(),
    })
}

const fn request_name(type_: MultipartType) -> &'static str {
    match type_ {
        MultipartType::Desc => "OFPST_DESC request",
        MultipartType::Flow => "OFPST_FLOW request",
        MultipartType::Aggregate => "OFPST_AGGREGATE request",
        MultipartType::Table => "OFPST_TABLE request",
        MultipartType::PortStats => "OFPST_PORT request",
        MultipartType::Queue => "OFPST_QUEUE request",
        MultipartType::Group => "OFPST_GROUP request",
        MultipartType::GroupDesc => "OFPST_GROUP_DESC request",
        MultipartType::GroupFeatures => "OFPST_GROUP_FEATURES request",
        MultipartType::Meter => "OFPST_METER request",
        MultipartType::MeterConfig => "OFPST_METER_CONFIG request",
        MultipartType::MeterFeatures => "OFPST_METER_FEATURES request",
        MultipartType::TableFeatures => "OFPST_TABLE_FEATURES request",
        MultipartType::PortDesc => "OFPST_PORT_DESC request",
        MultipartType::Experimenter => "OFPST_EXPERIMENTER request",
        MultipartType::Unknown(_) => "OFPST_UNKNOWN request",
    }
}

const fn reply_name(type_: MultipartType) -> &'static str {
    match type_ {
        MultipartType::Desc => "OFPST_DESC reply",
        MultipartType::Flow => "OFPST_FLOW reply",
        MultipartType::Aggregate => "OFPST_AGGREGATE reply",
        MultipartType::Table => "OFPST_TABLE reply",
        MultipartType::PortStats => "OFPST_PORT reply",
        MultipartType::Queue => "OFPST_QUEUE reply",
        MultipartType::Group => "OFPST_GROUP reply",
        MultipartType::GroupDesc => "OFPST_GROUP_DESC reply",
        MultipartType::GroupFeatures => "OFPST_GROUP_FEATURES reply",
        MultipartType::Meter => "OFPST_METER reply",
        MultipartType::MeterConfig => "OFPST_METER_CONFIG reply",
        MultipartType::MeterFeatures => "OFPST_METER_FEATURES reply",
        MultipartType::TableFeatures => "OFPST_TABLE_FEATURES reply",
        MultipartType::PortDesc => "OFPST_PORT_DESC reply",
        MultipartType::Experimenter => "OFPST_EXPERIMENTER reply",
        MultipartType::Unknown(_) => "OFPST_UNKNOWN reply",
    }
}

pub(super) fn put_request(out: &mut String, request: &MultipartRequest) {
    put_more(out, request.more);
    match &request.body {
        MultipartRequestBody::Desc
        | MultipartRequestBody::Table
        | MultipartRequestBody::GroupFeatures
        | MultipartRequestBody::MeterFeatures => {}
        MultipartRequestBody::Flow(flows) | MultipartRequestBody::Aggregate(flows) => {
            put_flow_request(out, flows);
        }
        MultipartRequestBody::PortStats(port) => put!(out, " port_no={port}"),
        MultipartRequestBody::Queue { port_no, queue_id } => put!(out, " port={port_no} queue={queue_id}"),
        MultipartRequestBody::Group(group) => put!(out, " group_id={group}"),
        MultipartRequestBody::GroupDesc => out.push_str(" group_id=ALL"),
        MultipartRequestBody::Meter(meter) | MultipartRequestBody::MeterConfig(meter) => {
            put!(out, " meter={meter}");
        }
        MultipartRequestBody::PortDesc => put!(out, " port={}", PortNo::ANY),
        MultipartRequestBody::TableFeatures(tables) => put_table_features(out, tables),
        MultipartRequestBody::Experimenter(experimenter) => put_opaque(out, experimenter),
        MultipartRequestBody::Unknown { type_, data } => {
            put!(out, " type={type_} data=");
            put_hex(out, data);
        }
    }
}

pub(super) fn put_reply(out: &mut String, reply: &MultipartReply) {
    put_more(out, reply.more);
    match &reply.body {
        MultipartReplyBody::Desc(desc) => put_desc(out, desc),
        MultipartReplyBody::Flow(flows) => {
            for flow in flows {
                out.push('\n');
                put_flow_stats(out, flow);
            }
        }
        MultipartReplyBody::Aggregate(stats) => {
            put!(
                out,
                " packet_count={} byte_count={}",
                stats.packet_count,
                stats.byte_count
            );
            put!(out, " flow_count={}", stats.flow_count);
        }
        MultipartReplyBody::PortStats(ports) => {
            put!(out, " {} ports\n", ports.len());
            ports.iter().for_each(|port| put_port_stats(out, port));
        }
        MultipartReplyBody::Queue(queues) => put_queue_stats(out, queues),
        MultipartReplyBody::Group(groups) => {
            for group in groups {
                out.push('\n');
                put_group_stats(out, group);
            }
        }
        MultipartReplyBody::GroupDesc(groups) => {
            for group in groups {
                out.push_str("\n ");
                put_group(out, group.group_id, group.type_, &group.buckets);
            }
        }
        MultipartReplyBody::Meter(meters) => {
            for meter in meters {
                out.push('\n');
                put_meter_stats(out, meter);
            }
        }
        MultipartReplyBody::MeterConfig(meters) => {
            for meter in meters {
                out.push('\n');
                put_meter(out, meter.meter_id, meter.flags, &meter.bands);
            }
        }
        MultipartReplyBody::MeterFeatures(features) => put_meter_features(out, features),
        MultipartReplyBody::PortDesc(ports) => {
            out.push('\n');
            let mut ordered: Vec<_> = ports.iter().collect();
            ordered.sort_by_key(|port| port.port_no);
            ordered.into_iter().for_each(|port| put_port(out, port));
        }
        MultipartReplyBody::Table(tables) => put_table_stats(out, tables),
        MultipartReplyBody::GroupFeatures(features) => put_group_features(out, features),
        MultipartReplyBody::TableFeatures(tables) => put_table_features(out, tables),
        MultipartReplyBody::Experimenter(experimenter) => put_opaque(out, experimenter),
        MultipartReplyBody::Unknown { type_, data } => {
            put!(out, " type={type_} data=");
            put_hex(out, data);
        }
    }
}

fn put_more(out: &mut String, more: bool) {
    if more {
        out.push_str(" flags=[more]");
    }
}

fn put_flow_request(out: &mut String, request: &FlowStatsRequest) {
    if request.table_id != TableId::ALL {
        put!(out, " table={}", request.table_id.0);
    }
    if request.out_port != PortNo::ANY {
        put!(out, " out_port={}", request.out_port);
    }
    out.push(' ');
    put_match(out, &request.match_, None);
}

fn put_desc(out: &mut String, desc: &SwitchDesc) {
    put!(out, "\nManufacturer: {}\n", desc.mfr_desc);
    put!(out, "Hardware: {}\n", desc.hw_desc);
    put!(out, "Software: {}\n", desc.sw_desc);
    put!(out, "Serial Num: {}\n", desc.serial_num);
    put!(out, "DP Description: {}\n", desc.dp_desc);
}
