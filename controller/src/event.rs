//! Everything that can happen to the controller, and everything it can do about it.
//!
//! [`Core::handle`](crate::core::Core::handle) turns the one into the other; sockets and clocks live in
//! [`tasks`](crate::tasks).

use std::sync::Arc;

use ofproto::{ErrorMsg, Header, Message, Xid};
use policies::{PolicySet, ProxyReport};

use crate::api::{Notice, Request, Response};

/// One TCP connection of one switch, numbered by the shell in order of acceptance and never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId(pub u64);

impl std::fmt::Display for ConnId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// One question of one API client; the answer carries the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// What can happen.
#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "a queue has few; a message is not worth an allocation of its own"
)]
pub enum Event {
    /// A switch connected; nothing has been said yet.
    Connected {
        /// The new connection.
        conn: ConnId,
        /// Its remote address, for logs and tables.
        peer: String,
    },
    /// A whole, well-formed message arrived.
    Message {
        /// The connection it came by.
        conn: ConnId,
        /// Version, length and transaction id.
        header: Header,
        /// The message.
        message: Message,
    },
    /// A whole frame arrived that is no valid message; the connection can go on.
    Malformed {
        /// The connection it came by.
        conn: ConnId,
        /// Transaction id of the frame, to answer with.
        xid: Xid,
        /// The OFPT_ERROR to answer with.
        answer: ErrorMsg,
        /// What was wrong and where, for the log.
        problem: String,
    },
    /// The connection ended, whichever side did it.
    Disconnected {
        /// The connection that is gone.
        conn: ConnId,
        /// Why, for the log.
        reason: String,
    },
    /// A checked policy file comes into force.
    Policies(Arc<PolicySet>),
    /// The policy file on disk is not valid; the one in force stays.
    PoliciesRejected {
        /// The problems, one a line, each with its place in the file.
        report: String,
    },
    /// An API client asks something.
    Request {
        /// To answer with.
        id: RequestId,
        /// The question.
        request: Request,
    },
    /// A proxy reports.
    Report {
        /// To answer with: [`Response::Done`], or an error that says why it is of no use.
        id: RequestId,
        /// What it says.
        report: Box<ProxyReport>,
    },
    /// The moment that [`Core::next_deadline`](crate::core::Core::next_deadline) named has come.
    Deadline,
}

/// What the controller can do.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a queue has few; a message is not worth an allocation of its own"
)]
pub enum Effect {
    /// Send a message to a switch.
    Send {
        /// The connection to send on.
        conn: ConnId,
        /// Its transaction id.
        xid: Xid,
        /// The message.
        message: Message,
    },
    /// Close a connection after what was sent on it before.
    Close {
        /// The connection to close.
        conn: ConnId,
        /// Why, for the log.
        reason: String,
    },
    /// Answer an API client.
    Reply {
        /// The question's number.
        id: RequestId,
        /// The answer.
        response: Response,
    },
    /// Tell everyone who watches.
    Publish(Notice),
}
