//! Text of actions and instructions.

use super::extended::in_basic_class;
use super::extensions::put_extension;
use super::hex::put_hex;
use super::value::put_raw_value;
use super::{Hex, Ipv6Text, MacText};
use crate::oxm::CLASS_NXM_0;
use crate::{Action, Instruction, OxmField, PortNo};

/// Actions with commas between; `drop` for none.
pub(super) fn put_actions(out: &mut String, actions: &[Action]) {
    if actions.is_empty() {
        out.push_str("drop");
    }
    put_list(out, actions);
}

/// Instructions with commas between, in the order in which they are carried out; `drop` for none.
pub(super) fn put_instructions(out: &mut String, instructions: &[Instruction]) {
    let mut ordered: Vec<_> = instructions.iter().collect();
    ordered.sort_by_key(|instruction| order(instruction));
    let start = out.len();
    for instruction in ordered {
        let end = out.len();
        if end > start {
            out.push(',');
        }
        let before = out.len();
        put_instruction(out, instruction);
        if out.len() == before {
            out.truncate(end);
        }
    }
    if out.len() == start {
        out.push_str("drop");
    }
}

pub(super) fn put_instruction(out: &mut String, instruction: &Instruction) {
    match instruction {
        Instruction::Meter(meter) => put!(out, "meter:{meter}"),
        Instruction::ApplyActions(actions) => put_list(out, actions),
        Instruction::ClearActions => out.push_str("clear_actions"),
        Instruction::WriteActions(actions) => {
            out.push_str("write_actions(");
            put_actions(out, actions);
            out.push(')');
        }
        Instruction::WriteMetadata { metadata, mask } => {
            put!(out, "write_metadata:{:#x}", metadata & mask);
            if *mask != u64::MAX {
                put!(out, "/{mask:#x}");
            }
        }
        Instruction::GotoTable(table) => put!(out, "goto_table:{}", table.0),
        Instruction::Experimenter { experimenter, data } => {
            put!(out, "experimenter_instruction({experimenter:#010x},");
            put_hex(out, data);
            out.push(')');
        }
        Instruction::Unknown { type_, data } => {
            put!(out, "instruction({type_},");
            put_hex(out, data);
            out.push(')');
        }
    }
}

/// The place of an instruction in the order of execution.
const fn order(instruction: &Instruction) -> u8 {
    match instruction {
        Instruction::Meter(_) => 0,
        Instruction::ApplyActions(_) => 1,
        Instruction::ClearActions => 2,
        Instruction::WriteActions(_) => 3,
        Instruction::WriteMetadata { .. } => 4,
        Instruction::GotoTable(_) => 5,
        Instruction::Experimenter { .. } | Instruction::Unknown { .. } => 6,
    }
}

pub(super) fn put_list(out: &mut String, actions: &[Action]) {
    for (at, action) in actions.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        put_action(out, action);
    }
}

pub(super) fn put_action(out: &mut String, action: &Action) {
    match action {
        Action::Output {
            port: PortNo::CONTROLLER,
            max_len,
        } => put!(out, "CONTROLLER:{max_len}"),
        Action::Output { port, .. } if *port < PortNo::IN_PORT => put!(out, "output:{port}"),
        Action::Output { port, .. } => put!(out, "{port}"),
        Action::CopyTtlOut => out.push_str("copy_ttl_out"),
        Action::CopyTtlIn => out.push_str("copy_ttl_in"),
        Action::SetMplsTtl(ttl) => put!(out, "set_mpls_ttl({ttl})"),
        Action::DecMplsTtl => out.push_str("dec_mpls_ttl"),
        Action::PushVlan(ethertype) => put!(out, "push_vlan:0x{ethertype:04x}"),
        Action::PopVlan => out.push_str("pop_vlan"),
        Action::PushMpls(ethertype) => put!(out, "push_mpls:0x{ethertype:04x}"),
        Action::PopMpls(ethertype) => put!(out, "pop_mpls:0x{ethertype:04x}"),
        Action::SetQueue(queue) => put!(out, "set_queue:{queue}"),
        Action::Group(group) => put!(out, "group:{}", group.0),
        Action::SetNwTtl(ttl) => put!(out, "mod_nw_ttl:{ttl}"),
        Action::DecNwTtl => out.push_str("dec_ttl"),
        Action::SetField(field) => put_set_field(out, field),
        Action::PushPbb(ethertype) => put!(out, "push_pbb:0x{ethertype:04x}"),
        Action::PopPbb => out.push_str("pop_pbb"),
        Action::Experimenter { experimenter, data } if put_extension(out, *experimenter, data) => {}
        Action::Experimenter { experimenter, data } => {
            put!(out, "experimenter({experimenter:#010x},");
            put_hex(out, data);
            out.push(')');
        }
        // Two of OpenFlow 1.1 that Open vSwitch has in all versions.
        Action::Unknown {
            type_: type_ @ (9 | 10),
            data,
        } if let Some([high, low]) = data.first_chunk() => {
            let name = if *type_ == 9 { "mod_tp_src" } else { "mod_tp_dst" };
            put!(out, "{name}:{}", u16::from_be_bytes([*high, *low]));
        }
        Action::Unknown { type_, data } => {
            put!(out, "action({type_},");
            put_hex(out, data);
            out.push(')');
        }
    }
}

fn put_set_field(out: &mut String, field: &OxmField) {
    out.push_str("set_field:");
    // To match on, the input port of 16 bits is the same as the one of 32, but not to set.
    if let OxmField::Raw(raw) = field
        && raw.class == CLASS_NXM_0
        && raw.field == 0
        && put_raw_value(out, raw)
    {
        return;
    }
    match &in_basic_class(field) {
        OxmField::InPort(port) => put!(out, "{port}->in_port_oxm"),
        OxmField::InPhyPort(port) => put!(out, "{port}->in_phy_port"),
        OxmField::Metadata(value) => put!(out, "{}->metadata", Hex(value.value)),
        OxmField::EthDst(mac) => put!(out, "{}->eth_dst", MacText(mac.value)),
        OxmField::EthSrc(mac) => put!(out, "{}->eth_src", MacText(mac.value)),
        OxmField::EthType(type_) => put!(out, "0x{type_:04x}->eth_type"),
        OxmField::VlanVid(vid) => put!(out, "{}->vlan_vid", vid.value),
        OxmField::VlanPcp(pcp) => put!(out, "{pcp}->vlan_pcp"),
        OxmField::IpDscp(dscp) => put!(out, "{dscp}->ip_dscp"),
        OxmField::IpEcn(ecn) => put!(out, "{ecn}->nw_ecn"),
        OxmField::IpProto(proto) => put!(out, "{proto}->nw_proto"),
        OxmField::Ipv4Src(address) => put!(out, "{}->ip_src", address.value),
        OxmField::Ipv4Dst(address) => put!(out, "{}->ip_dst", address.value),
        OxmField::TcpSrc(port) => put!(out, "{port}->tcp_src"),
        OxmField::TcpDst(port) => put!(out, "{port}->tcp_dst"),
        OxmField::UdpSrc(port) => put!(out, "{port}->udp_src"),
        OxmField::UdpDst(port) => put!(out, "{port}->udp_dst"),
        OxmField::SctpSrc(port) => put!(out, "{port}->sctp_src"),
        OxmField::SctpDst(port) => put!(out, "{port}->sctp_dst"),
        OxmField::Icmpv4Type(type_) => put!(out, "{type_}->icmp_type"),
        OxmField::Icmpv4Code(code) => put!(out, "{code}->icmp_code"),
        OxmField::ArpOp(op) => put!(out, "{op}->arp_op"),
        OxmField::ArpSpa(address) => put!(out, "{}->arp_spa", address.value),
        OxmField::ArpTpa(address) => put!(out, "{}->arp_tpa", address.value),
        OxmField::ArpSha(mac) => put!(out, "{}->arp_sha", MacText(mac.value)),
        OxmField::ArpTha(mac) => put!(out, "{}->arp_tha", MacText(mac.value)),
        OxmField::Ipv6Src(address) => put!(out, "{}->ipv6_src", Ipv6Text(address.value)),
        OxmField::Ipv6Dst(address) => put!(out, "{}->ipv6_dst", Ipv6Text(address.value)),
        OxmField::Ipv6Flabel(label) => put!(out, "{}->ipv6_label", Hex(label.value.into())),
        OxmField::Icmpv6Type(type_) => put!(out, "{type_}->icmpv6_type"),
        OxmField::Icmpv6Code(code) => put!(out, "{code}->icmpv6_code"),
        OxmField::Ipv6NdTarget(target) => put!(out, "{}->nd_target", Ipv6Text(*target)),
        OxmField::Ipv6NdSll(mac) => put!(out, "{}->nd_sll", MacText(*mac)),
        OxmField::Ipv6NdTll(mac) => put!(out, "{}->nd_tll", MacText(*mac)),
        OxmField::MplsLabel(label) => put!(out, "{label}->mpls_label"),
        OxmField::MplsTc(tc) => put!(out, "{tc}->mpls_tc"),
        OxmField::MplsBos(bos) => put!(out, "{bos}->mpls_bos"),
        OxmField::PbbIsid(isid) => put!(out, "{}->pbb_isid", Hex(isid.value.into())),
        OxmField::TunnelId(id) => put!(out, "{}->tun_id", Hex(id.value)),
        OxmField::Ipv6Exthdr(bits) => put!(out, "{}->ipv6_exthdr", Hex(bits.value.into())),
        OxmField::Raw(raw) if put_raw_value(out, raw) => {}
        OxmField::Raw(raw) => {
            out.push_str("0x");
            put_hex(out, &raw.body);
            put!(out, "->oxm(class={:#06x},field={})", raw.class, raw.field);
        }
    }
}
