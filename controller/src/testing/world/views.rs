//! What a test asks: what the controller thinks, and what is true.

use std::net::Ipv4Addr;

use policies::Direction;

use super::{Delivery, Link, Stream, StreamId, World};
use crate::api::{DecisionView, DirectionView, PathView, Request, Response, SwitchView};

impl World {
    /// The mode in force for what a site sends: "unicast a", "bicast a+b".
    pub fn mode(&mut self, policy: &str, from: &str) -> String {
        self.direction(policy, from).mode
    }

    /// What the controller says of what a site sends.
    pub fn direction(&mut self, policy: &str, from: &str) -> DirectionView {
        let Response::Policies(directions) = self.ask(Request::Policies) else {
            return unexpected();
        };
        let found = directions
            .into_iter()
            .find(|view| view.policy == policy && view.from == from);
        found.expect("a policy and a sending site of the policy file")
    }

    /// What the controller says of a path of what a site sends.
    pub fn path(&mut self, policy: &str, from: &str, path: &str) -> PathView {
        let Response::Paths(paths) = self.ask(Request::Paths) else {
            return unexpected();
        };
        let found = paths
            .into_iter()
            .find(|view| view.policy == policy && view.from == from && view.path == path);
        found.expect("a policy, a sending site and a path of the policy file")
    }

    /// What the controller says of a site's switch.
    pub fn switch_view(&mut self, site: &str) -> SwitchView {
        let Response::Switches(switches) = self.ask(Request::Switches) else {
            return unexpected();
        };
        let found = switches
            .into_iter()
            .find(|view| view.site.as_deref() == Some(site));
        found.expect("a site of the policy file")
    }

    /// Every decision so far, over restarts of the controller.
    pub fn decisions(&self) -> &[DecisionView] {
        &self.decisions
    }

    /// A path in a direction, as it really is.
    pub fn link(&self, path: &str, direction: Direction) -> &Link {
        let found = self.paths.iter().find(|links| links.name == path);
        &found.expect("a path of the policy file").links[direction.sender()]
    }

    pub(super) fn link_mut(&mut self, path: &str, direction: Direction) -> &mut Link {
        let found = self.paths.iter_mut().find(|links| links.name == path);
        &mut found.expect("a path of the policy file").links[direction.sender()]
    }

    /// A stream.
    pub fn stream(&self, stream: StreamId) -> &Stream {
        &self.streams[usize::from(stream.0)]
    }

    /// What became of the packets of a stream so far.
    pub fn delivery(&self, stream: StreamId) -> Delivery {
        self.stream(stream).delivery()
    }

    /// The addresses of the sending and of the receiving host.
    pub fn hosts(&self, direction: Direction) -> (Ipv4Addr, Ipv4Addr) {
        (
            self.sites[direction.sender()].host.ip,
            self.sites[direction.receiver()].host.ip,
        )
    }
}

fn unexpected<T>() -> T {
    unreachable!("the core answers each request with its own kind of response")
}
