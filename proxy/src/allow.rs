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
/// by a larger network, nor by a name that resolves to them. The same holds for IPv6 addresses that carry them.
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
        let special = special(address);
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

/// The network of special addresses that `address` belongs to.
fn special(address: IpAddr) -> Option<IpNet> {
    let listed = |address| SPECIAL.into_iter().find(|net| net.contains(&address));
    let carried = |ip: Ipv6Addr| {
        CARRIERS.iter().find_map(|carrier| {
            let length = carrier.prefix_len();
            let inner = u32::try_from(u128::from(ip) << length >> 96).ok()?;
            let inner = listed(IpAddr::V4(inner.into())).filter(|_| carrier.contains(&ip))?;
            let net = Ipv6Net::new(ip, length + inner.prefix_len()).ok()?;
            Some(IpNet::V6(net.trunc()))
        })
    };
    match address {
        IpAddr::V4(_) => listed(address),
        IpAddr::V6(ip) => listed(address).or_else(|| carried(ip)),
    }
}

/// RFC 6890's "this host", loopback and link-local (169.254.169.254 and 169.254.170.2 are the clouds' metadata
/// services), multicast and broadcast; the metadata services that live elsewhere; and RFC 8215's prefix, where only the
/// network's operator knows which IPv4 addresses are behind it.
const SPECIAL: [IpNet; 16] = [
    v4([0, 0, 0, 0], 8),
    v4([127, 0, 0, 0], 8),
    v4([169, 254, 0, 0], 16),
    v4([224, 0, 0, 0], 4),
    v4([255, 255, 255, 255], 32),
    v4([100, 100, 100, 200], 32),
    v4([168, 63, 129, 16], 32),
    v4([192, 0, 0, 192], 32),
    v6([0, 0, 0, 0, 0, 0, 0, 0], 128),
    v6([0, 0, 0, 0, 0, 0, 0, 1], 128),
    v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10),
    v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8),
    v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128),
    v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128),
    v6([0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42], 128),
    v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48),
];

/// What an IPv4 address may stand behind in an IPv6 address, besides `::ffff:`, which is the same address: NAT64 (RFC
/// 6052), 6to4 (RFC 3056), IPv4-compatible (RFC 4291 §2.5.5.1) and IPv4-translated (RFC 2765) addresses.
const CARRIERS: [Ipv6Net; 4] = [
    net([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96),
    net([0x2002, 0, 0, 0, 0, 0, 0, 0], 16),
    net([0, 0, 0, 0, 0, 0, 0, 0], 96),
    net([0, 0, 0, 0, 0xffff, 0, 0, 0], 96),
];

const fn v4([a, b, c, d]: [u8; 4], length: u8) -> IpNet {
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length))
}

const fn v6(words: [u16; 8], length: u8) -> IpNet {
    IpNet::V6(net(words, length))
}

const fn net([a, b, c, d, e, f, g, h]: [u16; 8], length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), length)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
            "fd20:ce::254",
            "fd00:42::42",
            "168.63.129.16",
            "192.0.0.192",
            "64:ff9b:1::7f00:1",
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
        assert!(permits(&["*:*"], "server:80", "64:ff9b::8.8.8.8"));
        assert!(permits(
            &["[64:ff9b::7f00:1]:80"],
            "server:80",
            "64:ff9b::127.0.0.1"
        ));
        assert!(permits(
            &["[64:ff9b::7f00:0/112]:80"],
            "server:80",
            "64:ff9b::127.0.0.1"
        ));
        assert!(!permits(
            &["[64:ff9b::/96]:80"],
            "server:80",
            "64:ff9b::127.0.0.1"
        ));
    }

    /// The IPv6 addresses that lead to an IPv4 address.
    fn disguises(ip: Ipv4Addr) -> [Ipv6Addr; 5] {
        let low = u128::from(u32::from(ip));
        [
            ip.to_ipv6_mapped(),
            Ipv6Addr::from(0x64_ff9b << 96 | low),
            Ipv6Addr::from(0x2002 << 112 | low << 80 | 0x1_0000_0001),
            Ipv6Addr::from(low),
            Ipv6Addr::from(0xffff << 48 | low),
        ]
    }

    /// An address in one of the special networks.
    fn any_special() -> impl Strategy<Value = IpAddr> {
        let within = |(net, bits): (IpNet, u128)| match net {
            IpNet::V4(net) => {
                let host = u32::from(net.hostmask()) & u32::try_from(bits >> 96).unwrap();
                IpAddr::from((u32::from(net.network()) | host).to_be_bytes())
            }
            IpNet::V6(net) => {
                IpAddr::from((u128::from(net.network()) | u128::from(net.hostmask()) & bits).to_be_bytes())
            }
        };
        (proptest::sample::select(SPECIAL.to_vec()), any::<u128>()).prop_map(within)
    }

    proptest! {
        #[test]
        fn no_wide_rule_no_name_and_no_disguise_permits_a_special_address(
            address in any_special(), wide in 0u8..=3, name: bool,
        ) {
            let rules = [
                "*:*".to_owned(),
                "evil:*".to_owned(),
                format!("0.0.0.0/{wide}:*"),
                format!("[::/{wide}]:*"),
            ];
            let list = AllowList::new(rules.iter().map(|rule| rule.parse().unwrap()).collect());
            let disguised = match address {
                IpAddr::V4(ip) => disguises(ip).map(IpAddr::V6).to_vec(),
                IpAddr::V6(_) => Vec::new(),
            };
            for address in std::iter::once(address).chain(disguised) {
                let target = match name {
                    true => "evil:80".parse().unwrap(),
                    false => Target::from(std::net::SocketAddr::new(address, 80)),
                };
                prop_assert!(!list.permits(&target, address), "{}", address);
            }
        }

        #[test]
        fn an_address_that_is_mapped_into_ipv6_is_judged_as_it_is(ip: Ipv4Addr, bits in 0u8..=32) {
            let list = AllowList::new(vec![format!("10.0.0.0/{bits}:*").parse().unwrap()]);
            let plain = Target::from(std::net::SocketAddr::new(ip.into(), 80));
            let mapped = Target::from(std::net::SocketAddr::new(ip.to_ipv6_mapped().into(), 80));
            prop_assert_eq!(list.may_permit(&plain), list.may_permit(&mapped));
        }
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
