//! From local applications to the peer, and from the peer to targets.
//!
//! ```text
//! application ─▶ forward, socks5, http_connect, transparent ─▶ Way::open ═ QUIC stream ═▶ serve ─▶ target
//!                                                    splice ◀════ both directions ════▶ splice
//! application ─▶ datagram, socks5_udp ─▶ flows ═════════════ QUIC datagrams ══════════▶ flows ─▶ target
//! ```

pub(crate) mod datagram;
pub(crate) mod flows;
pub(crate) mod forward;
pub mod http_connect;
mod opening;
pub(crate) mod serve;
pub mod socks5;
pub(crate) mod socks5_udp;
pub(crate) mod splice;
pub(crate) mod transparent;
pub mod wire;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use noq::{SendStream, VarInt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::Config;
use crate::congestion::Algorithm;
use crate::counters::{Handshakes, Open, Reloads};
use crate::current::Current;
use crate::endpoint::Port;
use crate::key::PrivateKey;
use crate::links;
use crate::peer::{InUse, Peer, Slot};
use crate::target::Target;
use crate::tls::{Certificates, Class};
use splice::{Broken, Pair, reset_on_close, splice};
use wire::{Kind, Refusal, Request};

/// What all tasks of a proxy share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: Current<Config>,
    pub(crate) key: PrivateKey,
    pub(crate) certificates: Current<Option<Certificates>>,
    /// In the order of the configuration.
    pub(crate) peers: Current<Vec<Arc<Peer>>>,
    pub(crate) streams_port: Port,
    pub(crate) datagrams_port: Port,
    pub(crate) handshakes: Handshakes,
    pub(crate) reloads: Reloads,
    /// Cancelled when nothing new is to begin.
    pub(crate) stop: CancellationToken,
    /// Streams and flows under way.
    pub(crate) work: TaskTracker,
    pub(crate) since: std::time::Instant,
}

impl Shared {
    /// The configuration in force.
    pub(crate) fn config(&self) -> Arc<Config> {
        self.config.get()
    }

    pub(crate) fn peers(&self) -> Arc<Vec<Arc<Peer>>> {
        self.peers.get()
    }

    pub(crate) fn port(&self, class: Class) -> &Port {
        match class {
            Class::Streams | Class::Own => &self.streams_port,
            Class::Datagrams => &self.datagrams_port,
        }
    }
}

/// How a forward reaches its peer.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) shared: Arc<Shared>,
    pub(crate) peer: Arc<Peer>,
    pub(crate) congestion: Option<Algorithm>,
}

/// A stream whose request is on its way.
pub(crate) struct Opened {
    pub(crate) pair: Pair,
    using: InUse,
    /// Whether the connection serves this stream alone.
    alone: bool,
}

impl Way {
    /// Opens a stream to `target`. The answer is still to be read.
    pub(crate) async fn open(&self, target: &Target) -> Result<Opened, Refusal> {
        let deadline = Instant::now() + self.shared.config().limits.connect;
        let config = self.peer.config();
        let alone = config.connection_per_flow;
        let using = match self.congestion {
            _ if alone => {
                let algorithm = self.congestion.unwrap_or(config.congestion);
                let link = links::dial(&self.shared, &self.peer, Class::Own, algorithm, None).await;
                link.inspect_err(|error| tracing::debug!(peer = self.peer.name, "cannot connect: {error:#}"))
                    .map(|link| InUse::new(&link))
                    .map_err(|_| Refusal::TimedOut)?
            }
            own => self.link(own.map_or(Slot::Streams, Slot::Own)).await?,
        };
        // The other side allows so many streams; beyond that, this waits until one of them ends.
        let streams = timeout_at(deadline, using.link.connection.open_bi()).await;
        let streams = streams
            .map_err(|_| Refusal::TooMany)?
            .map_err(|_| Refusal::TimedOut)?;
        let mut pair = Pair::new(streams);
        let request = Request {
            kind: Kind::Tcp,
            target: target.clone(),
            congestion: self.congestion,
        };
        pair.send
            .write_chunk(request.encode())
            .await
            .map_err(|_| Refusal::TimedOut)?;
        Ok(Opened { pair, using, alone })
    }

    /// The standing connection of a kind, as soon as there is one.
    pub(crate) async fn link(&self, slot: Slot) -> Result<InUse, Refusal> {
        let patience = self.shared.config().limits.connect;
        self.peer.link(slot, patience).await.ok_or(Refusal::TimedOut)
    }

    /// Carries `tcp` to `target`, without waiting for the answer.
    pub(crate) async fn carry(&self, tcp: TcpStream, target: &Target) {
        splice::prepare(&tcp);
        match self.open(target).await {
            Ok(opened) => self.join(tcp, opened, true, target).await,
            Err(refusal) => {
                reset_on_close(&tcp);
                self.refused(target, refusal);
            }
        }
    }

    /// Carries `tcp` over a stream until both have ended.
    pub(crate) async fn join(&self, tcp: TcpStream, opened: Opened, answer_due: bool, target: &Target) {
        let Opened {
            mut pair,
            using,
            alone,
        } = opened;
        let counters = &self.peer.counters;
        counters.streams_opened.add(1);
        let open = Open::new(&counters.streams_open);
        let limits = self.shared.config().limits;
        let result = splice(
            &tcp,
            &mut pair,
            answer_due,
            counters,
            &using.link.window,
            limits.stream_idle,
        )
        .await;
        drop(tcp);
        drop(open);
        match result {
            Ok(()) if alone => {
                flushed(&mut pair.send, limits.connect).await;
                pair.finished();
            }
            Ok(()) => pair.finished(),
            Err(Broken::Refused(refusal)) => self.refused(target, refusal),
            Err(broken) => {
                counters.streams_aborted.add(1);
                tracing::debug!(peer = self.peer.name, %target, "stream ended: {broken}");
            }
        }
        if alone {
            using.link.close();
        }
    }

    /// Counts and tells that `target` is not reached.
    pub(crate) fn refused(&self, target: &Target, refusal: Refusal) {
        self.peer.counters.streams_refused.add(1);
        tracing::info!(peer = self.peer.name, %target, "not connected: {refusal}");
    }
}

impl Opened {
    /// Waits for the other side's answer; a connection for this stream alone ends with a refusal.
    pub(crate) async fn answer(&mut self, patience: Duration) -> Result<(), Refusal> {
        // The other side has its own patience for names and targets: ours is for the way there and back.
        let answer = timeout(patience * 2, self.pair.answer()).await;
        let answer = match answer {
            Ok(Ok(())) => Ok(()),
            Ok(Err(Broken::Refused(refusal))) => Err(refusal),
            Ok(Err(_)) => Err(Refusal::Failed),
            Err(_) => Err(Refusal::TimedOut),
        };
        if answer.is_err() && self.alone {
            self.using.link.close();
        }
        answer
    }
}

/// Waits until the other side has everything that was sent.
async fn flushed(send: &mut SendStream, patience: Duration) {
    let _: Result<Result<Option<VarInt>, _>, _> = timeout(patience, send.stopped()).await;
}

/// Whether a listener goes on after an error of `accept`; out of files, it pauses.
pub(crate) async fn after_accept_error(name: &str, error: io::Error) {
    tracing::warn!(forward = name, %error, "cannot accept");
    sleep(Duration::from_millis(100)).await;
}
