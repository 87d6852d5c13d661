//! The QUIC proxy pair that carries TCP and UDP over redundant paths.

pub mod congestion;
pub mod delay_gap;
pub mod shim;
