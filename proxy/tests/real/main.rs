//! Two `bicast-proxy` as programs between other programs: curl, nghttpd, ssh, iperf3, dig; and each of them killed. Each
//! test has a network namespace of its own, where every port is free. Needs root, and what testbed/setup.sh installs.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test may fail by panicking")]

#[path = "../e2e/common.rs"]
#[expect(dead_code, reason = "shared with tests that need all of it")]
mod common;
mod flood;
mod iperf;
mod killed;
mod lab;
mod names;
mod shell;
mod storm;
mod web;
