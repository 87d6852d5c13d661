//! UDP: by a fixed forward and by SOCKS5.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::{Duration, timeout};

use crate::common::{LONG, Pair, noise, soon, udp_echo, until};

async fn application() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").await.unwrap()
}

/// Asks until an answer comes: UDP, even on loopback, may drop.
async fn ask(socket: &UdpSocket, to: SocketAddr, datagram: &[u8]) -> Vec<u8> {
    let mut buffer = vec![0; 65_535];
    let asking = async {
        loop {
            socket.send_to(datagram, to).await.unwrap();
            if let Ok(received) = timeout(Duration::from_millis(500), socket.recv_from(&mut buffer)).await {
                return received.unwrap().0;
            }
        }
    };
    let length = timeout(LONG, asking).await.unwrap();
    buffer.truncate(length);
    buffer
}

async fn forwarding(both: &str) -> Pair {
    let server = udp_echo().await;
    let forwards = format!(
        "  dns: {{kind: udp, listen: 127.0.0.1:0, peer: far, target: \"{server}\"}}\n  socks: {{kind: socks5, listen: 127.0.0.1:0, peer: far}}"
    );
    Pair::with("", both, &forwards, "127.0.0.1:*").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_application_gets_its_own_answers() {
    let pair = forwarding("").await;
    let applications = [application().await, application().await, application().await];
    for round in 0..5u8 {
        for (index, socket) in applications.iter().enumerate() {
            let question = [round, u8::try_from(index).unwrap(), 1, 2, 3];
            assert_eq!(ask(socket, pair.forward("dns"), &question).await, question);
        }
    }
    let far = pair.far.stats().peers.remove(0).counters;
    assert_eq!(
        (far.flows_open, far.flows_accepted, far.datagrams_too_big),
        (3, 3, 0)
    );
    let dropped = [&pair.near, &pair.far].map(|side| side.stats().peers[0].counters.datagrams_dropped);
    assert_eq!(
        dropped,
        [0, 0],
        "not even those that come before their flow is there"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn datagrams_too_big_for_quic_go_another_way_and_are_counted() {
    let pair = forwarding("").await;
    let socket = application().await;
    for length in [0, 1, 1000, 9000, 60_000] {
        let question = noise(1, length);
        assert!(
            ask(&socket, pair.forward("dns"), &question).await == question,
            "{length} bytes"
        );
    }
    let near = pair.near.stats().peers.remove(0).counters;
    assert!(near.datagrams_too_big >= 4, "two sent, two received: {near:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_flow_ends_and_begins_anew() {
    let pair = forwarding("limits: {flow_idle: 300ms}").await;
    let socket = application().await;
    assert_eq!(ask(&socket, pair.forward("dns"), b"one").await, b"one");
    until("the flow has ended at both sides", || {
        [&pair.near, &pair.far]
            .iter()
            .all(|side| side.stats().peers[0].counters.flows_open == 0)
    })
    .await;
    assert_eq!(ask(&socket, pair.forward("dns"), b"two").await, b"two");
    assert!(pair.far.stats().peers[0].counters.flows_accepted >= 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_are_never_more_flows_than_allowed() {
    let pair = forwarding("limits: {flows: 2}").await;
    let (one, two, three) = (application().await, application().await, application().await);
    assert_eq!(ask(&one, pair.forward("dns"), b"one").await, b"one");
    assert_eq!(ask(&two, pair.forward("dns"), b"two").await, b"two");
    three.send_to(b"three", pair.forward("dns")).await.unwrap();
    until("the third is refused", || {
        pair.near.stats().peers[0].counters.flows_refused == 1
    })
    .await;
    let far = pair.far.stats().peers.remove(0).counters;
    assert_eq!((far.flows_accepted, far.streams_refused), (2, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn socks5_associates_udp_with_any_number_of_targets() {
    let pair = forwarding("").await;
    let mut tcp = TcpStream::connect(pair.forward("socks")).await.unwrap();
    tcp.write_all(&[5, 1, 0, 5, 3, 0, 1, 0, 0, 0, 0, 0, 0])
        .await
        .unwrap();
    let mut reply = [0; 12];
    soon(tcp.read_exact(&mut reply)).await.unwrap();
    assert_eq!(reply[..6], [5, 0, 5, 0, 0, 1]);
    let relay: SocketAddr = (
        [reply[6], reply[7], reply[8], reply[9]],
        u16::from_be_bytes([reply[10], reply[11]]),
    )
        .into();

    let socket = application().await;
    for server in [udp_echo().await, udp_echo().await] {
        for name in [&b"\x01\x7f\x00\x00\x01"[..], b"\x03\x09localhost"] {
            let header = [&[0, 0, 0], name, &server.port().to_be_bytes()].concat();
            let question = [&header[..], b"who?"].concat();
            assert_eq!(ask(&socket, relay, &question).await, question);
        }
    }
    // Targets that are not allowed get nothing and harm nothing.
    socket
        .send_to(b"\0\0\0\x01\xa9\xfe\xa9\xfe\0\x50secret?", relay)
        .await
        .unwrap();
    until("it is refused", || {
        pair.far.stats().peers[0].counters.flows_refused == 1
    })
    .await;

    drop(tcp);
    until("the association ends", || {
        pair.far.stats().peers[0].counters.flows_open == 0
    })
    .await;
}
