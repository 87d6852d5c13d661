//! How connections come to be: dialled or accepted.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, bail};
use noq::VarInt;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::congestion::Algorithm;
use crate::endpoint::{self, Port};
use crate::figures::Figures;
use crate::peer::{Link, Peer, Slot};
use crate::relay::{Shared, serve};
use crate::target::{Host, Target};
use crate::tls::{self, Class};

/// Dials, and serves the connection until it ends.
pub(crate) async fn dial(
    shared: &Arc<Shared>,
    peer: &Arc<Peer>,
    class: Class,
    algorithm: Algorithm,
    slot: Option<Slot>,
) -> anyhow::Result<Arc<Link>> {
    let config = peer.config();
    let target = config
        .dials(class)
        .context("the configuration does not say where")?;
    let patience = shared.config().limits.connect;
    let attempt = async {
        let mut failure = None;
        for address in resolve(target)
            .await
            .with_context(|| format!("cannot resolve {target}"))?
        {
            match connect(shared, peer, class, algorithm, address).await {
                Ok(link) => return Ok(link),
                Err(error) => failure = Some(error.context(format!("{address}"))),
            }
        }
        Err(failure.unwrap_or_else(|| anyhow::anyhow!("{target} has no address")))
    };
    let link = timeout(patience, attempt)
        .await
        .with_context(|| format!("{target} does not answer"))??;
    attach(shared, peer, &link, slot);
    Ok(link)
}

async fn connect(
    shared: &Shared,
    peer: &Peer,
    class: Class,
    algorithm: Algorithm,
    address: SocketAddr,
) -> anyhow::Result<Arc<Link>> {
    let figures = Figures::new(algorithm);
    let port = shared.port(class);
    let shim = port.shim.peer(address);
    let config = shared.config();
    let transport = endpoint::transport(class, &config, &figures, &shim, peer.min_rtt());
    let connection = port
        .dial(class, address, &peer.identity, shared, transport)?
        .await?;
    Ok(Link::new(
        class,
        true,
        connection,
        &config.transport,
        figures,
        shim,
    ))
}

/// Accepts connections at `port` until its endpoint is closed.
pub(crate) async fn accept(shared: Arc<Shared>, classes: Class) {
    let most = usize::try_from(shared.config().limits.handshakes).unwrap_or(usize::MAX);
    let handshakes = Arc::new(Semaphore::new(most));
    while let Some(incoming) = shared.port(classes).endpoint.accept().await {
        // Under load an address must prove itself before it costs us a handshake.
        if handshakes.available_permits() <= most / 2 && incoming.may_retry() {
            shared.handshakes.retried.add(1);
            // A failure hands it back, and it is refused when dropped.
            let _ = incoming.retry();
            continue;
        }
        let Ok(permit) = Arc::clone(&handshakes).try_acquire_owned() else {
            shared.handshakes.ignored.add(1);
            incoming.ignore();
            continue;
        };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let remote = incoming.remote_address();
            if let Err(error) = answer(&shared, classes, incoming).await {
                shared.handshakes.failed.add(1);
                tracing::debug!(%remote, "no connection: {error:#}");
            }
            drop(permit);
        });
    }
}

async fn answer(shared: &Arc<Shared>, classes: Class, incoming: noq::Incoming) -> anyhow::Result<()> {
    // Who it is, and so which algorithm it gets, is known after the handshake.
    let figures = Figures::new(Algorithm::Cubic);
    let port: &Port = shared.port(classes);
    let shim = port.shim.peer(incoming.remote_address());
    let config = shared.config();
    let transport = endpoint::transport(classes, &config, &figures, &shim, None);
    let connection = timeout(config.limits.connect, port.accept(incoming, transport)?).await??;
    let class = tls::class(&connection).context("the connection has no class")?;
    let peers = shared.peers();
    let Some(peer) = peers.iter().find(|peer| tls::is(&connection, &peer.identity)) else {
        bail!("it is no peer");
    };
    let link = Link::new(class, false, connection, &config.transport, figures, shim);
    let config = peer.config();
    link.figures.set_algorithm(config.congestion);
    tracing::info!(peer = peer.name, ?class, remote = ?link.remote(), "connection accepted");
    let slot = match class {
        Class::Streams if config.dial.is_none() => Some(Slot::Streams),
        Class::Datagrams if config.dial.is_none() => Some(Slot::Datagrams),
        // A side that dials uses the connections that it dialled, so that each side knows which one is used.
        Class::Streams | Class::Datagrams | Class::Own => None,
    };
    attach(shared, peer, &link, slot);
    Ok(())
}

/// Puts a new connection to use and serves what the other side opens on it, until it ends.
fn attach(shared: &Arc<Shared>, peer: &Arc<Peer>, link: &Arc<Link>, slot: Option<Slot>) {
    peer.add(link, slot);
    // It may have gone from the configuration in the meantime.
    if peer.gone.is_cancelled() {
        link.close();
    }
    let (shared, peer, link) = (Arc::clone(shared), Arc::clone(peer), Arc::clone(link));
    tokio::spawn(async move {
        serve::connection(&shared, &peer, &link).await;
        peer.remove(&link);
    });
}

/// The addresses of a target.
pub(crate) async fn resolve(target: &Target) -> std::io::Result<Vec<SocketAddr>> {
    match &target.host {
        Host::Ip(ip) => Ok(vec![SocketAddr::new(*ip, target.port)]),
        Host::Name(name) => Ok(tokio::net::lookup_host((name.as_str(), target.port))
            .await?
            .collect()),
    }
}

impl Link {
    /// Where the other end is; `None` when the connection has ended.
    pub(crate) fn remote(&self) -> Option<SocketAddr> {
        let remote = self.connection.path(noq::PathId::ZERO)?.remote_address().ok()?;
        Some(SocketAddr::new(remote.ip().to_canonical(), remote.port()))
    }

    /// Ends the connection in order.
    pub(crate) fn close(&self) {
        self.connection.close(VarInt::from_u32(0), b"done");
    }
}
