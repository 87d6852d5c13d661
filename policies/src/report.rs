//! What a `bicast-proxy` tells `bicastd`: one JSON object a line for each peer, again and again.
//!
//! The two programs share nothing else. Fields may be added; whoever reads ignores those that it does not know. Counts
//! grow from `started_unix_ms` on and begin anew with another [`ReceivedReport::remote`].

use serde::{Deserialize, Serialize};

/// One line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxyReport {
    /// When it was written, milliseconds since 1970 by the proxy's clock.
    pub at_unix_ms: u64,
    /// How often such a line comes, milliseconds.
    pub every_ms: u64,
    /// When the proxy began to count, milliseconds since 1970.
    pub started_unix_ms: u64,
    /// The public key of the proxy that reports.
    pub from: String,
    /// The name that it has for the peer that the line is about.
    pub peer: String,
    /// The peer's public key.
    pub key: String,
    /// The site of the proxy that reports, as the policy file names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// The policy that carries what the two proxies send one another for streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// What came from the peer. None without a connection, or when packets carry no numbers to tell copies by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<ReceivedReport>,
    /// How sending to the peer goes. None without a connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sending: Option<SendingReport>,
}

/// What came of the packets that a peer sent, by their copies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceivedReport {
    /// The address that the packets came from.
    pub remote: String,
    /// Packets of which more than one copy came.
    pub both: u64,
    /// Packets of which no copy came in time. The only count that can go down a little: some come later still.
    pub neither: u64,
    /// How much later second copies come, microseconds.
    pub gap_us: u64,
    /// How long a missing packet is waited for, microseconds.
    pub hold_us: u64,
    /// By the UDP port that the copies came to; not more than 256.
    pub paths: Vec<ReceivedByPort>,
}

/// What came to one UDP port, and so by one path, if the policy delivers paths to ports of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceivedByPort {
    /// One of the policy's `path_ports`; none for the port that the packets are sent to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Packets whose first copy came to it.
    pub first_arrivals: u64,
    /// Copies of packets that had come before.
    pub second_copies: u64,
    /// First arrivals that filled a hole which a packet to another port had shown.
    pub rescued: u64,
    /// Packets that came to no other port.
    pub only: u64,
}

/// How sending streams to a peer goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendingReport {
    /// QUIC connections.
    pub connections: u64,
    /// The smoothed round-trip time of the one that delivers most, microseconds.
    pub rtt_us: u64,
    /// The congestion windows of all, bytes.
    pub cwnd: u64,
    /// What was acknowledged lately on all, bits per second.
    pub delivery_bps: u64,
}

impl ReceivedReport {
    /// Packets of which at least one copy came.
    pub fn arrived(&self) -> u64 {
        self.sum(|path| path.first_arrivals)
    }

    /// Packets that came in time only because another path carried a copy.
    pub fn rescued(&self) -> u64 {
        self.sum(|path| path.rescued)
    }

    fn sum(&self, count: impl Fn(&ReceivedByPort) -> u64) -> u64 {
        self.paths
            .iter()
            .fold(0, |sum, path| sum.saturating_add(count(path)))
    }
}

/// So many ports can be told apart.
pub const MAX_REPORTED_PORTS: usize = 256;
