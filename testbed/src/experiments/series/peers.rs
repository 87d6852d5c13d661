//! What others do with two lossy paths: the same links, the same download.
//!
//! Of the peers that are not here each point is recorded all the same, with the reason as its fault.

use super::ground::{Ground, TCP_CONGESTION, even_links};
use super::scheme::{ADAPTIVE, Scheme};
use super::{Measured, Point, Series, by_length, repetitions};
use crate::figures::Length;
use crate::traffic::mptcp::download_by_mptcp;
use anyhow::Result;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

pub(super) struct Peers;

/// One way of using the two paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Peer {
    /// The proxies with BBRv3 under a scheme.
    Ours(Scheme),
    /// Plain TCP CUBIC on path a.
    Tcp,
    /// The kernel's Multipath TCP with CUBIC.
    Mptcp,
    /// A program that would have to be installed, and that this testbed cannot drive yet.
    Absent(&'static str, &'static str),
}

impl Series for Peers {
    fn name(&self) -> &'static str {
        "peers"
    }

    fn shows(&self) -> &'static str {
        "The same download by others that use two paths, as far as they can be had here"
    }

    fn parameters(&self, length: Length) -> Value {
        json!({ "bytes": size(length), "cap_s": cap(length).as_secs(), "adaptive": ADAPTIVE,
                "mptcp": "the kernel's default scheduler, CUBIC, two subflows" })
    }

    fn points(&self, length: Length, seed: u64) -> Vec<Point> {
        let losses = [1.0, 5.0, 0.0, 2.0, 10.0];
        let losses = by_length(length, &losses[..2], &losses[..], &losses[..]);
        let mut points = Vec::new();
        for repetition in 0..repetitions(length) {
            for &loss in losses {
                for (name, peer) in PEERS {
                    let there = !matches!(peer, Peer::Absent(..));
                    let expected = if there {
                        1.0 + cap(length).as_secs_f64() / 2.0
                    } else {
                        0.1
                    };
                    points.push(Point::new(
                        &[("peer", name)],
                        &[("loss_percent", loss)],
                        repetition,
                        seed,
                        expected,
                    ));
                }
            }
        }
        points
    }

    fn measure(&mut self, ground: &mut Ground, point: &Point, length: Length) -> Result<Measured> {
        let name = point.label("peer")?;
        let peer = PEERS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, peer)| *peer);
        let scheme = match peer {
            Some(Peer::Ours(scheme)) => scheme,
            Some(Peer::Absent(program, remark)) => return Ok(Measured::skipped(&reason(program, remark))),
            _ => Scheme::Unicast,
        };
        ground.prepare(scheme, even_links(point.at("loss_percent")?, point.seed))?;
        ground.bench.lab.add_multihomed_hosts()?;
        let via = if scheme == Scheme::Unicast {
            "direct"
        } else {
            "proxies"
        };
        let route = ground.route(via, "bbr3")?;
        let before = ground.uplink_bytes()?;
        ground.impair()?;
        let download = match peer {
            Some(Peer::Mptcp) => {
                download_by_mptcp(&ground.bench.lab, TCP_CONGESTION, size(length), cap(length))?
            }
            _ => ground.download(&route, size(length), cap(length))?,
        };
        let after = ground.uplink_bytes()?;
        Ok(Measured::new(&[
            ("seconds", download.took.as_secs_f64()),
            ("goodput_mbit", download.mbps()),
            ("bytes", download.bytes as f64),
            ("uplink_bytes_client", (after[0] - before[0]) as f64),
            ("uplink_bytes_server", (after[1] - before[1]) as f64),
        ])
        .capped(download.bytes < size(length)))
    }
}

fn reason(program: &str, remark: &str) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    let installed = path
        .split(':')
        .any(|folder| Path::new(folder).join(program).exists());
    let installed = if installed {
        "is installed, but"
    } else {
        "is not installed, and"
    };
    format!("skipped: {program} {installed} {remark}")
}

fn size(length: Length) -> u64 {
    by_length(length, 10_000_000, 100_000_000, 100_000_000)
}

fn cap(length: Length) -> Duration {
    Duration::from_secs(by_length(length, 6, 30, 120))
}

const PEERS: [(&str, Peer); 8] = [
    ("bicast adaptive", Peer::Ours(Scheme::Adaptive)),
    ("bicast bidirectional", Peer::Ours(Scheme::Bidirectional)),
    ("tcp", Peer::Tcp),
    ("mptcp", Peer::Mptcp),
    ("engarde", Peer::Absent("engarde-client", NOT_DRIVEN)),
    ("udpspeeder", Peer::Absent("speederv2", NOT_DRIVEN)),
    ("tquic minrtt", Peer::Absent("tquic_client", NOT_DRIVEN)),
    ("tquic redundant", Peer::Absent("tquic_client", NOT_DRIVEN)),
];
const NOT_DRIVEN: &str = "the testbed does not start it";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_that_is_not_here_says_why() {
        let reason = reason("no-such-program-anywhere", NOT_DRIVEN);
        assert_eq!(
            reason,
            "skipped: no-such-program-anywhere is not installed, and the testbed does not start it"
        );
        assert_eq!(Measured::skipped(&reason).faults, [reason]);
    }
}
