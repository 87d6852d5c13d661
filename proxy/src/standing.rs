//! The connections that we keep up because the configuration says so, and how another configuration changes them.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::config::{Config, Peer as PeerConfig};
use crate::congestion::Algorithm;
use crate::links::dial;
use crate::peer::{Link, Peer, Slot};
use crate::relay::Shared;
use crate::target::Target;

/// One of them for each of these.
#[derive(Debug, Default)]
pub(crate) struct Standing(Vec<Kept>);

#[derive(Debug)]
struct Kept {
    peer: Arc<Peer>,
    wish: Wish,
    stop: CancellationToken,
}

/// What a standing connection is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wish {
    slot: Slot,
    algorithm: Algorithm,
    to: Option<Target>,
}

impl Standing {
    /// Keeps up what the configuration in force wants. What was kept up otherwise goes on until another connection has
    /// taken its place and nobody uses it any more.
    pub(crate) fn follow(&mut self, shared: &Arc<Shared>, tasks: &mut JoinSet<()>) {
        let (config, mut before) = (shared.config(), std::mem::take(&mut self.0));
        for (index, peer) in shared.peers().iter().enumerate() {
            for wish in wishes(index, &peer.config(), &config) {
                let same = |kept: &Kept| Arc::ptr_eq(&kept.peer, peer) && kept.wish == wish;
                if let Some(at) = before.iter().position(same) {
                    self.0.push(before.swap_remove(at));
                    continue;
                }
                let stop = CancellationToken::new();
                tasks.spawn(keep_up(
                    Arc::clone(shared),
                    Arc::clone(peer),
                    wish.clone(),
                    stop.clone(),
                ));
                let peer = Arc::clone(peer);
                self.0.push(Kept { peer, wish, stop });
            }
        }
        for kept in before {
            let wanted =
                |other: &Kept| Arc::ptr_eq(&other.peer, &kept.peer) && other.wish.slot == kept.wish.slot;
            if !self.0.iter().any(wanted) {
                kept.peer.vacate(kept.wish.slot);
            }
            kept.stop.cancel();
        }
    }
}

/// The standing connections that we dial.
fn wishes(index: usize, peer: &PeerConfig, config: &Config) -> Vec<Wish> {
    if peer.dial.is_none() {
        return Vec::new();
    }
    let mut slots = vec![Slot::Streams, Slot::Datagrams];
    // Streams with a connection each need no standing one of their own.
    if !peer.connection_per_flow {
        let forwards = config.forwards.iter().filter(|forward| forward.peer == index);
        for own in forwards.filter_map(|forward| forward.congestion).map(Slot::Own) {
            if !slots.contains(&own) {
                slots.push(own);
            }
        }
    }
    let wish = |slot: Slot| Wish {
        slot,
        algorithm: match slot {
            Slot::Own(algorithm) => algorithm,
            Slot::Streams | Slot::Datagrams => peer.congestion,
        },
        to: peer.dials(slot.class()).cloned(),
    };
    slots.into_iter().map(wish).collect()
}

/// Keeps a connection up until `stop`.
async fn keep_up(shared: Arc<Shared>, peer: Arc<Peer>, wish: Wish, stop: CancellationToken) {
    let (slot, name) = (wish.slot, &peer.name);
    let mut pause = FIRST_PAUSE;
    while !stop.is_cancelled() {
        let dialling = dial(&shared, &peer, slot.class(), wish.algorithm, Some(slot));
        match stop.run_until_cancelled(dialling).await {
            Some(Ok(link)) => {
                tracing::info!(peer = name, class = ?slot.class(), "connected");
                let since = Instant::now();
                tokio::select! {
                    reason = link.connection.closed() => {
                        tracing::warn!(peer = name, class = ?slot.class(), %reason, "connection lost");
                    }
                    () = stop.cancelled() => return retire(&peer, slot, &link).await,
                }
                // Somebody who throws us out at once is not asked again at once.
                if since.elapsed() > LONGEST_PAUSE {
                    pause = FIRST_PAUSE;
                }
            }
            Some(Err(error)) => {
                peer.counters.dial_failures.add(1);
                tracing::warn!(peer = name, class = ?slot.class(), "cannot connect: {error:#}");
            }
            None => return,
        }
        stop.run_until_cancelled(sleep(with_jitter(pause))).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Ends a connection as soon as another has taken its place and nobody uses it any more.
async fn retire(peer: &Peer, slot: Slot, link: &Link) {
    let unused = async {
        peer.replaced(slot, link).await;
        link.uses.close();
        link.uses.wait().await;
    };
    tokio::select! {
        () = unused => link.close(),
        _ = link.connection.closed() => {}
    }
}

/// Between half of it and all of it, so that a thousand peers of a site that comes back do not come at once.
fn with_jitter(pause: Duration) -> Duration {
    let random = RandomState::new().hash_one(0u8) % 1000;
    pause / 2 + pause.mul_f64(random as f64 / 2000.0)
}

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
