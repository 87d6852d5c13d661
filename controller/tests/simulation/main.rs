//! The controller's core against fake switches in a world of two sites, in virtual time.
//!
//! Seeds are fixed; `BICAST_SEED=N` chooses others, and a failure names its seed. `BICAST_STORIES=N` plays more of the
//! random stories of `chaos.rs`.

mod audit;
mod chaos;
mod common;
mod connections;
mod delivery;
mod measurement;
mod modes;
mod no_loss;
mod ports;
mod programming;
mod reload;
mod reports;
mod restart;
mod sampling;
mod switch;
