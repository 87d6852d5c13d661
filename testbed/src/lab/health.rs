//! Whether the lab itself lost or delayed packets: if it did, a measurement says nothing about the product.

use super::{Lab, Site};
use crate::link::tap::Health;
use crate::netns::Netns;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// What the lab did to packets on its own account since it started or since [`Lab::reset_self_check`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LabHealth {
    /// The emulator's lateness and refused deliveries; `None` with netem.
    pub emulator: Option<Health>,
    /// Whether the emulator runs under real-time priority.
    pub realtime: bool,
    /// Packets that a switch did not read in time, per site.
    pub switch_drops: BTreeMap<String, u64>,
    /// Datagrams that found a full socket buffer, per host.
    pub udp_buffer_errors: BTreeMap<String, u64>,
    /// Devices that dropped packets.
    pub device_drops: Vec<DeviceDrops>,
    /// Packets that the kernel dropped between devices because a processor's backlog was full. Counts the
    /// whole machine.
    pub backlog_drops: u64,
}

/// Packets that a network device dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceDrops {
    /// Namespace.
    pub namespace: String,
    /// Device.
    pub device: String,
    /// Dropped on the way in.
    pub received: u64,
    /// Dropped on the way out.
    pub transmitted: u64,
}

/// Counters of the kernel when the reading began.
#[derive(Debug, Clone, Default)]
pub(crate) struct Baseline {
    switch_drops: BTreeMap<String, u64>,
    udp_buffer_errors: BTreeMap<String, u64>,
    devices: BTreeMap<(String, String), (u64, u64)>,
    backlog_drops: u64,
}

impl Lab {
    /// What the lab itself did to packets since the last [`Lab::reset_self_check`].
    ///
    /// # Errors
    /// When a counter cannot be read.
    pub fn self_check(&self) -> Result<LabHealth> {
        let (now, before) = (self.kernel_counters()?, &self.baseline);
        let since = |now: &BTreeMap<String, u64>, before: &BTreeMap<String, u64>| {
            now.iter()
                .map(|(key, count)| (key.clone(), count - before.get(key).unwrap_or(&0)))
                .collect()
        };
        let mut device_drops = Vec::new();
        for ((namespace, device), (received, transmitted)) in &now.devices {
            let key = (namespace.clone(), device.clone());
            let (received_before, transmitted_before) = before.devices.get(&key).copied().unwrap_or_default();
            let drops = DeviceDrops {
                namespace: namespace.clone(),
                device: device.clone(),
                received: received.saturating_sub(received_before),
                transmitted: transmitted.saturating_sub(transmitted_before),
            };
            if drops.received + drops.transmitted > 0 {
                device_drops.push(drops);
            }
        }
        Ok(LabHealth {
            emulator: self.links.health()?,
            realtime: self.links.realtime(),
            switch_drops: since(&now.switch_drops, &before.switch_drops),
            udp_buffer_errors: since(&now.udp_buffer_errors, &before.udp_buffer_errors),
            device_drops,
            backlog_drops: now.backlog_drops.saturating_sub(before.backlog_drops),
        })
    }

    /// Begins a new reading: what starting and settling cost is forgotten.
    ///
    /// # Errors
    /// When a counter cannot be read.
    pub fn reset_self_check(&mut self) -> Result<()> {
        self.links.reset_health()?;
        self.baseline = self.kernel_counters()?;
        Ok(())
    }

    fn kernel_counters(&self) -> Result<Baseline> {
        let mut counters = Baseline {
            backlog_drops: backlog_drops()?,
            ..Baseline::default()
        };
        for site in Site::ALL {
            let switch = self.site(site.name())?;
            counters
                .switch_drops
                .insert(site.name().to_owned(), switch.packets_dropped()?);
            let errors = read_in(self.ns(site.host())?, "/proc/thread-self/net/snmp")?;
            let errors = parse_udp_buffer_errors(&errors).context("/proc/net/snmp has an unknown form")?;
            counters.udp_buffer_errors.insert(site.host().to_owned(), errors);
        }
        for (name, netns) in &self.namespaces {
            let text = read_in(netns, "/proc/thread-self/net/dev")?;
            for (device, drops) in parse_device_drops(&text) {
                counters.devices.insert((name.clone(), device), drops);
            }
        }
        // The bridges' own devices get copies of floods that nobody reads.
        counters
            .devices
            .retain(|(_, device), _| !device.starts_with("ovs-") && !device.starts_with("br-"));
        Ok(counters)
    }
}

impl LabHealth {
    /// Everything that puts a measurement into doubt, a sentence each; empty when the lab was good.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if let Some(emulator) = &self.emulator {
            if emulator.lateness.p99 > LATENESS_LIMIT {
                problems.push(format!(
                    "the emulator was late: 99 % of packets within {:?}",
                    emulator.lateness.p99
                ));
            }
            if emulator.undeliverable > 0 {
                problems.push(format!(
                    "{} frames could not be delivered by the emulator",
                    emulator.undeliverable
                ));
            }
        }
        for (site, drops) in self.switch_drops.iter().filter(|(_, drops)| **drops > 0) {
            problems.push(format!(
                "the switch of `{site}` did not read {drops} packets in time"
            ));
        }
        for (host, errors) in self.udp_buffer_errors.iter().filter(|(_, errors)| **errors > 0) {
            problems.push(format!(
                "{errors} datagrams found a full socket buffer in `{host}`"
            ));
        }
        for drops in &self.device_drops {
            problems.push(format!(
                "device `{}` of `{}` dropped {} packets in and {} out",
                drops.device, drops.namespace, drops.received, drops.transmitted
            ));
        }
        if self.backlog_drops > 0 {
            problems.push(format!(
                "the kernel's backlog was full for {} packets",
                self.backlog_drops
            ));
        }
        problems
    }
}

fn read_in(netns: &Netns, path: &str) -> Result<String> {
    netns
        .run(|| Ok(std::fs::read_to_string(path)?))
        .with_context(|| format!("{path} in `{}`", netns.name()))
}

fn parse_udp_buffer_errors(snmp: &str) -> Option<u64> {
    let mut lines = snmp.lines().filter(|line| line.starts_with("Udp:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let position = names.split_whitespace().position(|name| name == "RcvbufErrors")?;
    values.split_whitespace().nth(position)?.parse().ok()
}

/// Device, then packets dropped on the way in and on the way out.
fn parse_device_drops(dev: &str) -> Vec<(String, (u64, u64))> {
    let line = |line: &str| {
        let (device, numbers) = line.split_once(':')?;
        let numbers: Vec<u64> = numbers
            .split_whitespace()
            .map_while(|number| number.parse().ok())
            .collect();
        Some((device.trim().to_owned(), (*numbers.get(3)?, *numbers.get(11)?)))
    };
    dev.lines().skip(2).filter_map(line).collect()
}

fn backlog_drops() -> Result<u64> {
    let text = std::fs::read_to_string("/proc/net/softnet_stat")?;
    let dropped = |line: &str| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok();
    Ok(text.lines().filter_map(dropped).sum())
}

/// An emulator that is later than this measures itself.
const LATENESS_LIMIT: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn udp_buffer_errors_are_found_by_name() {
        let snmp = "Ip: A B\nIp: 1 2\nUdp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors\n\
                    Udp: 100 1 7 90 7 0\n";
        assert_eq!(parse_udp_buffer_errors(snmp), Some(7));
        assert_eq!(parse_udp_buffer_errors("Tcp: A\nTcp: 1\n"), None);
    }

    #[test]
    fn device_drops_are_read_by_column() {
        let dev = "Inter-|   Receive                            |  Transmit\n \
                   face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls carrier compressed\n\
                   \x20 link: 1000 10 0 3 0 0 0 0 2000 20 0 4 0 0 0 0\n";
        assert_eq!(parse_device_drops(dev), [("link".to_owned(), (3, 4))]);
    }

    #[test]
    fn a_good_lab_has_no_problems_and_a_bad_one_names_each() {
        assert!(LabHealth::default().problems().is_empty());
        let bad = LabHealth {
            switch_drops: BTreeMap::from([("client".to_owned(), 3)]),
            udp_buffer_errors: BTreeMap::from([("server-host".to_owned(), 1)]),
            backlog_drops: 2,
            ..LabHealth::default()
        };
        assert_eq!(bad.problems().len(), 3);
    }
}
