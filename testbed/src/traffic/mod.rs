//! Traffic between the hosts of a lab.

pub mod conversation;
pub mod echo;
pub mod http;
pub mod iperf;
pub mod ledger;
pub mod mptcp;
pub mod sequenced_udp;
mod socket;
pub mod story;

pub use conversation::{Book, ConversationServer, Conversations};
pub use echo::{Rtt, measure_rtt};
pub use http::{Download, HttpServer, download};
pub use iperf::{Iperf, IperfReport};
pub use ledger::{DelaySummary, Ledger, Report};
pub use sequenced_udp::{Progress, Running, SequencedUdp};
pub use story::{Course, End, Story};
