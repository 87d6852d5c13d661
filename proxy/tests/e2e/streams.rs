//! TCP: every byte, both ends, resets, back-pressure.

use std::time::Duration;

use proxy::congestion::Algorithm;
use proxy::tls::Class;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::common::{Pair, echo, exchange, noise, server, soon, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_bytes_survive_both_ways_and_so_does_the_end() {
    let address = server(echo).await;
    let pair = forwarding(address, "").await;
    let transfers = (0..8).map(|seed| {
        let forward = pair.forward("web");
        tokio::spawn(async move {
            let sent = noise(seed, 300_000 + usize::try_from(seed).unwrap() * 100_003);
            let tcp = TcpStream::connect(forward).await.unwrap();
            assert!(exchange(tcp, &sent).await.unwrap() == sent, "seed {seed}");
        })
    });
    for transfer in transfers.collect::<Vec<_>>() {
        soon(transfer).await.unwrap();
    }
    let near = pair.near.stats().peers.remove(0);
    assert_eq!(
        near.connections.len(),
        2,
        "all streams share the one connection for streams"
    );
    assert_eq!(near.counters.streams_opened, 8);
    assert_eq!(near.counters.streams_aborted, 0);
    assert_eq!(
        near.counters.stream_bytes_sent,
        near.counters.stream_bytes_received
    );
    until("streams are let go", || open(&pair) == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_may_go_on_after_the_application_has_ended() {
    async fn answers_after_the_end(mut tcp: TcpStream) {
        let mut all = Vec::new();
        tcp.read_to_end(&mut all).await.unwrap();
        tcp.write_all(&noise(all.len() as u64, 500_000)).await.unwrap();
    }
    let pair = forwarding(server(answers_after_the_end).await, "").await;
    let tcp = TcpStream::connect(pair.forward("web")).await.unwrap();
    assert!(exchange(tcp, &[7; 1234]).await.unwrap() == noise(1234, 500_000));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_application_may_go_on_after_the_server_has_ended() {
    async fn ends_first(mut tcp: TcpStream) {
        tcp.write_all(b"bye").await.unwrap();
        tcp.shutdown().await.unwrap();
        let mut all = Vec::new();
        tcp.read_to_end(&mut all).await.unwrap();
        RECEIVED.lock().unwrap().extend(all);
    }
    static RECEIVED: std::sync::Mutex<Vec<u8>> = std::sync::Mutex::new(Vec::new());
    let pair = forwarding(server(ends_first).await, "").await;
    let mut tcp = TcpStream::connect(pair.forward("web")).await.unwrap();
    let mut bye = Vec::new();
    soon(tcp.read_to_end(&mut bye)).await.unwrap();
    assert_eq!(bye, b"bye");
    tcp.write_all(&noise(5, 200_000)).await.unwrap();
    tcp.shutdown().await.unwrap();
    until("everything has arrived", || {
        RECEIVED.lock().unwrap().len() == 200_000
    })
    .await;
    assert!(*RECEIVED.lock().unwrap() == noise(5, 200_000));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_by_the_server_resets_the_application() {
    async fn resets(mut tcp: TcpStream) {
        let mut first = [0; 1];
        tcp.read_exact(&mut first).await.unwrap();
        socket2::SockRef::from(&tcp)
            .set_linger(Some(Duration::ZERO))
            .unwrap();
    }
    let pair = forwarding(server(resets).await, "").await;
    let mut tcp = TcpStream::connect(pair.forward("web")).await.unwrap();
    tcp.write_all(b"x").await.unwrap();
    let error = soon(tcp.read(&mut [0; 1])).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    until("streams are let go", || open(&pair) == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_by_the_application_resets_the_server() {
    async fn waits(mut tcp: TcpStream) {
        tcp.write_all(b"ready").await.unwrap();
        *OUTCOME.lock().unwrap() = Some(tcp.read(&mut [0; 1]).await.map_err(|error| error.kind()));
    }
    static OUTCOME: std::sync::Mutex<Option<Result<usize, std::io::ErrorKind>>> = std::sync::Mutex::new(None);
    let pair = forwarding(server(waits).await, "").await;
    let mut tcp = TcpStream::connect(pair.forward("web")).await.unwrap();
    soon(tcp.read_exact(&mut [0; 5])).await.unwrap();
    socket2::SockRef::from(&tcp)
        .set_linger(Some(Duration::ZERO))
        .unwrap();
    drop(tcp);
    until("the server notices", || OUTCOME.lock().unwrap().is_some()).await;
    assert_eq!(
        *OUTCOME.lock().unwrap(),
        Some(Err(std::io::ErrorKind::ConnectionReset))
    );
    until("streams are let go", || open(&pair) == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_after_the_applications_end_is_noticed_though_nothing_moves() {
    async fn never_answers(mut tcp: TcpStream) {
        let mut all = Vec::new();
        let _ = tcp.read_to_end(&mut all).await;
        std::future::pending().await
    }
    let pair = forwarding(server(never_answers).await, "").await;
    let mut tcp = TcpStream::connect(pair.forward("web")).await.unwrap();
    tcp.write_all(b"x").await.unwrap();
    tcp.shutdown().await.unwrap();
    until("the stream is there", || {
        pair.far.stats().peers[0].counters.stream_bytes_sent == 0 && open(&pair) == 2
    })
    .await;
    socket2::SockRef::from(&tcp)
        .set_linger(Some(Duration::ZERO))
        .unwrap();
    drop(tcp);
    until("streams are let go", || open(&pair) == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_read_stops_who_writes() {
    async fn never_reads(tcp: TcpStream) {
        std::future::pending::<()>().await;
        drop(tcp);
    }
    let pair = forwarding(server(never_reads).await, "").await;
    let mut tcp = TcpStream::connect(pair.forward("web")).await.unwrap();
    let block = vec![0; 65_536];
    let mut written: usize = 0;
    while timeout(Duration::from_millis(500), tcp.write_all(&block))
        .await
        .is_ok()
    {
        written += block.len();
        assert!(written < 64 << 20, "somebody buffers without bound");
    }
    let sent = pair.near.stats().peers[0].counters.stream_bytes_sent;
    let bound = 1_250_000 + 4 * (6 << 20);
    assert!(
        sent < bound,
        "a window and what the sockets at the far side hold: {sent}"
    );
    // Another stream does not mind.
    let other = TcpStream::connect(pair.forward("other")).await.unwrap();
    assert_eq!(exchange(other, b"hello").await.unwrap(), b"hello");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_who_do_not_read_stop_nobody_else() {
    // A small buffer, which connections inherit, so that the proxies hold what is not read.
    let listener = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    listener.set_recv_buffer_size(4096).unwrap();
    listener
        .bind(&std::net::SocketAddr::from(([127, 0, 0, 1], 0)).into())
        .unwrap();
    listener.listen(64).unwrap();
    let address = listener.local_addr().unwrap().as_socket().unwrap();
    let other = server(echo).await;
    let forwards = format!(
        "  unread: {{kind: tcp, listen: 127.0.0.1:0, peer: far, target: \"{address}\"}}\n  \
         other: {{kind: tcp, listen: 127.0.0.1:0, peer: far, target: \"{other}\"}}"
    );
    let windows = "transport: {stream_window: 100kB, connection_window: 300kB}";
    let pair = Pair::with("", windows, &forwards, "127.0.0.1:*").await;
    let mut writers = Vec::new();
    for _ in 0..12 {
        let mut tcp = TcpStream::connect(pair.forward("unread")).await.unwrap();
        writers.push(tokio::spawn(
            async move { tcp.write_all(&vec![0; 30 << 20]).await },
        ));
    }
    // Until nothing moves any more: each of them is stuck.
    let sent = || pair.near.stats().peers[0].counters.stream_bytes_sent;
    let mut before = 0;
    while before < 12 * 100_000 || sent() > before {
        before = sent();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert!(writers.iter().all(|writer| !writer.is_finished()));
    let tcp = TcpStream::connect(pair.forward("other")).await.unwrap();
    let bytes = noise(4, 1_000_000);
    assert!(exchange(tcp, &bytes).await.unwrap() == bytes);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_tcp_connection_can_have_a_quic_connection_of_its_own() {
    let address = server(echo).await;
    let pair = forwarding(address, ", connection_per_flow: true").await;
    for seed in 0..3 {
        let sent = noise(seed, 200_000);
        let tcp = TcpStream::connect(pair.forward("web")).await.unwrap();
        assert!(exchange(tcp, &sent).await.unwrap() == sent);
    }
    let connections = pair.near.stats().peers[0].counters.connections;
    assert_eq!(connections, 5, "two that stand, three of their own");
    until("they are closed", || {
        pair.far.stats().peers[0].connections.len() == 2
    })
    .await;
    assert!(
        pair.far.stats().peers[0]
            .connections
            .iter()
            .all(|connection| !connection.dialled)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_with_its_shim_off_is_spoken_to_without() {
    let address = server(echo).await;
    let forwards = format!("  web: {{kind: tcp, listen: 127.0.0.1:0, peer: far, target: \"{address}\"}}");
    let pair = Pair::with("", "shim: {mode: off}", &forwards, "127.0.0.1:*").await;
    let sent = noise(1, 500_000);
    let tcp = TcpStream::connect(pair.forward("web")).await.unwrap();
    assert!(exchange(tcp, &sent).await.unwrap() == sent);
    let connections = pair.near.stats().peers.remove(0).connections;
    assert!(connections.iter().all(|c| {
        c.shim
            .as_ref()
            .is_some_and(|shim| shim.header == Some(false) && shim.sent == 0)
    }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forward_chooses_the_congestion_control_of_both_sides() {
    let address = server(echo).await;
    let forwards = Algorithm::ALL.map(|algorithm| {
        format!(
            "  {algorithm}: {{kind: tcp, listen: 127.0.0.1:0, peer: far, target: \"{address}\", congestion: {algorithm}}}"
        )
    });
    let pair = Pair::with(", congestion: bbr1", "", &forwards.join("\n"), "127.0.0.1:*").await;
    for algorithm in Algorithm::ALL {
        let sent = noise(1, 500_000);
        let tcp = TcpStream::connect(pair.forward(&algorithm.to_string()))
            .await
            .unwrap();
        assert!(exchange(tcp, &sent).await.unwrap() == sent, "{algorithm}");
    }
    for (side, shared) in [(&pair.near, Algorithm::Bbr1), (&pair.far, Algorithm::Bbr3)] {
        let connections = side.stats().peers.remove(0).connections;
        let of = |class| -> Vec<Algorithm> {
            let connections = connections.iter().filter(|connection| connection.class == class);
            connections.map(|connection| connection.congestion).collect()
        };
        assert_eq!(
            of(Class::Streams),
            [shared],
            "what the configuration says of the peer"
        );
        let own = of(Class::Own);
        assert!(
            own.len() == Algorithm::ALL.len()
                && Algorithm::ALL.iter().all(|algorithm| own.contains(algorithm))
        );
    }
}

/// Both forwards lead to `address`, `other` to an echo.
async fn forwarding(address: std::net::SocketAddr, near_peer: &str) -> Pair {
    let other = server(echo).await;
    let forwards = format!(
        "  web: {{kind: tcp, listen: 127.0.0.1:0, peer: far, target: \"{address}\"}}\n  \
         other: {{kind: tcp, listen: 127.0.0.1:0, peer: far, target: \"{other}\"}}"
    );
    Pair::with(near_peer, "", &forwards, "127.0.0.1:*").await
}

/// Streams open at both sides.
fn open(pair: &Pair) -> u64 {
    [&pair.near, &pair.far]
        .map(|side| side.stats().peers[0].counters.streams_open)
        .iter()
        .sum()
}
