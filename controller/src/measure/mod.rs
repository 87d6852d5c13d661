//! Sources of samples: what the switches count, and what proxies report.

mod alternate_marking;
mod patience;
mod proxy_reports;
mod settling;

pub use alternate_marking::{Closed, Marking, MarkingOutput, ReceiverReading, SenderReading};
pub use proxy_reports::{CopiesReported, Interval, ProxyReports, Reporter, TooManyReporters};
pub use settling::SettlingPaths;
