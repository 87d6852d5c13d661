//! Flows across one bottleneck, in virtual time:
//!
//! ```text
//!  sender 0 ──┐         ┌───────┐  rate             ┌── receiver 0
//!  sender 1 ──┴─ loss ─►│ queue │───────── delay ──►┴── receiver 1
//!      ▲                └───────┘                           │
//!      └───────────────── delay ◄─── loss ◄─────────────────┘
//! ```
//!
//! or across two of them at once, every datagram on both, the second later by a gap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use noq_proto::congestion::ControllerFactory;
use noq_proto::{PathStats, TransportConfig};

use crate::kernel_cubic::{ACK_DATAGRAM, Effect, Happening, KernelCubic, SEGMENT_DATAGRAM};
use crate::path::{Loss, Path, Spec};
use crate::peer::Peer;
use crate::shim::Shim;

/// What all flows share.
pub(crate) struct Network {
    start: Instant,
    now: Instant,
    seed: u64,
    paths: Vec<Link>,
    flows: Vec<Flow>,
    /// TCP flows, each on one path.
    kernel_flows: Vec<(usize, KernelCubic)>,
    events: BinaryHeap<Reverse<Event>>,
    next_event: u64,
    redundancy: Option<(Duration, u64)>,
}

/// Both directions of a path.
struct Link {
    forward: Path,
    back: Path,
}

struct Flow {
    peers: [Peer; 2],
    shim: Option<Shim>,
    shim_timer: Option<Instant>,
    next_number: u64,
    lost_on_all: u64,
}

const SENDER: usize = 0;
const RECEIVER: usize = 1;

/// Something happens to a peer; in the order of time, and then of cause.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at: Instant,
    number: u64,
    flow: usize,
    peer: usize,
    what: What,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Timer,
    ShimTimer,
    Datagram {
        number: u64,
        data: Vec<u8>,
    },
    /// To a TCP flow.
    Kernel(Happening),
}

/// A measurement of one flow.
pub(crate) struct Measured {
    /// What the application received, Mbit/s.
    pub(crate) mbps: f64,
    /// The sender's view.
    pub(crate) stats: PathStats,
    /// Datagrams of the sender that arrived on no path.
    pub(crate) really_lost: u64,
}

impl Network {
    /// A symmetric path with this bottleneck in one direction; `loss` strikes both.
    pub(crate) fn new(rate: u64, rtt: Duration, queue: u64, loss: Loss, seed: u64) -> Self {
        let spec = Spec {
            rate: Some(rate),
            delay: rtt / 2,
            queue,
            loss,
        };
        let start = Instant::now();
        let paths = vec![Link::new(spec, seed)];
        Self {
            start,
            now: start,
            seed,
            paths,
            flows: Vec::new(),
            kernel_flows: Vec::new(),
            events: BinaryHeap::new(),
            next_event: 0,
            redundancy: None,
        }
    }

    /// Sends everything on a second path too, which is later by `gap` in each direction and loses by itself. The
    /// receiver lets `lead` datagrams pass a hole.
    pub(crate) fn bicast(mut self, gap: Duration, lead: u64) -> Self {
        let first = self.paths[0].forward.spec;
        let second = Spec {
            delay: first.delay + gap,
            ..first
        };
        self.paths.push(Link::new(second, self.seed + 2));
        self.redundancy = Some((gap, lead));
        self
    }

    /// Starts a bulk transfer now; its index.
    pub(crate) fn add_flow(&mut self, congestion: Arc<dyn ControllerFactory + Send + Sync>) -> usize {
        self.add_flow_with(congestion, TransportConfig::default())
    }

    /// The same with other loss thresholds.
    pub(crate) fn add_flow_with(
        &mut self,
        congestion: Arc<dyn ControllerFactory + Send + Sync>,
        mut transport: TransportConfig,
    ) -> usize {
        transport.congestion_controller_factory(congestion);
        let seed = u8::try_from(self.seed % 100 + 2 * self.flows.len() as u64).unwrap();
        let sender = Peer::sender(transport, seed, self.now);
        let receiver = Peer::receiver(TransportConfig::default(), seed + 1);
        let shim = self.redundancy.map(|(gap, lead)| Shim::new(lead, gap));
        self.flows.push(Flow {
            peers: [sender, receiver],
            shim,
            shim_timer: None,
            next_number: 0,
            lost_on_all: 0,
        });
        let flow = self.flows.len() - 1;
        self.drive(flow, SENDER);
        flow
    }

    /// Lets time pass.
    pub(crate) fn run(&mut self, duration: Duration) {
        let end = self.now + duration;
        while self.events.peek().is_some_and(|Reverse(event)| event.at <= end) {
            let Some(Reverse(event)) = self.events.pop() else {
                break;
            };
            self.now = event.at;
            self.handle(event);
        }
        self.now = end;
    }

    /// Starts a TCP flow on the path of this index.
    pub(crate) fn add_kernel_flow(&mut self, path: usize) {
        self.kernel_flows.push((path, KernelCubic::new()));
        self.handle_kernel(self.kernel_flows.len() - 1, None);
    }

    /// What each TCP flow has received so far, bytes.
    pub(crate) fn kernel_received(&self) -> Vec<u64> {
        self.kernel_flows
            .iter()
            .map(|(_, flow)| flow.received())
            .collect()
    }

    fn handle_kernel(&mut self, index: usize, happening: Option<Happening>) {
        let (path, flow) = &mut self.kernel_flows[index];
        let link = &mut self.paths[*path];
        for effect in flow.handle(self.now, happening) {
            let (at, what) = match effect {
                Effect::At(at, what) => (Some(at), what),
                Effect::Send(ack @ Happening::Ack(_)) => (link.back.send(self.now, ACK_DATAGRAM), ack),
                Effect::Send(segment) => (link.forward.send(self.now, SEGMENT_DATAGRAM), segment),
            };
            if let Some(at) = at {
                self.next_event += 1;
                self.events.push(Reverse(Event {
                    at,
                    number: self.next_event,
                    flow: index,
                    peer: SENDER,
                    what: What::Kernel(what),
                }));
            }
        }
    }

    fn handle(&mut self, event: Event) {
        if let What::Kernel(happening) = event.what {
            return self.handle_kernel(event.flow, Some(happening));
        }
        let Flow {
            peers,
            shim,
            shim_timer,
            ..
        } = &mut self.flows[event.flow];
        let peer = &mut peers[event.peer];
        let arrived = match (event.what, shim) {
            (What::Timer, _) if peer.timer == Some(event.at) => {
                peer.on_timer(self.now);
                Vec::new()
            }
            (What::ShimTimer, shim) if *shim_timer == Some(event.at) => shim
                .as_mut()
                .map(|shim| shim.on_timer(self.now))
                .unwrap_or_default(),
            (What::Timer | What::ShimTimer | What::Kernel(_), _) => return,
            (What::Datagram { number, data }, Some(shim)) if event.peer == RECEIVER => {
                shim.on_copy(self.now, number, data)
            }
            (What::Datagram { data, .. }, _) => vec![data],
        };
        for datagram in arrived {
            peer.on_datagram(self.now, &datagram);
        }
        self.drive(event.flow, event.peer);
    }

    /// Lets time pass until every receiver has this many bytes: handshakes cost their own time when packets
    /// are lost, and are not the subject.
    pub(crate) fn run_until_received(&mut self, bytes: u64) {
        while self
            .flows
            .iter()
            .any(|flow| flow.peers[RECEIVER].received < bytes)
        {
            self.run(Duration::from_millis(1));
            assert!(
                self.now - self.start < Duration::from_secs(60),
                "the transfer never began"
            );
        }
    }

    /// Lets time pass and measures each flow meanwhile.
    pub(crate) fn measure(&mut self, duration: Duration) -> Vec<Measured> {
        let before: Vec<u64> = self
            .flows
            .iter()
            .map(|flow| flow.peers[RECEIVER].received)
            .collect();
        self.run(duration);
        let flows = self.flows.iter_mut().zip(before);
        flows
            .map(|(flow, before)| Measured {
                mbps: (flow.peers[RECEIVER].received - before) as f64 * 8e-6 / duration.as_secs_f64(),
                stats: flow.peers[SENDER].stats(),
                really_lost: flow.lost_on_all,
            })
            .collect()
    }

    /// Share of the packets offered to the first bottleneck that found its queue full, in percent.
    pub(crate) fn overflow_percent(&self) -> f64 {
        let path = &self.paths[0].forward;
        path.overflowed as f64 * 100.0 / path.offered as f64
    }

    fn drive(&mut self, flow: usize, peer: usize) {
        let Self {
            now,
            paths,
            events,
            next_event,
            flows,
            ..
        } = self;
        let mut push = |at: Instant, peer, what| {
            *next_event += 1;
            events.push(Reverse(Event {
                at,
                number: *next_event,
                flow,
                peer,
                what,
            }));
        };
        let Flow {
            peers,
            shim,
            shim_timer,
            next_number,
            lost_on_all,
        } = &mut flows[flow];
        let driven = &mut peers[peer];
        let timer_before = driven.timer;
        driven.drive(*now, |datagram| {
            let send = |link: &mut Link| {
                let path = if peer == SENDER {
                    &mut link.forward
                } else {
                    &mut link.back
                };
                path.send(*now, datagram.len())
            };
            let mut arrivals: Vec<Instant> = paths.iter_mut().filter_map(send).collect();
            if peer == RECEIVER {
                // Acknowledgments: the first copy counts, the sender holds nothing back.
                arrivals = arrivals.into_iter().min().into_iter().collect();
            } else if arrivals.is_empty() {
                *lost_on_all += 1;
            }
            for at in arrivals {
                push(
                    at,
                    1 - peer,
                    What::Datagram {
                        number: *next_number,
                        data: datagram.to_vec(),
                    },
                );
            }
            if peer == SENDER {
                *next_number += 1;
            }
        });
        if let Some(at) = driven.timer
            && driven.timer != timer_before
        {
            push(at, peer, What::Timer);
        }
        let deadline = shim.as_ref().and_then(Shim::deadline);
        if *shim_timer != deadline {
            *shim_timer = deadline;
            if let Some(at) = deadline {
                push(at, RECEIVER, What::ShimTimer);
            }
        }
    }
}

impl Link {
    /// The way back has no bottleneck.
    fn new(forward: Spec, seed: u64) -> Self {
        let back = Spec {
            rate: None,
            ..forward
        };
        Self {
            forward: Path::new(forward, seed),
            back: Path::new(back, seed + 1000),
        }
    }
}
