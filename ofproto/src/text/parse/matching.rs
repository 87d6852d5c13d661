//! Matches.

use super::piece::{Pair, Piece};
use super::{Fault, field};
use crate::oxm::VLAN_PRESENT;
use crate::text::fields::Field;
use crate::{Masked, Match, OxmField};

pub(super) fn parse(text: Piece<'_>) -> Result<Match, Fault> {
    let mut builder = MatchBuilder::default();
    let mut pairs = text.pairs();
    while let Some(pair) = pairs.next()? {
        if !builder.add(pair)? {
            return Err(pair.key.fault("a field to match"));
        }
    }
    builder.finish()
}

/// A match while its parts are read.
#[derive(Default)]
pub(super) struct MatchBuilder<'a> {
    fields: Vec<(OxmField, Piece<'a>)>,
    /// Fields whose meaning depends on the protocol, which may come later.
    transport: Vec<Pair<'a>>,
}

impl<'a> MatchBuilder<'a> {
    /// Takes a part of the match; `false` when it is none.
    pub(super) fn add(&mut self, pair: Pair<'a>) -> Result<bool, Fault> {
        let key = pair.key;
        let is_option = field::named(key).is_some_and(Field::is_tunnel_option);
        if pair.value.is_some_and(|value| value.text == "*") && field::is_known(key) && !is_option {
            // Anything matches.
            return Ok(true);
        }
        if let Some((_, type_, proto)) = PROTOCOLS.iter().find(|(name, _, _)| *name == key.text) {
            pair.bare()?;
            self.push(OxmField::EthType(*type_), key);
            if let Some(proto) = proto {
                self.push(OxmField::IpProto(*proto), key);
            }
            return Ok(true);
        }
        match key.text {
            "tp_src" | "tp_dst" | "icmp_type" | "icmp_code" => {
                pair.value("a number")?;
                self.transport.push(pair);
            }
            "dl_vlan" => {
                let value = pair.value("a VLAN id")?;
                let vid = match value.u16()? {
                    NO_VLAN => Masked::exact(0),
                    vid @ ..=0xfff => Masked::exact(vid | VLAN_PRESENT),
                    _ => return Err(value.fault("a VLAN id from 0 to 4095, or 0xffff for none")),
                };
                self.push(OxmField::VlanVid(vid), key);
            }
            "dl_vlan_pcp" | "vlan_pcp" => {
                let pcp = pair.value("a VLAN priority")?.narrow(7)?;
                self.push(OxmField::VlanPcp(pcp), key);
            }
            "vlan_tci" => {
                let value = pair.value("tag control information")?;
                self.add_tci(value, key)?;
            }
            "nw_tos" => {
                let value = pair.value("a type of service")?;
                let tos = value.u8()?;
                if tos & 3 != 0 {
                    return Err(value.fault("a multiple of 4: the other bits are nw_ecn"));
                }
                self.push(OxmField::IpDscp(tos >> 2), key);
            }
            name => {
                let value = pair.value.unwrap_or(Piece {
                    text: "",
                    at: key.at + key.text.len(),
                });
                let Some(field) = field::parse(name, value).or_else(|fault| match pair.value {
                    // No such field, perhaps; then it is not the value that is missing.
                    None if field::parse(name, Piece::whole("0")).is_ok_and(|field| field.is_none()) => {
                        Ok(None)
                    }
                    _ => Err(fault),
                })?
                else {
                    return Ok(false);
                };
                for part in registers(field) {
                    self.push(part, key);
                }
            }
        }
        Ok(true)
    }

    /// The match, when everything in it has what it needs.
    pub(super) fn finish(mut self) -> Result<Match, Fault> {
        for pair in std::mem::take(&mut self.transport) {
            let Some(name) = self.transport_name(pair.key.text) else {
                return Err(pair.key.fault(format!(
                    "`tcp`, `udp`, `sctp` or `icmp` beside `{}`",
                    pair.key.text
                )));
            };
            let value = pair.value("a number")?;
            if let Some(field) = field::parse(name, value)? {
                self.push(field, pair.key);
            }
        }
        if matches!(self.eth_type(), Some(0x0806 | 0x8035)) {
            // The names that fields of ARP had in OpenFlow 1.0.
            for (field, _) in &mut self.fields {
                match field {
                    OxmField::Ipv4Src(address) => *field = OxmField::ArpSpa(*address),
                    OxmField::Ipv4Dst(address) => *field = OxmField::ArpTpa(*address),
                    OxmField::IpProto(proto) => *field = OxmField::ArpOp((*proto).into()),
                    _ => {}
                }
            }
        }
        let has_pcp = self
            .fields
            .iter()
            .any(|(field, _)| matches!(field, OxmField::VlanPcp(_)));
        let has_vid = self
            .fields
            .iter()
            .any(|(field, _)| matches!(field, OxmField::VlanVid(_)));
        if has_pcp && !has_vid {
            // A priority needs a tag.
            let tag = Masked::new(VLAN_PRESENT, VLAN_PRESENT);
            self.fields.push((OxmField::VlanVid(tag), Piece::whole("")));
        }
        let (mut fields, keys): (Vec<_>, Vec<_>) = self.fields.into_iter().unzip();
        for (field, key) in fields.iter().zip(keys) {
            let is_nsh = Field::of(field.id()).is_some_and(Field::is_nsh);
            let needed = match field.missing_prerequisite(&fields) {
                None if is_nsh && !fields.iter().any(|field| field.ethertype() == Some(0x894f)) => {
                    Some("`eth_type=0x894f`")
                }
                needed => needed,
            };
            if let Some(needed) = needed {
                return Err(key.fault(format!("{needed} beside `{}`", key.text)));
            }
        }
        if fields.iter().any(is_of_ethernet) {
            // Then it goes without saying that packets are of Ethernet.
            fields.retain(|field| field.packet_type() != Some(0));
        }
        fields.sort_by_key(place);
        Ok(fields.into_iter().collect())
    }

    fn push(&mut self, field: OxmField, key: Piece<'a>) {
        let id = |field: &OxmField| {
            let id = field.id();
            (id.class, id.field, id.experimenter)
        };
        // The last word is the one that counts; that anything matches goes without saying.
        let is_option = Field::of(field.id()).is_some_and(Field::is_tunnel_option);
        let matches_all = field.canonical().is_none() && !is_option;
        match self.fields.iter().position(|(other, _)| id(other) == id(&field)) {
            Some(at) if matches_all => drop(self.fields.remove(at)),
            Some(at) => self.fields[at] = (field, key),
            None if matches_all => {}
            None => self.fields.push((field, key)),
        }
    }

    /// Tag control information is priority, presence and id together.
    fn add_tci(&mut self, value: Piece<'_>, key: Piece<'a>) -> Result<(), Fault> {
        let (tci, mask) = match value.split_once("/") {
            Some((tci, mask)) => (tci.u16()?, mask.u16()?),
            None => (value.u16()?, u16::MAX),
        };
        let vid_mask = mask & 0x1fff;
        if vid_mask != 0 {
            let vid = if vid_mask == 0x1fff {
                Masked::exact(tci & vid_mask)
            } else {
                Masked::new(tci & vid_mask, vid_mask)
            };
            self.push(OxmField::VlanVid(vid), key);
        }
        match mask >> 13 {
            0 => Ok(()),
            // Without a tag there is no priority.
            7 if tci & VLAN_PRESENT == 0 && tci >> 13 == 0 => Ok(()),
            7 => {
                self.push(OxmField::VlanPcp(u8::try_from(tci >> 13).unwrap_or(7)), key);
                Ok(())
            }
            _ => Err(value.fault("a mask that covers all bits of the priority or none")),
        }
    }

    fn eth_type(&self) -> Option<u16> {
        self.fields.iter().find_map(|(field, _)| field.ethertype())
    }

    fn ip_proto(&self) -> Option<u8> {
        self.fields.iter().find_map(|(field, _)| match field {
            OxmField::IpProto(proto) => Some(*proto),
            _ => None,
        })
    }

    /// The field that is meant by a name which means different ones for different protocols.
    fn transport_name(&self, name: &str) -> Option<&'static str> {
        Some(match (name, self.eth_type()?, self.ip_proto()?) {
            ("tp_src", 0x0800 | 0x86dd, 6) => "tcp_src",
            ("tp_dst", 0x0800 | 0x86dd, 6) => "tcp_dst",
            ("tp_src", 0x0800 | 0x86dd, 17) => "udp_src",
            ("tp_dst", 0x0800 | 0x86dd, 17) => "udp_dst",
            ("tp_src", 0x0800 | 0x86dd, 132) => "sctp_src",
            ("tp_dst", 0x0800 | 0x86dd, 132) => "sctp_dst",
            ("icmp_type" | "tp_src", 0x0800, 1) => "icmp_type",
            ("icmp_code" | "tp_dst", 0x0800, 1) => "icmp_code",
            ("icmp_type" | "tp_src", 0x86dd, 58) => "icmpv6_type",
            ("icmp_code" | "tp_dst", 0x86dd, 58) => "icmpv6_code",
            _ => return None,
        })
    }
}

/// Does the field say that there is an Ethernet header?
const fn is_of_ethernet(field: &OxmField) -> bool {
    !matches!(
        field,
        OxmField::InPort(_)
            | OxmField::InPhyPort(_)
            | OxmField::Metadata(_)
            | OxmField::TunnelId(_)
            | OxmField::Raw(_)
    )
}

/// Wide registers are several of 32 bits.
fn registers(field: OxmField) -> Vec<OxmField> {
    let parts = || {
        let OxmField::Raw(raw) = &field else { return None };
        let known = Field::of(field.id())?;
        let name = known.name();
        let (number, count) = match (name.strip_prefix("xreg"), name.strip_prefix("xxreg")) {
            (Some(number), _) => (number, 2),
            (_, Some(number)) => (number, 4),
            _ => return None,
        };
        let first = number.parse::<u32>().ok()? * count;
        let (value, mask) = known.value_in(raw)?;
        let parts = (0..count).map(|at| {
            let shift = 32 * (count - 1 - at);
            let part = |whole: u128| whole >> shift & u128::from(u32::MAX);
            let mask = mask.map(part).filter(|mask| *mask != u128::from(u32::MAX));
            let register = Field::named(&format!("reg{}", first + at))?;
            Some(register.with_value(part(value), mask)).filter(|_| mask != Some(0))
        });
        parts.flatten().collect::<Option<Vec<_>>>()
    };
    parts().unwrap_or_else(|| vec![field])
}

/// The place of a field in the order in which Open vSwitch sends them, and within its family.
fn place(field: &OxmField) -> (usize, usize) {
    let name = Field::of(field.id()).map(Field::name).unwrap_or_default();
    let member = |family: &str| {
        name.strip_prefix(family)
            .and_then(|number| number.parse::<usize>().ok())
    };
    ORDER
        .iter()
        .enumerate()
        .find_map(|(at, other)| match *other {
            family @ ("reg" | "tun_metadata") => member(family).map(|member| (at, member)),
            other => (other == name).then_some((at, 0)),
        })
        .unwrap_or((usize::MAX, 0))
}

/// Names in the order in which Open vSwitch sends them.
#[rustfmt::skip]
const ORDER: &[&str] = &[
    "packet_type", "dp_hash", "recirc_id", "conj_id", "in_port_oxm", "actset_output", "eth_src", "eth_dst",
    "eth_type", "vlan_vid", "vlan_pcp", "mpls_tc", "mpls_bos", "mpls_ttl", "mpls_label", "ip_src", "ip_dst",
    "ipv6_src", "ipv6_dst", "ip_frag", "ip_dscp", "nw_ecn", "nw_ttl", "ipv6_label", "nw_proto", "tcp_src", "tcp_dst",
    "tcp_flags", "udp_src", "udp_dst", "sctp_src", "sctp_dst", "icmp_type", "icmp_code", "icmpv6_type",
    "icmpv6_code", "nd_reserved", "nd_target", "nd_options_type", "nd_sll", "nd_tll", "arp_op", "arp_spa", "arp_tpa",
    "arp_sha", "arp_tha", "tun_id", "tun_flags", "tun_src", "tun_dst", "tun_ipv6_src", "tun_ipv6_dst", "tun_gbp_id",
    "tun_gbp_flags", "tun_metadata", "tun_erspan_idx", "tun_erspan_ver", "tun_erspan_dir", "tun_erspan_hwid", "tun_gtpu_flags",
    "tun_gtpu_msgtype", "nsh_flags", "nsh_ttl", "nsh_mdtype", "nsh_np", "nsh_spi", "nsh_si", "nsh_c1", "nsh_c2",
    "nsh_c3", "nsh_c4", "reg", "pkt_mark", "ct_state", "ct_zone", "ct_mark", "ct_label", "ct_nw_src", "ct_ipv6_src",
    "ct_nw_dst", "ct_ipv6_dst", "ct_nw_proto", "ct_tp_src", "ct_tp_dst", "metadata",
];
/// How the absence of a tag is said.
const NO_VLAN: u16 = 0xffff;
/// Words for an Ethernet type, and an IP protocol.
const PROTOCOLS: &[(&str, u16, Option<u8>)] = &[
    ("ip", 0x0800, None),
    ("ipv4", 0x0800, None),
    ("icmp", 0x0800, Some(1)),
    ("tcp", 0x0800, Some(6)),
    ("udp", 0x0800, Some(17)),
    ("sctp", 0x0800, Some(132)),
    ("ipv6", 0x86dd, None),
    ("ip6", 0x86dd, None),
    ("icmp6", 0x86dd, Some(58)),
    ("tcp6", 0x86dd, Some(6)),
    ("udp6", 0x86dd, Some(17)),
    ("sctp6", 0x86dd, Some(132)),
    ("arp", 0x0806, None),
    ("rarp", 0x8035, None),
    ("mpls", 0x8847, None),
    ("mplsm", 0x8848, None),
];
