//! Which targets a peer may have us connect to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;
use std::str::FromStr;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::target::{Host, Target};

/// A list of rules; a target that none of them permits is denied, so an empty list denies everything.
///
/// Addresses that lead to this machine or its surroundings (loopback, link-local with the metadata services of clouds,
/// unspecified, multicast) are permitted only by a rule with exactly such an address or network: neither by `*`, nor
/// by a larger network, nor by a name that resolves to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowList(Vec<Rule>);

/// `server.lan:80`, `10.0.0.0/8:1-1024`, `[2001:db8::/32]:443`, `*:443`, `10.1.2.3:*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    hosts: Hosts,
    ports: RangeInclusive<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Hosts {
    Any,
    Net(IpNet),
    Name(String),
}

/// Why a text is not a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected hosts and ports such as `server:80`, `10.0.0.0/8:1-1024`, `[2001:db8::/32]:443` or `*:443`"
)]
pub struct NotARule;

impl AllowList {
    /// The list of these rules.
    pub fn new(rules: Vec<Rule>) -> AllowList {
        AllowList(rules)
    }

    /// Whether `target` may be connected to at `address`, which is what its host is or resolves to.
    pub fn permits(&self, target: &Target, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let special = SPECIAL.iter().find(|net| net.contains(&address));
        self.rules_for(target).any(|rule| match &rule.hosts {
            Hosts::Net(net) => net.contains(&address) && special.is_none_or(|special| special.contains(net)),
            Hosts::Any | Hosts::Name(_) => special.is_none(),
        })
    }

    /// Whether it is worth resolving the host of `target`: some rule may permit it, depending on the address.
    pub fn may_permit(&self, target: &Target) -> bool {
        match target.host {
            Host::Ip(address) => self.permits(target, address),
            Host::Name(_) => self.rules_for(target).next().is_some(),
        }
    }

    /// The rules that fit as far as port and name go.
    fn rules_for(&self, target: &Target) -> impl Iterator<Item = &Rule> {
        self.0.iter().filter(|rule| {
            rule.ports.contains(&target.port)
                && match (&rule.hosts, &target.host) {
                    (Hosts::Name(listed), Host::Name(name)) => same_name(listed, name),
                    (Hosts::Name(_), Host::Ip(_)) => false,
                    (Hosts::Any | Hosts::Net(_), _) => true,
                }
        })
    }
}

/// Names are equal whatever their case, and with or without the root's dot.
fn same_name(a: &str, b: &str) -> bool {
    a.trim_end_matches('.')
        .eq_ignore_ascii_case(b.trim_end_matches('.'))
}

impl FromStr for Rule {
    type Err = NotARule;

    fn from_str(text: &str) -> Result<Rule, NotARule> {
        let (hosts, ports) = text.rsplit_once(':').ok_or(NotARule)?;
        let bracketed = hosts.strip_prefix('[').and_then(|hosts| hosts.strip_suffix(']'));
        let net = |text: &str| {
            let single = text.parse::<IpAddr>().ok().map(IpNet::from);
            single.or_else(|| text.parse::<IpNet>().ok().map(|net| net.trunc()))
        };
        let hosts = match (hosts, bracketed) {
            ("*", _) => Hosts::Any,
            (_, Some(inner)) => Hosts::Net(net(inner).filter(|net| net.addr().is_ipv6()).ok_or(NotARule)?),
            (hosts, None) if hosts.contains(':') => return Err(NotARule),
            (hosts, None) => match (net(hosts), Host::parse(hosts)) {
                (Some(net), _) => Hosts::Net(net),
                (None, Some(Host::Name(name))) => Hosts::Name(name),
                _ => return Err(NotARule),
            },
        };
        let port = |text: &str| text.parse::<u16>().ok().filter(|port| *port != 0).ok_or(NotARule);
        let ports = match ports.split_once('-') {
            _ if ports == "*" => 1..=u16::MAX,
            Some((low, high)) => port(low)?..=port(high)?,
            None => port(ports)?..=port(ports)?,
        };
        if ports.is_empty() {
            return Err(NotARule);
        }
        Ok(Rule { hosts, ports })
    }
}

/// RFC 6890's "this host", loopback and link-local (169.254.169.254 and 169.254.170.2 are the clouds' metadata
/// services), multicast and broadcast; and the metadata services that live elsewhere.
const SPECIAL: [IpNet; 11] = [
    v4([0, 0, 0, 0], 8),
    v4([127, 0, 0, 0], 8),
    v4([169, 254, 0, 0], 16),
    v4([224, 0, 0, 0], 4),
    v4([255, 255, 255, 255], 32),
    v4([100, 100, 100, 200], 32),
    v6([0, 0, 0, 0, 0, 0, 0, 0], 128),
    v6([0, 0, 0, 0, 0, 0, 0, 1], 128),
    v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10),
    v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8),
    v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128),
];

const fn v4([a, b, c, d]: [u8; 4], length: u8) -> IpNet {
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length))
}

const fn v6([a, b, c, d, e, f, g, h]: [u16; 8], length: u8) -> IpNet {
    IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(rules: &[&str]) -> AllowList {
        AllowList::new(rules.iter().map(|rule| rule.parse().unwrap()).collect())
    }

    fn permits(rules: &[&str], target: &str, address: &str) -> bool {
        let (list, target) = (list(rules), target.parse().unwrap());
        let permitted = list.permits(&target, address.parse().unwrap());
        assert!(
            list.may_permit(&target) || !permitted,
            "resolving is never skipped for what is permitted"
        );
        permitted
    }

    #[test]
    fn an_empty_list_denies_everything() {
        assert!(!permits(&[], "10.0.0.1:80", "10.0.0.1"));
        assert!(!permits(&[], "server:80", "10.0.0.1"));
    }

    #[test]
    fn hosts_networks_and_port_ranges_are_matched() {
        let rules = [
            "server.lan:80",
            "10.0.0.0/8:1000-2000",
            "[2001:db8::/32]:443",
            "192.0.2.1:*",
        ];
        assert!(permits(&rules, "Server.LAN.:80", "198.51.100.1"));
        assert!(!permits(&rules, "server.lan:81", "198.51.100.1"));
        assert!(!permits(&rules, "198.51.100.1:80", "198.51.100.1"));
        assert!(permits(&rules, "10.9.9.9:2000", "10.9.9.9"));
        assert!(permits(&rules, "other:1500", "10.9.9.9"));
        assert!(!permits(&rules, "10.9.9.9:2001", "10.9.9.9"));
        assert!(permits(&rules, "[2001:db8:1::1]:443", "2001:db8:1::1"));
        assert!(permits(&rules, "192.0.2.1:65535", "192.0.2.1"));
    }

    #[test]
    fn this_machine_and_metadata_services_must_be_listed_as_such() {
        let wide = ["*:*", "0.0.0.0/0:*", "[::/0]:*", "evil:80"];
        for special in [
            "127.0.0.1",
            "127.8.8.8",
            "0.0.0.0",
            "169.254.169.254",
            "169.254.170.2",
            "224.0.0.1",
            "255.255.255.255",
            "100.100.100.200",
            "::",
            "::1",
            "fe80::1",
            "ff02::1",
            "fd00:ec2::254",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
        ] {
            assert!(!permits(&wide, "evil:80", special), "{special}");
            let target = Target::from(std::net::SocketAddr::new(special.parse().unwrap(), 80));
            assert!(
                !list(&wide).permits(&target, special.parse().unwrap()),
                "{special}"
            );
        }
        assert!(permits(&["127.0.0.1:80"], "localhost:80", "127.0.0.1"));
        assert!(permits(&["127.0.0.0/8:80"], "127.0.0.9:80", "127.0.0.9"));
        assert!(permits(
            &["169.254.169.254:80"],
            "169.254.169.254:80",
            "169.254.169.254"
        ));
        assert!(permits(&["*:*"], "server:80", "8.8.8.8"));
    }

    #[test]
    fn what_is_not_a_rule_is_refused() {
        for text in [
            "server",
            "server:0",
            "server:9-1",
            "server:1-",
            "1.2.3:80",
            "::1:80",
            "[10.0.0.0/8]:1",
            "10.0.0.0/33:1",
            "a b:1",
            "",
        ] {
            assert_eq!(text.parse::<Rule>(), Err(NotARule), "{text}");
        }
    }
}
