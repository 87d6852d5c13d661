//! A bulk transfer over two paths in virtual time: QUIC itself, and the shim without its sockets.
//!
//! ```text
//!                  +-- path 0: loss, rate, queue, delay --------+
//!   QUIC -> header +                                            +-> dedup, resequencer -> QUIC
//!                  +-- path 1: loss, rate, queue, delay + gap --+
//! ```
//!
//! The way back is the same. Equal seeds give equal runs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ahash::RandomState;
use bytes::{Bytes, BytesMut};
use noq_proto::congestion::ControllerFactory;
use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event,
    FourTuple, PathId as QuicPathId, ServerConfig, StreamEvent, StreamId, TransportConfig,
};
use proxy::delay_gap::DelayGap;
use proxy::shim::header::{Form, Header, SequenceNumber, Stream};
use proxy::shim::path_stats::{PathId, PathStats};
use proxy::shim::receiver::Receiver;
use proxy::shim::{LossThresholds, ShimConfig};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// What is run.
#[derive(Clone)]
pub(crate) struct Spec {
    pub(crate) congestion: Arc<dyn ControllerFactory + Send + Sync>,
    pub(crate) config: ShimConfig,
    /// Where the congestion control reads the gap.
    pub(crate) delay_gap: DelayGap,
    /// Those of RFC 9002 if none.
    pub(crate) thresholds: Option<LossThresholds>,
    /// Of one path, each way.
    pub(crate) rate_bps: u64,
    /// Of the first path.
    pub(crate) rtt: Duration,
    /// How much later the second path is, each way.
    pub(crate) gap: Duration,
    /// On each path.
    pub(crate) loss_per_mille: u64,
    /// How long data is sent.
    pub(crate) time: Duration,
}

/// What came of it.
pub(crate) struct Outcome {
    pub(crate) mbps: f64,
    /// Packets that the sender took for lost.
    pub(crate) declared: u64,
    /// Packets that no path carried, lost or behind a full queue.
    pub(crate) lost: u64,
    /// What the receiver of the data saw.
    pub(crate) received: PathStats,
    /// The gap that the sender of the data was told.
    pub(crate) told: Duration,
}

impl Spec {
    pub(crate) fn run(&self) -> Outcome {
        let start = Instant::now();
        let mut network = Network {
            now: start,
            ends: [End::client(self, start), End::server(self)],
            directions: [1, 2].map(|seed| Direction {
                paths: [Duration::ZERO, self.gap].map(|gap| Path {
                    delay: self.rtt / 2 + gap,
                    empty_at: start,
                }),
                random: seed,
                lost: 0,
            }),
            queue: BinaryHeap::new(),
            count: 0,
        };
        network.drive(CLIENT, self);
        while network.now < start + self.time {
            network.step(self);
        }
        let [client, server] = &mut network.ends;
        Outcome {
            mbps: server.read as f64 * 8e-6 / self.time.as_secs_f64(),
            declared: client
                .connection
                .as_mut()
                .and_then(|(_, c)| c.path_stats(QuicPathId::ZERO))
                .expect("it lives")
                .lost_packets,
            lost: network.directions[CLIENT].lost,
            received: server.receiver.stats().clone(),
            told: client.told,
        }
    }
}

const CLIENT: usize = 0;
const SERVER: usize = 1;
/// How long the queue of a path may get.
const QUEUE: Duration = Duration::from_millis(20);

struct Network {
    now: Instant,
    ends: [End; 2],
    /// From the client, and from the server.
    directions: [Direction; 2],
    queue: BinaryHeap<Reverse<OnItsWay>>,
    count: u64,
}

/// When a copy arrives, its number, at which end, by which path, its bytes.
type OnItsWay = (Instant, u64, usize, u8, Arc<[u8]>);

struct Direction {
    paths: [Path; 2],
    random: u64,
    lost: u64,
}

struct Path {
    delay: Duration,
    empty_at: Instant,
}

impl Network {
    /// Goes to the next thing that happens.
    fn step(&mut self, spec: &Spec) {
        let arrival = self.queue.peek().map(|Reverse((at, ..))| *at);
        let timers = self
            .ends
            .iter()
            .flat_map(|end| [end.timer, end.receiver.next_deadline(self.now)])
            .flatten();
        let next = timers.chain(arrival).min().expect("something will happen");
        self.now = self.now.max(next);
        if let Some(Reverse((at, _, end, path, datagram))) = self.queue.peek()
            && *at <= self.now
        {
            let (end, path, datagram) = (*end, PathId::new(*path), datagram.clone());
            self.queue.pop();
            self.ends[end].arrive(self.now, path, &datagram);
            self.drive(end, spec);
        }
        for end in [CLIENT, SERVER] {
            if self.ends[end].expire(self.now) {
                self.drive(end, spec);
            }
        }
    }

    /// Lets one end send what it can.
    fn drive(&mut self, end: usize, spec: &Spec) {
        let Direction { paths, random, lost } = &mut self.directions[end];
        for datagram in self.ends[end].converse(self.now) {
            let mut carried = false;
            for (index, path) in (0..).zip(&mut *paths) {
                *random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let begin = path.empty_at.max(self.now);
                if mix(*random) % 1000 < spec.loss_per_mille || begin - self.now > QUEUE {
                    continue;
                }
                path.empty_at =
                    begin + Duration::from_nanos(datagram.len() as u64 * 8_000_000_000 / spec.rate_bps);
                self.count += 1;
                let arrival = (
                    path.empty_at + path.delay,
                    self.count,
                    1 - end,
                    index,
                    datagram.clone(),
                );
                self.queue.push(Reverse(arrival));
                carried = true;
            }
            *lost += u64::from(!carried);
        }
    }
}

/// One end: QUIC and its shim.
struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    stream: Option<StreamId>,
    is_client: bool,
    read: u64,
    timer: Option<Instant>,
    receiver: Receiver<(), RandomState>,
    sent: u64,
    told: Duration,
    delay_gap: DelayGap,
    chunk: Bytes,
}

impl End {
    fn client(spec: &Spec, now: Instant) -> Self {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(certificate()).expect("it is a certificate");
        let tls =
            rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_protocol_versions(&[&rustls::version::TLS13])
                .expect("TLS 1.3 is there")
                .with_root_certificates(roots)
                .with_no_client_auth();
        let tls = QuicClientConfig::try_from(tls).expect("TLS 1.3 has what QUIC needs");
        let mut config = ClientConfig::new(Arc::new(tls));
        config.transport_config(transport(spec));
        let mut end = Self::new(spec, None, true);
        end.connection = end.endpoint.connect(now, config, address(), "localhost").ok();
        end
    }

    fn server(spec: &Spec) -> Self {
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(&include_bytes!("fixture/key.der")[..]));
        let tls =
            rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_protocol_versions(&[&rustls::version::TLS13])
                .expect("TLS 1.3 is there")
                .with_no_client_auth()
                .with_single_cert(vec![certificate()], key)
                .expect("the key fits");
        let tls = QuicServerConfig::try_from(tls).expect("TLS 1.3 has what QUIC needs");
        let mut config = ServerConfig::with_crypto(Arc::new(tls));
        config.transport_config(transport(spec));
        Self::new(spec, Some(Arc::new(config)), false)
    }

    fn new(spec: &Spec, server: Option<Arc<ServerConfig>>, is_client: bool) -> Self {
        let mut config = EndpointConfig::default();
        config
            .grease_quic_bit(false)
            .rng_seed(Some([u8::from(is_client); 32]));
        Self {
            endpoint: Endpoint::new(Arc::new(config), server, true),
            connection: None,
            stream: None,
            is_client,
            read: 0,
            timer: None,
            receiver: Receiver::new(&spec.config, 2, RandomState::with_seeds(1, 2, 3, 4)),
            sent: 0,
            told: Duration::ZERO,
            delay_gap: if is_client {
                spec.delay_gap.clone()
            } else {
                DelayGap::default()
            },
            chunk: Bytes::from(vec![0; 64 * 1024]),
        }
    }

    fn arrive(&mut self, now: Instant, path: PathId, datagram: &[u8]) {
        let Ok(Form::Shim(header, packet)) = Header::decode(datagram) else {
            unreachable!("every datagram has a header");
        };
        let mut packets = Vec::new();
        if self
            .receiver
            .receive(now, header, packet, path, (), &mut |packet, ()| {
                packets.push(packet.to_vec())
            })
        {
            self.told = header.echo;
            self.delay_gap.set(header.echo);
        }
        self.hand_over(now, packets);
    }

    /// Whether a timer was due.
    fn expire(&mut self, now: Instant) -> bool {
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        let (held, timer) = (due(self.receiver.next_deadline(now)), due(self.timer));
        if held {
            let mut packets = Vec::new();
            self.receiver
                .expire(now, &mut |packet, ()| packets.push(packet.to_vec()));
            self.hand_over(now, packets);
        }
        if timer && let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(now);
        }
        held || timer
    }

    fn hand_over(&mut self, now: Instant, packets: Vec<Vec<u8>>) {
        for packet in packets {
            let (path, mut answer) = (FourTuple::new(address(), None), Vec::new());
            match self
                .endpoint
                .handle(now, path, None, BytesMut::from(&packet[..]), &mut answer)
            {
                Some(DatagramEvent::NewConnection(incoming)) => {
                    self.connection = self.endpoint.accept(incoming, now, &mut answer, None).ok();
                }
                Some(DatagramEvent::ConnectionEvent(_, event)) => {
                    if let Some((_, connection)) = &mut self.connection {
                        connection.handle_event(event);
                    }
                }
                Some(DatagramEvent::Response(_)) | None => {}
            }
        }
    }

    /// What this end sends now and once it has seen what waited for that.
    fn converse(&mut self, now: Instant) -> Vec<Arc<[u8]>> {
        let mut datagrams = self.drive(now);
        while self.receiver.awaits_answer() {
            let (mut packets, before) = (Vec::new(), datagrams.len());
            self.receiver
                .answered(now, &mut |packet, ()| packets.push(packet.to_vec()));
            self.hand_over(now, packets);
            datagrams.extend(self.drive(now));
            if datagrams.len() == before {
                break;
            }
        }
        datagrams
    }

    /// What this end sends now, headers and all.
    fn drive(&mut self, now: Instant) -> Vec<Arc<[u8]>> {
        let Some((handle, mut connection)) = self.connection.take() else {
            return Vec::new();
        };
        loop {
            while let Some(event) = connection.poll() {
                match event {
                    Event::Connected if self.is_client => self.stream = connection.streams().open(Dir::Uni),
                    Event::Stream(StreamEvent::Opened { dir }) => {
                        self.stream = connection.streams().accept(dir)
                    }
                    Event::ConnectionLost { reason } => unreachable!("the connection broke: {reason}"),
                    _ => {}
                }
            }
            self.run_application(&mut connection);
            let mut quiet = true;
            while let Some(event) = connection.poll_endpoint_events() {
                quiet = false;
                if let Some(event) = self.endpoint.handle_event(handle, event) {
                    connection.handle_event(event);
                }
            }
            if quiet {
                break;
            }
        }
        let (mut datagrams, mut buffer) = (Vec::new(), Vec::new());
        let segments = NonZeroUsize::new(10).expect("ten");
        while let Some(transmit) = connection.poll_transmit(now, segments, &mut buffer) {
            for packet in buffer.chunks(transmit.segment_size.unwrap_or(transmit.size)) {
                let (stream, sequence) = (Stream::Ordered, SequenceNumber::new(self.sent));
                let header = Header {
                    stream,
                    echo: self.receiver.gap(now),
                    sequence,
                };
                self.sent += 1;
                datagrams.push([&header.encode()[..], packet].concat().into());
            }
            buffer.clear();
        }
        self.timer = connection.poll_timeout();
        self.connection = Some((handle, connection));
        datagrams
    }

    /// Writes, or reads, as much as goes.
    fn run_application(&mut self, connection: &mut Connection) {
        let Some(stream) = self.stream else {
            return;
        };
        if self.is_client {
            while connection
                .send_stream(stream)
                .write_chunks(&mut &mut [self.chunk.clone()][..])
                .is_ok()
            {}
        } else if let Ok(mut chunks) = connection.recv_stream(stream).read(true) {
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                self.read += chunk.bytes.len() as u64;
            }
            let _ = chunks.finalize();
        }
    }
}

fn transport(spec: &Spec) -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(spec.congestion.clone());
    if let Some(thresholds) = spec.thresholds {
        thresholds.apply(&mut transport);
    }
    Arc::new(transport)
}

fn certificate() -> CertificateDer<'static> {
    CertificateDer::from(&include_bytes!("fixture/cert.der")[..])
}

fn address() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 4433))
}

/// SplitMix64's finalizer.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
