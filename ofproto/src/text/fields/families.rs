//! The table of the fields that Open vSwitch has.

use super::Format;
use crate::ExperimenterId;
use crate::oxm::{CLASS_BASIC, CLASS_EXPERIMENTER, CLASS_NXM_0, CLASS_NXM_1};

/// A field, or several of the same kind that are told apart by a number.
pub(super) struct Family {
    pub(super) stem: &'static str,
    /// What the first of its ids is called; empty without one.
    pub(super) wire_stem: &'static str,
    /// The number of the first one.
    pub(super) first: u8,
    pub(super) count: u8,
    pub(super) format: Format,
    pub(super) bits: u16,
    /// Where it is found on the wire: the numbers of a family follow each other.
    pub(super) ids: &'static [(Space, u8)],
}

/// What numbers fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Space {
    pub(super) class: u16,
    pub(super) experimenter: Option<u32>,
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

const fn one(
    stem: &'static str,
    wire_stem: &'static str,
    format: Format,
    bits: u16,
    ids: &'static [(Space, u8)],
) -> Family {
    family(stem, wire_stem, 0, 1, format, bits, ids)
}

const fn family(
    stem: &'static str,
    wire_stem: &'static str,
    first: u8,
    count: u8,
    format: Format,
    bits: u16,
    ids: &'static [(Space, u8)],
) -> Family {
    Family {
        stem,
        wire_stem,
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
pub(super) const FAMILIES: &[Family] = &[
    one("dp_hash", "NXM_NX_DP_HASH", Hex, 32, &[(NICIRA, 0), (NXM_1, 35)]),
    one("recirc_id", "NXM_NX_RECIRC_ID", Decimal, 32, &[(NXM_1, 36)]),
    one("packet_type", "OXM_OF_PACKET_TYPE", PacketType, 32, &[(BASIC, 44)]),
    one("conj_id", "NXM_NX_CONJ_ID", Decimal, 32, &[(NXM_1, 37)]),
    one("tun_id", "NXM_NX_TUN_ID", Hex, 64, &[(NXM_1, 16), (BASIC, 38)]),
    one("tun_src", "NXM_NX_TUN_IPV4_SRC", Ipv4, 32, &[(NXM_1, 31)]),
    one("tun_dst", "NXM_NX_TUN_IPV4_DST", Ipv4, 32, &[(NXM_1, 32)]),
    one("tun_ipv6_src", "NXM_NX_TUN_IPV6_SRC", Ipv6, 128, &[(NXM_1, 109)]),
    one("tun_ipv6_dst", "NXM_NX_TUN_IPV6_DST", Ipv6, 128, &[(NXM_1, 110)]),
    one("tun_flags", "NXM_NX_TUN_FLAGS", TunnelFlags, 1, &[(NXM_1, 104)]),
    one("tun_ttl", "", Decimal, 8, &[]),
    one("tun_tos", "", Decimal, 8, &[]),
    one("tun_gbp_id", "NXM_NX_TUN_GBP_ID", Decimal, 16, &[(NXM_1, 38)]),
    one("tun_gbp_flags", "NXM_NX_TUN_GBP_FLAGS", Hex, 8, &[(NXM_1, 39)]),
    one("tun_erspan_idx", "NXOXM_ET_ERSPAN_IDX", Hex, 20, &[(NICIRA, 11)]),
    one("tun_erspan_ver", "NXOXM_ET_ERSPAN_VER", Decimal, 4, &[(NICIRA, 12)]),
    one("tun_erspan_dir", "NXOXM_ET_ERSPAN_DIR", Decimal, 1, &[(NICIRA, 13)]),
    one("tun_erspan_hwid", "NXOXM_ET_ERSPAN_HWID", Hex, 6, &[(NICIRA, 14)]),
    one("tun_gtpu_flags", "NXOXM_ET_GTPU_FLAGS", Hex, 8, &[(NICIRA, 15)]),
    one("tun_gtpu_msgtype", "NXOXM_ET_GTPU_MSGTYPE", Decimal, 8, &[(NICIRA, 16)]),
    family("tun_metadata", "NXM_NX_TUN_METADATA", 0, 64, Hex, 992, &[(NXM_1, 40)]),
    one("metadata", "OXM_OF_METADATA", Hex, 64, &[(BASIC, 2)]),
    one("in_port", "NXM_OF_IN_PORT", Port, 16, &[(NXM_0, 0)]),
    one("in_port_oxm", "OXM_OF_IN_PORT", Port, 32, &[(BASIC, 0)]),
    one("actset_output", "ONFOXM_ET_ACTSET_OUTPUT", Port, 32, &[(BASIC, 43), (ONF, 43)]),
    one("skb_priority", "", Hex, 32, &[]),
    one("pkt_mark", "NXM_NX_PKT_MARK", Hex, 32, &[(NXM_1, 33)]),
    one("ct_state", "NXM_NX_CT_STATE", CtState, 32, &[(NXM_1, 105)]),
    one("ct_zone", "NXM_NX_CT_ZONE", Hex, 16, &[(NXM_1, 106)]),
    one("ct_mark", "NXM_NX_CT_MARK", Hex, 32, &[(NXM_1, 107)]),
    one("ct_label", "NXM_NX_CT_LABEL", Hex, 128, &[(NXM_1, 108)]),
    one("ct_nw_proto", "NXM_NX_CT_NW_PROTO", Decimal, 8, &[(NXM_1, 119)]),
    one("ct_nw_src", "NXM_NX_CT_NW_SRC", Ipv4, 32, &[(NXM_1, 120)]),
    one("ct_nw_dst", "NXM_NX_CT_NW_DST", Ipv4, 32, &[(NXM_1, 121)]),
    one("ct_ipv6_src", "NXM_NX_CT_IPV6_SRC", Ipv6, 128, &[(NXM_1, 122)]),
    one("ct_ipv6_dst", "NXM_NX_CT_IPV6_DST", Ipv6, 128, &[(NXM_1, 123)]),
    one("ct_tp_src", "NXM_NX_CT_TP_SRC", Decimal, 16, &[(NXM_1, 124)]),
    one("ct_tp_dst", "NXM_NX_CT_TP_DST", Decimal, 16, &[(NXM_1, 125)]),
    family("reg", "NXM_NX_REG", 0, 16, Hex, 32, &[(NXM_1, 0)]),
    family("xreg", "OXM_OF_PKT_REG", 0, 8, Hex, 64, &[(PACKET_REGS, 0)]),
    family("xxreg", "NXM_NX_XXREG", 0, 4, Hex, 128, &[(NXM_1, 111)]),
    one("eth_src", "NXM_OF_ETH_SRC", Mac, 48, &[(NXM_0, 2), (BASIC, 4)]),
    one("eth_dst", "NXM_OF_ETH_DST", Mac, 48, &[(NXM_0, 1), (BASIC, 3)]),
    one("eth_type", "NXM_OF_ETH_TYPE", Hex, 16, &[(NXM_0, 3), (BASIC, 5)]),
    one("vlan_tci", "NXM_OF_VLAN_TCI", Hex, 16, &[(NXM_0, 4)]),
    one("dl_vlan", "", Decimal, 12, &[]),
    one("vlan_vid", "OXM_OF_VLAN_VID", Decimal, 12, &[(BASIC, 6)]),
    one("dl_vlan_pcp", "", Decimal, 3, &[]),
    one("vlan_pcp", "OXM_OF_VLAN_PCP", Decimal, 3, &[(BASIC, 7)]),
    one("mpls_label", "OXM_OF_MPLS_LABEL", Decimal, 20, &[(BASIC, 34)]),
    one("mpls_tc", "OXM_OF_MPLS_TC", Decimal, 3, &[(BASIC, 35)]),
    one("mpls_bos", "OXM_OF_MPLS_BOS", Decimal, 1, &[(BASIC, 36)]),
    one("mpls_ttl", "NXM_NX_MPLS_TTL", Decimal, 8, &[(NXM_1, 30)]),
    one("ip_src", "NXM_OF_IP_SRC", Ipv4, 32, &[(NXM_0, 7), (BASIC, 11)]),
    one("ip_dst", "NXM_OF_IP_DST", Ipv4, 32, &[(NXM_0, 8), (BASIC, 12)]),
    one("ipv6_src", "NXM_NX_IPV6_SRC", Ipv6, 128, &[(NXM_1, 19), (BASIC, 26)]),
    one("ipv6_dst", "NXM_NX_IPV6_DST", Ipv6, 128, &[(NXM_1, 20), (BASIC, 27)]),
    one("ipv6_label", "NXM_NX_IPV6_LABEL", Hex, 20, &[(NXM_1, 27), (BASIC, 28)]),
    one("nw_proto", "NXM_OF_IP_PROTO", Decimal, 8, &[(NXM_0, 6), (BASIC, 10)]),
    one("nw_tos", "NXM_OF_IP_TOS", Decimal, 8, &[(NXM_0, 5)]),
    one("ip_dscp", "OXM_OF_IP_DSCP", Decimal, 6, &[(BASIC, 8)]),
    one("nw_ecn", "NXM_NX_IP_ECN", Decimal, 2, &[(NXM_1, 28), (BASIC, 9)]),
    one("nw_ttl", "NXM_NX_IP_TTL", Decimal, 8, &[(NXM_1, 29)]),
    one("ip_frag", "NXM_NX_IP_FRAG", Fragment, 2, &[(NXM_1, 26)]),
    one("arp_op", "NXM_OF_ARP_OP", Decimal, 16, &[(NXM_0, 15), (BASIC, 21)]),
    one("arp_spa", "NXM_OF_ARP_SPA", Ipv4, 32, &[(NXM_0, 16), (BASIC, 22)]),
    one("arp_tpa", "NXM_OF_ARP_TPA", Ipv4, 32, &[(NXM_0, 17), (BASIC, 23)]),
    one("arp_sha", "NXM_NX_ARP_SHA", Mac, 48, &[(NXM_1, 17), (BASIC, 24)]),
    one("arp_tha", "NXM_NX_ARP_THA", Mac, 48, &[(NXM_1, 18), (BASIC, 25)]),
    one("tcp_src", "NXM_OF_TCP_SRC", Decimal, 16, &[(NXM_0, 9), (BASIC, 13)]),
    one("tcp_dst", "NXM_OF_TCP_DST", Decimal, 16, &[(NXM_0, 10), (BASIC, 14)]),
    one("tcp_flags", "NXM_NX_TCP_FLAGS", TcpFlags, 12, &[(NXM_1, 34), (BASIC, 42), (ONF, 42)]),
    one("udp_src", "NXM_OF_UDP_SRC", Decimal, 16, &[(NXM_0, 11), (BASIC, 15)]),
    one("udp_dst", "NXM_OF_UDP_DST", Decimal, 16, &[(NXM_0, 12), (BASIC, 16)]),
    one("sctp_src", "OXM_OF_SCTP_SRC", Decimal, 16, &[(BASIC, 17)]),
    one("sctp_dst", "OXM_OF_SCTP_DST", Decimal, 16, &[(BASIC, 18)]),
    one("icmp_type", "NXM_OF_ICMP_TYPE", Decimal, 8, &[(NXM_0, 13), (BASIC, 19)]),
    one("icmp_code", "NXM_OF_ICMP_CODE", Decimal, 8, &[(NXM_0, 14), (BASIC, 20)]),
    one("icmpv6_type", "NXM_NX_ICMPV6_TYPE", Decimal, 8, &[(NXM_1, 21), (BASIC, 29)]),
    one("icmpv6_code", "NXM_NX_ICMPV6_CODE", Decimal, 8, &[(NXM_1, 22), (BASIC, 30)]),
    one("nd_target", "NXM_NX_ND_TARGET", Ipv6, 128, &[(NXM_1, 23), (BASIC, 31)]),
    one("nd_sll", "NXM_NX_ND_SLL", Mac, 48, &[(NXM_1, 24), (BASIC, 32)]),
    one("nd_tll", "NXM_NX_ND_TLL", Mac, 48, &[(NXM_1, 25), (BASIC, 33)]),
    one("nd_reserved", "ERICOXM_OF_ICMPV6_ND_RESERVED", Decimal, 32, &[(ERICSSON, 1)]),
    one("nd_options_type", "ERICOXM_OF_ICMPV6_ND_OPTIONS_TYPE", Decimal, 8, &[(ERICSSON, 2)]),
    one("nsh_flags", "NXOXM_NSH_FLAGS", Decimal, 8, &[(NSH, 1)]),
    one("nsh_mdtype", "NXOXM_NSH_MDTYPE", Decimal, 8, &[(NSH, 2)]),
    one("nsh_np", "NXOXM_NSH_NP", Decimal, 8, &[(NSH, 3)]),
    one("nsh_spi", "NXOXM_NSH_SPI", Hex, 24, &[(NSH, 4)]),
    one("nsh_si", "NXOXM_NSH_SI", Decimal, 8, &[(NSH, 5)]),
    family("nsh_c", "NXOXM_NSH_C", 1, 4, Hex, 32, &[(NSH, 6)]),
    one("nsh_ttl", "NXOXM_NSH_TTL", Decimal, 8, &[(NSH, 10)]),
];

/// What actions cannot write.
pub(super) const READ_ONLY: &[&str] = &[
    "dp_hash",
    "recirc_id",
    "packet_type",
    "conj_id",
    "tun_ttl",
    "tun_tos",
    "tun_gtpu_flags",
    "tun_gtpu_msgtype",
    "actset_output",
    "skb_priority",
    "ct_state",
    "ct_zone",
    "ct_nw_proto",
    "ct_nw_src",
    "ct_nw_dst",
    "ct_ipv6_src",
    "ct_ipv6_dst",
    "ct_tp_src",
    "ct_tp_dst",
    "eth_type",
    "mpls_bos",
    "nw_proto",
    "ip_frag",
    "tcp_flags",
    "nsh_mdtype",
    "nsh_np",
];
