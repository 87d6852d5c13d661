//! The tasks of a running proxy.
//!
//! ```text
//!  forwards ──── serve (one per forward) ───▶ one task per TCP connection, one per UDP flow
//!                                                    │ Peer::link
//!  peers ─────── keep_up (one per standing ─▶ Link ◀─┘        Link: one QUIC connection;
//!                connection that we dial)      ▲              serve::connection: one task per Link,
//!  UDP sockets ─ accept (one per socket) ──────┘              one more per stream that the peer opens
//!
//!  statistics socket, metrics, report: one each, read what Peer and Link count
//! ```
//!
//! Bounds: streams and flows per peer and handshakes by the configuration's limits; bytes per stream and connection by
//! QUIC's windows; a stream itself holds no buffer while it is idle; datagrams wait in queues of fixed length and are
//! dropped when these are full.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use noq::VarInt;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::Config;
use crate::counters::Handshakes;
use crate::endpoint::Port;
use crate::key::PrivateKey;
use crate::peer::{Peer, Slot};
use crate::relay::forward::Listening;
use crate::relay::{Shared, Way};
use crate::stats::Stats;
use crate::tls::Class;
use crate::{links, metrics, report, stats};

/// A running proxy. Dropped, it stops at once; better is [`Proxy::shutdown`].
#[derive(Debug)]
pub struct Proxy {
    shared: Arc<Shared>,
    forwards: Vec<(String, SocketAddr)>,
    metrics: Option<SocketAddr>,
    tasks: JoinSet<()>,
}

impl Proxy {
    /// Binds everything that the configuration names, and starts. An error leaves nothing behind.
    pub async fn start(config: Config, key: PrivateKey) -> anyhow::Result<Proxy> {
        let mut listening = Vec::new();
        for forward in &config.forwards {
            listening.push(Listening::bind(forward).await?);
        }
        let metrics = match config.metrics {
            Some(address) => {
                let listener = TcpListener::bind(address).await;
                Some(listener.with_context(|| format!("cannot listen at {address} for metrics"))?)
            }
            None => None,
        };
        let streams_port = Port::bind(Class::Streams, &config, &key)?;
        let datagrams_port = Port::bind(Class::Datagrams, &config, &key)?;
        let statistics = stats::bind(&config.socket)?;
        let peers = config.peers.iter().enumerate();
        let shared = Arc::new(Shared {
            peers: peers
                .map(|(index, peer)| Peer::new(index, peer, &config))
                .collect(),
            config,
            key,
            streams_port,
            datagrams_port,
            handshakes: Handshakes::default(),
            stop: CancellationToken::new(),
            work: TaskTracker::new(),
            since: Instant::now(),
        });
        let mut proxy = Proxy {
            forwards: listening
                .iter()
                .map(|listening| (listening.forward.name.clone(), listening.address))
                .collect(),
            metrics: metrics.as_ref().and_then(|listener| listener.local_addr().ok()),
            tasks: JoinSet::new(),
            shared: Arc::clone(&shared),
        };
        proxy.keep_connections();
        proxy.serve_forwards(listening);
        let to_statistics = Arc::clone(&shared);
        proxy
            .tasks
            .spawn(async move { stats::serve(statistics, &to_statistics).await });
        if let Some(listener) = metrics {
            let shared = Arc::clone(&shared);
            proxy
                .tasks
                .spawn(async move { metrics::serve(listener, &shared).await });
        }
        if let Some(to) = shared.config.report.clone() {
            proxy.tasks.spawn(async move { report::run(&to, &shared).await });
        }
        Ok(proxy)
    }

    fn keep_connections(&mut self) {
        for class in [Class::Streams, Class::Datagrams] {
            self.tasks.spawn(links::accept(Arc::clone(&self.shared), class));
        }
        for peer in self.shared.peers.iter().filter(|peer| peer.config.dial.is_some()) {
            for slot in peer.slots() {
                // Streams with a connection each need no standing one of their own.
                if peer.config.connection_per_flow && matches!(slot, Slot::Own(_)) {
                    continue;
                }
                let task = links::keep_up(Arc::clone(&self.shared), Arc::clone(peer), slot);
                self.tasks.spawn(task);
            }
        }
    }

    fn serve_forwards(&mut self, listening: Vec<Listening>) {
        for listening in listening {
            let Some(peer) = self.shared.peers.get(listening.forward.peer) else {
                continue;
            };
            let way = Way {
                shared: Arc::clone(&self.shared),
                peer: Arc::clone(peer),
                congestion: listening.forward.congestion,
            };
            self.tasks.spawn(listening.serve(way));
        }
    }

    /// Where a forward listens.
    pub fn forward(&self, name: &str) -> Option<SocketAddr> {
        let found = self.forwards.iter().find(|(forward, _)| forward == name);
        found.map(|(_, address)| *address)
    }

    /// Where peers reach us with streams or with datagrams.
    pub fn address(&self, class: Class) -> std::io::Result<SocketAddr> {
        self.shared.port(class).endpoint.local_addr()
    }

    /// Where Prometheus may ask.
    pub fn metrics(&self) -> Option<SocketAddr> {
        self.metrics
    }

    /// Everything that it tells about itself.
    pub fn stats(&self) -> Stats {
        stats::stats(&self.shared)
    }

    /// Whether there are connections of both kinds with the peer of that name.
    pub fn connected(&self, peer: &str) -> bool {
        let found = self.shared.peers.iter().find(|known| known.config.name == peer);
        found.is_some_and(|peer| peer.has_link(Slot::Streams) && peer.has_link(Slot::Datagrams))
    }

    /// Takes nothing new, lets streams come to their ends for as long as the configuration says, then closes all.
    pub async fn shutdown(self) {
        let shared = &self.shared;
        shared.stop.cancel();
        shared.work.close();
        if timeout(shared.config.limits.shutdown, shared.work.wait())
            .await
            .is_err()
        {
            tracing::warn!(streams = shared.work.len(), "not everything has come to its end");
        }
        for port in [&shared.streams_port, &shared.datagrams_port] {
            port.endpoint.close(VarInt::from_u32(0), b"stopped");
            // The other side learns of it now, rather than by silence.
            let _ = timeout(CLOSING, port.endpoint.wait_idle()).await;
        }
        let _ = std::fs::remove_file(&shared.config.socket);
    }
}

/// Dropped, nothing of it goes on.
impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.stop.cancel();
        for port in [&self.shared.streams_port, &self.shared.datagrams_port] {
            port.endpoint.close(VarInt::from_u32(0), b"stopped");
        }
    }
}

const CLOSING: Duration = Duration::from_secs(1);
