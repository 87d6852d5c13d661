//! The API: JSON lines over a Unix socket; and beside it the way in for what proxies report.

mod client;
mod reports;
mod server;
mod types;

pub use client::{Client, ClientError};
pub use reports::serve as serve_reports;
pub use server::{Api, serve};
pub use types::{
    CopiesView, DecisionView, DirectionView, JointView, LossView, ModeRequest, Notice, PathCopies, PathView,
    PolicyView, PortView, Request, Response, SendingView, SentCounts, Status, SwitchState, SwitchView,
    TotalView,
};

/// Where `bicastd` listens and `bicastctl` asks, unless told otherwise.
pub const DEFAULT_SOCKET: &str = "/run/bicast/bicastd.sock";
/// The name of the socket for reports, beside the API's, unless told otherwise.
pub const REPORT_SOCKET: &str = "report.sock";
