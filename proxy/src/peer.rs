//! A peer and the connections that lead to it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::config::{self, Identity, Limits, Transport};
use crate::congestion::Algorithm;
use crate::counters::Counters;
use crate::current::Current;
use crate::figures::Figures;
use crate::relay::flows::Flows;
use crate::shim::PeerHandle;
use crate::tls::Class;
use crate::unread::Window;

/// Another proxy, as it is now.
#[derive(Debug)]
pub(crate) struct Peer {
    /// The name in the configuration, and what it is known by: with another of either it is another peer.
    pub(crate) name: String,
    pub(crate) identity: Identity,
    config: Current<config::Peer>,
    /// Cancelled when it is in the configuration no more.
    pub(crate) gone: CancellationToken,
    pub(crate) counters: Counters,
    /// What the peer may still open: streams, UDP flows.
    pub(crate) streams: Arc<Semaphore>,
    pub(crate) flows: Arc<Semaphore>,
    /// UDP flows that we may still open for local applications.
    pub(crate) own_flows: Arc<Semaphore>,
    /// The connection of each kind that is to be used now.
    slots: HashMap<Slot, watch::Sender<Option<Arc<Link>>>>,
    /// The smallest round-trip time of the connection that ended last; zero when none has.
    earlier_rtt_us: AtomicU64,
    /// Every connection there is, for statistics.
    links: Mutex<Vec<Arc<Link>>>,
}

/// What a standing connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Slot {
    /// Streams of whatever has no congestion control of its own.
    Streams,
    /// Streams of the forwards with this congestion control.
    Own(Algorithm),
    /// UDP.
    Datagrams,
}

/// One QUIC connection with a peer.
#[derive(Debug)]
pub(crate) struct Link {
    /// Different for every connection of this process.
    pub(crate) id: u64,
    pub(crate) class: Class,
    /// Whether we dialled.
    pub(crate) dialled: bool,
    pub(crate) connection: noq::Connection,
    pub(crate) figures: Arc<Figures>,
    pub(crate) since: Instant,
    /// The UDP flows over it.
    pub(crate) flows: Flows,
    pub(crate) window: Window,
    /// A token for each stream and flow over it.
    pub(crate) uses: TaskTracker,
    /// Kept so that the shim does not forget the other end.
    _shim: PeerHandle,
}

/// A connection that is not found unused as long as this exists.
#[derive(Debug)]
pub(crate) struct InUse {
    pub(crate) link: Arc<Link>,
    _token: TaskTrackerToken,
}

impl InUse {
    pub(crate) fn new(link: &Arc<Link>) -> InUse {
        InUse {
            link: Arc::clone(link),
            _token: link.uses.token(),
        }
    }
}

impl Slot {
    pub(crate) const fn class(self) -> Class {
        match self {
            Slot::Streams => Class::Streams,
            Slot::Own(_) => Class::Own,
            Slot::Datagrams => Class::Datagrams,
        }
    }
}

impl Link {
    pub(crate) fn new(
        class: Class,
        dialled: bool,
        connection: noq::Connection,
        transport: &Transport,
        figures: Arc<Figures>,
        shim: PeerHandle,
    ) -> Arc<Link> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arc::new(Link {
            id: NEXT.fetch_add(1, Relaxed),
            class,
            dialled,
            figures,
            since: Instant::now(),
            flows: Flows::default(),
            window: Window::new(connection.clone(), transport),
            uses: TaskTracker::new(),
            connection,
            _shim: shim,
        })
    }
}

impl Peer {
    pub(crate) fn new(peer: &config::Peer, limits: &Limits) -> Arc<Peer> {
        let own = Algorithm::ALL.into_iter().map(Slot::Own);
        let slots = [Slot::Streams, Slot::Datagrams].into_iter().chain(own);
        let semaphore =
            |permits: u32| Arc::new(Semaphore::new(usize::try_from(permits).unwrap_or(usize::MAX)));
        Arc::new(Peer {
            name: peer.name.clone(),
            identity: peer.identity.clone(),
            config: Current::new(peer.clone()),
            gone: CancellationToken::new(),
            counters: Counters::default(),
            streams: semaphore(limits.streams),
            flows: semaphore(limits.flows),
            own_flows: semaphore(limits.flows),
            slots: slots.map(|slot| (slot, watch::Sender::new(None))).collect(),
            earlier_rtt_us: AtomicU64::new(0),
            links: Mutex::default(),
        })
    }

    /// What the configuration in force says of it.
    pub(crate) fn config(&self) -> Arc<config::Peer> {
        self.config.get()
    }

    pub(crate) fn set_config(&self, config: &config::Peer) {
        self.config.set(config.clone());
    }

    /// Whether what a configuration says is about this peer.
    pub(crate) fn is(&self, config: &config::Peer) -> bool {
        self.name == config.name && self.identity == config.identity
    }

    /// It is in the configuration no more: its connections end.
    pub(crate) fn go(&self) {
        self.gone.cancel();
        for link in self.links() {
            link.close();
        }
    }

    /// The connection to use, as soon as there is one; `None` when there is none for `patience`.
    pub(crate) async fn link(&self, slot: Slot, patience: Duration) -> Option<InUse> {
        let mut links = self.slots.get(&slot)?.subscribe();
        let usable = |link: &Option<Arc<Link>>| {
            link.as_ref()
                .is_some_and(|link| link.connection.close_reason().is_none())
        };
        let link = tokio::time::timeout(patience, links.wait_for(usable))
            .await
            .ok()?
            .ok()?;
        // While this is borrowed no other takes its place, and so it is not found unused.
        link.as_ref().map(InUse::new)
    }

    /// Nothing new is to use the connection of a kind.
    pub(crate) fn vacate(&self, slot: Slot) {
        if let Some(links) = self.slots.get(&slot) {
            links.send_replace(None);
        }
    }

    /// Waits until a connection is no more the one to use.
    pub(crate) async fn replaced(&self, slot: Slot, link: &Link) {
        let Some(links) = self.slots.get(&slot) else {
            return;
        };
        let other = |current: &Option<Arc<Link>>| current.as_ref().is_none_or(|other| other.id != link.id);
        // An error means that nobody can ask for it any more.
        let _ = links.subscribe().wait_for(other).await;
    }

    /// Whether there is a connection now.
    pub(crate) fn has_link(&self, slot: Slot) -> bool {
        self.slots
            .get(&slot)
            .is_some_and(|links| links.borrow().is_some())
    }

    /// A connection has come to be. With a `slot` it is the one to use from now on.
    pub(crate) fn add(&self, link: &Arc<Link>, slot: Option<Slot>) {
        self.counters.connections.add(1);
        self.lock_links().push(Arc::clone(link));
        if let Some(links) = slot.and_then(|slot| self.slots.get(&slot)) {
            links.send_replace(Some(Arc::clone(link)));
        }
    }

    /// The smallest round-trip time of the connections with it, or else of the one that ended last.
    pub(crate) fn min_rtt(&self) -> Option<Duration> {
        let now = self
            .links()
            .iter()
            .map(|link| link.figures.min_rtt())
            .filter(|rtt| !rtt.is_zero())
            .min();
        let earlier = Duration::from_micros(self.earlier_rtt_us.load(Relaxed));
        now.or(Some(earlier).filter(|rtt| !rtt.is_zero()))
    }

    /// A connection has ended.
    pub(crate) fn remove(&self, link: &Link) {
        let rtt_us = u64::try_from(link.figures.min_rtt().as_micros()).unwrap_or(u64::MAX);
        if rtt_us > 0 {
            self.earlier_rtt_us.store(rtt_us, Relaxed);
        }
        self.lock_links().retain(|other| other.id != link.id);
        for links in self.slots.values() {
            links.send_if_modified(|current| match current {
                Some(other) if other.id == link.id => {
                    *current = None;
                    true
                }
                _ => false,
            });
        }
    }

    /// Every connection there is.
    pub(crate) fn links(&self) -> Vec<Arc<Link>> {
        self.lock_links().clone()
    }

    fn lock_links(&self) -> MutexGuard<'_, Vec<Arc<Link>>> {
        // A list of pointers is whole whatever happened to whoever held the lock.
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
