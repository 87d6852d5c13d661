//! What is to be done with which packets.

use std::fmt;
use std::time::Duration;

use crate::class::Class;
use crate::path::{Direction, PathIndex};
use crate::policy::Measurement;
use crate::probability::Probability;

/// What is to be done with one class of packets between two sites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The key in the file.
    pub name: String,
    /// The name of the peering whose packets it applies to.
    pub peering: String,
    /// 1 to 1000; where classes overlap, the higher wins.
    pub priority: u16,
    /// Which packets.
    pub class: Class,
    /// Share of the colour periods in which a path that is not in use is measured with copies; 0 is off.
    pub sampling: Probability,
    /// The DSCP values that stand for the two colours of its packets between the sites.
    pub colours: [u8; 2],
    /// How each direction is sent, in the order of [`Direction::ALL`].
    pub directions: [DirectionPolicy; 2],
}

impl Policy {
    /// `priority` when the file does not say.
    pub const DEFAULT_PRIORITY: u16 = 100;

    /// How this direction is sent.
    pub fn direction(&self, direction: Direction) -> &DirectionPolicy {
        &self.directions[direction.sender()]
    }

    /// `measurement` as it holds for this policy: with the policy's own `sampling` and colours. What its engines are
    /// given.
    pub fn measurement(&self, measurement: &Measurement) -> Measurement {
        Measurement {
            sampling: self.sampling,
            colours: self.colours,
            ..measurement.clone()
        }
    }
}

/// How a class is sent in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectionPolicy {
    /// The direction.
    pub direction: Direction,
    /// Whether and when to send copies.
    pub mode: ModePolicy,
    /// Every path of the peering once, best first: those that the file names, then the rest in file order.
    pub prefer: Vec<PathIndex>,
    /// Bicast begins when the loss of the path in use is certainly above this. For [`ModePolicy::Adaptive`].
    pub enter: Threshold,
    /// Bicast ends when the loss of one of its paths is certainly below this. For [`ModePolicy::Adaptive`].
    pub exit: Threshold,
    /// The UDP port that packets are delivered to instead of their own, for each path that has one: so that a program
    /// which compares copies knows the path of each.
    pub path_ports: Vec<(PathIndex, u16)>,
}

/// Whether and when to send copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModePolicy {
    /// Never: one path, the best that is up.
    Unicast,
    /// Always: the two best paths that are up.
    Bicast,
    /// When the path in use loses packets.
    Adaptive,
}

impl fmt::Display for ModePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ModePolicy::Unicast => "unicast",
            ModePolicy::Bicast => "bicast",
            ModePolicy::Adaptive => "adaptive",
        })
    }
}

/// A loss and how long it must have been certain that the path is beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    /// Share of the packets.
    pub loss: Probability,
    /// The time.
    pub hold: Duration,
}

impl Threshold {
    /// `enter` when the file does not say: 2 %, at once.
    pub const DEFAULT_ENTER: Threshold = Threshold {
        loss: Probability::saturating(0.02),
        hold: Duration::ZERO,
    };
    /// `exit` when the file does not say: 0.5 % for 10 s.
    pub const DEFAULT_EXIT: Threshold = Threshold {
        loss: Probability::saturating(0.005),
        hold: Duration::from_secs(10),
    };
}
