//! One switch: its connection from HELLO on ([`Session`]), its ports ([`Ports`]), and what it holds of ours
//! ([`Contents`]).

mod contents;
mod ports;
mod session;

pub use contents::{Contents, FlowEntry, FlowKey, GroupEntry, MeterEntry};
pub use ports::{PortInfo, Ports};
pub use session::{Identity, Session, SessionOutput};
