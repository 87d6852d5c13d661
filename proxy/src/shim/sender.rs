//! The sending side: a header before each datagram, in one buffer for all segments of a train.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use noq::UdpSender;
use noq::udp::{Transmit, is_msg_size_err};
use tracing::debug;

use super::header::{HEADER_LEN, Header};
use super::peer::Peer;
use super::socket::{Shared, now};

/// Sends the datagrams of one connection, or of the endpoint.
pub(super) struct ShimSender {
    shared: Arc<Shared>,
    /// Whom the last datagram went to.
    peer: Option<(SocketAddr, Arc<Peer>)>,
    /// Whether this is a connection's sender: one peer, which is not to be forgotten while it lives.
    keeps_peer: bool,
    buffer: Vec<u8>,
    blocked: Option<Writable>,
}

type Writable = Pin<Box<dyn Future<Output = io::Result<()>> + Send + Sync>>;

impl ShimSender {
    pub(super) fn new(shared: Arc<Shared>, keeps_peer: bool) -> Self {
        Self {
            shared,
            peer: None,
            keeps_peer,
            buffer: Vec::new(),
            blocked: None,
        }
    }

    fn try_send(&mut self, transmit: &Transmit<'_>) -> io::Result<()> {
        let base = self.shared.base();
        if self
            .peer
            .as_ref()
            .is_none_or(|(remote, _)| *remote != transmit.destination)
        {
            let met = self.shared.peers().meet(transmit.destination, now());
            self.peer = met.map(|(peer, _)| (transmit.destination, peer));
        }
        // A stranger too many is spoken to as every QUIC endpoint understands it.
        let Some(peer) = self
            .peer
            .as_ref()
            .map(|(_, peer)| peer)
            .filter(|peer| peer.speaks_shim())
        else {
            return base.try_send(transmit);
        };
        let stream = self.shared.stream();
        // Locked until the datagrams are sent, so that numbers go out in order and none is used in vain.
        let numbers = peer.numbers(stream);
        let segment = transmit.segment_size.unwrap_or(transmit.contents.len()).max(1);
        self.buffer.clear();
        let mut count = 0;
        for packet in transmit.contents.chunks(segment) {
            let header = Header {
                stream,
                echo: peer.echo(),
                sequence: numbers.peek(count),
            };
            self.buffer.extend_from_slice(&header.encode());
            self.buffer.extend_from_slice(packet);
            count += 1;
        }
        base.try_send(&Transmit {
            contents: &self.buffer,
            segment_size: transmit.segment_size.map(|size| size + HEADER_LEN),
            ..transmit.clone()
        })?;
        numbers.take(count);
        if peer.answer() {
            self.shared.wake_reader();
        }
        Ok(())
    }
}

impl UdpSender for ShimSender {
    fn poll_send(
        mut self: Pin<&mut Self>,
        transmit: &Transmit<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            if let Some(blocked) = &mut self.blocked {
                let writable = ready!(blocked.as_mut().poll(cx));
                self.blocked = None;
                writable?;
            }
            let sent = self.try_send(transmit);
            if !self.keeps_peer {
                self.peer = None;
            }
            match sent {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let shared = self.shared.clone();
                    self.blocked = Some(Box::pin(async move { shared.base().writable().await }));
                }
                Err(error) => {
                    // To QUIC it is a lost packet. Probes of the path's MTU are expected to be too long.
                    if !is_msg_size_err(&error) {
                        debug!(%error, destination = %transmit.destination, "datagram not sent");
                    }
                    return Poll::Ready(Ok(()));
                }
                Ok(()) => return Poll::Ready(Ok(())),
            }
        }
    }

    fn max_transmit_segments(&self) -> NonZeroUsize {
        self.shared.base().max_transmit_segments()
    }
}

impl fmt::Debug for ShimSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShimSender")
            .field("peer", &self.peer)
            .finish_non_exhaustive()
    }
}
