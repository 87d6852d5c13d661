//! Another configuration for a running proxy.

use std::net::SocketAddr;

use proxy::congestion::Algorithm;
use proxy::tls::Class;
use proxy::{PrivateKey, Proxy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::common::{self, Pair, echo, echoes, exchange, server, socket, soon, until};

/// The near side's file, with this said of its peer besides.
fn near_file(pair: &Pair, peer: &str, forwards: &str) -> String {
    format!(
        "key: unused\nsocket: {}\npeers:\n  far: {{key: {}, dial: \"{}\", dial_datagrams: \"{}\"{peer}}}\nforwards:\n{forwards}\n",
        socket(&pair.folder, "near").display(),
        pair.far_key.public(),
        pair.far.address(Class::Streams).unwrap(),
        pair.far.address(Class::Datagrams).unwrap(),
    )
}

/// The far side's file with these peers.
fn far_file(pair: &Pair, peers: &str) -> String {
    format!(
        "key: unused\nlisten: 127.0.0.1:0\nlisten_datagrams: 127.0.0.1:0\nsocket: {}\npeers:\n{peers}\n",
        socket(&pair.folder, "far").display(),
    )
}

fn web(target: SocketAddr, more: &str) -> String {
    format!("  web: {{kind: tcp, listen: 127.0.0.1:0, peer: far, target: \"{target}\"{more}}}")
}

async fn reload(proxy: &mut Proxy, text: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new.yaml");
    std::fs::write(&file, text).unwrap();
    soon(proxy.reload(&file))
        .await
        .map_err(|error| format!("{error:#}"))
}

/// A stream to an echo that stays open.
struct Ping(TcpStream);

impl Ping {
    async fn to(address: SocketAddr) -> Ping {
        let mut ping = Ping(TcpStream::connect(address).await.unwrap());
        ping.again().await;
        ping
    }

    async fn again(&mut self) {
        self.0.write_all(b"x").await.unwrap();
        soon(self.0.read_exact(&mut [0; 1])).await.unwrap();
    }
}

/// The algorithms of the connections of a class, oldest first.
fn algorithms(proxy: &Proxy, class: Class) -> Vec<Algorithm> {
    let connections = proxy.stats().peers.remove(0).connections;
    let of_class = connections.iter().filter(|connection| connection.class == class);
    of_class.map(|connection| connection.congestion).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peers_congestion_control_changes_for_new_streams_while_old_ones_go_on() {
    let address = server(echo).await;
    let mut pair = Pair::with(", congestion: bbr1", "", &web(address, ""), "127.0.0.1:*").await;
    let listener = pair.forward("web");
    let mut old = Ping::to(listener).await;

    let text = near_file(&pair, ", congestion: cubic", &web(address, ""));
    reload(&mut pair.near, &text).await.unwrap();
    until("there is a connection with the new one", || {
        algorithms(&pair.near, Class::Streams) == [Algorithm::Bbr1, Algorithm::Cubic]
    })
    .await;
    assert_eq!(
        pair.forward("web"),
        listener,
        "a forward that stays is not touched"
    );
    let mut new = Ping::to(listener).await;
    old.again().await;
    drop(old);
    until("the old connection has ended with its last stream", || {
        algorithms(&pair.near, Class::Streams) == [Algorithm::Cubic]
    })
    .await;
    new.again().await;
    assert!(echoes(listener).await);
    assert_eq!(pair.near.stats().peers[0].counters.streams_aborted, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forwards_come_and_go_and_change_and_their_open_streams_go_on() {
    let (address, other) = (server(echo).await, server(answers_other).await);
    let more = format!(
        "{}\n  gone: {{kind: socks5, listen: 127.0.0.1:0, peer: far}}",
        web(address, "")
    );
    let mut pair = Pair::start(&more, "127.0.0.1:*").await;
    let (listener, gone) = (pair.forward("web"), pair.forward("gone"));
    let mut open = Ping::to(listener).await;

    let more = format!(
        "{}\n  new: {{kind: http_connect, listen: 127.0.0.1:0, peer: far}}",
        web(other, ", congestion: bbr2")
    );
    let text = near_file(&pair, "", &more);
    reload(&mut pair.near, &text).await.unwrap();
    assert_eq!(pair.forward("web"), listener, "it listens as before");
    assert!(pair.near.forward("new").is_some() && pair.near.forward("gone").is_none());
    assert!(TcpStream::connect(gone).await.is_err());
    let tcp = TcpStream::connect(listener).await.unwrap();
    assert_eq!(
        exchange(tcp, b"").await.unwrap(),
        b"other",
        "new streams go to the new target"
    );
    assert_eq!(algorithms(&pair.near, Class::Own), [Algorithm::Bbr2]);
    open.again().await;
}

async fn answers_other(mut tcp: TcpStream) {
    tcp.write_all(b"other").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn peers_come_and_go_without_touching_the_others() {
    let address = server(echo).await;
    let mut pair = Pair::start(&web(address, ""), "127.0.0.1:*").await;
    let mut open = Ping::to(pair.forward("web")).await;
    let (stranger, folder) = (PrivateKey::generate().unwrap(), tempfile::tempdir().unwrap());
    let newcomer = common::near(
        &folder,
        &pair.far,
        &stranger,
        &pair.far_key,
        "",
        "",
        &web(address, ""),
    )
    .await;
    let near_key = pair.near_key.public();
    let with = |peers: &str| {
        let near = format!("  near: {{key: {near_key}, allow: [\"127.0.0.1:*\"]}}\n");
        far_file(&pair, &(near + peers))
    };
    let both = with(&format!(
        "  new: {{key: {}, allow: [\"127.0.0.1:*\"]}}",
        stranger.public()
    ));
    let one = with("");

    reload(&mut pair.far, &both).await.unwrap();
    until("the newcomer is let in", || newcomer.connected("far")).await;
    assert!(echoes(newcomer.forward("web").unwrap()).await);
    let mut theirs = Ping::to(newcomer.forward("web").unwrap()).await;

    reload(&mut pair.far, &one).await.unwrap();
    assert!(
        soon(theirs.0.read(&mut [0; 1])).await.is_err(),
        "it is thrown out"
    );
    until("and not let in again", || {
        newcomer.stats().peers[0].counters.connections + newcomer.stats().peers[0].counters.dial_failures >= 4
            && !newcomer.connected("far")
    })
    .await;
    open.again().await;
    let names: Vec<String> = pair.far.stats().peers.into_iter().map(|peer| peer.name).collect();
    assert_eq!(names, ["near"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_allow_list_is_in_force_at_once_for_new_streams() {
    let address = server(echo).await;
    let mut pair = Pair::start(&web(address, ""), "127.0.0.1:*").await;
    let mut open = Ping::to(pair.forward("web")).await;
    let near = format!("  near: {{key: {}}}", pair.near_key.public());
    let text = far_file(&pair, &near);
    reload(&mut pair.far, &text).await.unwrap();
    assert!(!echoes(pair.forward("web")).await, "over the same connection");
    open.again().await;
    assert_eq!(pair.far.stats().peers[0].counters.streams_refused, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_wrong_or_cannot_be_followed_changes_nothing() {
    let address = server(echo).await;
    let mut pair = Pair::start(&web(address, ""), "127.0.0.1:*").await;
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let taken = format!(
        "  new: {{kind: socks5, listen: 127.0.0.1:0, peer: far}}\n  taken: {{kind: socks5, listen: \"{}\", peer: far}}",
        taken.local_addr().unwrap()
    );
    for (forwards, problem) in [
        (web(address, ", congestion: reno"), "new.yaml:6:"),
        (taken, "forward `taken` cannot listen at 127.0.0.1:"),
    ] {
        let text = near_file(&pair, "", &forwards);
        let error = reload(&mut pair.near, &text).await.unwrap_err();
        assert!(error.contains(problem), "{error}");
    }
    let reloads = pair.near.stats().reloads;
    assert_eq!((reloads.done, reloads.refused), (0, 2));
    assert!(echoes(pair.forward("web")).await);
    assert_eq!(pair.near.forward("new"), None);
}
