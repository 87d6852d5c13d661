//! Traffic from host to host at a steady rate, and what became of each packet.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use ofproto::MacAddr;
use policies::{Direction, Policy, Timestamp};

use crate::testing::packet::{Body, Ipv4Packet, Packet, Payload, UDP};

/// Names a stream of a [`World`](super::World).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u16);

/// Packets of one class in one direction, one after the other, over several flows in turn.
#[derive(Debug, Clone)]
pub struct Stream {
    id: StreamId,
    direction: Direction,
    flows: Vec<Ipv4Packet>,
    interval: Duration,
    started: Timestamp,
    stopped: bool,
    /// By sequence number: how many copies the other host got.
    copies: Vec<u8>,
    last: Option<Packet>,
    dscps: BTreeMap<u8, u64>,
}

/// What became of the packets of a stream so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    /// Packets that the host sent.
    pub sent: u64,
    /// Packets that the other host got, once or more often.
    pub delivered: u64,
    /// Copies beyond the first that it got.
    pub duplicates: u64,
    /// Packets that it did not get: lost, or still on their way.
    pub missing: u64,
}

impl Stream {
    /// `flows` packets to take turns, `packets_per_second` of them.
    pub(super) fn new(
        id: StreamId,
        direction: Direction,
        flows: Vec<Ipv4Packet>,
        packets_per_second: u32,
        started: Timestamp,
    ) -> Stream {
        Stream {
            id,
            direction,
            flows,
            interval: Duration::from_secs(1) / packets_per_second,
            started,
            stopped: false,
            copies: vec![],
            last: None,
            dscps: BTreeMap::new(),
        }
    }

    /// Its direction.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// What became of its packets.
    pub fn delivery(&self) -> Delivery {
        let delivered = self.copies.iter().filter(|copies| **copies > 0);
        let (sent, delivered) = (self.copies.len() as u64, delivered.count() as u64);
        let copies: u64 = self.copies.iter().map(|copies| u64::from(*copies)).sum();
        Delivery {
            sent,
            delivered,
            duplicates: copies - delivered,
            missing: sent - delivered,
        }
    }

    /// When the packets were sent of which the other host got so many copies.
    pub fn sent_with_copies(&self, wanted: impl Fn(u8) -> bool) -> Vec<Timestamp> {
        let numbers = (0_u32..).zip(&self.copies);
        numbers
            .filter(|(_, copies)| wanted(**copies))
            .map(|(number, _)| self.due(number))
            .collect()
    }

    /// The last packet that the other host got.
    pub fn last_delivered(&self) -> Option<&Packet> {
        self.last.as_ref()
    }

    /// The DSCP values that copies were delivered with, and how many with each.
    pub fn dscps(&self) -> &BTreeMap<u8, u64> {
        &self.dscps
    }

    /// When the next packet is to be sent.
    pub(super) fn next_at(&self) -> Option<Timestamp> {
        let number = u32::try_from(self.copies.len()).unwrap_or(u32::MAX);
        (!self.stopped).then(|| self.due(number))
    }

    /// The next packet.
    pub(super) fn next(&mut self) -> Packet {
        let number = self.copies.len();
        self.copies.push(0);
        let flow = self.flows[number % self.flows.len()];
        let payload = Payload {
            stream: self.id.0,
            sequence: number as u64,
        };
        Packet {
            eth_src: MacAddr::nil(),
            eth_dst: MacAddr::nil(),
            body: Body::Ipv4(Ipv4Packet { payload, ..flow }),
        }
    }

    pub(super) fn stop(&mut self) {
        self.stopped = true;
    }

    pub(super) fn delivered(&mut self, packet: &Packet) {
        let number = usize::try_from(packet.payload().sequence).unwrap_or(usize::MAX);
        if let Some(copies) = self.copies.get_mut(number) {
            *copies = copies.saturating_add(1);
        }
        self.last = Some(*packet);
        if let Some(ip) = packet.ipv4() {
            *self.dscps.entry(ip.dscp).or_default() += 1;
        }
    }

    fn due(&self, number: u32) -> Timestamp {
        self.started + self.interval * number.saturating_add(1)
    }
}

/// Packets of a policy's class from `src` to `dst`. Where the class leaves the sender's or the receiver's port open,
/// there are several flows, each with ports of its own.
pub(super) fn flows_of(
    policy: &Policy,
    direction: Direction,
    src: Ipv4Addr,
    dst: Ipv4Addr,
    first_port: u16,
) -> Vec<Ipv4Packet> {
    let class = &policy.class;
    let (near, far) = (direction.sender(), direction.receiver());
    let port = |side: usize, free: u16| class.ports[side].first().copied().unwrap_or(free);
    (0..FLOWS)
        .map(|flow| Ipv4Packet {
            protocol: class.protocol.unwrap_or(UDP),
            dscp: class.dscp.unwrap_or(0),
            ..Ipv4Packet::udp(
                (src, port(near, first_port + flow)),
                (dst, port(far, first_port + flow)),
                Payload::default(),
            )
        })
        .collect()
}

/// Several, because the datapath follows a change flow by flow.
pub(super) const FLOWS: u16 = 4;
