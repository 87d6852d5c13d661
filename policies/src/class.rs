//! Which packets a policy applies to.

use std::fmt;

use ipnet::Ipv4Net;

use crate::path::Direction;

/// The packets that a policy applies to, described by site so that both directions follow from one description.
///
/// An array index is the index of a site in `peering.sites`; an empty list means any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Class {
    /// IP protocol number.
    pub protocol: Option<u8>,
    /// Addresses of the hosts at each site; in a loaded policy the site's own networks where it names none.
    pub addresses: [Vec<Ipv4Net>; 2],
    /// Transport ports of the hosts at each site; only with TCP, UDP or SCTP.
    pub ports: [Vec<u16>; 2],
    /// Differentiated services code point (RFC 2474) that the packets carry.
    pub dscp: Option<u8>,
}

/// One conjunction of conditions on a packet, as a flow table can match it; `None` means any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClassMatch {
    /// IP protocol number.
    pub protocol: Option<u8>,
    /// Source address.
    pub src: Option<Ipv4Net>,
    /// Destination address.
    pub dst: Option<Ipv4Net>,
    /// Source port of the transport protocol.
    pub src_port: Option<u16>,
    /// Destination port of the transport protocol.
    pub dst_port: Option<u16>,
    /// Differentiated services code point.
    pub dscp: Option<u8>,
}

impl Class {
    /// The matches that together cover the class in `direction`: one for each combination of source address,
    /// destination address, source port and destination port.
    pub fn matches(&self, direction: Direction) -> Vec<ClassMatch> {
        let (sender, receiver) = (direction.sender(), direction.receiver());
        let mut matches = Vec::new();
        for src in any_or_each(&self.addresses[sender]) {
            for dst in any_or_each(&self.addresses[receiver]) {
                for src_port in any_or_each(&self.ports[sender]) {
                    for dst_port in any_or_each(&self.ports[receiver]) {
                        matches.push(ClassMatch {
                            protocol: self.protocol,
                            src,
                            dst,
                            src_port,
                            dst_port,
                            dscp: self.dscp,
                        });
                    }
                }
            }
        }
        matches
    }

    /// The code point that packets are delivered with after the colours have served: the one that the class
    /// matches on, else 0.
    pub fn restored_dscp(&self) -> u8 {
        self.dscp.unwrap_or(0)
    }
}

impl ClassMatch {
    /// Whether some packet satisfies both.
    pub fn overlaps(&self, other: &ClassMatch) -> bool {
        self.intersection(other).is_some()
    }

    /// The packets that satisfy both, if there are any.
    pub fn intersection(&self, other: &ClassMatch) -> Option<ClassMatch> {
        Some(ClassMatch {
            protocol: both(self.protocol, other.protocol, equal)?,
            src: both(self.src, other.src, narrower)?,
            dst: both(self.dst, other.dst, narrower)?,
            src_port: both(self.src_port, other.src_port, equal)?,
            dst_port: both(self.dst_port, other.dst_port, equal)?,
            dscp: both(self.dscp, other.dscp, equal)?,
        })
    }
}

/// In words for messages: `udp 10.1.0.0/24 → any port 5001`.
impl fmt::Display for ClassMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.protocol {
            None => f.write_str("ip")?,
            Some(1) => f.write_str("icmp")?,
            Some(6) => f.write_str("tcp")?,
            Some(17) => f.write_str("udp")?,
            Some(132) => f.write_str("sctp")?,
            Some(number) => write!(f, "protocol {number}")?,
        }
        let end = |f: &mut fmt::Formatter<'_>, address: Option<Ipv4Net>, port: Option<u16>| {
            match address {
                Some(address) => write!(f, "{address}")?,
                None => f.write_str("any")?,
            }
            port.map_or(Ok(()), |port| write!(f, " port {port}"))
        };
        f.write_str(" ")?;
        end(f, self.src, self.src_port)?;
        f.write_str(" → ")?;
        end(f, self.dst, self.dst_port)?;
        self.dscp.map_or(Ok(()), |dscp| write!(f, " dscp {dscp}"))
    }
}

/// `[None]` for an empty list, which means any, else each entry.
fn any_or_each<T: Copy>(list: &[T]) -> Vec<Option<T>> {
    if list.is_empty() {
        vec![None]
    } else {
        list.iter().copied().map(Some).collect()
    }
}

/// What satisfies both conditions, where `None` as a condition is any: `None` as a result when nothing does.
fn both<T>(a: Option<T>, b: Option<T>, common: impl Fn(T, T) -> Option<T>) -> Option<Option<T>> {
    match (a, b) {
        (Some(a), Some(b)) => common(a, b).map(Some),
        (one, other) => Some(one.or(other)),
    }
}

fn equal<T: PartialEq + Copy>(a: T, b: T) -> Option<T> {
    (a == b).then_some(a)
}

/// Two prefixes have addresses in common when one holds the other.
fn narrower(a: Ipv4Net, b: Ipv4Net) -> Option<Ipv4Net> {
    if a.contains(&b) {
        Some(b)
    } else if b.contains(&a) {
        Some(a)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn video() -> Class {
        Class {
            protocol: Some(17),
            addresses: [vec!["10.1.0.0/24".parse().unwrap()], vec![]],
            ports: [vec![], vec![5001, 5002]],
            dscp: None,
        }
    }

    #[test]
    fn the_reverse_direction_swaps_source_and_destination() {
        let forward = video().matches(Direction::Forward);
        let reverse = video().matches(Direction::Reverse);
        assert_eq!(
            forward.iter().map(|m| m.dst_port).collect::<Vec<_>>(),
            [Some(5001), Some(5002)]
        );
        assert_eq!(
            reverse.iter().map(|m| m.src_port).collect::<Vec<_>>(),
            [Some(5001), Some(5002)]
        );
        assert_eq!(forward[0].src, reverse[0].dst);
        assert_eq!((forward[0].dst, forward[0].src_port), (None, None));
    }

    #[test]
    fn an_empty_class_is_one_match_of_everything() {
        assert_eq!(
            Class::default().matches(Direction::Forward),
            [ClassMatch::default()]
        );
        assert_eq!(Class::default().restored_dscp(), 0);
    }

    #[test]
    fn matches_overlap_when_a_packet_satisfies_both() {
        let any = ClassMatch::default();
        let narrow = ClassMatch {
            src: Some("10.1.0.128/25".parse().unwrap()),
            dscp: Some(46),
            ..any
        };
        let wide = ClassMatch {
            src: Some("10.1.0.0/16".parse().unwrap()),
            protocol: Some(6),
            ..any
        };
        let beside = ClassMatch {
            src: Some("10.1.0.0/25".parse().unwrap()),
            ..any
        };
        assert!(any.overlaps(&narrow) && narrow.overlaps(&any));
        assert!(narrow.overlaps(&wide) && wide.overlaps(&narrow));
        assert!(!narrow.overlaps(&beside));
        assert!(!narrow.overlaps(&ClassMatch { dscp: Some(0), ..any }));
        assert_eq!(
            narrow.intersection(&wide).unwrap().to_string(),
            "tcp 10.1.0.128/25 → any dscp 46"
        );
    }
}
