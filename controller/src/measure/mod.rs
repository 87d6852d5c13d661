//! Sources of loss samples.

mod alternate_marking;
mod patience;
mod settling;

pub use alternate_marking::{Closed, Marking, MarkingOutput, ReceiverReading, SenderReading};
pub use settling::SettlingPaths;
