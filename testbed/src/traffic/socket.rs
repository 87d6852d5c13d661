//! UDP sockets of the traffic endpoints.

use crate::lab::{Lab, Site};
use anyhow::{Context, Result};
use nix::sys::socket::{setsockopt, sockopt};
use std::net::UdpSocket;
use std::time::Duration;

/// A UDP socket in a namespace, bound to a port of all its addresses (0: any port), with room for bursts
/// and a receive timeout after which its thread may look whether it should stop.
pub(super) fn bind(lab: &Lab, namespace: &str, port: u16) -> Result<UdpSocket> {
    lab.ns(namespace)?.run(|| {
        let socket = UdpSocket::bind(("0.0.0.0", port))
            .with_context(|| format!("cannot take UDP port {port} in `{namespace}`"))?;
        setsockopt(&socket, sockopt::RcvBufForce, &BUFFER_BYTES)?;
        setsockopt(&socket, sockopt::SndBufForce, &BUFFER_BYTES)?;
        socket.set_read_timeout(Some(WAKE_UP))?;
        Ok(socket)
    })
}

/// The address of a host namespace.
pub(super) fn host_address(namespace: &str) -> Result<String> {
    let site = Site::ALL.into_iter().find(|site| site.host() == namespace);
    let site =
        site.with_context(|| format!("`{namespace}` is no host: expected client-host or server-host"))?;
    Ok(site.host_address())
}

const BUFFER_BYTES: usize = 16 << 20;
const WAKE_UP: Duration = Duration::from_millis(20);
