//! The packet sockets of another process: Open vSwitch's userspace datapath reads its ports from
//! `AF_PACKET` sockets whose receive buffer is the system default. Instead of changing that default
//! for the whole machine, the testbed borrows the sockets and raises the buffers itself.

use crate::process;
use anyhow::{Context, Result};
use nix::sys::socket::{setsockopt, sockopt};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Raises the receive buffer of every packet socket of process `pid`; returns how many there are.
///
/// # Errors
/// When the process is gone or its sockets may not be borrowed.
pub fn raise_receive_buffers(pid: u32, bytes: usize) -> Result<usize> {
    let sockets = borrow_packet_sockets(pid)?;
    for socket in &sockets {
        setsockopt(socket, sockopt::RcvBufForce, &bytes).context("cannot raise a receive buffer")?;
    }
    Ok(sockets.len())
}

/// Packets that the kernel has dropped at the packet sockets of process `pid` because their receive
/// buffer was full, since this was last asked.
///
/// # Errors
/// As [`raise_receive_buffers`].
pub fn take_drops(pid: u32) -> Result<u64> {
    borrow_packet_sockets(pid)?
        .iter()
        .map(|socket| Ok(u64::from(take_statistics(socket)?.tp_drops)))
        .sum()
}

fn take_statistics(socket: &OwnedFd) -> io::Result<libc::tpacket_stats> {
    let mut statistics = libc::tpacket_stats {
        tp_packets: 0,
        tp_drops: 0,
    };
    let mut length = libc::socklen_t::try_from(size_of::<libc::tpacket_stats>()).unwrap_or(0);
    // SAFETY: the pointers are to a tpacket_stats and its size, both valid for the call.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            (&raw mut statistics).cast(),
            &raw mut length,
        )
    };
    if result == 0 {
        Ok(statistics)
    } else {
        Err(io::Error::last_os_error())
    }
}

fn borrow_packet_sockets(pid: u32) -> Result<Vec<OwnedFd>> {
    let owner = process::open(pid).with_context(|| format!("no process {pid}"))?;
    let mut sockets = Vec::new();
    for entry in std::fs::read_dir(format!("/proc/{pid}/fd"))? {
        let entry = entry?;
        let Ok(target) = std::fs::read_link(entry.path()) else {
            continue;
        };
        if !target.to_string_lossy().starts_with("socket:") {
            continue;
        }
        let Some(number) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // A descriptor that was closed since is no socket to care for.
        let Ok(socket) = process::borrow_descriptor(&owner, number) else {
            continue;
        };
        if domain(&socket)? == libc::AF_PACKET {
            sockets.push(socket);
        }
    }
    Ok(sockets)
}

fn domain(socket: &OwnedFd) -> io::Result<i32> {
    let mut domain: libc::c_int = 0;
    let mut length = libc::socklen_t::try_from(size_of::<libc::c_int>()).unwrap_or(0);
    // SAFETY: the pointers are to an int and its size, both valid for the call.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_DOMAIN,
            (&raw mut domain).cast(),
            &raw mut length,
        )
    };
    if result == 0 {
        Ok(domain)
    } else {
        Err(io::Error::last_os_error())
    }
}
