//! The fields of OpenFlow's basic class: one line each, everything else follows from it.

use std::net::{Ipv4Addr, Ipv6Addr};

use bytes::{BufMut, BytesMut};

use super::masked::{Content, canonical_of};
use super::raw::put_header;
use super::{CLASS_BASIC, Masked, OxmId, RawOxm};
use crate::wire::{Fault, Parsed, Span, fixed, part};
use crate::{DecodeErrorKind, EncodeError, MacAddr, PortNo};

macro_rules! oxm_fields {
    ($($(#[$meta:meta])* $variant:ident($content:ty) = $number:literal, $width:literal, $c_name:literal;)*) => {
        /// A field of a match or of a set-field action: `ofp_oxm`, `oxm_ofb_match_fields`, OpenFlow 1.3.5 §7.2.3.7.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum OxmField {
            $(
                $(#[$meta])*
                #[doc = concat!(" (`", $c_name, "`, ", $number, ")")]
                $variant($content),
            )*
            /// Any other class or field, kept as it came.
            Raw(RawOxm),
        }

        impl OxmField {
            /// Class and number of the field, and how long its value is.
            #[must_use]
            pub fn id(&self) -> OxmId {
                let (field, has_mask, width) = match self {
                    $(Self::$variant(content) => ($number, content.has_mask(), $width),)*
                    Self::Raw(raw) => {
                        return OxmId {
                            class: raw.class,
                            field: raw.field,
                            has_mask: raw.has_mask,
                            length: u8::try_from(raw.body.len()).unwrap_or(u8::MAX),
                            experimenter: raw.experimenter(),
                        };
                    }
                };
                let length = if has_mask { 2 * width } else { width };
                OxmId { class: CLASS_BASIC, field, has_mask, length, experimenter: None }
            }

            /// The C name of the field's number, e.g. `OFPXMT_OFB_IN_PORT`.
            #[must_use]
            pub const fn c_name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $c_name,)*
                    Self::Raw(_) => "ofp_oxm",
                }
            }

            fn canonical_of_whole_bytes(&self) -> Option<Self> {
                match self {
                    $(Self::$variant(content) => content.canonical($width).map(Self::$variant),)*
                    Self::Raw(raw) => raw.canonical().map(Self::Raw),
                }
            }

            /// Reads what follows a header, and hands the field to `take`.
            #[inline]
            fn parse_body<T>(
                (class, field, has_mask): (u16, u8, bool),
                body: Span<'_>,
                take: impl FnOnce(Self) -> T,
            ) -> Result<T, nom::Err<Fault>> {
                match (class, field) {
                    $((CLASS_BASIC, $number) if !has_mask || <$content as Content>::MASKABLE => {
                        parse_content(body, $width, has_mask, $c_name)
                            .map(|content| take(Self::$variant(content)))
                    })*
                    _ => Ok(take(Self::Raw(RawOxm { class, field, has_mask, body: body.share() }))),
                }
            }

            fn put_body(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
                match self {
                    $(Self::$variant(content) => content.write($width, out),)*
                    Self::Raw(raw) => {
                        if raw.body.len() > usize::from(u8::MAX) {
                            return Err(EncodeError::TooLong {
                                context: "oxm_header",
                                length: raw.body.len(),
                                limit: usize::from(u8::MAX),
                            });
                        }
                        out.put_slice(&raw.body);
                        Ok(())
                    }
                }
            }
        }
    };
}

impl OxmField {
    pub(super) fn class_and_number(&self) -> (u16, u8) {
        let id = self.id();
        (id.class, id.field)
    }

    /// With the mask applied and a full mask dropped; `None` when nothing is matched at all.
    pub(crate) fn canonical(&self) -> Option<Self> {
        match self {
            // These have fewer bits than their bytes.
            Self::VlanVid(vid) => canonical_of(*vid, 0x1fff).map(Self::VlanVid),
            Self::Ipv6Flabel(label) => canonical_of(*label, 0xf_ffff).map(Self::Ipv6Flabel),
            Self::Ipv6Exthdr(bits) => canonical_of(*bits, 0x01ff).map(Self::Ipv6Exthdr),
            _ => self.canonical_of_whole_bytes(),
        }
    }

    /// How long the field is that begins these bytes.
    pub(super) fn length_of_next(bytes: &[u8]) -> Option<usize> {
        bytes.get(3).map(|body| 4 + usize::from(*body))
    }

    pub(crate) fn parse(i: Span<'_>) -> Parsed<'_, Self> {
        Self::parse_to(i, |field| field)
    }

    /// Reads a field and hands it to `take`, which puts it where it stays.
    #[inline]
    pub(crate) fn parse_to<T>(i: Span<'_>, take: impl FnOnce(Self) -> T) -> Parsed<'_, T> {
        let (after, head) = fixed::<4>(i, "oxm_header")?;
        let (after, body) = part(after, head.u8::<3>().into(), "oxm_header.oxm_length")?;
        let head = (head.u16::<0>(), head.u8::<2>() >> 1, head.u8::<2>() & 1 == 1);
        Ok((after, Self::parse_body(head, body, take)?))
    }

    pub(crate) fn put(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        let id = self.id();
        put_header(out, id.class, id.field, id.has_mask, id.length);
        self.put_body(out)
    }
}

#[inline]
fn parse_content<T: Content>(
    body: Span<'_>,
    width: u8,
    has_mask: bool,
    c_name: &'static str,
) -> Result<T, nom::Err<Fault>> {
    T::read(body.bytes(), width.into(), has_mask).ok_or_else(|| {
        let kind = DecodeErrorKind::Length {
            found: body.len(),
            expected: "the width of the field",
        };
        body.fault(kind, c_name)
    })
}

oxm_fields! {
    /// Ingress port.
    InPort(PortNo) = 0, 4, "OFPXMT_OFB_IN_PORT";
    /// Physical port below a logical ingress port.
    InPhyPort(PortNo) = 1, 4, "OFPXMT_OFB_IN_PHY_PORT";
    /// Metadata handed from table to table.
    Metadata(Masked<u64>) = 2, 8, "OFPXMT_OFB_METADATA";
    /// Ethernet destination.
    EthDst(Masked<MacAddr>) = 3, 6, "OFPXMT_OFB_ETH_DST";
    /// Ethernet source.
    EthSrc(Masked<MacAddr>) = 4, 6, "OFPXMT_OFB_ETH_SRC";
    /// Ethernet type of the payload, after VLAN tags.
    EthType(u16) = 5, 2, "OFPXMT_OFB_ETH_TYPE";
    /// VLAN id, 12 bits, with [`VLAN_PRESENT`](super::VLAN_PRESENT) when there is a tag.
    VlanVid(Masked<u16>) = 6, 2, "OFPXMT_OFB_VLAN_VID";
    /// VLAN priority, 3 bits.
    VlanPcp(u8) = 7, 1, "OFPXMT_OFB_VLAN_PCP";
    /// Differentiated services code point, 6 bits.
    IpDscp(u8) = 8, 1, "OFPXMT_OFB_IP_DSCP";
    /// Explicit congestion notification, 2 bits.
    IpEcn(u8) = 9, 1, "OFPXMT_OFB_IP_ECN";
    /// IP protocol.
    IpProto(u8) = 10, 1, "OFPXMT_OFB_IP_PROTO";
    /// IPv4 source.
    Ipv4Src(Masked<Ipv4Addr>) = 11, 4, "OFPXMT_OFB_IPV4_SRC";
    /// IPv4 destination.
    Ipv4Dst(Masked<Ipv4Addr>) = 12, 4, "OFPXMT_OFB_IPV4_DST";
    /// TCP source port.
    TcpSrc(u16) = 13, 2, "OFPXMT_OFB_TCP_SRC";
    /// TCP destination port.
    TcpDst(u16) = 14, 2, "OFPXMT_OFB_TCP_DST";
    /// UDP source port.
    UdpSrc(u16) = 15, 2, "OFPXMT_OFB_UDP_SRC";
    /// UDP destination port.
    UdpDst(u16) = 16, 2, "OFPXMT_OFB_UDP_DST";
    /// SCTP source port.
    SctpSrc(u16) = 17, 2, "OFPXMT_OFB_SCTP_SRC";
    /// SCTP destination port.
    SctpDst(u16) = 18, 2, "OFPXMT_OFB_SCTP_DST";
    /// ICMP type.
    Icmpv4Type(u8) = 19, 1, "OFPXMT_OFB_ICMPV4_TYPE";
    /// ICMP code.
    Icmpv4Code(u8) = 20, 1, "OFPXMT_OFB_ICMPV4_CODE";
    /// ARP opcode: 1 request, 2 reply.
    ArpOp(u16) = 21, 2, "OFPXMT_OFB_ARP_OP";
    /// ARP sender protocol address.
    ArpSpa(Masked<Ipv4Addr>) = 22, 4, "OFPXMT_OFB_ARP_SPA";
    /// ARP target protocol address.
    ArpTpa(Masked<Ipv4Addr>) = 23, 4, "OFPXMT_OFB_ARP_TPA";
    /// ARP sender hardware address.
    ArpSha(Masked<MacAddr>) = 24, 6, "OFPXMT_OFB_ARP_SHA";
    /// ARP target hardware address.
    ArpTha(Masked<MacAddr>) = 25, 6, "OFPXMT_OFB_ARP_THA";
    /// IPv6 source.
    Ipv6Src(Masked<Ipv6Addr>) = 26, 16, "OFPXMT_OFB_IPV6_SRC";
    /// IPv6 destination.
    Ipv6Dst(Masked<Ipv6Addr>) = 27, 16, "OFPXMT_OFB_IPV6_DST";
    /// IPv6 flow label, 20 bits.
    Ipv6Flabel(Masked<u32>) = 28, 4, "OFPXMT_OFB_IPV6_FLABEL";
    /// ICMPv6 type.
    Icmpv6Type(u8) = 29, 1, "OFPXMT_OFB_ICMPV6_TYPE";
    /// ICMPv6 code.
    Icmpv6Code(u8) = 30, 1, "OFPXMT_OFB_ICMPV6_CODE";
    /// Target address of neighbour discovery.
    Ipv6NdTarget(Ipv6Addr) = 31, 16, "OFPXMT_OFB_IPV6_ND_TARGET";
    /// Source link-layer address of neighbour discovery.
    Ipv6NdSll(MacAddr) = 32, 6, "OFPXMT_OFB_IPV6_ND_SLL";
    /// Target link-layer address of neighbour discovery.
    Ipv6NdTll(MacAddr) = 33, 6, "OFPXMT_OFB_IPV6_ND_TLL";
    /// MPLS label, 20 bits.
    MplsLabel(u32) = 34, 4, "OFPXMT_OFB_MPLS_LABEL";
    /// MPLS traffic class, 3 bits.
    MplsTc(u8) = 35, 1, "OFPXMT_OFB_MPLS_TC";
    /// MPLS bottom of stack, 1 bit.
    MplsBos(u8) = 36, 1, "OFPXMT_OFB_MPLS_BOS";
    /// PBB service id, 24 bits.
    PbbIsid(Masked<u32>) = 37, 3, "OFPXMT_OFB_PBB_ISID";
    /// Metadata of a logical port, such as a tunnel key.
    TunnelId(Masked<u64>) = 38, 8, "OFPXMT_OFB_TUNNEL_ID";
    /// IPv6 extension headers present, 9 bits.
    Ipv6Exthdr(Masked<u16>) = 39, 2, "OFPXMT_OFB_IPV6_EXTHDR";
}
