//! The sockets: everything of the shim that does I/O or reads the clock.
//!
//! ```text
//!   base port ----+                                       +--> QUIC endpoint
//!   path 1 port --+--> header -> dedup -> resequencer ----+    (poll_recv, one at a time)
//!   path 2 port --+         \       per peer    |
//!                            gap, echo          timer
//!                                v
//!   base port <------------- header <------------------------- each connection (poll_send)
//! ```
//!
//! The network tells which path a copy took by the port that it is addressed to: the base port or one of the
//! further ports. QUIC sees the base port only, and everything is sent from there.

use std::collections::{HashSet, VecDeque};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use noq::udp::{BATCH_SIZE, RecvMeta};
use noq::{AsyncUdpSocket, UdpSender};
use tokio::time::Sleep;

use super::config::ShimConfig;
use super::header::{Form, Header, Stream};
use super::inbox::{Inbox, Waiting};
use super::path_stats::PathId;
use super::peer::{Meta, PeerHandle, PeerStats, lock};
use super::peers::Peers;
use super::port::{MAX_TRAIN, Port};
use super::sender::ShimSender;

/// One endpoint's shim: what is asked of it and told about it. The endpoint itself gets the [`ShimSocket`].
#[derive(Clone, Debug)]
pub struct Shim(Arc<Shared>);

impl Shim {
    /// Puts a shim around a bound socket. Needs a tokio runtime.
    ///
    /// The endpoint over it must not offer to grease the QUIC bit (`EndpointConfig::grease_quic_bit(false)`), and
    /// has [`HEADER_LEN`](super::header::HEADER_LEN) bytes less of the path's MTU.
    pub fn new(socket: UdpSocket, config: ShimConfig) -> io::Result<(Self, ShimSocket)> {
        Self::with_paths(socket, Vec::new(), config)
    }

    /// The same with further sockets, to which the network addresses the copies that came by further paths; at
    /// most 255.
    pub fn with_paths(
        base: UdpSocket,
        further: Vec<UdpSocket>,
        config: ShimConfig,
    ) -> io::Result<(Self, ShimSocket)> {
        let base = Port::new(base)?;
        let further = further
            .into_iter()
            .map(Port::new)
            .collect::<io::Result<Vec<_>>>()?;
        let paths = 1 + further.len();
        if u8::try_from(further.len()).is_err() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "more paths than can be told apart",
            ));
        }
        let local = base.local_addr()?;
        let shared = Arc::new(Shared {
            base,
            further,
            stream: config.stream,
            peers: Mutex::new(Peers::new(config, paths, now())),
            malformed: AtomicU64::new(0),
            reader: Mutex::new(None),
        });
        let socket = ShimSocket {
            shared: shared.clone(),
            local,
            scratch: vec![0; MAX_TRAIN * BATCH_SIZE].into(),
            waiting: VecDeque::new(),
            holding: HashSet::new(),
            timer: None,
            has_sender: AtomicBool::new(false),
        };
        Ok((Self(shared), socket))
    }

    /// What came from each peer and went to it, in the order of their addresses.
    pub fn stats(&self) -> Vec<PeerStats> {
        self.0.peers().stats(now())
    }

    /// The peer at this address. See [`PeerHandle`] for how long to keep it.
    pub fn peer(&self, remote: SocketAddr) -> PeerHandle {
        self.0.peers().handle(remote, now())
    }

    /// How many datagrams were dropped because they were neither QUIC nor had a header that we know.
    pub fn malformed(&self) -> u64 {
        self.0.malformed.load(Ordering::Relaxed)
    }
}

/// The socket that a QUIC endpoint is made with.
#[derive(Debug)]
pub struct ShimSocket {
    shared: Arc<Shared>,
    local: SocketAddr,
    /// What is received, header and all.
    scratch: Box<[u8]>,
    /// What there was no buffer for.
    waiting: VecDeque<Waiting>,
    /// The peers that packets are held back of.
    holding: HashSet<SocketAddr>,
    timer: Option<Pin<Box<Sleep>>>,
    /// Whether a sender was made.
    has_sender: AtomicBool,
}

impl AsyncUdpSocket for ShimSocket {
    fn create_sender(&self) -> Pin<Box<dyn UdpSender>> {
        // The endpoint makes its own first, which answers strangers; all others are for connections.
        let for_connection = self.has_sender.swap(true, Ordering::Relaxed);
        Box::pin(ShimSender::new(self.shared.clone(), for_connection))
    }

    fn poll_recv(
        &mut self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let shared = self.shared.clone();
        // Before looking whether there was an answer, so that none is missed.
        *lock(&shared.reader) = Some(cx.waker().clone());
        let mut inbox = Inbox::new(bufs, metas, &mut self.waiting);
        let mut intake = Intake {
            shared: &shared,
            local_ip: Some(self.local.ip()).filter(|ip| !ip.is_unspecified()),
            holding: &mut self.holding,
        };
        for _ in 0..ROUNDS {
            intake.expire(&mut inbox);
            let mut idle = true;
            for (index, port) in (0..=u8::MAX).zip(shared.ports()) {
                if inbox.is_full() {
                    break;
                }
                let mut received = [RecvMeta::default(); BATCH_SIZE];
                match port.poll_recv(cx, &mut self.scratch, &mut received) {
                    Poll::Ready(Ok(count)) => {
                        idle = false;
                        for (buf, meta) in self.scratch.chunks(MAX_TRAIN).zip(received.iter().take(count)) {
                            intake.take(PathId::new(index), buf, meta, &mut inbox);
                        }
                    }
                    Poll::Ready(Err(error)) if inbox.filled() == 0 => return Poll::Ready(Err(error)),
                    Poll::Ready(Err(_)) | Poll::Pending => {}
                }
            }
            if inbox.filled() > 0 {
                return Poll::Ready(Ok(inbox.filled()));
            }
            let due = poll_timer(&mut self.timer, intake.next_deadline(), cx).is_ready();
            if idle && !due {
                return Poll::Pending;
            }
        }
        // Nothing but duplicates for a while: let others run.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.shared.base.local_addr()
    }

    fn max_receive_segments(&self) -> NonZeroUsize {
        self.shared.base.max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.shared.ports().any(|port| port.may_fragment())
    }
}

/// What the socket, the senders and the handles of one shim share.
#[derive(Debug)]
pub(super) struct Shared {
    base: Port,
    further: Vec<Port>,
    stream: Stream,
    peers: Mutex<Peers>,
    malformed: AtomicU64,
    /// The endpoint's task, to be woken when a connection has answered.
    reader: Mutex<Option<Waker>>,
}

impl Shared {
    /// A datagram went to a peer that packets wait for an answer to.
    pub(super) fn wake_reader(&self) {
        if let Some(waker) = lock(&self.reader).take() {
            waker.wake();
        }
    }

    pub(super) fn base(&self) -> &Port {
        &self.base
    }

    pub(super) fn stream(&self) -> Stream {
        self.stream
    }

    pub(super) fn peers(&self) -> MutexGuard<'_, Peers> {
        lock(&self.peers)
    }

    fn ports(&self) -> impl Iterator<Item = &Port> {
        std::iter::once(&self.base).chain(&self.further)
    }
}

/// Takes datagrams in for one call.
struct Intake<'a> {
    shared: &'a Shared,
    local_ip: Option<IpAddr>,
    holding: &'a mut HashSet<SocketAddr>,
}

impl Intake<'_> {
    /// Takes what is in one buffer: one datagram or a train of them.
    fn take(&mut self, path: PathId, buf: &[u8], received: &RecvMeta, inbox: &mut Inbox<'_, '_>) {
        let now = now();
        let remote = received.addr;
        // Where a further path has a local address of its own, QUIC is not to take that for a migration.
        let dst_ip = if path.index() == 0 {
            received.dst_ip
        } else {
            self.local_ip.or(received.dst_ip)
        };
        let meta = Meta {
            ecn: received.ecn,
            dst_ip,
            interface_index: received.interface_index,
        };
        let known = self.shared.peers().meet(remote, now);
        let datagrams = buf.get(..received.len).unwrap_or_default();
        for datagram in datagrams.chunks(received.stride.max(1)) {
            match (Header::decode(datagram), &known) {
                (Ok(Form::Plain), Some((peer, in_use))) => {
                    peer.hear(false, *in_use);
                    inbox.push(remote, meta, datagram);
                }
                (Ok(Form::Shim(header, packet)), Some((peer, in_use))) => {
                    peer.hear(true, *in_use);
                    let mut out = |packet: &[u8], meta| inbox.push(remote, meta, packet);
                    let receiver = &mut peer.incoming().receiver;
                    if receiver.receive(now, header, packet, path, meta, &mut out) {
                        peer.outgoing_gap.set(header.echo);
                    }
                }
                (Ok(Form::Plain), None) => inbox.push(remote, meta, datagram),
                (Ok(Form::Shim(_, packet)), None) => inbox.push(remote, meta, packet),
                (Err(_), _) => {
                    self.shared.malformed.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        if let Some((peer, _)) = known {
            let mut incoming = peer.incoming();
            incoming.heard_at = now;
            peer.set_echo(incoming.receiver.gap(now));
            let awaits = incoming.receiver.awaits_answer();
            peer.await_answer(awaits);
            if awaits || incoming.receiver.held() > 0 {
                self.holding.insert(remote);
            }
        }
    }

    /// Lets out what has been held long enough.
    fn expire(&mut self, inbox: &mut Inbox<'_, '_>) {
        let now = now();
        self.holding.retain(|remote| {
            let Some(peer) = self.shared.peers().find(*remote) else {
                return false;
            };
            let mut incoming = peer.incoming();
            let receiver = &mut incoming.receiver;
            let mut out = |packet: &[u8], meta| inbox.push(*remote, meta, packet);
            if receiver.awaits_answer() && !peer.awaits_answer() {
                receiver.answered(now, &mut out);
            }
            if receiver
                .next_deadline(now)
                .is_some_and(|deadline| deadline <= now)
            {
                receiver.expire(now, &mut out);
            }
            peer.await_answer(receiver.awaits_answer());
            receiver.awaits_answer() || receiver.held() > 0
        });
    }

    fn next_deadline(&self) -> Option<Instant> {
        let now = now();
        let deadlines = self
            .holding
            .iter()
            .filter_map(|remote| self.shared.peers().find(*remote));
        deadlines
            .filter_map(|peer| peer.incoming().receiver.next_deadline(now))
            .min()
    }
}

/// The clock of the runtime.
pub(super) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Whether the deadline has come; asks to be woken then if not.
fn poll_timer(
    timer: &mut Option<Pin<Box<Sleep>>>,
    deadline: Option<Instant>,
    cx: &mut Context<'_>,
) -> Poll<()> {
    let Some(deadline) = deadline.map(tokio::time::Instant::from_std) else {
        return Poll::Pending;
    };
    let timer = timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
    if timer.deadline() != deadline {
        timer.as_mut().reset(deadline);
    }
    timer.as_mut().poll(cx)
}

/// How often one call looks for something that is not a duplicate.
const ROUNDS: usize = 8;
