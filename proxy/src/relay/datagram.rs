//! One UDP flow: the datagrams between one local application and one target, at either end.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use noq::{RecvStream, SendDatagramError, SendStream};
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::flows::Sink;
use super::serve::{permitted, refuse};
use super::splice::Pair;
use super::wire::{Kind, Refusal, Request, encode_answer, encode_datagram};
use super::{Shared, Way};
use crate::counters::{Counters, Open};
use crate::peer::{Link, Peer, Slot};
use crate::target::Target;

/// Opens a flow for a local application, and carries its datagrams until nobody sends any more.
pub(crate) async fn carry(way: &Way, target: &Target, outgoing: mpsc::Receiver<Bytes>, sink: Sink) {
    if let Err(refusal) = open(way, target, outgoing, sink).await {
        way.peer.counters.flows_refused.add(1);
        tracing::info!(peer = way.peer.name, %target, "no UDP flow: {refusal}");
    }
}

async fn open(
    way: &Way,
    target: &Target,
    outgoing: mpsc::Receiver<Bytes>,
    sink: Sink,
) -> Result<(), Refusal> {
    let Ok(_permit) = way.peer.own_flows.try_acquire() else {
        return Err(Refusal::TooMany);
    };
    let using = way.link(Slot::Datagrams).await?;
    let link = &using.link;
    let limits = way.shared.config().limits;
    let streams = timeout(limits.connect, link.connection.open_bi()).await;
    let streams = streams
        .map_err(|_| Refusal::TooMany)?
        .map_err(|_| Refusal::TimedOut)?;
    let mut pair = Pair::new(streams);
    let request = Request {
        kind: Kind::Udp,
        target: target.clone(),
        congestion: None,
    };
    pair.send
        .write_chunk(request.encode())
        .await
        .map_err(|_| Refusal::TimedOut)?;
    way.peer.counters.flows_opened.add(1);
    let flow = Flow {
        link,
        counters: &way.peer.counters,
        idle: limits.flow_idle,
    };
    let refusal = flow.run(pair, sink, Source::Application(outgoing), true).await;
    refusal.map_or(Ok(()), Err)
}

/// Does what the peer asks for: a UDP socket towards `target`.
pub(super) async fn serve(shared: &Shared, peer: &Peer, link: &Arc<Link>, target: &Target, mut pair: Pair) {
    let limits = shared.config().limits;
    let socket = async {
        let permit = peer.flows.try_acquire().map_err(|_| Refusal::TooMany)?;
        let addresses = timeout(limits.connect, permitted(peer, target)).await;
        let addresses = addresses.map_err(|_| Refusal::TimedOut)??;
        let socket = connected(&addresses).await.ok_or(Refusal::Unreachable)?;
        Ok((permit, Arc::new(socket)))
    };
    let (_permit, socket) = match socket.await {
        Ok(socket) => socket,
        Err(refusal) => {
            peer.counters.flows_refused.add(1);
            tracing::info!(peer = peer.name, %target, "UDP flow refused: {refusal}");
            refuse(pair, refusal).await;
            return;
        }
    };
    if pair.send.write_all(&encode_answer(Ok(()))).await.is_err() {
        return;
    }
    peer.counters.flows_accepted.add(1);
    let flow = Flow {
        link,
        counters: &peer.counters,
        idle: limits.flow_idle,
    };
    flow.run(
        pair,
        Sink::Target(Arc::clone(&socket)),
        Source::Target(socket),
        false,
    )
    .await;
}

async fn connected(addresses: &[SocketAddr]) -> Option<UdpSocket> {
    for address in addresses {
        let any: SocketAddr = match address {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        // A new socket must be known to be writable, or the first datagram is dropped.
        if let Ok(socket) = UdpSocket::bind(any).await
            && socket.connect(address).await.is_ok()
            && socket.writable().await.is_ok()
        {
            return Some(socket);
        }
    }
    None
}

/// Where the datagrams of a flow come from that go to the peer.
enum Source {
    Application(mpsc::Receiver<Bytes>),
    Target(Arc<UdpSocket>),
}

impl Source {
    /// The next datagram; `None` when there will be none.
    async fn next(&mut self) -> Option<Bytes> {
        match self {
            Source::Application(datagrams) => datagrams.recv().await,
            Source::Target(socket) => loop {
                socket.readable().await.ok()?;
                let mut buffer = [0; MAX_DATAGRAM];
                // An error is one that the target's host reported for an earlier datagram, or nothing to read after all.
                if let Ok(length) = socket.try_recv(&mut buffer) {
                    return Some(Bytes::copy_from_slice(buffer.get(..length)?));
                }
            },
        }
    }
}

/// The part of a flow that is the same at both ends.
struct Flow<'a> {
    link: &'a Link,
    counters: &'a Counters,
    idle: Duration,
}

impl Flow<'_> {
    /// Carries datagrams both ways until one side ends the flow, or nothing came for long enough.
    async fn run(&self, mut pair: Pair, sink: Sink, source: Source, answer_due: bool) -> Option<Refusal> {
        let _open = Open::new(&self.counters.flows_open);
        let id = u64::from(pair.send.id());
        let moved = Arc::new(AtomicU64::new(0));
        self.link.flows.insert(id, sink.clone(), Arc::clone(&moved));
        let Pair { send, recv, .. } = &mut pair;
        let refusal = tokio::select! {
            () = self.outgoing(id, source, send, &moved) => None,
            refusal = self.incoming(recv, &sink, answer_due) => refusal,
            () = self.silence(&moved) => None,
        };
        self.link.flows.remove(id);
        pair.finished();
        refusal
    }

    async fn outgoing(&self, id: u64, mut source: Source, send: &mut SendStream, moved: &AtomicU64) {
        while let Some(payload) = source.next().await {
            moved.fetch_add(1, Relaxed);
            match self.link.connection.send_datagram(encode_datagram(id, &payload)) {
                Ok(()) => self.counters.datagrams_sent.add(1),
                Err(SendDatagramError::TooLarge | SendDatagramError::UnsupportedByPeer) => {
                    let Ok(length) = u16::try_from(payload.len()) else {
                        continue;
                    };
                    let framed = [&length.to_be_bytes(), &payload[..]].concat();
                    if send.write_all(&framed).await.is_err() {
                        return;
                    }
                    self.counters.datagrams_sent.add(1);
                    self.counters.datagrams_too_big.add(1);
                }
                Err(SendDatagramError::ConnectionLost(_) | SendDatagramError::Disabled) => return,
            }
        }
    }

    /// What comes over the stream: the answer, datagrams too big for QUIC, the end.
    async fn incoming(&self, recv: &mut RecvStream, sink: &Sink, answer_due: bool) -> Option<Refusal> {
        if answer_due {
            let mut answer = [0; 2];
            recv.read_exact(&mut answer).await.ok()?;
            match super::wire::decode_answer(answer) {
                Ok(Ok(())) => {}
                Ok(Err(refusal)) => return Some(refusal),
                Err(_) => return Some(Refusal::Failed),
            }
        }
        loop {
            let mut length = [0; 2];
            recv.read_exact(&mut length).await.ok()?;
            let mut payload = BytesMut::zeroed(usize::from(u16::from_be_bytes(length)));
            recv.read_exact(&mut payload).await.ok()?;
            self.counters.datagrams_received.add(1);
            self.counters.datagrams_too_big.add(1);
            self.counters
                .datagrams_dropped
                .add(u64::from(sink.deliver(&payload).is_err()));
        }
    }

    /// Waits until nothing has gone either way for long enough.
    async fn silence(&self, moved: &AtomicU64) {
        let mut before = moved.load(Relaxed);
        loop {
            sleep(self.idle).await;
            let now = moved.load(Relaxed);
            if now == before {
                return;
            }
            before = now;
        }
    }
}

/// The largest payload of UDP over IPv4 and IPv6 without jumbograms.
const MAX_DATAGRAM: usize = 65_535;
