//! The forwards that are served, and how another configuration changes them: what stays the same is not touched, and a
//! listener that stays is not closed.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::config::{Config, Forward};
use crate::peer::Peer;
use crate::relay::forward::Listening;
use crate::relay::{Shared, Way};

/// All of them, in the order of the configuration. Dropped, none is served any more.
#[derive(Debug, Default)]
pub(crate) struct Forwards(Vec<Serving>);

#[derive(Debug)]
struct Serving {
    forward: Forward,
    peer: Arc<Peer>,
    address: SocketAddr,
    stop: CancellationToken,
    task: AbortOnDropHandle<Listening>,
}

/// Where each forward of a configuration comes from, in its order.
#[derive(Debug)]
pub(crate) struct Plan(Vec<Origin>);

#[derive(Debug)]
enum Origin {
    /// The one in this place, as it is.
    Same(usize),
    /// The listener of the one in this place.
    Listener(usize),
    New(Listening),
}

impl Forwards {
    /// Binds what another configuration needs. An error leaves nothing behind.
    pub(crate) async fn plan(&self, config: &Config) -> anyhow::Result<Plan> {
        let mut free: Vec<usize> = (0..self.0.len()).collect();
        let mut origins = Vec::new();
        for forward in &config.forwards {
            let same = |at: &usize| self.0.get(*at).is_some_and(|old| old.is(forward, config));
            // A listener at any port is that of the forward with this name.
            let suits = |at: &usize| {
                self.0.get(*at).is_some_and(|old| {
                    Listening::suits(&old.forward, forward)
                        && (forward.listen.port() != 0 || old.forward.name == forward.name)
                })
            };
            let found = free.iter().position(same).or_else(|| free.iter().position(suits));
            origins.push(match found.map(|found| free.swap_remove(found)) {
                Some(at) if same(&at) => Origin::Same(at),
                Some(at) => Origin::Listener(at),
                None => Origin::New(Listening::bind(forward).await?),
            });
        }
        Ok(Plan(origins))
    }

    /// Serves the forwards of the configuration in force, which is that of the plan. The others come to their ends,
    /// but for the connections that they have accepted.
    pub(crate) async fn follow(&mut self, plan: Plan, shared: &Arc<Shared>) {
        let (config, peers) = (shared.config(), shared.peers());
        let mut before: Vec<Option<Serving>> = std::mem::take(&mut self.0).into_iter().map(Some).collect();
        let mut take = |at: usize| before.get_mut(at).and_then(Option::take);
        for (forward, origin) in config.forwards.iter().zip(plan.0) {
            let listening = match origin {
                Origin::Same(at) => {
                    self.0.extend(take(at).map(|same| Serving {
                        // The place of its peer may be another.
                        forward: forward.clone(),
                        ..same
                    }));
                    continue;
                }
                Origin::Listener(at) => {
                    let Some(old) = take(at) else { continue };
                    old.stop.cancel();
                    let Ok(listening) = old.task.await else { continue };
                    listening.with(forward)
                }
                Origin::New(listening) => listening,
            };
            let Some(peer) = peers.get(forward.peer) else {
                continue;
            };
            self.0.push(Serving::start(listening, peer, shared));
        }
    }

    /// Where a forward listens.
    pub(crate) fn address(&self, name: &str) -> Option<SocketAddr> {
        let found = self.0.iter().find(|serving| serving.forward.name == name);
        found.map(|serving| serving.address)
    }
}

impl Serving {
    fn start(listening: Listening, peer: &Arc<Peer>, shared: &Arc<Shared>) -> Serving {
        let way = Way {
            shared: Arc::clone(shared),
            peer: Arc::clone(peer),
            congestion: listening.forward.congestion,
        };
        let stop = shared.stop.child_token();
        Serving {
            forward: listening.forward.clone(),
            peer: Arc::clone(peer),
            address: listening.address,
            stop: stop.clone(),
            task: AbortOnDropHandle::new(tokio::spawn(listening.serve(way, stop))),
        }
    }

    fn is(&self, forward: &Forward, config: &Config) -> bool {
        let peer = config.peers.get(forward.peer);
        let at_the_same_place = Forward {
            peer: self.forward.peer,
            ..forward.clone()
        };
        self.forward == at_the_same_place && peer.is_some_and(|peer| self.peer.is(peer))
    }
}
