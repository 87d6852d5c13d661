//! The redundancy shim, as the packets see it.

mod endpoints;
mod network;
mod pair;
mod receiver;
mod resequencer;
mod simulation;
mod socket;
mod truth;
