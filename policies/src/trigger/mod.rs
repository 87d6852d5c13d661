//! When a loss is certain. One file per trigger; a trigger turns the samples of one path into a [`Statement`] or
//! nothing.
//!
//! # Write a new trigger
//!
//! One file here with a function or a small state machine from a [`Window`](crate::estimate::Window) to a
//! `Statement`; its thresholds in [`DirectionPolicy`](crate::DirectionPolicy) and their shape in `spec/traffic.rs`;
//! the rule that uses it in `engine.rs`, with an [`Evidence`](crate::Evidence) of its own; and a scenario in
//! `tests/scenarios` that tells when it fires and when not.

pub mod enter;
pub mod exit;

use std::time::Duration;

use crate::estimate::Suffix;

/// What a suffix of a path's samples proves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statement {
    /// Packets lost.
    pub lost: u64,
    /// Packets sent.
    pub sent: u64,
    /// The time in which they were counted.
    pub span: Duration,
    /// The loss is at least, or at most, this.
    pub bound: f64,
}

impl Statement {
    fn new(suffix: &Suffix, bound: f64) -> Statement {
        Statement {
            lost: suffix.lost,
            sent: suffix.sent,
            span: suffix.span(),
            bound,
        }
    }
}
