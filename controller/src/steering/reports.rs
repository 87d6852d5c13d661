//! What is to be known of a direction to make use of what proxies report of it.

use policies::{JointSample, PathIndex, PathSet};

use super::Steering;

impl Steering {
    /// The paths on which every packet is certainly copied at present; empty in unicast.
    pub fn copied(&self) -> PathSet {
        let paths = self.running.as_ref().map(|running| running.main.paths.certain());
        paths.filter(|paths| paths.len() > 1).unwrap_or_default()
    }

    /// The path whose packets come to this UDP port of the receiving site: one of `path_ports`, or none for the port
    /// that packets are sent to, which stands for a path if only one is left for it.
    pub fn path_of_udp_port(&self, port: Option<u16>) -> Option<PathIndex> {
        let ports = &self.direction_policy().path_ports;
        match port {
            Some(port) => ports
                .iter()
                .find(|(_, known)| *known == port)
                .map(|(path, _)| *path),
            None => {
                let all = PathSet::all(self.path_names.len());
                let left = ports.iter().fold(all, |left, (path, _)| left.without(*path));
                left.iter().next().filter(|_| left.len() == 1)
            }
        }
    }

    /// Passes on what became of packets that were sent on several paths.
    pub fn observe_joint(&mut self, sample: &JointSample) {
        if let Some(running) = &mut self.running {
            running.engine.observe_joint(sample);
        }
    }
}
