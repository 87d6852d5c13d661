//! What can be set about a shim.

use std::time::Duration;

use super::header::Stream;

/// The settings of one shim; they hold for all its peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShimConfig {
    /// Whether headers are sent.
    pub mode: Mode,
    /// The stream of sequence numbers that everything sent goes in: [`Stream::Unordered`] for an endpoint whose
    /// connections carry QUIC datagrams, which the other end then never holds back.
    pub stream: Stream,
    /// Whether packets that are received are held back to be put in order.
    pub hold: Hold,
    /// How many packets may run ahead of a missing one, at most [`MAX_LEAD`](super::resequencer::MAX_LEAD).
    pub lead: u32,
    /// The longest that a packet is held back. Second copies that come later than this do not help.
    pub max_hold: Duration,
    /// How long a packet is remembered to tell its copies by.
    pub window: Duration,
    /// How many packets are remembered per peer at most, at some 100 bytes each.
    pub window_packets: usize,
    /// How many bytes are held back per peer at most.
    pub held_bytes: usize,
    /// How many peers are known that nobody holds a [`PeerHandle`](super::PeerHandle) of and no connection sends
    /// to; packets from further strangers pass without de-duplication.
    pub strangers: usize,
}

/// Whether packets to a peer carry the shim header. What is received is understood in either form always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Always.
    On,
    /// Never.
    Off,
    /// To a peer that was heard from: as it does. To one that was not heard from yet: the first three datagrams
    /// with a header and then by turns, so that a peer without a shim costs a retransmission or two.
    #[default]
    Auto,
}

/// Whether packets are held back to be put in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Hold {
    /// As long as second copies are late, as measured.
    #[default]
    Adaptive,
    /// Never: what is not a duplicate passes at once.
    Off,
}

impl Default for ShimConfig {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            stream: Stream::Ordered,
            hold: Hold::default(),
            lead: 100,
            max_hold: Duration::from_millis(100),
            window: Duration::from_secs(1),
            window_packets: 1 << 17,
            held_bytes: 8 << 20,
            strangers: 1024,
        }
    }
}
