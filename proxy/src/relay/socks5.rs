//! SOCKS5 (RFC 1928) for local applications: CONNECT here, UDP ASSOCIATE in `socks5_udp`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use bytes::{BufMut, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

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
#[derive(Debug, thiserror::Error)]
pub enum SocksError {
    /// The connection broke or ended.
    #[error(transparent)]
    Io(#[from] std::io::Error),
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

/// Reads the application's greeting: it must offer to go without authentication.
pub async fn read_greeting<R: AsyncRead + Unpin>(reader: &mut R) -> Result<(), SocksError> {
    if reader.read_u8().await? != VERSION {
        return Err(SocksError::NotSocks);
    }
    let mut methods = [0; u8::MAX as usize];
    let count = usize::from(reader.read_u8().await?);
    let methods = methods.get_mut(..count).unwrap_or_default();
    reader.read_exact(methods).await?;
    match methods.contains(&NO_AUTHENTICATION) {
        true => Ok(()),
        false => Err(SocksError::Methods),
    }
}

/// Reads the application's request.
pub async fn read_command<R: AsyncRead + Unpin>(reader: &mut R) -> Result<Command, SocksError> {
    if reader.read_u8().await? != VERSION {
        return Err(SocksError::NotSocks);
    }
    let command = reader.read_u8().await?;
    reader.read_u8().await?;
    let target = read_target(reader).await?;
    match command {
        CONNECT => target.map(Command::Connect).ok_or(SocksError::Address),
        // Where the application will send from is seldom known to it, and not needed.
        UDP_ASSOCIATE => Ok(Command::UdpAssociate),
        _ => Err(SocksError::Command),
    }
}

/// The target and the payload of a datagram from an application (RFC 1928 §7); `None` also for fragments.
pub fn parse_datagram(datagram: &[u8]) -> Option<(Target, &[u8])> {
    let rest = datagram.strip_prefix(&[0, 0, 0])?;
    let (kind, rest) = rest.split_first()?;
    let length = match *kind {
        ADDRESS_V4 => 4,
        ADDRESS_V6 => 16,
        ADDRESS_NAME => 1 + usize::from(*rest.first()?),
        _ => return None,
    };
    let (address, rest) = rest.split_at_checked(length)?;
    let (port, payload) = rest.split_at_checked(2)?;
    let host = host(*kind, address)?;
    Some((
        Target::new(host, u16::from_be_bytes(port.try_into().ok()?))?,
        payload,
    ))
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
    let patience = way.shared.config.limits.connect;
    match timeout(patience, read_greeting(&mut tcp)).await? {
        Ok(()) => tcp.write_all(&[VERSION, NO_AUTHENTICATION]).await?,
        Err(error) => {
            if matches!(error, SocksError::Methods) {
                tcp.write_all(&[VERSION, NO_METHOD]).await?;
            }
            return Err(error.into());
        }
    }
    match timeout(patience, read_command(&mut tcp)).await? {
        Ok(Command::Connect(target)) => connect(tcp, way, &target).await,
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

async fn connect(mut tcp: TcpStream, way: &Way, target: &Target) -> anyhow::Result<()> {
    let opened = async {
        let mut opened = way.open(target).await?;
        opened.answer(way.shared.config.limits.connect).await?;
        Ok(opened)
    };
    match opened.await {
        Ok(opened) => {
            tcp.write_all(&reply(SUCCEEDED, None)).await?;
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

async fn read_target<R: AsyncRead + Unpin>(reader: &mut R) -> Result<Option<Target>, SocksError> {
    let mut address = [0; u8::MAX as usize + 1];
    let kind = reader.read_u8().await?;
    let length = match kind {
        ADDRESS_V4 => 4,
        ADDRESS_V6 => 16,
        ADDRESS_NAME => {
            let length = reader.read_u8().await?;
            address[0] = length;
            1 + usize::from(length)
        }
        _ => return Err(SocksError::Address),
    };
    let address = address.get_mut(..length).ok_or(SocksError::Address)?;
    let start = usize::from(kind == ADDRESS_NAME);
    reader
        .read_exact(address.get_mut(start..).unwrap_or_default())
        .await?;
    let port = reader.read_u16().await?;
    Ok(host(kind, address).and_then(|host| Target::new(host, port)))
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

    #[tokio::test]
    async fn commands_are_read() {
        let connect = read_command(&mut &b"\x05\x01\x00\x03\x0aserver.lan\x00\x50rest"[..]).await;
        assert_eq!(
            connect.unwrap(),
            Command::Connect("server.lan:80".parse().unwrap())
        );
        let connect = read_command(&mut &b"\x05\x01\x00\x01\x0a\x00\x00\x01\x00\x50"[..]).await;
        assert_eq!(connect.unwrap(), Command::Connect("10.0.0.1:80".parse().unwrap()));
        let associate = read_command(&mut &b"\x05\x03\x00\x01\x00\x00\x00\x00\x00\x00"[..]).await;
        assert_eq!(associate.unwrap(), Command::UdpAssociate);
    }

    #[tokio::test]
    async fn what_is_not_supported_is_refused() {
        let bind = read_command(&mut &b"\x05\x02\x00\x01\x0a\x00\x00\x01\x00\x50"[..]).await;
        assert!(matches!(bind, Err(SocksError::Command)));
        let name = read_command(&mut &b"\x05\x01\x00\x03\x01/\x00\x50"[..]).await;
        assert!(matches!(name, Err(SocksError::Address)));
        let greeting = read_greeting(&mut &b"\x05\x01\x02"[..]).await;
        assert!(matches!(greeting, Err(SocksError::Methods)));
        let http = read_greeting(&mut &b"GET / HTTP/1.1"[..]).await;
        assert!(matches!(http, Err(SocksError::NotSocks)));
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
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let _ = runtime.block_on(read_greeting(&mut &bytes[..]));
            let _ = runtime.block_on(read_command(&mut &bytes[..]));
        }
    }
}
