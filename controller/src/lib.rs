//! `bicastd`: an OpenFlow controller that measures the loss of uplinks on live traffic and adapts redundancy to it.
//!
//! [`core::Core`] is the controller without sockets and clocks; [`tasks`] is the shell around it. See
//! `ARCHITECTURE.md` for the way of a packet and of a loss sample through both.

pub mod api;
pub mod channel;
pub mod cli;
pub mod compile;
pub mod core;
pub mod datapath;
pub mod event;
pub mod measure;
pub mod neighbor;
pub mod packet;
pub mod pipeline;
pub mod policy_file;
pub mod reconcile;
pub mod steering;
pub mod tasks;
pub mod testing;
