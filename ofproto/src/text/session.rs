//! Text of the messages that keep a connection.

use bytes::{Bytes, BytesMut};

use super::hex::{put_hex, put_hex_dump, put_printable};
use super::multipart::name_of_part;
use super::nicira::describe;
use super::{Hex, Text, put_bits, put_heading};
use crate::bundle::{BundleAdd, BundleControl, BundleFlags};
use crate::{
    Capabilities, ConfigFlags, ControllerRole, ErrorCode, ErrorMsg, Experimenter, FeaturesReply, Hello,
    Message, Role, SwitchConfig, VersionBitmap, Xid,
};

pub(super) fn put_hello(out: &mut String, hello: &Hello, version: u8, xid: Xid) {
    out.push_str("\n version bitmap: ");
    // Only the first 32 versions count, and there is no version 0.
    let listed: Vec<_> = hello.bitmap.iter().flat_map(VersionBitmap::versions).collect();
    let listed: Vec<_> = listed
        .into_iter()
        .filter(|version| (1..32).contains(version))
        .collect();
    let is_understood = hello.other.is_empty() && (hello.bitmap.is_none() || !listed.is_empty());
    let versions = if listed.is_empty() {
        // Without a bitmap a peer may speak every version up to that of its header.
        (1..=hello.header_version.min(31)).collect()
    } else {
        listed
    };
    for (at, version) in versions.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { ", " });
        put!(out, "{version:#04x}");
    }
    let mut frame = BytesMut::new();
    if !is_understood && Message::Hello(hello.clone()).encode(xid, &mut frame).is_ok() {
        if let Some(first) = frame.first_mut() {
            *first = version;
        }
        out.push_str("\n unknown data in hello:\n");
        put_hex_dump(out, &frame);
    }
}

pub(super) fn put_error(out: &mut String, error: &ErrorMsg, depth: u8) {
    put!(out, " {}\n", error.error);
    if error.error.type_() == ErrorCode::HELLO_FAILED_INCOMPATIBLE.type_() {
        put_printable(out, &error.data);
    } else {
        put_quoted(out, &error.data, depth);
    }
}

pub(super) fn put_echo(out: &mut String, data: &[u8]) {
    put!(out, " {} bytes of payload\n", data.len());
    put_hex_dump(out, data);
}

pub(super) fn put_features(out: &mut String, features: &FeaturesReply) {
    put!(out, " dpid:{}\n", features.datapath_id);
    put!(
        out,
        "n_tables:{}, n_buffers:{}",
        features.n_tables,
        features.n_buffers
    );
    if features.auxiliary_id != 0 {
        put!(out, ", auxiliary_id:{}", features.auxiliary_id);
    }
    out.push_str("\ncapabilities: ");
    let names = [
        (Capabilities::FLOW_STATS.bits(), "FLOW_STATS"),
        (Capabilities::TABLE_STATS.bits(), "TABLE_STATS"),
        (Capabilities::PORT_STATS.bits(), "PORT_STATS"),
        (Capabilities::GROUP_STATS.bits(), "GROUP_STATS"),
        (Capabilities::IP_REASM.bits(), "IP_REASM"),
        (Capabilities::QUEUE_STATS.bits(), "QUEUE_STATS"),
        (Capabilities::PORT_BLOCKED.bits(), "PORT_BLOCKED"),
    ];
    // Others are not printed.
    let known = names.iter().fold(0, |bits, (bit, _)| bits | bit);
    put_bits(out, features.capabilities.bits() & known, &names);
}

pub(super) fn put_config(out: &mut String, config: &SwitchConfig) {
    let fragments = config.flags & (ConfigFlags::FRAG_DROP | ConfigFlags::FRAG_REASM);
    out.push_str(match fragments.bits() {
        0 => " frags=normal",
        1 => " frags=drop",
        2 => " frags=reassemble",
        _ => " frags=nx-match",
    });
    put!(out, " miss_send_len={}", config.miss_send_len);
}

pub(super) fn put_role_request(out: &mut String, role: &Role) {
    put_role(out, role.role);
    // Who does not ask for a role needs no generation.
    if role.role != ControllerRole::NoChange {
        put_generation(out, role.generation_id);
    }
}

pub(super) fn put_role_reply(out: &mut String, role: &Role) {
    put_role(out, role.role);
    put_generation(out, role.generation_id);
}

fn put_role(out: &mut String, role: ControllerRole) {
    match role {
        ControllerRole::NoChange => out.push_str(" role=nochange"),
        ControllerRole::Equal => out.push_str(" role=equal"),
        ControllerRole::Master => out.push_str(" role=primary"),
        ControllerRole::Slave => out.push_str(" role=secondary"),
        ControllerRole::Unknown(number) => put!(out, " role={number}"),
    }
}

fn put_generation(out: &mut String, generation_id: u64) {
    // All ones means that there has been none yet.
    if generation_id != u64::MAX {
        put!(out, " generation_id={generation_id}");
    }
}

pub(super) fn put_experimenter(out: &mut String, message: &Experimenter, depth: u8) {
    if let Ok(Some(control)) = BundleControl::from_experimenter(message) {
        put!(out, "\n bundle_id={} type=", Hex(control.bundle_id.into()));
        out.push_str(control.type_.name().strip_prefix("OFPBCT_").unwrap_or("unknown"));
        put_bundle_flags(out, control.flags);
    } else if let Ok(Some(add)) = BundleAdd::from_experimenter(message) {
        put!(out, "\n bundle_id={}", Hex(add.bundle_id.into()));
        put_bundle_flags(out, add.flags);
        out.push('\n');
        put_quoted(out, &add.message, depth);
    } else if let Some((_, text)) = describe(message) {
        out.push_str(&text);
    } else {
        put_opaque(out, message);
    }
}

/// An experimenter's body that is kept as bytes.
pub(super) fn put_opaque(out: &mut String, message: &Experimenter) {
    put!(
        out,
        " experimenter={:#010x} exp_type={} data=",
        message.experimenter,
        message.exp_type
    );
    put_hex(out, &message.data);
}

fn put_bundle_flags(out: &mut String, flags: BundleFlags) {
    out.push_str(" flags=");
    let names = [
        (u32::from(BundleFlags::ATOMIC.bits()), "atomic"),
        (u32::from(BundleFlags::ORDERED.bits()), "ordered"),
    ];
    put_bits(out, flags.bits().into(), &names);
}

/// A message inside another one; it may be cut off.
fn put_quoted(out: &mut String, bytes: &Bytes, depth: u8) {
    let length = match &bytes[..] {
        [_, _, high, low, _, _, _, _, ..] => usize::from(u16::from_be_bytes([*high, *low])),
        _ => {
            put!(out, "OpenFlow packet too short (only {} bytes):\n", bytes.len());
            put_hex_dump(out, bytes);
            return;
        }
    };
    if length > bytes.len() {
        if let Some(name) = name_of_part(bytes) {
            put_heading(
                out,
                name,
                bytes[0],
                Xid(u32::from_be_bytes([bytes[4], bytes[5], bytes[6], bytes[7]])),
            );
            out.push('\n');
        }
        put!(out, "(***truncated to {} bytes from {length}***)\n", bytes.len());
    } else if length < bytes.len() {
        put!(out, "(***only uses {length} bytes out of {}***)\n", bytes.len());
    } else if depth < MAX_DEPTH {
        match Message::decode(bytes) {
            Ok((header, message)) => {
                let text = message.text(header.xid).at_version(header.version);
                Text {
                    depth: depth + 1,
                    ..text
                }
                .put(out);
                return;
            }
            Err(error) => put!(out, "***decode error: {}***\n", error.answer),
        }
    }
    put_hex_dump(out, bytes);
}

/// How deep messages are read inside of each other. An error about a bundle quotes the message in it, no more;
/// someone who means harm could go on to the end of the stack.
const MAX_DEPTH: u8 = 4;
