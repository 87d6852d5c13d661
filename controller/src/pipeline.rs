//! The pipeline: its named tables and priorities, and the cookies and ids by which we know what is ours.
//!
//! ```text
//!              in_port = access                       in_port = uplink
//!                    │                                       │
//!               ┌────▼─────┐  class → metadata               │
//!               │ classify ├──────────────┐                  │
//!               └────┬─────┘              │             ┌────▼────┐ meter[policy, path, colour]
//!   ARP → controller │               ┌────▼────┐        │ receive │ restore DSCP
//!                    │               │  steer  │        └────┬────┘
//!                    │               └────┬────┘             │
//!                    │   meter[policy, colour], mark, group  │
//!                    │                    ▼             ┌────▼────┐
//!                    │              uplinks a, b …      │ deliver │ host's MAC → access port
//!                    ▼                                  └─────────┘
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

use ofproto::{Cookie, GroupId, MeterId, TableId};
use policies::PathIndex;

/// The tables that we use, in the order in which a packet can meet them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// Tells classes apart and uplink from access side.
    Classify,
    /// Counts, marks and sends a class on its paths.
    Steer,
    /// Counts what a path brought and takes the mark off.
    Receive,
    /// Hands a packet to a host on the access side.
    Deliver,
}

impl Table {
    /// The number on the wire.
    pub const fn id(self) -> TableId {
        TableId(match self {
            Table::Classify => 0,
            Table::Steer => 1,
            Table::Receive => 2,
            Table::Deliver => 3,
        })
    }
}

/// Priorities within a table: higher wins.
pub mod priority {
    /// ARP to the controller.
    pub const ARP: u16 = 60_000;
    /// Packets from an uplink go to `receive`.
    pub const FROM_UPLINK: u16 = 50_000;
    /// A policy's class sits at this plus the policy's own priority (1..=1000).
    pub const POLICY: u16 = 1_000;
    /// A host whose MAC address is known.
    pub const HOST: u16 = 200;
    /// What no policy and no host entry claims.
    pub const DEFAULT: u16 = 100;
}

/// A policy's place in the id ranges and cookies of every switch: 1..=4095; 0 is the traffic that no policy claims.
///
/// It follows from the policy's name, so that a restarted controller and a changed file find the same groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(u16);

impl Slot {
    /// Traffic that no policy claims.
    pub const UNCLAIMED: Slot = Slot(0);

    /// Gives each name its slot: a hash of the name, the next free one on a collision, in order of names.
    pub fn assign<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, Slot> {
        let mut names: Vec<&str> = names.into_iter().collect();
        names.sort_unstable();
        let mut taken = vec![false; usize::from(SLOTS)];
        taken[0] = true;
        let mut assigned = BTreeMap::new();
        for name in names.into_iter().take(usize::from(SLOTS - 1)) {
            let mut slot = preferred_slot(name);
            while taken[usize::from(slot)] {
                slot = (slot + 1) % SLOTS;
            }
            taken[usize::from(slot)] = true;
            assigned.insert(name.to_owned(), Slot(slot));
        }
        assigned
    }

    /// The slot that a cookie of ours names.
    pub const fn of_cookie(cookie: Cookie) -> Slot {
        Slot((cookie.0 & 0xffff) as u16)
    }

    /// The slot that a meter of ours belongs to, and whether the meter counts what the site sends (else what it
    /// receives).
    pub fn of_meter(meter: MeterId) -> Option<(Slot, bool)> {
        let offset = METERS.contains(&meter.0).then(|| meter.0 - METERS.start)?;
        let slot = u16::try_from(offset / METERS_PER_SLOT).ok()?;
        Some((Slot(slot), offset % METERS_PER_SLOT < 2))
    }

    /// The `metadata` that `classify` writes and `steer` matches.
    pub const fn metadata(self) -> u64 {
        self.0 as u64
    }

    /// The cookie of this slot's flows in `table`.
    pub const fn cookie(self, table: Table) -> Cookie {
        Cookie(COOKIE_PREFIX | (table.id().0 as u64) << 16 | self.0 as u64)
    }

    /// The group that carries the mode in force.
    pub const fn main_group(self) -> GroupId {
        GroupId(GROUPS.start + self.0 as u32 * 2)
    }

    /// The group of a sampled period: the paths in use and one standby path.
    pub const fn sample_group(self) -> GroupId {
        GroupId(GROUPS.start + self.0 as u32 * 2 + 1)
    }

    /// The meter that counts what this site sends in `colour` (0 or 1).
    pub const fn sender_meter(self, colour: Colour) -> MeterId {
        MeterId(METERS.start + self.0 as u32 * METERS_PER_SLOT + colour as u32)
    }

    /// The meter that counts what `path` brings to this site in `colour`.
    pub const fn receiver_meter(self, path: PathIndex, colour: Colour) -> MeterId {
        MeterId(METERS.start + self.0 as u32 * METERS_PER_SLOT + 2 + path.0 as u32 * 2 + colour as u32)
    }
}

/// The alternate mark (RFC 9341): every packet of a class carries one of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Colour {
    /// The first of the two marks.
    Zero,
    /// The second.
    One,
}

impl Colour {
    /// Both.
    pub const ALL: [Colour; 2] = [Colour::Zero, Colour::One];

    /// 0 or 1, to index arrays by colour.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The other one.
    #[must_use]
    pub const fn flipped(self) -> Colour {
        match self {
            Colour::Zero => Colour::One,
            Colour::One => Colour::Zero,
        }
    }
}

/// The upper 24 bits that every cookie of ours begins with.
pub const COOKIE_PREFIX: u64 = 0xb1ca57 << 40;
/// The bits of a cookie that hold the prefix: match these to see only our flows.
pub const COOKIE_MASK: u64 = 0xff_ffff << 40;
/// The group ids that are ours on every switch.
pub const GROUPS: Range<u32> = 0xb1ca_0000..0xb1ca_0000 + SLOTS as u32 * 2;
/// The meter ids that are ours on every switch; the kernel datapath has room for 200,000.
pub const METERS: Range<u32> = 0x1_0000..0x1_0000 + SLOTS as u32 * METERS_PER_SLOT;
/// At most this many paths have meters of their own.
pub const MAX_PATHS: u32 = 15;

const SLOTS: u16 = 4096;
const METERS_PER_SLOT: u32 = 2 + 2 * MAX_PATHS;

/// FNV-1a, folded to a slot number: stable across versions and machines, which `std`'s hasher does not promise.
fn preferred_slot(name: &str) -> u16 {
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    let folded = (hash ^ (hash >> 12)) % u32::from(SLOTS);
    u16::try_from(folded).expect("below SLOTS").max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_do_not_depend_on_the_order_of_the_file() {
        let forward = Slot::assign(["video", "voice", "bulk"]);
        let backward = Slot::assign(["bulk", "voice", "video"]);
        assert_eq!(forward, backward);
    }

    #[test]
    fn every_slot_is_given_once() {
        let names: Vec<String> = (0..4095).map(|i| format!("policy-{i}")).collect();
        let slots = Slot::assign(names.iter().map(String::as_str));
        let distinct: std::collections::BTreeSet<_> = slots.values().collect();
        assert_eq!(distinct.len(), 4095);
        assert!(!distinct.contains(&Slot::UNCLAIMED));
    }

    #[test]
    fn ids_of_the_last_slot_stay_in_range() {
        let last = Slot(SLOTS - 1);
        assert!(GROUPS.contains(&last.sample_group().0));
        assert!(METERS.contains(&last.receiver_meter(PathIndex(14), Colour::One).0));
        const { assert!(METERS.end <= 200_000) };
    }
}
