//! The controller's core against fake switches in a world of two sites, in virtual time.
//!
//! Seeds are fixed; `BICAST_SEED=N` chooses others, and a failure names its seed.

mod common;
mod connections;
mod delivery;
mod measurement;
mod modes;
mod ports;
mod programming;
mod reload;
mod sampling;
