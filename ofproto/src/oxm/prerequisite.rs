//! Which fields may stand in a match only behind certain others.

use super::{CLASS_BASIC, Match, OxmField};
use crate::{Action, EncodeError};

impl OxmField {
    /// What is missing when only the fields `present` stand before this one, in the words of a flow specification;
    /// `None` when nothing is. OpenFlow 1.3.5 §7.2.3.8.
    #[must_use]
    pub fn missing_prerequisite(&self, present: &[Self]) -> Option<&'static str> {
        let type_ = |wanted: &[u16]| {
            present
                .iter()
                .filter_map(Self::ethertype)
                .any(|type_| wanted.contains(&type_))
        };
        let ipv4 = || type_(&[0x0800]);
        let ipv6 = || type_(&[0x86dd]);
        let ip = || ipv4() || ipv6();
        let proto = |wanted| present.contains(&Self::IpProto(wanted));
        let (met, needed) = match self {
            Self::InPhyPort(_) => {
                let port = present.iter().any(|field| matches!(field, Self::InPort(_)));
                (port, "`in_port`")
            }
            Self::VlanPcp(_) => {
                let tag = |field: &Self| matches!(field, Self::VlanVid(vid) if vid.value != 0);
                (present.iter().any(tag), "`vlan_vid` of a tag")
            }
            Self::IpDscp(_) | Self::IpEcn(_) | Self::IpProto(_) => (ip(), "`ip` or `ipv6`"),
            Self::Ipv4Src(_) | Self::Ipv4Dst(_) => (ipv4(), "`ip`"),
            Self::Ipv6Src(_) | Self::Ipv6Dst(_) | Self::Ipv6Flabel(_) | Self::Ipv6Exthdr(_) => {
                (ipv6(), "`ipv6`")
            }
            Self::TcpSrc(_) | Self::TcpDst(_) => (ip() && proto(6), "`tcp` or `tcp6`"),
            Self::UdpSrc(_) | Self::UdpDst(_) => (ip() && proto(17), "`udp` or `udp6`"),
            Self::SctpSrc(_) | Self::SctpDst(_) => (ip() && proto(132), "`sctp` or `sctp6`"),
            Self::Icmpv4Type(_) | Self::Icmpv4Code(_) => (ipv4() && proto(1), "`icmp`"),
            Self::Icmpv6Type(_)
            | Self::Icmpv6Code(_)
            | Self::Ipv6NdTarget(_)
            | Self::Ipv6NdSll(_)
            | Self::Ipv6NdTll(_) => (ipv6() && proto(58), "`icmp6`"),
            Self::ArpOp(_) | Self::ArpSpa(_) | Self::ArpTpa(_) | Self::ArpSha(_) | Self::ArpTha(_) => {
                (type_(&[0x0806, 0x8035]), "`arp` or `rarp`")
            }
            Self::MplsLabel(_) | Self::MplsTc(_) | Self::MplsBos(_) => {
                (type_(&[0x8847, 0x8848]), "`mpls` or `mplsm`")
            }
            Self::PbbIsid(_) => (type_(&[0x88e7]), "`eth_type=0x88e7`"),
            _ => (true, ""),
        };
        (!met).then_some(needed)
    }
}

impl OxmField {
    /// `OXM_OF_PACKET_TYPE` of later versions, which Open vSwitch has in this one: of what type the packets are that
    /// need not begin with an Ethernet header.
    pub(crate) fn packet_type(&self) -> Option<u32> {
        match self {
            Self::Raw(raw) if raw.class == CLASS_BASIC && raw.field == 44 && !raw.has_mask => {
                <[u8; 4]>::try_from(&raw.body[..]).ok().map(u32::from_be_bytes)
            }
            _ => None,
        }
    }

    /// The Ethernet type that the field says, be it behind an Ethernet header or without one.
    pub(crate) fn ethertype(&self) -> Option<u16> {
        match self {
            Self::EthType(type_) => Some(*type_),
            _ => {
                let type_ = self.packet_type()?;
                (type_ >> 16 == 1).then(|| u16::try_from(type_ & 0xffff).ok())?
            }
        }
    }
}

impl Match {
    /// Fails for the first field that does not stand behind what it needs.
    ///
    /// # Errors
    ///
    /// [`EncodeError::MissingPrerequisite`].
    pub fn check_prerequisites(&self) -> Result<(), EncodeError> {
        for (index, field) in self.fields.iter().enumerate() {
            if let Some(needed) = field.missing_prerequisite(&self.fields[..index]) {
                let field = field.c_name();
                return Err(EncodeError::MissingPrerequisite { field, needed });
            }
        }
        Ok(())
    }

    /// Fails for the first set-field action that packets of this match do not allow.
    pub(crate) fn check_set_fields(&self, actions: &[Action]) -> Result<(), EncodeError> {
        // What is pushed, popped or done by others makes other packets of them.
        let known = actions.iter().take_while(|action| {
            !matches!(
                action,
                Action::PushVlan(_)
                    | Action::PopVlan
                    | Action::PushMpls(_)
                    | Action::PopMpls(_)
                    | Action::PushPbb(_)
                    | Action::PopPbb
                    | Action::Experimenter { .. }
                    | Action::Unknown { .. }
            )
        });
        for action in known {
            if let Action::SetField(field) = action
                && let Some(needed) = field.missing_prerequisite(&self.fields)
            {
                let field = field.c_name();
                return Err(EncodeError::MissingPrerequisite { field, needed });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PortNo;

    #[test]
    fn a_field_needs_its_prerequisites_before_it() {
        let udp = [OxmField::EthType(0x0800), OxmField::IpProto(17)];
        assert_eq!(OxmField::UdpDst(5001).missing_prerequisite(&udp), None);
        assert_eq!(
            OxmField::TcpDst(80).missing_prerequisite(&udp),
            Some("`tcp` or `tcp6`")
        );
        assert_eq!(OxmField::InPort(PortNo(1)).missing_prerequisite(&[]), None);
        let behind: Match = [OxmField::IpProto(17), OxmField::EthType(0x0800)]
            .into_iter()
            .collect();
        assert_eq!(
            behind.check_prerequisites().unwrap_err().to_string(),
            "OFPXMT_OFB_IP_PROTO needs `ip` or `ipv6` before it"
        );
        let untagged = [OxmField::VlanVid(0.into())];
        assert!(OxmField::VlanPcp(1).missing_prerequisite(&untagged).is_some());
    }
}
