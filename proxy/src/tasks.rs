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
//!
//!  another configuration: Forwards and Standing end what it has no more, and start what it has besides
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
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use crate::config::{self, Config};
use crate::counters::{Handshakes, Reloads};
use crate::current::Current;
use crate::endpoint::Port;
use crate::forwards::{Forwards, Plan};
use crate::key::PrivateKey;
use crate::peer::{Peer, Slot};
use crate::relay::Shared;
use crate::standing::Standing;
use crate::stats::Stats;
use crate::tls::{Certificates, Class};
use crate::{links, metrics, report, stats};

/// A running proxy. Dropped, it stops at once; better is [`Proxy::shutdown`].
#[derive(Debug)]
pub struct Proxy {
    pub(crate) shared: Arc<Shared>,
    pub(crate) forwards: Forwards,
    standing: Standing,
    reporting: Option<(config::Report, AbortOnDropHandle<()>)>,
    metrics: Option<SocketAddr>,
    tasks: JoinSet<()>,
}

impl Proxy {
    /// Binds everything that the configuration names, and starts. An error leaves nothing behind.
    pub async fn start(config: Config, key: PrivateKey) -> anyhow::Result<Proxy> {
        let forwards = Forwards::default();
        let plan = forwards.plan(&config).await?;
        let metrics = match config.metrics {
            Some(address) => {
                let listener = TcpListener::bind(address).await;
                Some(listener.with_context(|| format!("cannot listen at {address} for metrics"))?)
            }
            None => None,
        };
        let certificates = config.certificates.as_ref().map(Certificates::read).transpose()?;
        let port = |class| Port::bind(class, &config, &key, certificates.as_ref());
        let (streams_port, datagrams_port) = (port(Class::Streams)?, port(Class::Datagrams)?);
        let statistics = stats::bind(&config.socket)?;
        let peers = config.peers.iter().map(|peer| Peer::new(peer, &config.limits));
        let shared = Arc::new(Shared {
            peers: Current::new(peers.collect()),
            config: Current::new(config),
            key,
            certificates: Current::new(certificates),
            streams_port,
            datagrams_port,
            handshakes: Handshakes::default(),
            reloads: Reloads::default(),
            stop: CancellationToken::new(),
            work: TaskTracker::new(),
            since: Instant::now(),
        });
        let mut proxy = Proxy {
            forwards,
            standing: Standing::default(),
            reporting: None,
            metrics: metrics.as_ref().and_then(|listener| listener.local_addr().ok()),
            tasks: JoinSet::new(),
            shared: Arc::clone(&shared),
        };
        for class in [Class::Streams, Class::Datagrams] {
            proxy.tasks.spawn(links::accept(Arc::clone(&shared), class));
        }
        proxy.run(plan).await;
        let to_statistics = Arc::clone(&shared);
        proxy
            .tasks
            .spawn(async move { stats::serve(statistics, &to_statistics).await });
        if let Some(listener) = metrics {
            proxy
                .tasks
                .spawn(async move { metrics::serve(listener, &shared).await });
        }
        Ok(proxy)
    }

    /// Runs what the configuration in force says, which is that of the plan, and nothing else.
    pub(crate) async fn run(&mut self, plan: Plan) {
        while self.tasks.try_join_next().is_some() {}
        self.standing.follow(&self.shared, &mut self.tasks);
        self.forwards.follow(plan, &self.shared).await;
        let wanted = self.shared.config().report.clone();
        if self.reporting.as_ref().map(|(running, _)| running) != wanted.as_ref() {
            self.reporting = wanted.map(|to| {
                let (shared, to_report) = (Arc::clone(&self.shared), to.clone());
                let task = tokio::spawn(async move { report::run(&to_report, &shared).await });
                (to, AbortOnDropHandle::new(task))
            });
        }
    }

    /// Where a forward listens.
    pub fn forward(&self, name: &str) -> Option<SocketAddr> {
        self.forwards.address(name)
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
        let peers = self.shared.peers();
        let found = peers.iter().find(|known| known.name == peer);
        found.is_some_and(|peer| peer.has_link(Slot::Streams) && peer.has_link(Slot::Datagrams))
    }

    /// Takes nothing new, lets streams come to their ends for as long as the configuration says, then closes all.
    pub async fn shutdown(mut self) {
        // Nobody listens any more.
        self.forwards = Forwards::default();
        let shared = &self.shared;
        let config = shared.config();
        shared.stop.cancel();
        shared.work.close();
        if timeout(config.limits.shutdown, shared.work.wait()).await.is_err() {
            tracing::warn!(streams = shared.work.len(), "not everything has come to its end");
        }
        for port in [&shared.streams_port, &shared.datagrams_port] {
            port.endpoint.close(VarInt::from_u32(0), b"stopped");
            // The other side learns of it now, rather than by silence.
            let _ = timeout(CLOSING, port.endpoint.wait_idle()).await;
        }
        let _ = std::fs::remove_file(&config.socket);
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
