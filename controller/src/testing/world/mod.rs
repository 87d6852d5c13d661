//! Two sites in virtual time: a controller core, two fake switches, hosts, routers, and links that lose packets.
//!
//! ```text
//!                 ┌────────────────────────── Core ──────────────────────────┐
//!                 │ control channel, with latency                            │
//!  host ──── switch ──── router a ════ link a: delay, loss ════ router a ──── switch ──── host
//!                 └───── router b ════ link b ═════════════════ router b ─────┘
//! ```
//! Ports, addresses and paths are those of the policy file that the world is made of (`examples/two-uplinks.yaml` has
//! those of the lab). Nothing happens by itself: [`World::run`] moves the time from event to event, so a test of an
//! hour takes seconds, and the same seed gives the same run. What is true can be asked of the world, what the
//! controller thinks of [`World::ask`]; a test compares the two.

mod control;
mod link;
mod site;
mod station;
mod stream;
mod transport;
mod views;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use ofproto::{Message, Xid};
use policies::{Direction, PolicySet, Timestamp};

use super::chance::Chance;
use super::datapath::FakeDatapath;
use super::packet::{Ipv4Packet, Packet};
use crate::api::DecisionView;
use crate::core::Core;
use crate::event::{ConnId, Effect, Event};

pub use control::Sent;
pub use link::{Link, Run, Truth};
pub use site::Site;
pub use station::Station;
pub use stream::{Delivery, Stream, StreamId};
use transport::Step;

/// Two sites, their controller, and the time.
#[derive(Debug)]
pub struct World {
    now: Timestamp,
    seed: u64,
    policies: PolicySet,
    core: Core,
    /// The core counts its time from here.
    core_since: Timestamp,
    sites: Vec<Site>,
    paths: Vec<PathLinks>,
    streams: Vec<Stream>,
    queue: BinaryHeap<Reverse<Scheduled>>,
    scheduled: u64,
    connections: u64,
    on_the_wire: bool,
    sent: Vec<Sent>,
    decisions: Vec<DecisionView>,
    effects: Vec<Effect>,
    deadlines_in_a_row: u32,
}

/// A path by its name, its uplinks, and its link in each direction.
#[derive(Debug)]
struct PathLinks {
    name: String,
    uplinks: [String; 2],
    links: [Link; 2],
}

/// Something that will happen.
#[derive(Debug)]
struct Scheduled {
    at: Timestamp,
    /// In the order in which it was scheduled, when it is for the same moment.
    number: u64,
    what: Happening,
}

#[derive(Debug)]
enum Happening {
    ToSwitch(usize, Xid, Box<Message>),
    ToCore(ConnId, Xid, Box<Message>),
    /// A packet comes out of the link of a path.
    OutOfLink(usize, Direction, Packet),
    Connect(usize),
}

impl World {
    /// The world of this policy file, with everything connected and no traffic, at time zero. Randomness comes from
    /// [`seed`].
    pub fn new(policy_file: &str) -> World {
        let policies = policies::load("policies.yaml", policy_file);
        let policies = policies
            .map_err(|error| error.to_string())
            .expect("a valid policy file");
        let seed = seed();
        let mut chance = Chance::new(seed);
        let sites = (1..).zip(policies.sites.values());
        let sites: Vec<Site> = sites.map(|(number, site)| Site::new(number, site)).collect();
        let paths = policies
            .peerings
            .values()
            .flat_map(|peering| peering.paths.values());
        let paths = paths.map(|path| PathLinks {
            name: path.name.clone(),
            uplinks: path.uplinks.clone(),
            links: [(); 2].map(|()| Link::new(DELAY, Chance::new(chance.draw()))),
        });
        let paths = paths.collect();
        let mut world = World {
            now: Timestamp::ZERO,
            seed,
            core: Core::new(EPOCH_UNIX_MS),
            core_since: Timestamp::ZERO,
            policies,
            sites,
            paths,
            streams: vec![],
            queue: BinaryHeap::new(),
            scheduled: 0,
            connections: 0,
            on_the_wire: true,
            sent: vec![],
            decisions: vec![],
            effects: vec![],
            deadlines_in_a_row: 0,
        };
        world.core_handle(Event::Policies(std::sync::Arc::new(world.policies.clone())));
        for site in 0..world.sites.len() {
            world.schedule(Duration::ZERO, Happening::Connect(site));
        }
        world
    }

    /// The same, after the switches were programmed, the next hops and hosts found, and a colour period of each
    /// colour closed: from now on every packet is counted.
    pub fn settled(policy_file: &str) -> World {
        let mut world = World::new(policy_file);
        world.run(Duration::from_secs(1));
        world.hosts_ask();
        world.run(Duration::from_secs(4));
        world
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Lets time pass.
    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.step(end) {}
    }

    /// Lets time pass until something is so, and says after how long; `None` when it is not so after `limit`.
    pub fn run_until(&mut self, limit: Duration, so: impl Fn(&mut World) -> bool) -> Option<Duration> {
        let begin = self.now;
        while self.now < begin + limit {
            if so(self) {
                return Some(self.now.saturating_since(begin));
            }
            self.run(GLANCE);
        }
        so(self).then(|| self.now.saturating_since(begin))
    }

    /// From now on a path loses this share of its packets in a direction, 0 to 1, each by itself.
    pub fn loss(&mut self, path: &str, direction: Direction, share: f64) {
        self.link_mut(path, direction).loss = share;
    }

    /// From now on packets need so long over a path in a direction.
    pub fn delay(&mut self, path: &str, direction: Direction, delay: Duration) {
        self.link_mut(path, direction).delay = delay;
    }

    /// From now on messages between the core and a site's switch need so long, each way.
    pub fn control_latency(&mut self, site: &str, latency: Duration) {
        let site = self.index_of(site);
        self.sites[site].latency = latency;
    }

    /// From now on each switch's datapath follows a change within so long, flow by flow.
    pub fn datapath_lag(&mut self, lag: Duration) {
        for site in &mut self.sites {
            site.switch.set_lag(lag);
        }
    }

    /// From now on messages are handed over as they are, and not encoded and decoded on their way: for long runs.
    pub fn without_the_wire(&mut self) {
        self.on_the_wire = false;
    }

    /// The host of the sending site begins to send packets of a policy's class.
    pub fn traffic(&mut self, policy: &str, direction: Direction, packets_per_second: u32) -> StreamId {
        let (src, dst) = self.hosts(direction);
        let number = u16::try_from(self.streams.len()).expect("not so many streams");
        let policy = &self.policies.policies[policy];
        let flows = stream::flows_of(policy, direction, src, dst, 40_000 + number * stream::FLOWS);
        self.flows(direction, flows, packets_per_second)
    }

    /// The host of the sending site begins to send packets that look like these, in turn.
    pub fn flows(
        &mut self,
        direction: Direction,
        flows: Vec<Ipv4Packet>,
        packets_per_second: u32,
    ) -> StreamId {
        let id = StreamId(u16::try_from(self.streams.len()).expect("not so many streams"));
        let stream = Stream::new(id, direction, flows, packets_per_second, self.now);
        self.streams.push(stream);
        id
    }

    /// A stream ends. What is under way still arrives.
    pub fn stop(&mut self, stream: StreamId) {
        self.streams[usize::from(stream.0)].stop();
    }

    /// The hosts ask for their gateways, by which the controller learns of them.
    pub fn hosts_ask(&mut self) {
        for site in 0..self.sites.len() {
            let question = self.sites[site].host.ask(self.now);
            let port = self.sites[site].access;
            self.packets(vec![Step::IntoSwitch(site, port, question)]);
        }
    }

    /// Does the next thing that happens until `end`; `false` when there is none, and then it is `end`.
    fn step(&mut self, end: Timestamp) -> bool {
        let queued = self.queue.peek().map(|Reverse(next)| next.at);
        let stream = (0..self.streams.len())
            .filter_map(|index| Some((self.streams[index].next_at()?, index)))
            .min();
        let deadline = self.core.next_deadline();
        let deadline = deadline.map(|at| (self.core_since + at.as_duration()).max(self.now));
        let times = [queued, stream.map(|(at, _)| at), deadline];
        let next = times.into_iter().flatten().min().filter(|at| *at <= end);
        let Some(now) = next else {
            self.now = end;
            return false;
        };
        if now > self.now {
            self.deadlines_in_a_row = 0;
        }
        self.now = now;
        if queued == Some(now) {
            if let Some(Reverse(next)) = self.queue.pop() {
                self.happen(next.what);
            }
        } else if let Some((_, index)) = stream.filter(|(at, _)| *at == now) {
            self.send_packet(index);
        } else {
            self.deadlines_in_a_row += 1;
            assert!(
                self.deadlines_in_a_row < 1_000,
                "the core asks for the same moment over and over"
            );
            self.core_handle(Event::Deadline);
        }
        true
    }

    fn happen(&mut self, what: Happening) {
        match what {
            Happening::ToSwitch(site, xid, message) => self.switch_hears(site, xid, *message),
            Happening::ToCore(conn, xid, message) => self.core_hears(conn, xid, *message),
            Happening::Connect(site) => self.connect(site),
            Happening::OutOfLink(path, direction, packet) => self.leave_link(path, direction, packet),
        }
    }

    fn schedule(&mut self, wait: Duration, what: Happening) {
        self.scheduled += 1;
        self.queue.push(Reverse(Scheduled {
            at: self.now + wait,
            number: self.scheduled,
            what,
        }));
    }
}

/// Says how to have the same run again.
impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("at {:?} with BICAST_SEED={}", self.now.as_duration(), self.seed);
            for decision in &self.decisions {
                eprintln!("  {} {}: {}", decision.policy, decision.from, decision.sentence);
            }
        }
    }
}

impl PartialEq for Scheduled {
    fn eq(&self, other: &Scheduled) -> bool {
        self.number == other.number
    }
}

impl Eq for Scheduled {}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Scheduled) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scheduled {
    fn cmp(&self, other: &Scheduled) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

/// The seed of every world: the environment's `BICAST_SEED`, or 1.
pub fn seed() -> u64 {
    let text = std::env::var("BICAST_SEED").ok();
    text.map_or(1, |text| text.parse().expect("BICAST_SEED is a number"))
}

const EPOCH_UNIX_MS: u64 = 1_700_000_000_000;
/// How often [`World::run_until`] looks.
const GLANCE: Duration = Duration::from_millis(10);
/// Of every link, at first.
const DELAY: Duration = Duration::from_millis(10);
