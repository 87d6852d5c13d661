//! TCP connections that the kernel diverts to us; the target is where they were going.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use nix::sys::socket::{getsockopt, sockopt};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};

use super::Way;
use super::splice::reset_on_close;
use crate::target::Target;

/// How a connection was diverted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Diverted {
    /// By TPROXY: the socket's own address is the original destination.
    Tproxy,
    /// By REDIRECT (or DNAT): connection tracking knows the original destination.
    Redirect,
}

/// A listener that takes connections to addresses that are not ours. Needs CAP_NET_ADMIN.
pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    match address {
        SocketAddr::V4(_) => socket.set_ip_transparent_v4(true)?,
        SocketAddr::V6(_) => socket.set_ip_transparent_v6(true)?,
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// Serves one diverted connection.
pub(crate) async fn serve(
    tcp: TcpStream,
    diverted: Diverted,
    listening: u16,
    way: &Way,
) -> anyhow::Result<()> {
    match original_destination(&tcp, diverted, listening) {
        Ok(destination) => {
            way.carry(tcp, &Target::from(destination)).await;
            Ok(())
        }
        Err(error) => {
            reset_on_close(&tcp);
            Err(error.into())
        }
    }
}

/// `listening` is the port of the listener.
fn original_destination(tcp: &TcpStream, diverted: Diverted, listening: u16) -> io::Result<SocketAddr> {
    let ours = tcp.local_addr()?;
    let destination = match (diverted, ours) {
        (Diverted::Tproxy, ours) => ours,
        // A socket for both kinds of addresses shows IPv4 as IPv6, but IPv4's connection tracking has it.
        (Diverted::Redirect, ours) if ours.ip().to_canonical().is_ipv4() => original_v4(tcp)?,
        (Diverted::Redirect, _) => original_v6(tcp)?,
    };
    let canonical = |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
    let destination = canonical(destination);
    // Somebody who connects to us directly would have us connect to ourselves for ever.
    let direct = match diverted {
        Diverted::Tproxy => destination.port() == listening && is_local(destination.ip()),
        Diverted::Redirect => destination == canonical(ours),
    };
    if direct || destination.port() == 0 {
        return Err(io::Error::other("the connection was not diverted"));
    }
    Ok(destination)
}

/// Whether an address belongs to this machine: only then can a socket be bound to it.
fn is_local(ip: IpAddr) -> bool {
    UdpSocket::bind((ip, 0)).is_ok()
}

fn original_v4(tcp: &TcpStream) -> io::Result<SocketAddr> {
    let address = getsockopt(tcp, sockopt::OriginalDst)?;
    let ip = Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr));
    Ok((ip, u16::from_be(address.sin_port)).into())
}

fn original_v6(tcp: &TcpStream) -> io::Result<SocketAddr> {
    let address = getsockopt(tcp, sockopt::Ip6tOriginalDst)?;
    let ip = Ipv6Addr::from(address.sin6_addr.s6_addr);
    Ok((ip, u16::from_be(address.sin6_port)).into())
}

const BACKLOG: i32 = 1024;
