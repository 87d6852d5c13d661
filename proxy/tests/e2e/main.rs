//! Two proxies in one process, real sockets, real applications; no packet leaves the loopback interface.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test may fail by panicking")]

mod certificates;
mod common;
mod copies;
mod datagrams;
mod killed;
mod limits;
#[path = "../programs/mod.rs"]
mod pair_of_programs;
mod peers;
mod programs;
mod reload;
mod streams;
mod targets;
