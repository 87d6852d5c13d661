//! Test support: a switch and a whole world of two sites, in memory and in virtual time.
//!
//! Nothing of this is used by the daemon. [`FakeDatapath`] answers the controller and forwards packets as Open vSwitch
//! does; [`World`] joins two of them by links that delay and lose packets, lets hosts send, and runs a
//! [`Core`](crate::core::Core) against it, so that a test can ask about behaviour: does this packet arrive, and what
//! did it take?

mod cache;
mod chance;
mod datapath;
mod forwarding;
mod groups;
mod matching;
mod meters;
mod packet;
mod ports;
mod tables;
mod world;

pub use chance::Chance;
pub use datapath::FakeDatapath;
pub use groups::{Group, Groups};
pub use meters::Meters;
pub use packet::{ArpPacket, Body, ETH_TYPE_ARP, ETH_TYPE_IPV4, Ipv4Packet, Packet, Payload, TCP, UDP};
pub use ports::SwitchPorts;
pub use tables::Entry;
pub use world::{Delivery, Link, Run, Sent, Site, Station, Stream, StreamId, Truth, World, seed};
