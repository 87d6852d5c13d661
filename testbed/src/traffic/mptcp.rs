//! A download by the kernel's Multipath TCP over both links.

use super::http::Download;
use crate::lab::{Lab, LinkName, MULTIHOMED_CLIENT, MULTIHOMED_SERVER, Site, multihomed_address};
use crate::process;
use anyhow::{Context, Result, anyhow};
use nix::sys::socket::{setsockopt, sockopt};
use socket2::{Domain, Protocol, Socket, Type};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

/// Downloads so many bytes between the multihomed hosts, which the lab must have, or what comes within `cap`. The first
/// subflow takes link a, a second one link b.
///
/// # Errors
/// When the kernel has no MPTCP, or `ip` does not know it.
pub fn download_by_mptcp(lab: &Lab, congestion: &str, bytes: u64, cap: Duration) -> Result<Download> {
    let (client, server) = (lab.ns(MULTIHOMED_CLIENT)?, lab.ns(MULTIHOMED_SERVER)?);
    for netns in [client, server] {
        let run = |words: &[&str]| process::run(netns.command("ip").arg("mptcp").args(words));
        run(&["endpoint", "flush"])?;
        run(&["limits", "set", "subflow", "1", "add_addr_accepted", "1"])?;
    }
    let second = multihomed_address(Site::Server, LinkName::B);
    let words = [
        "mptcp",
        "endpoint",
        "add",
        &second,
        "dev",
        LinkName::B.as_str(),
        "signal",
    ];
    process::run(server.command("ip").args(words))?;
    let address: SocketAddr = format!("{}:{PORT}", multihomed_address(Site::Server, LinkName::A)).parse()?;
    let listener = server.run(|| {
        let socket = socket()?;
        setsockopt(&socket, sockopt::TcpCongestion, &OsString::from(congestion))
            .with_context(|| format!("MPTCP cannot use `{congestion}`"))?;
        socket.set_reuse_address(true)?;
        socket.bind(&SocketAddr::from(([0, 0, 0, 0], PORT)).into())?;
        socket.listen(1)?;
        Ok(TcpListener::from(socket))
    })?;
    std::thread::scope(|scope| {
        let serving = scope.spawn(|| serve(&listener, bytes, cap));
        let download = client.run(|| fetch(address, bytes, cap));
        // The server ends with its client; how is the client's to tell.
        let _ = serving.join().map_err(|_| anyhow!("the server panicked"))?;
        download
    })
}

fn socket() -> Result<Socket> {
    Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP)).context("the kernel has no MPTCP")
}

fn serve(listener: &TcpListener, bytes: u64, cap: Duration) -> std::io::Result<()> {
    let (mut stream, _) = listener.accept()?;
    stream.set_write_timeout(Some(cap))?;
    let zeros = [0; 1 << 16];
    let mut left = bytes;
    while left > 0 {
        let part = usize::try_from(left).unwrap_or(zeros.len()).min(zeros.len());
        stream.write_all(&zeros[..part])?;
        left -= part as u64;
    }
    Ok(())
}

fn fetch(address: SocketAddr, bytes: u64, cap: Duration) -> Result<Download> {
    let start = Instant::now();
    let mut socket = socket()?;
    socket.connect_timeout(&address.into(), CONNECT)?;
    let mut buffer = vec![0; 1 << 16];
    let mut got = 0;
    while got < bytes {
        let Some(left) = cap.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) else {
            break;
        };
        socket.set_read_timeout(Some(left))?;
        match socket.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => got += length as u64,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error).context("the MPTCP connection broke"),
        }
    }
    Ok(Download {
        bytes: got,
        took: start.elapsed(),
    })
}

const PORT: u16 = 5401;
const CONNECT: Duration = Duration::from_secs(10);
