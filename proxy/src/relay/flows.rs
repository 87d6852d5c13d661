//! The UDP flows of one connection: which flow id belongs to which socket.
//!
//! A flow's id is the id of the stream that opened it, so the two sides never choose the same.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Bytes, BytesMut};
use tokio::net::UdpSocket;

use super::wire::decode_datagram;
use crate::counters::Counters;

/// The flows that exist, and datagrams that have overtaken the request of theirs.
#[derive(Debug, Default)]
pub(crate) struct Flows(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    sinks: HashMap<u64, (Sink, Arc<AtomicU64>)>,
    early: VecDeque<(u64, Bytes)>,
}

/// Where the datagrams of a flow go that come from the peer.
#[derive(Clone, Debug)]
pub(crate) enum Sink {
    /// To a local application.
    Application {
        socket: Arc<UdpSocket>,
        application: SocketAddr,
        /// What goes before each datagram: the header of SOCKS5, or nothing.
        header: Bytes,
    },
    /// To the target that the socket is connected to.
    Target(Arc<UdpSocket>),
}

impl Sink {
    /// Passes a datagram on; a socket without room drops it, as routers do.
    pub(crate) fn deliver(&self, payload: &[u8]) -> io::Result<()> {
        match self {
            Sink::Application {
                socket,
                application,
                header,
            } if header.is_empty() => socket.try_send_to(payload, *application)?,
            Sink::Application {
                socket,
                application,
                header,
            } => {
                let mut datagram = BytesMut::with_capacity(header.len() + payload.len());
                datagram.extend_from_slice(header);
                datagram.extend_from_slice(payload);
                socket.try_send_to(&datagram, *application)?
            }
            Sink::Target(socket) => socket.try_send(payload)?,
        };
        Ok(())
    }
}

impl Flows {
    /// Passes the datagrams of the connection on until it ends.
    pub(crate) async fn receive(&self, connection: &noq::Connection, counters: &Counters) {
        while let Ok(datagram) = connection.read_datagram().await {
            counters.datagrams_received.add(1);
            let Ok((flow, payload)) = decode_datagram(datagram) else {
                counters.datagrams_dropped.add(1);
                continue;
            };
            let dropped = match self.sink_or_keep(flow, &payload) {
                Kept::For(sink) => u64::from(sink.deliver(&payload).is_err()),
                Kept::Instead(dropped) => dropped,
            };
            counters.datagrams_dropped.add(dropped);
        }
    }

    /// From now on the flow exists; each datagram is counted in `moved`. What had come too early is passed on.
    pub(crate) fn insert(&self, flow: u64, sink: Sink, moved: Arc<AtomicU64>) {
        let mut state = self.lock();
        state.early.retain(|(of, payload)| {
            if *of == flow {
                // Nobody counts on a datagram that came before its flow.
                let _ = sink.deliver(payload);
            }
            *of != flow
        });
        state.sinks.insert(flow, (sink, moved));
    }

    pub(crate) fn remove(&self, flow: u64) {
        self.lock().sinks.remove(&flow);
    }

    fn sink_or_keep(&self, flow: u64, payload: &Bytes) -> Kept {
        let mut state = self.lock();
        if let Some((sink, moved)) = state.sinks.get(&flow) {
            moved.fetch_add(1, Relaxed);
            return Kept::For(sink.clone());
        }
        state.early.push_back((flow, payload.clone()));
        let full = state.early.len() > MAX_EARLY;
        if full {
            state.early.pop_front();
        }
        Kept::Instead(u64::from(full))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves at worst a datagram unsent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Kept {
    For(Sink),
    /// Kept for later, for which so many others were dropped.
    Instead(u64),
}

/// Datagrams kept per connection until their flow exists: a flow sends few before its first answer.
const MAX_EARLY: usize = 64;
