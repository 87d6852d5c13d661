//! SOCKS5 (RFC 1928) for local applications: CONNECT here, UDP ASSOCIATE in `socks5_udp`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use bytes::{BufMut, Bytes, BytesMut};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::opening::Opening;
use super::splice::prepare;
use super::wire::Refusal;
use super::{Way, socks5_udp};
use crate::target::{Host, Target};

/// What an application asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A connection to this target.
    Connect(Target),
    /// A UDP association.
    UdpAssociate,
}

/// Why there is no command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SocksError {
    /// The application speaks something else.
    #[error("not SOCKS5")]
    NotSocks,
    /// It insists on a way of authentication.
    #[error("the application offers no way to go without authentication")]
    Methods,
    /// Another command.
    #[error("unsupported command")]
    Command,
    /// An address of an unknown type, or a bad name, or port 0.
    #[error("unsupported address")]
    Address,
}

/// The length of the application's greeting at the start of `bytes`, which must offer to go without authentication;
/// `None` while it is not all there.
pub fn parse_greeting(bytes: &[u8]) -> Result<Option<((), usize)>, SocksError> {
    let Some((&version, rest)) = bytes.split_first() else {
        return Ok(None);
    };
    if version != VERSION {
        return Err(SocksError::NotSocks);
    }
    let methods = rest
        .split_first()
        .and_then(|(count, rest)| rest.get(..usize::from(*count)));
    match methods {
        Some(methods) if methods.contains(&NO_AUTHENTICATION) => Ok(Some(((), 2 + methods.len()))),
        Some(_) => Err(SocksError::Methods),
        None => Ok(None),
    }
}

/// The application's request at the start of `bytes`, and its length; `None` while it is not all there.
pub fn parse_command(bytes: &[u8]) -> Result<Option<(Command, usize)>, SocksError> {
    if bytes.first().is_some_and(|version| *version != VERSION) {
        return Err(SocksError::NotSocks);
    }
    let Some(([_, command, _, kind], address)) = bytes.split_first_chunk() else {
        return Ok(None);
    };
    let Some((target, rest)) = split_target(*kind, address)? else {
        return Ok(None);
    };
    let command = match *command {
        CONNECT => Command::Connect(target.ok_or(SocksError::Address)?),
        // Where the application will send from is seldom known to it, and not needed.
        UDP_ASSOCIATE => Command::UdpAssociate,
        _ => return Err(SocksError::Command),
    };
    Ok(Some((command, bytes.len() - rest.len())))
}

/// The target and the payload of a datagram from an application (RFC 1928 §7); `None` also for fragments.
pub fn parse_datagram(datagram: &[u8]) -> Option<(Target, &[u8])> {
    let (kind, address) = datagram.strip_prefix(&[0, 0, 0])?.split_first()?;
    let (target, payload) = split_target(*kind, address).ok()??;
    Some((target?, payload))
}

/// What goes before a datagram to an application that came from `target`.
pub fn datagram_header(target: &Target) -> Bytes {
    let mut header = BytesMut::from(&[0, 0, 0][..]);
    match &target.host {
        Host::Ip(ip) => put_ip(&mut header, *ip),
        Host::Name(name) => {
            header.put_slice(&[ADDRESS_NAME, u8::try_from(name.len()).unwrap_or(u8::MAX)]);
            header.put_slice(name.as_bytes());
        }
    }
    header.put_u16(target.port);
    header.freeze()
}

/// Serves one application.
pub(crate) async fn serve(mut tcp: TcpStream, way: &Way) -> anyhow::Result<()> {
    prepare(&tcp);
    let patience = way.shared.config().limits.connect;
    let mut opening = Opening::default();
    match timeout(patience, opening.read(&mut tcp, parse_greeting)).await?? {
        Ok(()) => tcp.write_all(&[VERSION, NO_AUTHENTICATION]).await?,
        Err(error) => {
            if error == SocksError::Methods {
                tcp.write_all(&[VERSION, NO_METHOD]).await?;
            }
            return Err(error.into());
        }
    }
    match timeout(patience, opening.read(&mut tcp, parse_command)).await?? {
        Ok(Command::Connect(target)) => connect(tcp, way, &target, opening.rest()).await,
        Ok(Command::UdpAssociate) => socks5_udp::serve(tcp, way).await,
        Err(error) => {
            let code = match error {
                SocksError::Command => COMMAND_NOT_SUPPORTED,
                SocksError::Address => ADDRESS_NOT_SUPPORTED,
                _ => GENERAL_FAILURE,
            };
            tcp.write_all(&reply(code, None)).await?;
            Err(error.into())
        }
    }
}

/// `early` is what the application sent behind its request, without waiting for the reply.
async fn connect(mut tcp: TcpStream, way: &Way, target: &Target, early: Bytes) -> anyhow::Result<()> {
    let opened = async {
        let mut opened = way.open(target).await?;
        opened.answer(way.shared.config().limits.connect).await?;
        Ok(opened)
    };
    match opened.await {
        Ok(mut opened) => {
            tcp.write_all(&reply(SUCCEEDED, None)).await?;
            opened.pair.send.write_chunk(early).await?;
            way.join(tcp, opened, false, target).await;
        }
        Err(refusal) => {
            way.refused(target, refusal);
            tcp.write_all(&reply(code(refusal), None)).await?;
        }
    }
    Ok(())
}

/// A reply; `bound` is where we do what was asked for, when that matters.
pub(super) fn reply(code: u8, bound: Option<SocketAddr>) -> Bytes {
    let bound = bound.unwrap_or((Ipv4Addr::UNSPECIFIED, 0).into());
    let mut reply = BytesMut::from(&[VERSION, code, 0][..]);
    put_ip(&mut reply, bound.ip().to_canonical());
    reply.put_u16(bound.port());
    reply.freeze()
}

fn put_ip(buffer: &mut BytesMut, ip: IpAddr) {
    match ip {
        IpAddr::V4(ip) => {
            buffer.put_u8(ADDRESS_V4);
            buffer.put_slice(&ip.octets());
        }
        IpAddr::V6(ip) => {
            buffer.put_u8(ADDRESS_V6);
            buffer.put_slice(&ip.octets());
        }
    }
}

/// A target, or `None` for a bad name or port 0, and what is behind it.
type Split<'a> = (Option<Target>, &'a [u8]);

/// What an address of this kind and a port say; `None` while they are not all there.
fn split_target(kind: u8, bytes: &[u8]) -> Result<Option<Split<'_>>, SocksError> {
    let length = match (kind, bytes.first()) {
        (ADDRESS_V4, _) => 4,
        (ADDRESS_V6, _) => 16,
        (ADDRESS_NAME, Some(length)) => 1 + usize::from(*length),
        (ADDRESS_NAME, None) => return Ok(None),
        _ => return Err(SocksError::Address),
    };
    let split = bytes
        .split_at_checked(length)
        .and_then(|(address, rest)| Some((address, rest.split_first_chunk()?)));
    Ok(split.map(|(address, (port, rest))| {
        let host = host(kind, address);
        let target = host.and_then(|host| Target::new(host, u16::from_be_bytes(*port)));
        (target, rest)
    }))
}

/// A host from the bytes of an address; those of a name begin with its length. Some applications write addresses as
/// names.
fn host(kind: u8, address: &[u8]) -> Option<Host> {
    match kind {
        ADDRESS_V4 => Some(Host::Ip(<[u8; 4]>::try_from(address).ok()?.into())),
        ADDRESS_V6 => Some(Host::Ip(<[u8; 16]>::try_from(address).ok()?.into())),
        _ => Host::parse(std::str::from_utf8(address.get(1..)?).ok()?),
    }
}

fn code(refusal: Refusal) -> u8 {
    match refusal {
        Refusal::Denied => NOT_ALLOWED,
        Refusal::NoSuchHost | Refusal::TimedOut => HOST_UNREACHABLE,
        Refusal::Unreachable => NETWORK_UNREACHABLE,
        Refusal::Refused => CONNECTION_REFUSED,
        Refusal::Failed | Refusal::TooMany | Refusal::BadRequest => GENERAL_FAILURE,
    }
}

const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const NO_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;
const UDP_ASSOCIATE: u8 = 3;
const ADDRESS_V4: u8 = 1;
const ADDRESS_NAME: u8 = 3;
const ADDRESS_V6: u8 = 4;
pub(super) const SUCCEEDED: u8 = 0;
pub(super) const GENERAL_FAILURE: u8 = 1;
const NOT_ALLOWED: u8 = 2;
const NETWORK_UNREACHABLE: u8 = 3;
const HOST_UNREACHABLE: u8 = 4;
const CONNECTION_REFUSED: u8 = 5;
const COMMAND_NOT_SUPPORTED: u8 = 7;
const ADDRESS_NOT_SUPPORTED: u8 = 8;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn commands_are_read_and_what_follows_is_left() {
        let connect = |target: &str, length| Ok(Some((Command::Connect(target.parse().unwrap()), length)));
        let by_name = parse_command(b"\x05\x01\x00\x03\x0aserver.lan\x00\x50rest");
        assert_eq!(by_name, connect("server.lan:80", 17));
        let by_address = parse_command(b"\x05\x01\x00\x01\x0a\x00\x00\x01\x00\x50");
        assert_eq!(by_address, connect("10.0.0.1:80", 10));
        let associate = parse_command(b"\x05\x03\x00\x01\x00\x00\x00\x00\x00\x00");
        assert_eq!(associate, Ok(Some((Command::UdpAssociate, 10))));
        assert_eq!(parse_greeting(b"\x05\x02\x01\x00\x05"), Ok(Some(((), 4))));
    }

    #[test]
    fn what_is_not_supported_is_refused() {
        let bind = parse_command(b"\x05\x02\x00\x01\x0a\x00\x00\x01\x00\x50");
        assert_eq!(bind, Err(SocksError::Command));
        let name = parse_command(b"\x05\x01\x00\x03\x01/\x00\x50");
        assert_eq!(name, Err(SocksError::Address));
        assert_eq!(parse_greeting(b"\x05\x01\x02"), Err(SocksError::Methods));
        assert_eq!(parse_greeting(b"GET / HTTP/1.1"), Err(SocksError::NotSocks));
    }

    #[test]
    fn fragments_are_dropped() {
        let mut datagram = datagram_header(&"10.0.0.1:53".parse().unwrap()).to_vec();
        assert!(parse_datagram(&datagram).is_some());
        datagram[2] = 1;
        assert_eq!(parse_datagram(&datagram), None);
    }

    proptest! {
        #[test]
        fn datagrams_survive(ip: IpAddr, port in 1u16.., payload: Vec<u8>) {
            let target = Target::new(Host::Ip(ip), port).unwrap();
            let datagram = [&datagram_header(&target)[..], &payload].concat();
            prop_assert_eq!(parse_datagram(&datagram), Some((target, &payload[..])));
        }

        #[test]
        fn no_bytes_do_harm(bytes: Vec<u8>) {
            if let Some((target, payload)) = parse_datagram(&bytes) {
                let again = [&datagram_header(&target)[..], payload].concat();
                prop_assert_eq!(parse_datagram(&again), Some((target, payload)));
            }
            let _ = parse_greeting(&bytes);
            let _ = parse_command(&bytes);
        }
    }
}
