//! The engine against simulated traffic: stories of what happens to paths, and statistics over many seeds.
//!
//! Seeds are fixed; `BICAST_SEED=N` chooses others, and a failure names its seed.

#![expect(
    clippy::disallowed_methods,
    reason = "a test reads its cases from files and its seed from the environment"
)]
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod chance;
mod joint;
mod scenarios;
mod simulation;
mod statistics;
