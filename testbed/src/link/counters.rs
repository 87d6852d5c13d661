//! What happened to the packets of one direction of a link: in total, by class and by DSCP.

use super::class::{ClassKey, PacketKey};
use crate::moment::Moment;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Packet and byte counts. Every received packet ends as exactly one of forwarded, lost or overflowed,
/// or is still on the link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Packets that came to the link.
    pub received: u64,
    /// Packets that left it at the other end.
    pub forwarded: u64,
    /// Packets dropped by the loss model.
    pub lost: u64,
    /// Packets dropped because the queue was full.
    pub overflowed: u64,
    /// Bytes of Ethernet frames that came to the link.
    pub received_bytes: u64,
    /// Bytes of Ethernet frames that left it.
    pub forwarded_bytes: u64,
}

impl Tally {
    /// Packets that came and have neither left nor been dropped.
    pub fn in_flight(&self) -> u64 {
        self.received - self.forwarded - self.lost - self.overflowed
    }

    /// What was added since `earlier`, an older reading of the same tally.
    pub fn since(&self, earlier: &Tally) -> Tally {
        Tally {
            received: self.received - earlier.received,
            forwarded: self.forwarded - earlier.forwarded,
            lost: self.lost - earlier.lost,
            overflowed: self.overflowed - earlier.overflowed,
            received_bytes: self.received_bytes - earlier.received_bytes,
            forwarded_bytes: self.forwarded_bytes - earlier.forwarded_bytes,
        }
    }
}

/// All counters of one direction of a link.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Every frame, ARP included.
    pub total: Tally,
    /// IP packets by DSCP, as the packet came to the link.
    pub by_dscp: BTreeMap<u8, Tally>,
    /// The classes that were registered, in that order.
    pub classes: Vec<ClassCounters>,
    /// When the loss model dropped the first packet since the link was last set, on the clock of the lab.
    pub first_lost_at: Option<Moment>,
}

/// The counters of one registered class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassCounters {
    /// Which packets.
    pub key: ClassKey,
    /// All of them.
    pub total: Tally,
    /// By DSCP.
    pub by_dscp: BTreeMap<u8, Tally>,
}

impl Counters {
    /// Counts packets of this class apart from now on; a class that is known stays as it is.
    pub fn register(&mut self, key: ClassKey) {
        if self.class(key).is_none() {
            self.classes.push(ClassCounters {
                key,
                total: Tally::default(),
                by_dscp: BTreeMap::new(),
            });
        }
    }

    /// The counters of a registered class.
    pub fn class(&self, key: ClassKey) -> Option<&ClassCounters> {
        self.classes.iter().find(|class| class.key == key)
    }

    /// Applies `count` to every tally that the packet belongs to.
    pub(crate) fn count(&mut self, packet: Option<&PacketKey>, count: impl Fn(&mut Tally)) {
        count(&mut self.total);
        let Some(packet) = packet else { return };
        count(self.by_dscp.entry(packet.dscp).or_default());
        for class in self.classes.iter_mut().filter(|class| class.key.matches(packet)) {
            count(&mut class.total);
            count(class.by_dscp.entry(packet.dscp).or_default());
        }
    }
}
