//! What the peer opens on a connection: targets are resolved, checked against the allow-list, and connected to.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;

use noq::RecvStream;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::splice::{Pair, prepare, splice};
use super::wire::{Kind, MAX_REQUEST, Refusal, Request, encode_answer};
use super::{Shared, datagram};
use crate::allow::AllowList;
use crate::counters::Open;
use crate::links;
use crate::peer::{Link, Peer};
use crate::target::Target;
use crate::tls::Class;

/// Serves a connection until it ends.
pub(crate) async fn connection(shared: &Arc<Shared>, peer: &Arc<Peer>, link: &Arc<Link>) {
    let streams = async {
        while let Ok(streams) = link.connection.accept_bi().await {
            let (shared, peer, link) = (Arc::clone(shared), Arc::clone(peer), Arc::clone(link));
            let (tracked, using) = (shared.work.clone(), link.uses.token());
            tracked.spawn(async move {
                stream(&shared, &peer, &link, Pair::new(streams)).await;
                drop(using);
            });
        }
    };
    let datagrams = async {
        if link.class == Class::Datagrams {
            link.flows.receive(&link.connection, &peer.counters).await;
        }
    };
    tokio::join!(streams, datagrams);
}

async fn stream(shared: &Shared, peer: &Peer, link: &Arc<Link>, mut pair: Pair) {
    let request = timeout(shared.config().limits.connect, read_request(&mut pair.recv)).await;
    let Ok(Ok(request)) = request else {
        refused(peer, pair, Refusal::BadRequest).await;
        return;
    };
    if let (Some(algorithm), Class::Own) = (request.congestion, link.class) {
        link.figures.set_algorithm(algorithm);
    }
    match (request.kind, link.class) {
        (Kind::Tcp, Class::Streams | Class::Own) => tcp(shared, peer, link, &request.target, pair).await,
        (Kind::Udp, Class::Datagrams) => datagram::serve(shared, peer, link, &request.target, pair).await,
        _ => refused(peer, pair, Refusal::BadRequest).await,
    }
}

async fn tcp(shared: &Shared, peer: &Peer, link: &Link, target: &Target, mut pair: Pair) {
    let Ok(_permit) = peer.streams.try_acquire() else {
        refused(peer, pair, Refusal::TooMany).await;
        return;
    };
    let connected = timeout(shared.config().limits.connect, connect(peer, target)).await;
    let tcp = match connected.unwrap_or(Err(Refusal::TimedOut)) {
        Ok(tcp) => tcp,
        Err(refusal) => {
            tracing::info!(peer = peer.name, %target, "refused: {refusal}");
            refused(peer, pair, refusal).await;
            return;
        }
    };
    prepare(&tcp);
    peer.counters.streams_accepted.add(1);
    let _open = Open::new(&peer.counters.streams_open);
    if pair.send.write_all(&encode_answer(Ok(()))).await.is_err() {
        return;
    }
    match splice(
        &tcp,
        &mut pair,
        false,
        &peer.counters,
        &link.window,
        shared.config().limits.stream_idle,
    )
    .await
    {
        Ok(()) => pair.finished(),
        Err(broken) => {
            peer.counters.streams_aborted.add(1);
            tracing::debug!(peer = peer.name, %target, "stream ended: {broken}");
        }
    }
}

async fn refused(peer: &Peer, pair: Pair, refusal: Refusal) {
    peer.counters.streams_refused.add(1);
    refuse(pair, refusal).await;
}

/// Answers that it is not done, and lets go of the stream.
pub(super) async fn refuse(mut pair: Pair, refusal: Refusal) {
    if pair.send.write_all(&encode_answer(Err(refusal))).await.is_ok() {
        // Dropped like this both directions end, but not by a reset, which might overtake the answer.
        pair.finished();
    }
}

async fn connect(peer: &Peer, target: &Target) -> Result<TcpStream, Refusal> {
    let mut refusal = Refusal::NoSuchHost;
    for address in permitted(peer, target).await? {
        match TcpStream::connect(address).await {
            Ok(tcp) => return Ok(tcp),
            Err(error) => refusal = why(&error),
        }
    }
    Err(refusal)
}

/// The addresses of `target` that the peer may reach. A name is resolved once: what is connected to is what was checked,
/// whatever the name resolves to a moment later.
pub(super) async fn permitted(peer: &Peer, target: &Target) -> Result<Vec<SocketAddr>, Refusal> {
    let config = peer.config();
    if !config.allow.may_permit(target) {
        return Err(Refusal::Denied);
    }
    let addresses = links::resolve(target).await.map_err(|_| Refusal::NoSuchHost)?;
    only_permitted(&config.allow, target, addresses)
}

fn only_permitted(
    allow: &AllowList,
    target: &Target,
    mut addresses: Vec<SocketAddr>,
) -> Result<Vec<SocketAddr>, Refusal> {
    if addresses.is_empty() {
        return Err(Refusal::NoSuchHost);
    }
    addresses.retain(|address| allow.permits(target, address.ip()));
    match addresses.is_empty() {
        true => Err(Refusal::Denied),
        false => Ok(addresses),
    }
}

fn why(error: &io::Error) -> Refusal {
    match error.kind() {
        ErrorKind::ConnectionRefused => Refusal::Refused,
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => Refusal::Unreachable,
        ErrorKind::TimedOut => Refusal::TimedOut,
        _ => Refusal::Failed,
    }
}

async fn read_request(recv: &mut RecvStream) -> anyhow::Result<Request> {
    let mut length = [0; 2];
    recv.read_exact(&mut length).await?;
    let length = usize::from(u16::from_be_bytes(length));
    let mut body = [0; MAX_REQUEST];
    let body = body
        .get_mut(..length)
        .ok_or_else(|| anyhow::anyhow!("too long"))?;
    recv.read_exact(body).await?;
    Ok(Request::decode(body)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_good_and_bad_addresses_leads_to_the_good_ones_only() {
        let allow = AllowList::new(vec!["*:*".parse().unwrap()]);
        let target = "rebound.example:80".parse().unwrap();
        let addresses = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<_>>();
        let bad = [
            "127.0.0.1:80",
            "[::ffff:169.254.169.254]:80",
            "[64:ff9b::a00:1]:80",
        ];
        let mixed = addresses(&[bad[0], "192.0.2.1:80", bad[1], bad[2]]);
        assert_eq!(
            only_permitted(&allow, &target, mixed),
            Ok(addresses(&["192.0.2.1:80", bad[2]]))
        );
        assert_eq!(
            only_permitted(&allow, &target, addresses(&bad[..2])),
            Err(Refusal::Denied)
        );
        assert_eq!(
            only_permitted(&allow, &target, Vec::new()),
            Err(Refusal::NoSuchHost)
        );
    }
}
