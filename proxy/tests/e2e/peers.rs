//! Who may come, who goes, and who comes back.

use proxy::tls::Class;
use proxy::{PrivateKey, Proxy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::common::{self, Pair, echo, echoes, parse, server, soon, until};

async fn forwarding() -> Pair {
    let address = server(echo).await;
    let forwards = format!("  web: {{kind: tcp, listen: 127.0.0.1:0, peer: far, target: \"{address}\"}}");
    Pair::start(&forwards, "127.0.0.1:*").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_not_listed_is_refused() {
    let pair = forwarding().await;
    let stranger = PrivateKey::generate().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let stranger = common::near(
        &folder,
        &pair.far,
        &stranger,
        &pair.far_key,
        "",
        "limits: {connect: 1s}",
        "",
    )
    .await;
    until("it has tried", || {
        stranger.stats().peers[0].counters.dial_failures + stranger.stats().peers[0].counters.connections >= 2
    })
    .await;
    let far = pair.far.stats().peers.remove(0);
    assert_eq!(
        far.counters.connections, 2,
        "only those of the peer that is listed"
    );
    assert!(echoes(pair.forward("web")).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_answers_with_another_key_is_not_trusted() {
    let pair = forwarding().await;
    let folder = tempfile::tempdir().unwrap();
    let expected = PrivateKey::generate().unwrap();
    let near = common::near(&folder, &pair.far, &pair.near_key, &expected, "", "", "").await;
    until("it has tried", || {
        near.stats().peers[0].counters.dial_failures >= 2
    })
    .await;
    assert_eq!(near.stats().peers[0].counters.connections, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_was_killed_is_found_again_when_it_is_back() {
    let pair = forwarding().await;
    assert!(echoes(pair.forward("web")).await);
    let mut tcp = TcpStream::connect(pair.forward("web")).await.unwrap();
    tcp.write_all(b"x").await.unwrap();
    soon(tcp.read_exact(&mut [0; 1])).await.unwrap();

    let listen = [Class::Streams, Class::Datagrams].map(|class| pair.far.address(class).unwrap().to_string());
    let Pair {
        near,
        far,
        near_key,
        far_key,
        folder,
    } = pair;
    drop(far);
    let error = soon(tcp.read(&mut [0; 1])).await.unwrap_err();
    assert_eq!(
        error.kind(),
        std::io::ErrorKind::ConnectionReset,
        "what was under way is broken, not ended"
    );

    until("the port is free", || {
        std::net::UdpSocket::bind(&listen[0]).is_ok() && std::net::UdpSocket::bind(&listen[1]).is_ok()
    })
    .await;
    let far = common::far(
        &folder,
        &near_key,
        &far_key,
        "",
        "127.0.0.1:*",
        (&listen[0], &listen[1]),
    )
    .await;
    until("they have found each other", || {
        near.connected("far") && far.connected("near")
    })
    .await;
    assert!(echoes(near.forward("web").unwrap()).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_side_that_is_dialled_has_forwards_too() {
    let folder = tempfile::tempdir().unwrap();
    let (near_key, far_key) = (PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap());
    let address = server(echo).await;
    let far = parse(&format!(
        "key: unused\nlisten: 127.0.0.1:0\nsocket: {}\npeers:\n  near: {{key: {}}}\nforwards:\n  web: {{kind: tcp, listen: 127.0.0.1:0, peer: near, target: \"{address}\"}}\n",
        common::socket(&folder, "far").display(),
        near_key.public(),
    ));
    let far = Proxy::start(far, far_key.clone()).await.unwrap();
    let near = common::near(
        &folder,
        &far,
        &near_key,
        &far_key,
        ", allow: [\"127.0.0.1:*\"]",
        "",
        "",
    )
    .await;
    until("they are connected", || far.connected("near")).await;
    assert!(echoes(far.forward("web").unwrap()).await);
    assert_eq!(near.stats().peers[0].counters.streams_accepted, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_lets_streams_come_to_their_ends() {
    let pair = forwarding().await;
    let mut tcp = TcpStream::connect(pair.forward("web")).await.unwrap();
    tcp.write_all(b"before ").await.unwrap();
    soon(tcp.read_exact(&mut [0; 7])).await.unwrap();
    let forward = pair.forward("web");
    let stopping = tokio::spawn(pair.near.shutdown());
    while TcpStream::connect(forward).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert_eq!(common::exchange(tcp, b"after").await.unwrap(), b"after");
    soon(stopping).await.unwrap();
    until("the other side knows", || {
        pair.far.stats().peers[0].connections.is_empty()
    })
    .await;
}
