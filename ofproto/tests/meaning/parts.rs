//! Matches, actions, instructions and what else several messages hold.

use ofproto::oxm::CLASS_NXM_1;
use ofproto::{
    Action, Bucket, ExperimenterId, Instruction, MacAddr, Masked, Match, MeterBand, OxmField, PacketQueue,
    Port, QueueProperty, RawOxm,
};
use serde_json::{Value, json};

pub(crate) fn list<T>(items: &[T], value: impl Fn(&T) -> Value) -> Value {
    items.iter().map(value).collect()
}

pub(crate) fn match_(match_: &Match) -> Value {
    list(&match_.fields, field)
}

pub(crate) fn field(field: &OxmField) -> Value {
    use OxmField as F;
    let name = NAMES.get(usize::from(field.id().field)).copied().unwrap_or("?");
    match field {
        F::InPort(port) | F::InPhyPort(port) => exact(name, port.0),
        F::Metadata(number) | F::TunnelId(number) => masked(name, number, |number| (*number).into()),
        F::EthDst(mac) | F::EthSrc(mac) | F::ArpSha(mac) | F::ArpTha(mac) => masked(name, mac, address),
        F::VlanVid(number) | F::Ipv6Exthdr(number) => masked(name, number, |number| (*number).into()),
        F::Ipv4Src(ip) | F::Ipv4Dst(ip) | F::ArpSpa(ip) | F::ArpTpa(ip) => {
            masked(name, ip, |ip| ip.to_string().into())
        }
        F::Ipv6Src(ip) | F::Ipv6Dst(ip) => masked(name, ip, |ip| ip.to_string().into()),
        F::Ipv6Flabel(number) | F::PbbIsid(number) => masked(name, number, |number| (*number).into()),
        F::EthType(number)
        | F::TcpSrc(number)
        | F::TcpDst(number)
        | F::UdpSrc(number)
        | F::UdpDst(number)
        | F::SctpSrc(number)
        | F::SctpDst(number)
        | F::ArpOp(number) => exact(name, *number),
        F::VlanPcp(number)
        | F::IpDscp(number)
        | F::IpEcn(number)
        | F::IpProto(number)
        | F::Icmpv4Type(number)
        | F::Icmpv4Code(number)
        | F::Icmpv6Type(number)
        | F::Icmpv6Code(number)
        | F::MplsTc(number)
        | F::MplsBos(number) => exact(name, *number),
        F::MplsLabel(number) => exact(name, *number),
        F::Ipv6NdTarget(ip) => exact(name, ip.to_string()),
        F::Ipv6NdSll(mac) | F::Ipv6NdTll(mac) => exact(name, address(mac)),
        F::Raw(raw) => other(raw),
    }
}

/// The name of a field of OpenFlow's own class.
pub(crate) fn name(number: u8) -> Value {
    NAMES.get(usize::from(number)).copied().unwrap_or("?").into()
}

/// A field that we keep as bytes and they know by name.
fn other(raw: &RawOxm) -> Value {
    // The ONF's field of 1.3 that 1.4 has built in: its id and 16 bits of type come before the value.
    if raw.experimenter() == Some(ExperimenterId::ONF.0) && raw.body.get(4..6) == Some(&[0x0a, 0]) {
        return exact("pbb_uca", raw.body[6]);
    }
    let name = match (raw.class, raw.field) {
        (CLASS_NXM_1, 0) => "reg0",
        (CLASS_NXM_1, 5) => "reg5",
        (CLASS_NXM_1, 31) => "tun_ipv4_src",
        (CLASS_NXM_1, 32) => "tun_ipv4_dst",
        (CLASS_NXM_1, 33) => "pkt_mark",
        (CLASS_NXM_1, 37) => "conj_id",
        (CLASS_NXM_1, 105) => "ct_state",
        (CLASS_NXM_1, 107) => "ct_mark",
        _ => "?",
    };
    let value = |bytes: &[u8]| {
        if name.starts_with("tun_ipv4") {
            let parts: Vec<_> = bytes.iter().map(u8::to_string).collect();
            return Value::from(parts.join("."));
        }
        bytes
            .iter()
            .fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte))
            .into()
    };
    let (bytes, mask) = if raw.has_mask {
        let (bytes, mask) = raw.body.split_at(raw.body.len() / 2);
        (bytes, value(mask))
    } else {
        (&raw.body[..], Value::Null)
    };
    json!({"field": name, "value": value(bytes), "mask": mask})
}

fn exact(name: &str, value: impl Into<Value>) -> Value {
    json!({"field": name, "value": value.into(), "mask": null})
}

fn masked<T>(name: &str, masked: &Masked<T>, value: impl Fn(&T) -> Value) -> Value {
    json!({"field": name, "value": value(&masked.value), "mask": masked.mask.as_ref().map(value)})
}

pub(crate) fn address(mac: &MacAddr) -> Value {
    let parts: Vec<_> = mac.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    parts.join(":").into()
}

pub(crate) fn action(action: &Action) -> Value {
    let type_ = action.action_type().to_wire();
    match action {
        Action::Output { port, max_len } => json!({"type": type_, "port": port.0, "max_len": max_len}),
        Action::SetMplsTtl(ttl) => json!({"type": type_, "mpls_ttl": ttl}),
        Action::SetNwTtl(ttl) => json!({"type": type_, "nw_ttl": ttl}),
        Action::PushVlan(ethertype)
        | Action::PushMpls(ethertype)
        | Action::PopMpls(ethertype)
        | Action::PushPbb(ethertype) => json!({"type": type_, "ethertype": ethertype}),
        Action::SetQueue(queue) => json!({"type": type_, "queue_id": queue}),
        Action::Group(group) => json!({"type": type_, "group_id": group.0}),
        Action::SetField(value) => json!({"type": type_, "field": field(value)}),
        Action::Experimenter {
            experimenter: 0x2320,
            data,
        } => {
            let subtype = u16::from_be_bytes([data[0], data[1]]);
            json!({"type": type_, "experimenter": 0x2320, "subtype": subtype})
        }
        Action::Experimenter { experimenter, data } => {
            json!({"type": type_, "experimenter": experimenter, "data": base64(data)})
        }
        Action::Unknown { data, .. } => json!({"type": type_, "data": base64(data)}),
        Action::CopyTtlOut
        | Action::CopyTtlIn
        | Action::DecMplsTtl
        | Action::PopVlan
        | Action::DecNwTtl
        | Action::PopPbb => json!({"type": type_}),
    }
}

pub(crate) fn instruction(instruction: &Instruction) -> Value {
    let type_ = instruction.instruction_type().to_wire();
    match instruction {
        Instruction::GotoTable(table) => json!({"type": type_, "table_id": table.0}),
        Instruction::WriteMetadata { metadata, mask } => {
            json!({"type": type_, "metadata": metadata, "metadata_mask": mask})
        }
        Instruction::WriteActions(actions) | Instruction::ApplyActions(actions) => {
            json!({"type": type_, "actions": list(actions, action)})
        }
        Instruction::ClearActions => json!({"type": type_, "actions": []}),
        Instruction::Meter(meter) => json!({"type": type_, "meter_id": meter.0}),
        Instruction::Experimenter { experimenter, data } => {
            json!({"type": type_, "experimenter": experimenter, "data": base64(data)})
        }
        Instruction::Unknown { data, .. } => json!({"type": type_, "data": base64(data)}),
    }
}

pub(crate) fn bucket(bucket: &Bucket) -> Value {
    json!({
        "weight": bucket.weight,
        "watch_port": bucket.watch_port.0,
        "watch_group": bucket.watch_group.0,
        "actions": list(&bucket.actions, action),
    })
}

pub(crate) fn band(band: &MeterBand) -> Value {
    let (rate, burst_size) = (band.rate(), band.burst_size());
    match band {
        MeterBand::Drop { .. } => json!({"type": 1, "rate": rate, "burst_size": burst_size}),
        MeterBand::DscpRemark { prec_level, .. } => {
            json!({"type": 2, "rate": rate, "burst_size": burst_size, "prec_level": prec_level})
        }
        MeterBand::Experimenter { experimenter, .. } => {
            json!({"type": 0xffff, "rate": rate, "burst_size": burst_size, "experimenter": experimenter})
        }
        MeterBand::Unknown { type_, .. } => json!({"type": type_, "rate": rate, "burst_size": burst_size}),
    }
}

pub(crate) fn queue(queue: &PacketQueue) -> Value {
    let property = |property: &QueueProperty| match property {
        QueueProperty::MinRate(rate) => json!({"property": 1, "rate": rate}),
        QueueProperty::MaxRate(rate) => json!({"property": 2, "rate": rate}),
        QueueProperty::Experimenter { experimenter, data } => {
            json!({"property": 0xffff, "experimenter": experimenter, "data": data.to_vec()})
        }
        QueueProperty::Unknown { type_, data } => json!({"property": type_, "data": data.to_vec()}),
    };
    json!({
        "queue_id": queue.queue_id.0,
        "port": queue.port.0,
        "properties": list(&queue.properties, property),
    })
}

pub(crate) fn port(port: &Port) -> Value {
    json!({
        "port_no": port.port_no.0, "hw_addr": address(&port.hw_addr), "name": port.name,
        "config": port.config.bits(), "state": port.state.bits(), "curr": port.curr.bits(),
        "advertised": port.advertised.bits(), "supported": port.supported.bits(), "peer": port.peer.bits(),
        "curr_speed": port.curr_speed, "max_speed": port.max_speed,
    })
}

/// Bytes as their files hold them (RFC 4648 §4).
pub(crate) fn base64(bytes: &[u8]) -> Value {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = (0..3).fold(0_u32, |word, at| {
            word << 8 | u32::from(chunk.get(at).copied().unwrap_or(0))
        });
        for at in 0..4 {
            if at <= chunk.len() {
                text.push(char::from(DIGITS[(word >> (18 - 6 * at) & 63) as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text.into()
}

const NAMES: [&str; 40] = [
    "in_port",
    "in_phy_port",
    "metadata",
    "eth_dst",
    "eth_src",
    "eth_type",
    "vlan_vid",
    "vlan_pcp",
    "ip_dscp",
    "ip_ecn",
    "ip_proto",
    "ipv4_src",
    "ipv4_dst",
    "tcp_src",
    "tcp_dst",
    "udp_src",
    "udp_dst",
    "sctp_src",
    "sctp_dst",
    "icmpv4_type",
    "icmpv4_code",
    "arp_op",
    "arp_spa",
    "arp_tpa",
    "arp_sha",
    "arp_tha",
    "ipv6_src",
    "ipv6_dst",
    "ipv6_flabel",
    "icmpv6_type",
    "icmpv6_code",
    "ipv6_nd_target",
    "ipv6_nd_sll",
    "ipv6_nd_tll",
    "mpls_label",
    "mpls_tc",
    "mpls_bos",
    "pbb_isid",
    "tunnel_id",
    "ipv6_exthdr",
];
