//! Where a connection should go: a host and a port.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// `server.lan:80`, `10.0.0.1:53`, `[2001:db8::1]:443`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The host.
    pub host: Host,
    /// The TCP or UDP port, never 0.
    pub port: u16,
}

/// A host by address or by name. Names are resolved where the connection is made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// An address.
    Ip(IpAddr),
    /// A name of 1 to 253 letters, digits, `-`, `_` and `.`.
    Name(String),
}

/// Why a text is not a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a host and a port such as `server:80`, `10.0.0.1:80` or `[2001:db8::1]:80`")]
pub struct NotATarget;

impl Host {
    /// A host from its name or the text of its address; `None` when it is neither.
    pub fn parse(text: &str) -> Option<Host> {
        if let Ok(ip) = text.parse() {
            return Some(Host::Ip(ip));
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let good = !text.is_empty() && text.len() <= MAX_NAME && text.chars().all(plain);
        // What looks like an address but is none, such as `10.1`, must not reach a resolver that thinks otherwise.
        let last = text.trim_end_matches('.').rsplit('.').next()?;
        let number = last.chars().all(|c| c.is_ascii_digit()) || last.starts_with("0x");
        (good && !number).then(|| Host::Name(text.to_owned()))
    }
}

impl Target {
    /// A target from its parts; `None` for port 0.
    pub fn new(host: Host, port: u16) -> Option<Target> {
        (port != 0).then_some(Target { host, port })
    }
}

impl From<SocketAddr> for Target {
    fn from(address: SocketAddr) -> Target {
        Target {
            host: Host::Ip(address.ip()),
            port: address.port(),
        }
    }
}

impl FromStr for Target {
    type Err = NotATarget;

    fn from_str(text: &str) -> Result<Target, NotATarget> {
        let (host, port) = text.rsplit_once(':').ok_or(NotATarget)?;
        let host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            Some(inner) => Host::Ip(IpAddr::V6(inner.parse::<Ipv6Addr>().map_err(|_| NotATarget)?)),
            None if host.contains(':') => return Err(NotATarget),
            None => Host::parse(host).ok_or(NotATarget)?,
        };
        let digits = !port.is_empty() && port.chars().all(|c| c.is_ascii_digit());
        let port = digits.then(|| port.parse().ok()).flatten().ok_or(NotATarget)?;
        Target::new(host, port).ok_or(NotATarget)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Ip(ip) => write!(f, "{}", SocketAddr::new(*ip, self.port)),
            Host::Name(name) => write!(f, "{name}:{}", self.port),
        }
    }
}

/// RFC 1035 §2.3.4, without the root's dot.
pub(crate) const MAX_NAME: usize = 253;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_survive_their_text() {
        for text in [
            "server:80",
            "a_b.c-d.example.:65535",
            "10.0.0.1:1",
            "[2001:db8::1]:443",
        ] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_could_be_misread_is_refused() {
        for text in [
            "server",
            "server:",
            ":80",
            "server:0",
            "server:65536",
            "server:+1",
            "2001:db8::1:443",
            "[10.0.0.1]:80",
            "a b:80",
            "10.1:80",
            "127.1:80",
            "0x7f.1:80",
            "0x7f000001:80",
            "2130706433:80",
            "é:80",
            "a/b:80",
        ] {
            assert_eq!(text.parse::<Target>(), Err(NotATarget), "{text}");
        }
        assert_eq!(Host::parse(&"a".repeat(254)), None);
    }
}
