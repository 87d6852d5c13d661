//! What the operator wants and what the measurements say about it: the policy model, the loss estimators and the
//! decision engine of bicast.
//!
//! This crate is pure: no I/O, no clock, no threads, no randomness. Time is an argument ([`Timestamp`]), files are
//! texts ([`load`]), measurements are values ([`LossSample`]). The same inputs give the same decisions, so a recorded
//! run can be replayed and a 30-second hold tested in microseconds. It does not know that OpenFlow exists.
//!
//! ```text
//!   text of the policy file ── load ──▶ PolicySet ──▶ one Engine per policy and direction
//!                                                        ▲ observe(LossSample), set_usable(PathSet), pin(Mode)
//!                                                        ▼ decide(now) ──▶ Decision { from, to, evidence }
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`policy`] | the checked truth: what the rest of the system works with |
//! | `spec` | the shape of the YAML file; the only way across is [`load`] |
//! | [`document`] | what other programs need to read their own files in the same manner |
//! | [`estimate`] | loss with confidence from windows of counted samples |
//! | [`trigger`] | when a path is certainly above `enter` or certainly below `exit` |
//! | [`engine`] | which mode follows from that |
//! | [`joint`] | what was lost on several paths at once; explains decisions, makes none |
//! | [`report`] | the line in which a proxy tells of it |

pub mod class;
pub mod decision;
pub mod document;
pub mod engine;
pub mod error;
pub mod estimate;
pub mod joint;
pub mod mode;
mod names;
pub mod path;
pub mod policy;
pub mod probability;
pub mod report;
pub mod sample;
mod spec;
pub mod time;
pub mod trigger;

pub use class::{Class, ClassMatch};
pub use decision::{Decision, Evidence};
pub use engine::Engine;
pub use error::{LoadError, Problem};
pub use estimate::Estimate;
pub use ipnet::Ipv4Net;
pub use joint::{JointCounts, JointSample};
pub use macaddr::MacAddr6;
pub use mode::Mode;
pub use path::{Direction, PathIndex, PathSet};
pub use policy::{
    Access, DefaultRoute, DirectionPolicy, Measurement, ModePolicy, Path, Peering, Policy, PolicySet, Site,
    Threshold, Uplink, load,
};
pub use probability::Probability;
pub use report::{MAX_REPORTED_PORTS, ProxyReport, ReceivedByPort, ReceivedReport, SendingReport};
pub use sample::{LossSample, Source};
pub use time::Timestamp;
