//! The fields that Open vSwitch has: their names, their numbers on the wire, and how it prints their values.

use crate::oxm::{CLASS_BASIC, CLASS_EXPERIMENTER, CLASS_NXM_0, CLASS_NXM_1};
use crate::{ExperimenterId, OxmId};

/// A field that Open vSwitch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Field {
    /// Its place in the order in which Open vSwitch lists fields: the row in [`FAMILIES`].
    row: usize,
    /// Which one of the row.
    member: u8,
}

/// How a value is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Hex,
    Decimal,
    Mac,
    Ipv4,
    Ipv6,
    Port,
    PacketType,
    TunnelFlags,
    CtState,
    Fragment,
    TcpFlags,
}

impl Field {
    /// The field with this number; `None` when Open vSwitch has none.
    pub(super) fn of(id: OxmId) -> Option<Self> {
        let space = Space {
            class: id.class,
            experimenter: id.experimenter,
        };
        FAMILIES.iter().enumerate().find_map(|(row, family)| {
            family.ids.iter().find_map(|(of, first)| {
                let member = id.field.checked_sub(*first)?;
                (*of == space && member < family.count).then_some(Self { row, member })
            })
        })
    }

    /// The field with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::all().find(|field| field.name() == name)
    }

    fn all() -> impl Iterator<Item = Self> {
        FAMILIES
            .iter()
            .enumerate()
            .flat_map(|(row, family)| (0..family.count).map(move |member| Self { row, member }))
    }

    pub(super) fn name(self) -> String {
        let family = self.family();
        if family.count == 1 {
            family.stem.to_owned()
        } else {
            format!("{}{}", family.stem, family.first + self.member)
        }
    }

    pub(super) fn format(self) -> Format {
        self.family().format
    }

    /// How many bits a value has.
    pub(super) fn bits(self) -> u16 {
        self.family().bits
    }

    /// How many bytes a value has.
    pub(super) fn width(self) -> u8 {
        match self.family().bits.div_ceil(8) {
            // Three bytes travel in four.
            3 => 4,
            bytes => u8::try_from(bytes).unwrap_or(0),
        }
    }

    /// The id on the wire; of several the one that OpenFlow itself defines.
    pub(super) fn id(self) -> Option<OxmId> {
        let family = self.family();
        let (space, first) = family.ids.last()?;
        Some(OxmId {
            class: space.class,
            field: first + self.member,
            has_mask: false,
            length: self.width(),
            experimenter: space.experimenter,
        })
    }

    fn family(self) -> &'static Family {
        &FAMILIES[self.row]
    }
}

/// A field, or several of the same kind that are told apart by a number.
struct Family {
    stem: &'static str,
    /// The number of the first one.
    first: u8,
    count: u8,
    format: Format,
    bits: u16,
    /// Where it is found on the wire: the numbers of a family follow each other.
    ids: &'static [(Space, u8)],
}

/// What numbers fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Space {
    class: u16,
    experimenter: Option<u32>,
}

const fn space(class: u16) -> Space {
    Space {
        class,
        experimenter: None,
    }
}

const fn experimenter(id: u32) -> Space {
    Space {
        class: CLASS_EXPERIMENTER,
        experimenter: Some(id),
    }
}

const fn one(stem: &'static str, format: Format, bits: u16, ids: &'static [(Space, u8)]) -> Family {
    family(stem, 0, 1, format, bits, ids)
}

const fn family(
    stem: &'static str,
    first: u8,
    count: u8,
    format: Format,
    bits: u16,
    ids: &'static [(Space, u8)],
) -> Family {
    Family {
        stem,
        first,
        count,
        format,
        bits,
        ids,
    }
}

const NXM_0: Space = space(CLASS_NXM_0);
const NXM_1: Space = space(CLASS_NXM_1);
const BASIC: Space = space(CLASS_BASIC);
/// `OFPXMC_PACKET_REGS` of later versions of OpenFlow.
const PACKET_REGS: Space = space(0x8001);
/// A class of Ericsson's.
const ERICSSON: Space = space(0x1000);
const NICIRA: Space = experimenter(ExperimenterId::NICIRA.0);
const ONF: Space = experimenter(ExperimenterId::ONF.0);
/// Network service headers.
const NSH: Space = experimenter(0x005a_d650);

use Format::{CtState, Decimal, Fragment, Hex, Ipv4, Ipv6, Mac, PacketType, Port, TcpFlags, TunnelFlags};

/// In the order in which Open vSwitch lists them.
#[rustfmt::skip]
const FAMILIES: &[Family] = &[
    one("dp_hash", Hex, 32, &[(NXM_1, 35), (NICIRA, 0)]),
    one("recirc_id", Decimal, 32, &[(NXM_1, 36)]),
    one("packet_type", PacketType, 32, &[(BASIC, 44)]),
    one("conj_id", Decimal, 32, &[(NXM_1, 37)]),
    one("tun_id", Hex, 64, &[(NXM_1, 16), (BASIC, 38)]),
    one("tun_src", Ipv4, 32, &[(NXM_1, 31)]),
    one("tun_dst", Ipv4, 32, &[(NXM_1, 32)]),
    one("tun_ipv6_src", Ipv6, 128, &[(NXM_1, 109)]),
    one("tun_ipv6_dst", Ipv6, 128, &[(NXM_1, 110)]),
    one("tun_flags", TunnelFlags, 1, &[(NXM_1, 104)]),
    one("tun_ttl", Decimal, 8, &[]),
    one("tun_tos", Decimal, 8, &[]),
    one("tun_gbp_id", Decimal, 16, &[(NXM_1, 38)]),
    one("tun_gbp_flags", Hex, 8, &[(NXM_1, 39)]),
    one("tun_erspan_idx", Hex, 20, &[(NICIRA, 11)]),
    one("tun_erspan_ver", Decimal, 4, &[(NICIRA, 12)]),
    one("tun_erspan_dir", Decimal, 1, &[(NICIRA, 13)]),
    one("tun_erspan_hwid", Hex, 6, &[(NICIRA, 14)]),
    one("tun_gtpu_flags", Hex, 8, &[(NICIRA, 15)]),
    one("tun_gtpu_msgtype", Decimal, 8, &[(NICIRA, 16)]),
    family("tun_metadata", 0, 64, Hex, 992, &[(NXM_1, 40)]),
    one("metadata", Hex, 64, &[(BASIC, 2)]),
    one("in_port", Port, 16, &[(NXM_0, 0)]),
    one("in_port_oxm", Port, 32, &[(BASIC, 0)]),
    one("actset_output", Port, 32, &[(ONF, 43), (BASIC, 43)]),
    one("skb_priority", Hex, 32, &[]),
    one("pkt_mark", Hex, 32, &[(NXM_1, 33)]),
    one("ct_state", CtState, 32, &[(NXM_1, 105)]),
    one("ct_zone", Hex, 16, &[(NXM_1, 106)]),
    one("ct_mark", Hex, 32, &[(NXM_1, 107)]),
    one("ct_label", Hex, 128, &[(NXM_1, 108)]),
    one("ct_nw_proto", Decimal, 8, &[(NXM_1, 119)]),
    one("ct_nw_src", Ipv4, 32, &[(NXM_1, 120)]),
    one("ct_nw_dst", Ipv4, 32, &[(NXM_1, 121)]),
    one("ct_ipv6_src", Ipv6, 128, &[(NXM_1, 122)]),
    one("ct_ipv6_dst", Ipv6, 128, &[(NXM_1, 123)]),
    one("ct_tp_src", Decimal, 16, &[(NXM_1, 124)]),
    one("ct_tp_dst", Decimal, 16, &[(NXM_1, 125)]),
    family("reg", 0, 16, Hex, 32, &[(NXM_1, 0)]),
    family("xreg", 0, 8, Hex, 64, &[(PACKET_REGS, 0)]),
    family("xxreg", 0, 4, Hex, 128, &[(NXM_1, 111)]),
    one("eth_src", Mac, 48, &[(NXM_0, 2), (BASIC, 4)]),
    one("eth_dst", Mac, 48, &[(NXM_0, 1), (BASIC, 3)]),
    one("eth_type", Hex, 16, &[(NXM_0, 3), (BASIC, 5)]),
    one("vlan_tci", Hex, 16, &[(NXM_0, 4)]),
    one("dl_vlan", Decimal, 12, &[]),
    one("vlan_vid", Decimal, 12, &[(BASIC, 6)]),
    one("dl_vlan_pcp", Decimal, 3, &[]),
    one("vlan_pcp", Decimal, 3, &[(BASIC, 7)]),
    one("mpls_label", Decimal, 20, &[(BASIC, 34)]),
    one("mpls_tc", Decimal, 3, &[(BASIC, 35)]),
    one("mpls_bos", Decimal, 1, &[(BASIC, 36)]),
    one("mpls_ttl", Decimal, 8, &[(NXM_1, 30)]),
    one("ip_src", Ipv4, 32, &[(NXM_0, 7), (BASIC, 11)]),
    one("ip_dst", Ipv4, 32, &[(NXM_0, 8), (BASIC, 12)]),
    one("ipv6_src", Ipv6, 128, &[(NXM_1, 19), (BASIC, 26)]),
    one("ipv6_dst", Ipv6, 128, &[(NXM_1, 20), (BASIC, 27)]),
    one("ipv6_label", Hex, 20, &[(NXM_1, 27), (BASIC, 28)]),
    one("nw_proto", Decimal, 8, &[(NXM_0, 6), (BASIC, 10)]),
    one("nw_tos", Decimal, 8, &[(NXM_0, 5)]),
    one("ip_dscp", Decimal, 6, &[(BASIC, 8)]),
    one("nw_ecn", Decimal, 2, &[(NXM_1, 28), (BASIC, 9)]),
    one("nw_ttl", Decimal, 8, &[(NXM_1, 29)]),
    one("ip_frag", Fragment, 2, &[(NXM_1, 26)]),
    one("arp_op", Decimal, 16, &[(NXM_0, 15), (BASIC, 21)]),
    one("arp_spa", Ipv4, 32, &[(NXM_0, 16), (BASIC, 22)]),
    one("arp_tpa", Ipv4, 32, &[(NXM_0, 17), (BASIC, 23)]),
    one("arp_sha", Mac, 48, &[(NXM_1, 17), (BASIC, 24)]),
    one("arp_tha", Mac, 48, &[(NXM_1, 18), (BASIC, 25)]),
    one("tcp_src", Decimal, 16, &[(NXM_0, 9), (BASIC, 13)]),
    one("tcp_dst", Decimal, 16, &[(NXM_0, 10), (BASIC, 14)]),
    one("tcp_flags", TcpFlags, 12, &[(NXM_1, 34), (ONF, 42), (BASIC, 42)]),
    one("udp_src", Decimal, 16, &[(NXM_0, 11), (BASIC, 15)]),
    one("udp_dst", Decimal, 16, &[(NXM_0, 12), (BASIC, 16)]),
    one("sctp_src", Decimal, 16, &[(BASIC, 17)]),
    one("sctp_dst", Decimal, 16, &[(BASIC, 18)]),
    one("icmp_type", Decimal, 8, &[(NXM_0, 13), (BASIC, 19)]),
    one("icmp_code", Decimal, 8, &[(NXM_0, 14), (BASIC, 20)]),
    one("icmpv6_type", Decimal, 8, &[(NXM_1, 21), (BASIC, 29)]),
    one("icmpv6_code", Decimal, 8, &[(NXM_1, 22), (BASIC, 30)]),
    one("nd_target", Ipv6, 128, &[(NXM_1, 23), (BASIC, 31)]),
    one("nd_sll", Mac, 48, &[(NXM_1, 24), (BASIC, 32)]),
    one("nd_tll", Mac, 48, &[(NXM_1, 25), (BASIC, 33)]),
    one("nd_reserved", Decimal, 32, &[(ERICSSON, 1)]),
    one("nd_options_type", Decimal, 8, &[(ERICSSON, 2)]),
    one("nsh_flags", Decimal, 8, &[(NSH, 1)]),
    one("nsh_mdtype", Decimal, 8, &[(NSH, 2)]),
    one("nsh_np", Decimal, 8, &[(NSH, 3)]),
    one("nsh_spi", Hex, 24, &[(NSH, 4)]),
    one("nsh_si", Decimal, 8, &[(NSH, 5)]),
    family("nsh_c", 1, 4, Hex, 32, &[(NSH, 6)]),
    one("nsh_ttl", Decimal, 8, &[(NSH, 10)]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_with_a_number_is_found_by_it_and_by_its_name() {
        for field in Field::all() {
            assert_eq!(Field::named(&field.name()), Some(field));
            if let Some(id) = field.id() {
                assert_eq!(Field::of(id), Some(field), "{}", field.name());
            }
        }
    }
}
