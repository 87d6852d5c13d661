//! One UDP port.

use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::num::NonZeroUsize;
use std::task::{Context, Poll, ready};

use noq::udp::{BATCH_SIZE, RecvMeta, Transmit, UdpSocketState};
use tokio::io::Interest;

/// One UDP port, with segmentation offload and ECN.
#[derive(Debug)]
pub(super) struct Port {
    io: tokio::net::UdpSocket,
    state: UdpSocketState,
}

impl Port {
    pub(super) fn new(socket: UdpSocket) -> io::Result<Self> {
        let state = UdpSocketState::new((&socket).into())?;
        Ok(Self {
            io: tokio::net::UdpSocket::from_std(socket)?,
            state,
        })
    }

    pub(super) fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.io.try_io(Interest::WRITABLE, || {
            self.state.try_send((&self.io).into(), transmit)
        })
    }

    pub(super) async fn writable(&self) -> io::Result<()> {
        self.io.writable().await
    }

    pub(super) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    pub(super) fn may_fragment(&self) -> bool {
        self.state.may_fragment()
    }

    pub(super) fn max_receive_segments(&self) -> NonZeroUsize {
        self.state.gro_segments()
    }

    pub(super) fn max_transmit_segments(&self) -> NonZeroUsize {
        self.state.max_gso_segments()
    }

    /// Receives into pieces of [`MAX_TRAIN`] bytes of `scratch`.
    pub(super) fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        scratch: &mut [u8],
        metas: &mut [RecvMeta; BATCH_SIZE],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.io.poll_recv_ready(cx))?;
            let mut chunks = scratch.chunks_mut(MAX_TRAIN);
            let mut bufs: [_; BATCH_SIZE] =
                std::array::from_fn(|_| IoSliceMut::new(chunks.next().unwrap_or_default()));
            let receive = || self.state.recv((&self.io).into(), &mut bufs, metas);
            match self.io.try_io(Interest::READABLE, receive) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return Poll::Ready(result),
            }
        }
    }
}

/// A train of datagrams that the kernel put together is no longer than this.
pub(super) const MAX_TRAIN: usize = 65_535;
