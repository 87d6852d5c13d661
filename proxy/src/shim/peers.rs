//! Everyone that a shim knows, and the bound on how many that is.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ahash::RandomState;

use super::config::ShimConfig;
use super::peer::{Peer, PeerHandle, PeerStats};

/// All peers of one shim.
///
/// A peer that nobody has to do with, as every spoofed address is at first, is a stranger. Of these only so many
/// are known, and each only for a few seconds after it was heard from last.
#[derive(Debug)]
pub(super) struct Peers {
    config: ShimConfig,
    paths: usize,
    keys: RandomState,
    known: HashMap<SocketAddr, Arc<Peer>>,
    strangers: usize,
    swept: Instant,
}

impl Peers {
    pub(super) fn new(config: ShimConfig, paths: usize, now: Instant) -> Self {
        // The key of this process: never sent, so nobody can tell which packets look alike under it.
        let keys = RandomState::new();
        Self {
            config,
            paths,
            keys,
            known: HashMap::new(),
            strangers: 0,
            swept: now,
        }
    }

    /// The peer at `remote`, which becomes known.
    pub(super) fn handle(&mut self, remote: SocketAddr, now: Instant) -> PeerHandle {
        let remote = canonical(remote);
        let (config, keys, paths) = (&self.config, &self.keys, self.paths);
        let new = || Arc::new(Peer::new(config, keys, paths, remote, now));
        PeerHandle::of(self.known.entry(remote).or_insert_with(new).clone())
    }

    /// The peer at `remote`, and whether somebody has to do with it; none if it is one stranger too many.
    pub(super) fn meet(&mut self, remote: SocketAddr, now: Instant) -> Option<(Arc<Peer>, bool)> {
        if let Some(peer) = self.known.get(&canonical(remote)) {
            return Some((peer.clone(), Arc::strong_count(peer) > 1));
        }
        if now.saturating_duration_since(self.swept) >= SWEEP_INTERVAL {
            self.sweep(now);
        }
        if self.strangers >= self.config.strangers {
            return None;
        }
        self.strangers += 1;
        Some((self.handle(remote, now).peer().clone(), false))
    }

    /// The peer at `remote` if it is known.
    pub(super) fn find(&self, remote: SocketAddr) -> Option<Arc<Peer>> {
        self.known.get(&canonical(remote)).cloned()
    }

    /// What came from all of them and went to them, in the order of their addresses.
    pub(super) fn stats(&self, now: Instant) -> Vec<PeerStats> {
        let mut all: Vec<_> = self.known.values().map(|peer| peer.stats(now)).collect();
        all.sort_by_key(|stats| stats.remote);
        all
    }

    fn sweep(&mut self, now: Instant) {
        self.strangers = 0;
        self.known.retain(|_, peer| {
            let stranger = Arc::strong_count(peer) == 1;
            let idle = now.saturating_duration_since(peer.incoming().heard_at);
            let keep = !stranger || idle < STRANGER_IDLE;
            self.strangers += usize::from(stranger && keep);
            keep
        });
        self.swept = now;
    }
}

/// The same for an IPv4 address and for the IPv6 address that stands for it on a dual-stack socket.
fn canonical(remote: SocketAddr) -> SocketAddr {
    SocketAddr::new(remote.ip().to_canonical(), remote.port())
}

const STRANGER_IDLE: Duration = Duration::from_secs(5);
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shim::header::Stream;

    fn address(n: u32) -> SocketAddr {
        SocketAddr::from((n.to_be_bytes(), 4433))
    }

    fn peers(config: ShimConfig) -> (Peers, Instant) {
        let now = Instant::now();
        (Peers::new(config, 2, now), now)
    }

    #[test]
    fn strangers_are_bounded_and_forgotten_and_friends_are_not() {
        let (mut peers, now) = peers(ShimConfig {
            strangers: 10,
            ..ShimConfig::default()
        });
        let friends: Vec<_> = (1000..1100).map(|n| peers.handle(address(n), now)).collect();
        let met = (0..500)
            .filter(|n| peers.meet(address(*n), now).is_some())
            .count();
        assert_eq!((met, peers.known.len()), (10, 110));
        let later = now + STRANGER_IDLE;
        assert!(peers.meet(address(777), later).is_some());
        assert_eq!((peers.known.len(), peers.stats(later).len()), (101, 101));
        drop(friends);
    }

    #[test]
    fn a_friend_is_answered_in_its_first_form_and_a_stranger_in_its_last() {
        let (mut peers, now) = peers(ShimConfig::default());
        let stranger = peers.meet(address(1), now).unwrap().0;
        stranger.hear(true, false);
        stranger.hear(false, false);
        assert_eq!(stranger.decided(), Some(false));
        stranger.hear(true, true);
        assert_eq!(stranger.decided(), Some(false), "it is in use by now");
        peers.handle(address(1), now).set_shim(true);
        assert_eq!(stranger.decided(), Some(true));
    }

    #[test]
    fn who_was_not_heard_from_is_spoken_to_in_both_forms() {
        let (mut peers, now) = peers(ShimConfig::default());
        let peer = peers.handle(address(1), now).peer().clone();
        let forms: Vec<_> = (0..7).map(|_| peer.speaks_shim()).collect();
        assert_eq!(forms, [true, true, true, false, true, false, true]);
        peer.hear(false, true);
        assert!(!(0..5).any(|_| peer.speaks_shim()));
    }

    #[test]
    fn numbers_are_used_when_taken() {
        let (mut peers, now) = peers(ShimConfig::default());
        let peer = peers.handle(address(1), now).peer().clone();
        let [first, second] = [0, 1].map(|n| peer.numbers(Stream::Ordered).peek(n));
        peer.numbers(Stream::Ordered).take(1);
        assert_ne!(first, second);
        assert_eq!(peer.numbers(Stream::Ordered).peek(0), second);
        assert_eq!(peers.stats(now)[0].sent, 1);
    }

    #[test]
    fn an_ipv4_address_is_the_same_on_a_dual_stack_socket() {
        let (mut peers, now) = peers(ShimConfig::default());
        let _friend = peers.handle("192.0.2.1:1".parse().unwrap(), now);
        let (_, in_use) = peers.meet("[::ffff:192.0.2.1]:1".parse().unwrap(), now).unwrap();
        assert!(in_use);
    }
}
