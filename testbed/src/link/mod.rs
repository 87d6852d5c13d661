//! Emulated links: what a link does to packets (`spec`), the pure emulator (`loss`, `queue`,
//! `counters`, `lateness`, `emulator`) and its two backends (`tap`, `netem`).

pub mod class;
pub mod counters;
pub mod emulator;
pub mod lateness;
pub mod loss;
pub mod netem;
pub mod queue;
pub mod spec;
pub mod tap;

pub use class::{ClassKey, PacketKey};
pub use counters::{Counters, Tally};
pub use emulator::{LinkEmulator, Verdict};
pub use lateness::Lateness;
pub use spec::{LinkSpec, LossModel};

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One of the two directions of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From the site `client` to the site `server`.
    ClientToServer,
    /// From the site `server` to the site `client`.
    ServerToClient,
}

impl Direction {
    /// Both directions, in the order in which tables show them.
    pub const ALL: [Direction; 2] = [Direction::ClientToServer, Direction::ServerToClient];

    /// The other direction.
    pub fn reversed(self) -> Self {
        match self {
            Direction::ClientToServer => Direction::ServerToClient,
            Direction::ServerToClient => Direction::ClientToServer,
        }
    }

    /// Index into arrays that hold one entry per direction, in the order of [`Direction::ALL`].
    pub fn index(self) -> usize {
        match self {
            Direction::ClientToServer => 0,
            Direction::ServerToClient => 1,
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::ClientToServer => "client-to-server",
            Direction::ServerToClient => "server-to-client",
        })
    }
}

impl FromStr for Direction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Direction::ALL
            .into_iter()
            .find(|direction| direction.to_string() == text)
            .ok_or_else(|| format!("`{text}` is no direction: expected client-to-server or server-to-client"))
    }
}
