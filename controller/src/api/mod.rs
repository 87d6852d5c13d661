//! The API: JSON lines over a Unix socket.

mod client;
mod server;
mod types;

pub use client::{Client, ClientError};
pub use server::{Api, serve};
pub use types::{
    DecisionView, DirectionView, LossView, ModeRequest, Notice, PathView, PolicyView, PortView, Request,
    Response, SentCounts, Status, SwitchState, SwitchView, TotalView,
};

/// Where `bicastd` listens and `bicastctl` asks, unless told otherwise.
pub const DEFAULT_SOCKET: &str = "/run/bicast/bicastd.sock";
