//! UDP sockets of the traffic endpoints.

use crate::lab::{Lab, LinkName, Site, topology};
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

/// The address of a host, or of a router on its link.
pub(super) fn address(namespace: &str) -> Result<String> {
    for site in Site::ALL {
        if site.host() == namespace {
            return Ok(site.host_address());
        }
        if let Some(link) = LinkName::ALL
            .into_iter()
            .find(|link| site.router(*link) == namespace)
        {
            return Ok(topology::link_address(site, link));
        }
    }
    anyhow::bail!(
        "`{namespace}` is no end of traffic: expected client-host, server-host, or a router such as a-client"
    )
}

const BUFFER_BYTES: usize = 16 << 20;
const WAKE_UP: Duration = Duration::from_millis(20);
