//! A host or a router at one port of a switch: it speaks IPv4 through one neighbour, and ARP.

use std::net::Ipv4Addr;
use std::time::Duration;

use ofproto::MacAddr;
use policies::Timestamp;

use crate::testing::packet::{ArpPacket, Body, Packet};

/// A host behind the access port (its neighbour is the gateway) or a router behind an uplink (its neighbour is the
/// site's own address there).
#[derive(Debug, Clone)]
pub struct Station {
    /// Its hardware address.
    pub mac: MacAddr,
    /// Its address.
    pub ip: Ipv4Addr,
    neighbor_ip: Ipv4Addr,
    neighbor: Option<MacAddr>,
    /// Packets that wait for the neighbour's answer.
    waiting: Vec<Packet>,
    asked: Option<Timestamp>,
    silent: bool,
}

/// What comes of a packet that a station hears.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// What it puts on the wire toward the switch.
    pub replies: Vec<Packet>,
    /// The IPv4 packet, if it was addressed to this station's hardware.
    pub ipv4: Option<Packet>,
}

impl Station {
    pub(super) fn new(mac: MacAddr, ip: Ipv4Addr, neighbor_ip: Ipv4Addr) -> Station {
        Station {
            mac,
            ip,
            neighbor_ip,
            neighbor: None,
            waiting: vec![],
            asked: None,
            silent: false,
        }
    }

    /// The neighbour's hardware address, when it is known.
    pub fn neighbor(&self) -> Option<MacAddr> {
        self.neighbor
    }

    pub(super) fn set_silent(&mut self, silent: bool) {
        self.silent = silent;
    }

    /// Asks who the neighbour is, whether that is known or not.
    pub(super) fn ask(&mut self, now: Timestamp) -> Packet {
        self.asked = Some(now);
        ArpPacket::question(self.mac, self.ip, self.neighbor_ip)
    }

    /// Sends an IPv4 packet toward the switch: returns what goes on the wire now.
    pub(super) fn send(&mut self, now: Timestamp, mut packet: Packet) -> Option<Packet> {
        packet.eth_src = self.mac;
        if let Some(neighbor) = self.neighbor {
            packet.eth_dst = neighbor;
            return Some(packet);
        }
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push(packet);
        }
        let due = self
            .asked
            .is_none_or(|asked| now.saturating_since(asked) >= ASK_AGAIN);
        due.then(|| self.ask(now))
    }

    /// Hears a packet from the switch.
    pub(super) fn hear(&mut self, packet: Packet) -> Heard {
        let for_us = packet.eth_dst == self.mac;
        match &packet.body {
            Body::Arp(arp) if for_us || packet.eth_dst == MacAddr::broadcast() => Heard {
                replies: self.arp(arp),
                ipv4: None,
            },
            Body::Ipv4(_) if for_us => Heard {
                replies: vec![],
                ipv4: Some(packet),
            },
            _ => Heard::default(),
        }
    }

    fn arp(&mut self, arp: &ArpPacket) -> Vec<Packet> {
        let mut replies = vec![];
        if arp.sender_ip == self.neighbor_ip && arp.target_ip == self.ip {
            self.neighbor = Some(arp.sender_mac);
            for mut packet in self.waiting.drain(..) {
                packet.eth_dst = arp.sender_mac;
                replies.push(packet);
            }
        }
        if arp.is_question() && arp.target_ip == self.ip && !self.silent {
            replies.insert(0, arp.answer(self.mac));
        }
        replies
    }
}

/// About as many as Linux keeps for a neighbour that does not answer yet.
const MAX_WAITING: usize = 100;
const ASK_AGAIN: Duration = Duration::from_secs(1);
