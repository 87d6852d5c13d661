//! The QUIC proxy pair that carries TCP and UDP over redundant paths.
//!
//! ```text
//! application ─ TCP, UDP ─▶ bicast-proxy ══ QUIC over one or two uplinks ══▶ bicast-proxy ─ TCP, UDP ─▶ target
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`config`] | the configuration file and what it means |
//! | [`key`], [`tls`] | who is who |
//! | `endpoint`, `peer`, `links`, `standing` | QUIC connections between the two proxies |
//! | [`congestion`] | how fast each side sends |
//! | [`shim`] | copies of packets, below QUIC |
//! | [`relay`] | what goes over them |
//! | [`stats`], [`metrics`], `report` | what is told about it |
//! | [`tasks`], `forwards`, `reload` | all of it running, and another configuration for it |

pub mod allow;
pub mod cli;
pub mod config;
pub mod congestion;
pub mod counters;
mod current;
pub mod delay_gap;
mod endpoint;
mod figures;
mod forwards;
pub mod key;
mod links;
pub mod metrics;
mod peer;
pub mod relay;
mod reload;
mod report;
pub mod shim;
mod standing;
pub mod stats;
pub mod target;
pub mod tasks;
pub mod tls;
mod unread;

pub use config::Config;
pub use key::{PrivateKey, PublicKey};
pub use tasks::Proxy;
