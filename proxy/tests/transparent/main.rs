//! TCP that the kernel diverts by TPROXY and by REDIRECT, IPv4 and IPv6, in a network namespace of its own. Needs root.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test may fail by panicking")]

#[path = "../e2e/common.rs"]
#[expect(dead_code, reason = "shared with tests that need all of it")]
mod common;

use std::net::SocketAddr;
use std::process::Command;

use common::{Pair, echo, exchange, noise};
use nix::sched::{CloneFlags, unshare};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};

#[test]
fn diverted_connections_reach_where_they_were_going() {
    let test = std::thread::spawn(|| {
        // Only this thread, and what it starts, is in the new namespace.
        unshare(CloneFlags::CLONE_NEWNET).expect("this needs root");
        sh("ip link set lo up");
        sh(&format!(
            "ip addr add {SERVER_V4}/32 dev lo; ip addr add {APPLICATION_V4}/32 dev lo"
        ));
        sh(&format!(
            "ip addr add {SERVER_V6}/128 dev lo; ip addr add {APPLICATION_V6}/128 dev lo"
        ));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(divert());
    });
    test.join().unwrap();
}

async fn divert() {
    let forwards = "  tproxy4: {kind: tproxy, listen: 0.0.0.0:9040, peer: far}\n  \
         tproxy6: {kind: tproxy, listen: \"[::]:9040\", peer: far}\n  \
         redirect4: {kind: redirect, listen: 0.0.0.0:9041, peer: far}\n  \
         redirect6: {kind: redirect, listen: \"[::]:9042\", peer: far}";
    // A socket for IPv6 that would take IPv4 too cannot share the port.
    std::fs::write("/proc/sys/net/ipv6/bindv6only", "1").unwrap();
    let pair = Pair::start(forwards, &format!("\"{SERVER_V4}:*\", \"[{SERVER_V6}]:*\"")).await;
    sh(RULES);
    let servers = [SERVER_V4, SERVER_V6].map(|ip| SocketAddr::new(ip.parse().unwrap(), 8000));
    let applications = [APPLICATION_V4, APPLICATION_V6].map(|ip| SocketAddr::new(ip.parse().unwrap(), 0));
    let mut diverted = 0;
    for (server, application) in servers.into_iter().zip(applications) {
        let listener = TcpListener::bind(server).await.unwrap();
        tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                tokio::spawn(echo(tcp));
            }
        });
        for mark in [TPROXY_MARK, REDIRECT_MARK] {
            let sent = noise(u64::from(mark), 100_000);
            let tcp = connect(application, server, mark).await.unwrap();
            assert_eq!(tcp.peer_addr().unwrap(), server);
            assert!(
                exchange(tcp, &sent).await.unwrap() == sent,
                "{server}, mark {mark}"
            );
            diverted += 1;
            assert_eq!(
                pair.far.stats().peers[0].counters.streams_accepted,
                diverted,
                "{server}, mark {mark}"
            );
        }
    }

    // Who comes to the listeners directly is sent away, not led in circles.
    for (port, ip) in [
        (9040, SERVER_V4),
        (9040, SERVER_V6),
        (9041, SERVER_V4),
        (9042, SERVER_V6),
    ] {
        let tcp = TcpStream::connect(SocketAddr::new(ip.parse().unwrap(), port)).await;
        let back = match tcp {
            Ok(tcp) => exchange(tcp, b"hello").await,
            Err(error) => Err(error),
        };
        assert_ne!(back.ok().as_deref(), Some(&b"hello"[..]), "{ip}:{port}");
    }
    assert_eq!(pair.near.stats().peers[0].counters.streams_opened, diverted);
}

/// A connection whose packets carry `mark`, by which the rules know it.
async fn connect(from: SocketAddr, to: SocketAddr, mark: u32) -> std::io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_mark(mark)?;
    socket.set_nonblocking(true)?;
    socket.bind(&from.into())?;
    tokio::net::TcpSocket::from_std_stream(socket.into())
        .connect(to)
        .await
}

fn sh(script: &str) {
    let output = Command::new("sh").args(["-ec", script]).output().unwrap();
    assert!(
        output.status.success(),
        "{script}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

const SERVER_V4: &str = "10.3.0.1";
const SERVER_V6: &str = "fd00:3::1";
const APPLICATION_V4: &str = "10.9.0.1";
const APPLICATION_V6: &str = "fd00:9::1";
const TPROXY_MARK: u32 = 1;
const REDIRECT_MARK: u32 = 2;
const RULES: &str = "
nft -f - <<EOF
table ip bicast {
    chain pre {
        type filter hook prerouting priority mangle;
        meta mark 1 ip daddr 10.3.0.1 tcp dport 1-65535 tproxy to :9040 accept
    }
    chain out {
        type nat hook output priority -100;
        meta mark 2 ip daddr 10.3.0.1 tcp dport 1-65535 redirect to :9041
    }
}
table ip6 bicast {
    chain pre {
        type filter hook prerouting priority mangle;
        meta mark 1 ip6 daddr fd00:3::1 tcp dport 1-65535 tproxy to :9040 accept
    }
    chain out {
        type nat hook output priority -100;
        meta mark 2 ip6 daddr fd00:3::1 tcp dport 1-65535 redirect to :9042
    }
}
EOF
";
