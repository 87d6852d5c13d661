//! The listeners of the forwards: each accepts local applications and hands them to what its kind speaks.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use bytes::Bytes;
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::flows::Sink;
use super::{Way, after_accept_error, datagram, http_connect, socks5, transparent};
use crate::config::{Forward, ForwardKind};
use crate::target::Target;

/// A forward that listens, and does not serve yet.
#[derive(Debug)]
pub(crate) struct Listening {
    pub(crate) forward: Forward,
    /// Where it listens; the port is known now even if the file leaves it open.
    pub(crate) address: SocketAddr,
    socket: Socket,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpListener),
    Udp(Arc<UdpSocket>),
}

impl Listening {
    pub(crate) async fn bind(forward: &Forward) -> anyhow::Result<Listening> {
        let socket = match forward.kind {
            ForwardKind::Udp(_) => UdpSocket::bind(forward.listen)
                .await
                .map(|socket| Socket::Udp(Arc::new(socket))),
            ForwardKind::Tproxy => transparent::listen(forward.listen).map(Socket::Tcp),
            _ => TcpListener::bind(forward.listen).await.map(Socket::Tcp),
        };
        let failed = || format!("forward `{}` cannot listen at {}", forward.name, forward.listen);
        let socket = socket.with_context(failed)?;
        let address = match &socket {
            Socket::Tcp(listener) => listener.local_addr(),
            Socket::Udp(socket) => socket.local_addr(),
        };
        Ok(Listening {
            forward: forward.clone(),
            address: address.with_context(failed)?,
            socket,
        })
    }

    /// Whether `forward` listens at the same place in the same way.
    pub(crate) fn suits(before: &Forward, forward: &Forward) -> bool {
        let way = |kind: &ForwardKind| match kind {
            ForwardKind::Udp(_) => 0,
            ForwardKind::Tproxy => 1,
            _ => 2,
        };
        before.listen == forward.listen && way(&before.kind) == way(&forward.kind)
    }

    /// The same listener for another forward, which it must suit.
    pub(crate) fn with(self, forward: &Forward) -> Listening {
        Listening {
            forward: forward.clone(),
            ..self
        }
    }

    /// Serves local applications until `stop`, and gives the listener back.
    pub(crate) async fn serve(self, way: Way, stop: CancellationToken) -> Listening {
        let serve = async {
            match (&self.socket, &self.forward.kind) {
                (Socket::Tcp(listener), _) => {
                    serve_tcp(listener, self.address.port(), &self.forward, &way).await
                }
                (Socket::Udp(socket), ForwardKind::Udp(target)) => serve_udp(socket, target, &way).await,
                (Socket::Udp(_), _) => {}
            }
        };
        stop.run_until_cancelled(serve).await;
        self
    }
}

async fn serve_tcp(listener: &TcpListener, port: u16, forward: &Forward, way: &Way) {
    loop {
        match listener.accept().await {
            Ok((tcp, _)) => {
                let (kind, way) = (forward.kind.clone(), way.clone());
                let tracked = way.shared.work.clone();
                tracked.spawn(async move { serve_application(tcp, port, kind, &way).await });
            }
            Err(error) => after_accept_error(&forward.name, error).await,
        }
    }
}

async fn serve_application(tcp: TcpStream, port: u16, kind: ForwardKind, way: &Way) {
    let result = match kind {
        ForwardKind::Tcp(target) => {
            way.carry(tcp, &target).await;
            Ok(())
        }
        ForwardKind::Socks5 => socks5::serve(tcp, way).await,
        ForwardKind::HttpConnect => http_connect::serve(tcp, way).await,
        ForwardKind::Tproxy => transparent::serve(tcp, transparent::Diverted::Tproxy, port, way).await,
        ForwardKind::Redirect => transparent::serve(tcp, transparent::Diverted::Redirect, port, way).await,
        ForwardKind::Udp(_) => Ok(()),
    };
    if let Err(error) = result {
        tracing::debug!(peer = way.peer.name, "application: {error:#}");
    }
}

/// Each address that sends becomes a flow of its own.
async fn serve_udp(socket: &Arc<UdpSocket>, target: &Target, way: &Way) {
    let mut flows: HashMap<SocketAddr, mpsc::Sender<Bytes>> = HashMap::new();
    let mut buffer = vec![0; MAX_DATAGRAM];
    loop {
        // An error is one that a host reported for a datagram sent earlier.
        let Ok((length, application)) = socket.recv_from(&mut buffer).await else {
            continue;
        };
        let payload = Bytes::copy_from_slice(buffer.get(..length).unwrap_or_default());
        let flow = flow_of(&mut flows, application, |outgoing| {
            let sink = Sink::Application {
                socket: Arc::clone(socket),
                application,
                header: Bytes::new(),
            };
            let (way, target) = (way.clone(), target.clone());
            let tracked = way.shared.work.clone();
            tracked.spawn(async move { datagram::carry(&way, &target, outgoing, sink).await });
        });
        if flow.try_send(payload).is_err() {
            way.peer.counters.datagrams_dropped.add(1);
        }
    }
}

/// The flow for `key`, begun by `begin` unless there is one. Forgets flows that have ended, when there are many.
pub(super) fn flow_of<K: std::hash::Hash + Eq + Clone>(
    flows: &mut HashMap<K, mpsc::Sender<Bytes>>,
    key: K,
    begin: impl FnOnce(mpsc::Receiver<Bytes>),
) -> &mpsc::Sender<Bytes> {
    if flows.len() >= 64 && flows.len().is_power_of_two() && !flows.contains_key(&key) {
        flows.retain(|_, flow| !flow.is_closed());
    }
    let begun = || {
        let (sender, receiver) = mpsc::channel(WAITING_DATAGRAMS);
        begin(receiver);
        sender
    };
    match flows.entry(key) {
        std::collections::hash_map::Entry::Occupied(entry) if !entry.get().is_closed() => entry.into_mut(),
        entry => entry.insert_entry(begun()).into_mut(),
    }
}

/// Datagrams of one flow that wait for their way to the peer.
const WAITING_DATAGRAMS: usize = 64;
/// The largest payload of UDP.
pub(super) const MAX_DATAGRAM: usize = 65_535;
