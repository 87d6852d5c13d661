//! SOCKS5 UDP ASSOCIATE (RFC 1928 §7): one socket for an application, one flow for each target that it names.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::sync::mpsc;

use super::flows::Sink;
use super::forward::{MAX_DATAGRAM, flow_of};
use super::socks5::{GENERAL_FAILURE, SUCCEEDED, datagram_header, parse_datagram, reply};
use super::{Way, datagram};
use crate::target::Target;

/// Serves an association until its TCP connection ends.
pub(super) async fn serve(mut tcp: TcpStream, way: &Way) -> anyhow::Result<()> {
    // Where the application reached us by TCP it reaches us by UDP.
    let socket = match UdpSocket::bind((tcp.local_addr()?.ip(), 0)).await {
        Ok(socket) => Arc::new(socket),
        Err(error) => {
            tcp.write_all(&reply(GENERAL_FAILURE, None)).await?;
            return Err(error.into());
        }
    };
    // A new socket must be known to be writable, or the first answer is dropped.
    socket.writable().await?;
    tcp.write_all(&reply(SUCCEEDED, Some(socket.local_addr()?)))
        .await?;
    let application = tcp.peer_addr()?;
    tokio::select! {
        () = relay(&socket, application, way) => {}
        () = ended(&mut tcp) => {}
        () = way.shared.stop.cancelled() => {}
    }
    Ok(())
}

/// The flows end with this, as what feeds them does.
async fn relay(socket: &Arc<UdpSocket>, application: SocketAddr, way: &Way) {
    let mut flows: HashMap<(SocketAddr, Target), mpsc::Sender<Bytes>> = HashMap::new();
    let mut buffer = vec![0; MAX_DATAGRAM];
    loop {
        // An error is one that a host reported for a datagram sent earlier.
        let Ok((length, from)) = socket.recv_from(&mut buffer).await else {
            continue;
        };
        let datagram = buffer.get(..length).unwrap_or_default();
        // Only the application's host may use its association.
        let Some((target, payload)) = parse_datagram(datagram).filter(|_| from.ip() == application.ip())
        else {
            way.peer.counters.datagrams_dropped.add(1);
            continue;
        };
        let flow = flow_of(&mut flows, (from, target.clone()), |outgoing| {
            let sink = Sink::Application {
                socket: Arc::clone(socket),
                application: from,
                header: datagram_header(&target),
            };
            let way = way.clone();
            let tracked = way.shared.work.clone();
            tracked.spawn(async move { datagram::carry(&way, &target, outgoing, sink).await });
        });
        if flow.try_send(Bytes::copy_from_slice(payload)).is_err() {
            way.peer.counters.datagrams_dropped.add(1);
        }
    }
}

/// Waits until the application closes the connection; what it says on it means nothing.
async fn ended(tcp: &mut TcpStream) {
    let mut ignored = [0; 64];
    while matches!(tcp.read(&mut ignored).await, Ok(1..)) {}
}
