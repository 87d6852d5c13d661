//! veth pairs between namespaces.

use crate::netns::Netns;
use crate::process;
use anyhow::Result;

/// One end of a veth pair.
#[derive(Debug, Clone, Copy)]
pub struct End<'a> {
    /// Where it lives.
    pub netns: &'a Netns,
    /// Its name there.
    pub device: &'a str,
    /// Its MAC address.
    pub mac: &'a str,
}

/// Makes a veth pair, up at both ends and without offloads: a userspace datapath wants complete
/// checksums and packets that fit the MTU.
///
/// # Errors
/// When `ip` or `ethtool` fails.
pub fn connect(one: End<'_>, other: End<'_>) -> Result<()> {
    process::run(process::command("ip").args([
        "link",
        "add",
        "name",
        one.device,
        "netns",
        one.netns.name(),
        "address",
        one.mac,
        "type",
        "veth",
        "peer",
        "name",
        other.device,
        "netns",
        other.netns.name(),
        "address",
        other.mac,
    ]))?;
    for end in [one, other] {
        process::run(end.netns.command("ethtool").args([
            "-K", end.device, "tx", "off", "tso", "off", "gso", "off", "gro", "off",
        ]))?;
        end.netns.ip(&format!("link set dev {} up\n", end.device))?;
    }
    Ok(())
}
