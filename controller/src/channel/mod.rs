//! TCP connections of switches.

mod connection;
mod listener;

pub use connection::{Outbox, Outgoing};
pub use listener::{Switchboard, listen};
