//! A server behind the server's host, at the end of a link of its own that neither loses nor limits anything.
//!
//! ```text
//!  server ── server-host ══ far link ══ far-server
//!             10.9.0.1                   10.9.0.2
//! ```
//!
//! Only the host reaches it: what comes from the site goes through a proxy there.

use super::links::connect_veth;
use crate::link::LinkSpec;
use crate::link::netem::NetemDirection;
use crate::link::tap::TapLink;
use crate::netns::Netns;
use anyhow::Result;
use std::time::Duration;

/// Its namespace.
pub const FAR_SERVER: &str = "far-server";
/// Its IPv4 address.
pub const FAR_SERVER_ADDRESS: &str = "10.9.0.2";

/// What the far link does in each direction.
pub(super) fn specs(rtt: Duration) -> [LinkSpec; 2] {
    [5, 6].map(|seed| LinkSpec {
        rate_bps: None,
        delay: rtt / 2,
        queue_bytes: QUEUE_BYTES,
        seed,
        ..LinkSpec::default()
    })
}

/// The far link for the emulator.
pub(super) fn tap([near, far]: &[Netns; 2], specs: [LinkSpec; 2]) -> Result<TapLink> {
    Ok(TapLink {
        client_end: crate::tap::create(near, NEAR_DEVICE)?,
        server_end: crate::tap::create(far, FAR_DEVICE)?,
        specs,
    })
}

/// The far link by netem.
pub(super) fn netem([near, far]: &[Netns; 2], specs: [LinkSpec; 2]) -> Result<[NetemDirection; 2]> {
    connect_veth([(near, NEAR_DEVICE, NEAR_MAC), (far, FAR_DEVICE, FAR_MAC)])?;
    let [away, back] = specs;
    Ok([
        NetemDirection::start(near, NEAR_DEVICE, away)?,
        NetemDirection::start(far, FAR_DEVICE, back)?,
    ])
}

/// Addresses and routes, once the devices exist.
pub(super) fn finish([near, far]: &[Netns; 2]) -> Result<()> {
    near.ip(&format!(
        "link set dev {NEAR_DEVICE} address {NEAR_MAC} txqueuelen 10000\n\
         link set dev {NEAR_DEVICE} up\n\
         address add {NEAR_ADDRESS}/30 dev {NEAR_DEVICE}\n\
         neighbour replace {FAR_SERVER_ADDRESS} lladdr {FAR_MAC} dev {NEAR_DEVICE} nud permanent\n"
    ))?;
    far.ip(&format!(
        "link set dev {FAR_DEVICE} address {FAR_MAC} txqueuelen 10000\n\
         link set dev {FAR_DEVICE} up\n\
         address add {FAR_SERVER_ADDRESS}/30 dev {FAR_DEVICE}\n\
         neighbour replace {NEAR_ADDRESS} lladdr {NEAR_MAC} dev {FAR_DEVICE} nud permanent\n"
    ))
}

const NEAR_ADDRESS: &str = "10.9.0.1";
const NEAR_DEVICE: &str = "far";
const FAR_DEVICE: &str = "eth0";
const NEAR_MAC: &str = "02:00:00:00:2f:01";
const FAR_MAC: &str = "02:00:00:00:2f:02";
/// More than TCP ever keeps under way here.
const QUEUE_BYTES: u64 = 16 << 20;
