//! A flood of handshakes that nobody means to finish: the first packets of real ones, sent from elsewhere.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;

use proxy::{PrivateKey, Proxy};
use tokio::net::{TcpStream, UdpSocket};

use crate::common::{LONG, parse, soon, until};
use crate::lab::{Proxies, in_namespace};

#[test]
fn a_flood_of_handshakes_costs_little_and_keeps_no_peer_out() {
    in_namespace(|| async {
        let packets = first_packets().await;
        let mut all_answered = Proxies::start("limits: {handshakes: 100000, connect: 60s}", "").await;
        let handshakes = flood(&all_answered, &packets).await;
        all_answered.far.kill().await;
        drop(all_answered);

        let mut proxies = Proxies::start("limits: {handshakes: 8, connect: 60s}", "").await;
        let retries = flood(&proxies, &packets).await;
        let told = proxies.far.stats().unwrap().handshakes;
        assert!(
            told.retried >= FLOOD as u64 - 8 && told.ignored + told.failed == 0,
            "{told:?}"
        );
        println!("{FLOOD} times: handshakes took {handshakes} ticks of CPU time, retries {retries}");
        assert!(retries < handshakes / 2);
        // The unfinished ones are there still, and yet a peer gets in.
        proxies.near.kill().await;
        proxies.near.start_again().await;
        until("it is let in", || {
            proxies
                .near
                .stats()
                .is_some_and(|stats| stats.peers[0].connections.len() == 2)
        })
        .await;
        assert!(proxies.far.stats().unwrap().handshakes.retried > told.retried);
    });
}

/// Sends all of them to the far proxy and waits until each is answered. Gives the CPU time that it spent, in ticks.
async fn flood(proxies: &Proxies, packets: &[Vec<u8>]) -> u64 {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let before = proxies.far.cpu_ticks();
    let mut buffer = [0; 2000];
    for some in packets.chunks(20) {
        let mut answers_due: HashSet<Vec<u8>> = some.iter().map(|packet| source(packet)).collect();
        for packet in some {
            socket.send_to(packet, FAR).await.unwrap();
        }
        while !answers_due.is_empty() {
            let length = soon(socket.recv(&mut buffer)).await.unwrap();
            assert!(length <= 1200, "no more comes back than was sent");
            // Other packets come besides, which belong to handshakes that go on.
            if buffer[0] & 0x80 != 0 {
                answers_due.remove(destination(&buffer[..length]));
            }
        }
    }
    proxies.far.cpu_ticks() - before
}

/// The first packets of so many handshakes, taken from a proxy that dials somebody who does not answer.
async fn first_packets() -> Vec<Vec<u8>> {
    let silent = UdpSocket::bind("127.0.0.1:9").await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let key = PrivateKey::generate().unwrap();
    let config = parse(&format!(
        "key: unused\nsocket: {}\nshim: {{mode: off}}\nlimits: {{connect: {}s}}\n\
         peers:\n  silent: {{key: {}, dial: \"127.0.0.1:9\", dial_datagrams: \"127.0.0.1:10\", connection_per_flow: true}}\n\
         forwards:\n  web: {{kind: tcp, listen: 127.0.0.1:8000, peer: silent, target: \"127.0.0.1:80\"}}\n",
        folder.path().join("sock").display(),
        LONG.as_secs(),
        key.public(),
    ));
    let _dialler = Proxy::start(config, key).await.unwrap();
    let mut applications = Vec::new();
    let mut packets: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
    let mut buffer = [0; 2000];
    while packets.len() < FLOOD {
        if applications.len() < 2 * FLOOD {
            applications.push(TcpStream::connect("127.0.0.1:8000").await.unwrap());
        }
        let length = soon(silent.recv(&mut buffer)).await.unwrap();
        let packet = buffer[..length].to_vec();
        packets.entry(source(&packet)).or_insert(packet);
    }
    packets.into_values().collect()
}

/// The connection id that a packet with a long header (RFC 9000 §17.2) is for.
fn destination(packet: &[u8]) -> &[u8] {
    &packet[6..][..usize::from(packet[5])]
}

/// The connection id that answers to it are for.
fn source(packet: &[u8]) -> Vec<u8> {
    let rest = &packet[6 + destination(packet).len()..];
    rest[1..][..usize::from(rest[0])].to_vec()
}

const FLOOD: usize = 400;
const FAR: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 4433);
