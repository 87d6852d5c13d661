//! The way of a packet: from host to switch to router to link, and on the other side back to a host.

use std::collections::VecDeque;

use ofproto::PortNo;
use policies::Direction;

use super::{Happening, World};
use crate::testing::packet::Packet;

/// A packet at a place where something is to be done with it at once.
pub(super) enum Step {
    IntoSwitch(usize, PortNo, Packet),
    OutOfSwitch(usize, PortNo, Packet),
}

impl World {
    /// A host sends the next packet of a stream.
    pub(super) fn send_packet(&mut self, stream: usize) {
        let site = self.streams[stream].direction().sender();
        let packet = self.streams[stream].next();
        let port = self.sites[site].access;
        if let Some(packet) = self.sites[site].host.send(self.now, packet) {
            self.packets(vec![Step::IntoSwitch(site, port, packet)]);
        }
    }

    /// Takes packets from place to place as long as that takes no time.
    pub(super) fn packets(&mut self, steps: Vec<Step>) {
        let mut steps = VecDeque::from(steps);
        while let Some(step) = steps.pop_front() {
            match step {
                Step::IntoSwitch(site, port, packet) => {
                    let out = self.sites[site].switch.receive(self.now, port, packet);
                    let out = out.into_iter();
                    steps.extend(out.map(|(port, packet)| Step::OutOfSwitch(site, port, packet)));
                    self.switch_says(site);
                }
                Step::OutOfSwitch(site, port, packet) if port == self.sites[site].access => {
                    let heard = self.sites[site].host.hear(packet);
                    let replies = heard.replies.into_iter();
                    steps.extend(replies.map(|packet| Step::IntoSwitch(site, port, packet)));
                    if let Some(packet) = heard.ipv4 {
                        self.delivered(site, &packet);
                    }
                }
                Step::OutOfSwitch(site, port, packet) => {
                    let routers = &mut self.sites[site].routers;
                    let Some(router) = routers.iter_mut().find(|router| router.port == port) else {
                        continue;
                    };
                    let heard = router.station.hear(packet);
                    let uplink = router.uplink.clone();
                    let replies = heard.replies.into_iter();
                    steps.extend(replies.map(|packet| Step::IntoSwitch(site, port, packet)));
                    if let Some(packet) = heard.ipv4 {
                        self.enter_link(site, &uplink, packet);
                    }
                }
            }
        }
    }

    fn enter_link(&mut self, site: usize, uplink: &str, mut packet: Packet) {
        let direction = Direction::ALL[site];
        let path = self.paths.iter().position(|path| path.uplinks[site] == uplink);
        let Some(path) = path.filter(|_| lower_ttl(&mut packet)) else {
            return;
        };
        let link = &mut self.paths[path].links[direction.sender()];
        if let Some(at) = link.enter(self.now, &packet) {
            let wait = at.saturating_since(self.now);
            self.schedule(wait, Happening::OutOfLink(path, direction, packet));
        }
    }

    fn delivered(&mut self, site: usize, packet: &Packet) {
        let ours = packet.ipv4().is_some_and(|ip| ip.dst == self.sites[site].host.ip);
        let stream = usize::from(packet.payload().stream);
        if ours && let Some(stream) = self.streams.get_mut(stream) {
            stream.delivered(packet);
        }
    }

    /// A packet comes out of the link of a path, at the router of the receiving site.
    pub(super) fn leave_link(&mut self, path: usize, direction: Direction, mut packet: Packet) {
        let uplink = &self.paths[path].uplinks[direction.receiver()];
        let site = direction.receiver();
        let Some(router) = self.sites[site].routers.iter_mut().find(|r| r.uplink == *uplink) else {
            return;
        };
        let port = router.port;
        if lower_ttl(&mut packet)
            && let Some(packet) = router.station.send(self.now, packet)
        {
            self.packets(vec![Step::IntoSwitch(site, port, packet)]);
        }
    }
}

/// A router lowers the TTL and drops what has none left.
fn lower_ttl(packet: &mut Packet) -> bool {
    packet.ipv4_mut().is_some_and(|ip| {
        ip.ttl = ip.ttl.saturating_sub(1);
        ip.ttl > 0
    })
}
