//! Which targets are reached, and what an application learns of those that are not.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::common::{Pair, echo, exchange, server, soon, until};

const SOCKS: &str = "  socks: {kind: socks5, listen: 127.0.0.1:0, peer: far}\n  http: {kind: http_connect, listen: 127.0.0.1:0, peer: far}";

/// The reply's code, and the connection, which is the target's if it is 0.
async fn socks(proxy: SocketAddr, target: &str) -> (u8, TcpStream) {
    let (name, port) = target.rsplit_once(':').unwrap();
    let mut tcp = TcpStream::connect(proxy).await.unwrap();
    let length = u8::try_from(name.len()).unwrap();
    let mut request = vec![5, 1, 0, 5, 1, 0, 3, length];
    request.extend(name.as_bytes());
    request.extend(port.parse::<u16>().unwrap().to_be_bytes());
    tcp.write_all(&request).await.unwrap();
    let mut reply = [0; 12];
    soon(tcp.read_exact(&mut reply)).await.unwrap();
    assert_eq!(reply[..3], [5, 0, 5]);
    (reply[3], tcp)
}

async fn connect(proxy: SocketAddr, target: &str) -> (String, TcpStream) {
    let mut tcp = TcpStream::connect(proxy).await.unwrap();
    // What follows the head at once must reach the target.
    let request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\nearly ");
    tcp.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(soon(tcp.read_u8()).await.unwrap());
    }
    let head = String::from_utf8(head).unwrap();
    (head.lines().next().unwrap().to_owned(), tcp)
}

/// A port at which nobody listens.
async fn closed_port() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn permitted_targets_are_reached_by_address_and_by_name() {
    let port = server(echo).await.port();
    let pair = Pair::start(SOCKS, "127.0.0.1:*").await;
    for target in [format!("127.0.0.1:{port}"), format!("localhost:{port}")] {
        let (code, tcp) = socks(pair.forward("socks"), &target).await;
        assert_eq!(code, 0, "{target}");
        assert_eq!(exchange(tcp, b"hello").await.unwrap(), b"hello");
        let (status, tcp) = connect(pair.forward("http"), &target).await;
        assert!(status.contains(" 200 "), "{target}: {status}");
        assert_eq!(exchange(tcp, b"hello").await.unwrap(), b"early hello");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_denied_and_unknown_targets_are_told_apart() {
    let (closed, open) = (closed_port().await, server(echo).await);
    let pair = Pair::start(SOCKS, &format!("\"127.0.0.1:{}\", \"*:*\"", closed.port())).await;
    let cases = [
        (closed.to_string(), 5, " 502 "),
        // Neither a rule for another port nor one for everything lets anybody in here.
        (open.to_string(), 2, " 403 "),
        (format!("localhost:{}", open.port()), 2, " 403 "),
        ("169.254.169.254:80".to_owned(), 2, " 403 "),
        ("no-such-host.invalid:80".to_owned(), 4, " 502 "),
    ];
    for (target, code, status) in cases {
        let (found, mut tcp) = socks(pair.forward("socks"), &target).await;
        assert_eq!(found, code, "{target}");
        assert_eq!(soon(tcp.read(&mut [0; 1])).await.unwrap(), 0, "{target}");
        let (found, _) = connect(pair.forward("http"), &target).await;
        assert!(found.contains(status), "{target}: {found}");
    }
    let counters = pair.far.stats().peers.remove(0).counters;
    assert_eq!((counters.streams_accepted, counters.streams_refused), (0, 10));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fixed_forward_to_a_target_that_refuses_is_reset() {
    let closed = closed_port().await;
    let forwards = format!("  web: {{kind: tcp, listen: 127.0.0.1:0, peer: far, target: \"{closed}\"}}");
    let pair = Pair::start(&forwards, "127.0.0.1:*").await;
    // The reset may come before the application knows that it is connected.
    let read = async {
        TcpStream::connect(pair.forward("web"))
            .await?
            .read(&mut [0; 1])
            .await
    };
    let error = soon(read).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    until("it counts as refused", || {
        pair.near.stats().peers[0].counters.streams_refused == 1
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_is_told_from_a_reset_even_when_the_application_speaks_first() {
    let forwards = "  web: {kind: tcp, listen: 127.0.0.1:0, peer: far, target: \"192.0.2.1:80\"}";
    let pair = Pair::start(forwards, "").await;
    for _ in 0..10 {
        let attempt = async { exchange(TcpStream::connect(pair.forward("web")).await?, &[0; 100_000]).await };
        assert!(attempt.await.is_err());
    }
    until("all count as refused", || {
        pair.near.stats().peers[0].counters.streams_refused == 10
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_allow_list_denies_everything() {
    let pair = Pair::start(SOCKS, "").await;
    let (code, _) = socks(pair.forward("socks"), "192.0.2.1:80").await;
    assert_eq!(code, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_speaks_something_else_is_sent_away() {
    let pair = Pair::start(SOCKS, "127.0.0.1:*").await;
    for (forward, request, reply) in [
        (
            "http",
            &b"GET http://localhost/ HTTP/1.1\r\n\r\n"[..],
            "HTTP/1.1 405 Method Not Allowed\r\nAllow: CONNECT",
        ),
        ("http", b"\x05\x01\x00\r\n\r\n", "HTTP/1.1 400 Bad Request"),
        ("socks", b"\x04\x01\x00\x50\x7f\x00\x00\x01\x00", ""),
        ("socks", b"\x05\x01\x02", "\u{5}\u{fffd}"),
    ] {
        let tcp = TcpStream::connect(pair.forward(forward)).await.unwrap();
        // Closing with bytes unread may reset.
        let back = exchange(tcp, request).await.unwrap_or_default();
        let back = String::from_utf8_lossy(&back);
        assert!(back.starts_with(reply), "{forward}: {back:?}");
    }
    assert_eq!(pair.near.stats().peers[0].counters.streams_opened, 0);
}
