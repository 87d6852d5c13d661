//! The redundancy shim below QUIC.
//!
//! The network carries each packet over several paths. The shim at the sending end puts a sequence number of its
//! own before each; the one at the receiving end drops the second copies before they are decrypted, and hides
//! from QUIC that a packet came by the slower path, so that QUIC takes for lost what no path carried and nothing
//! else.
//!
//! | | |
//! |---|---|
//! | [`header`] | eight bytes before each datagram |
//! | [`dedup`] | which packets came before |
//! | [`gap`] | by how much second copies are later |
//! | [`resequencer`] | how far a packet may overtake another, and for how long one is held back |
//! | [`gate`] | a late packet is acknowledged before more comes |
//! | [`path_stats`] | what came by which path |
//! | [`receiver`] | these together, for one peer: pure, time is an argument |
//! | [`loss_thresholds`] | what QUIC at the sending end has to allow for |
//!
//! [`Shim`] and [`ShimSocket`] are what does I/O: a QUIC endpoint over one or several UDP ports.
//!
//! **Which form.** What comes in is told by its first two bits and understood in either form, always. What goes
//! out carries the header by [`Mode`], or as [`PeerHandle::set_shim`] says: a dialling end in [`Mode::Auto`]
//! tries with the header first, and from then on each end speaks as it is spoken to. Nothing that a third party
//! sends changes the form once a connection or a handle stands for the peer.
//!
//! **Nothing in a header is trusted.** Identity is a keyed hash of all bytes, numbers from nowhere near move
//! nothing, an echo counts from a packet in place only, holding is bounded in time and bytes, and strangers are
//! bounded in number. A forged header costs order for a moment; it never costs a packet.

pub mod config;
pub mod dedup;
pub mod gap;
pub mod gate;
pub mod header;
mod inbox;
pub mod loss_thresholds;
pub mod path_stats;
mod peer;
mod peers;
mod port;
pub mod receiver;
pub mod resequencer;
mod sender;
mod socket;

pub use config::{Hold, Mode, ShimConfig};
pub use loss_thresholds::LossThresholds;
pub use peer::{PeerHandle, PeerStats};
pub use socket::{Shim, ShimSocket};
