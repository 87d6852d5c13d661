//! Every packet between the proxies twice, the second later, and either copy sometimes lost.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use proxy::tls::Class;
use proxy::{PrivateKey, Proxy};
use tokio::net::{TcpStream, UdpSocket};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::common::{self, echo, exchange, noise, parse, server, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_rescue_packets_and_no_application_sees_them() {
    let folder = tempfile::tempdir().unwrap();
    let (near_key, far_key) = (PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap());
    let address = server(echo).await;
    let far = common::far(
        &folder,
        &near_key,
        &far_key,
        WINDOW,
        "127.0.0.1:*",
        ("127.0.0.1:0", "127.0.0.1:0"),
    )
    .await;
    let (network, lost) = network(far.address(Class::Streams).unwrap()).await;
    let near = parse(&format!(
        "key: unused\n{WINDOW}\nsocket: {}\npeers:\n  far: {{key: {}, dial: \"{network}\", dial_datagrams: \"{}\"}}\n\
         forwards:\n  web: {{kind: tcp, listen: 127.0.0.1:0, peer: far, target: \"{address}\"}}\n",
        common::socket(&folder, "near").display(),
        far_key.public(),
        far.address(Class::Datagrams).unwrap(),
    ));
    let near = Proxy::start(near, near_key.clone()).await.unwrap();
    until("they are connected", || near.connected("far")).await;

    let sent = noise(3, 2_000_000);
    let tcp = TcpStream::connect(near.forward("web").unwrap()).await.unwrap();
    assert!(exchange(tcp, &sent).await.unwrap() == sent);

    let connections = near.stats().peers.remove(0).connections;
    let streams = connections
        .iter()
        .find(|connection| connection.class == Class::Streams)
        .unwrap();
    let shim = streams.shim.clone().unwrap();
    let second_copies: u64 = shim.paths.iter().map(|path| path.second_copies).sum();
    assert!(
        second_copies > 500 && shim.gap_us > 0 && shim.outgoing_gap_us > 0,
        "{shim:?}"
    );
    let lost = lost.load(Relaxed);
    assert!(lost > 50, "the network did lose first copies: {lost}");
    let (declared, all) = (streams.lost_packets, streams.sent_packets);
    println!("of {all} packets {lost} first copies were lost, {declared} were declared lost");
    // Both copies of one packet in 400 are lost, and a few are declared lost that are not.
    assert!(declared * 2 < lost);
}

/// A network before `far`: gives its own address, and how many first copies it has lost of what went to `far`.
async fn network(far: SocketAddr) -> (SocketAddr, Arc<AtomicU64>) {
    let near_side = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
    let far_side = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
    let address = near_side.local_addr().unwrap();
    let lost = Arc::new(AtomicU64::new(0));
    // Where the near proxy is, once it has sent.
    let near = Arc::new(std::sync::Mutex::new(far));
    for (seed, from, to) in [(1, &near_side, &far_side), (2, &far_side, &near_side)] {
        let (from, to, near, lost) = (
            Arc::clone(from),
            Arc::clone(to),
            Arc::clone(&near),
            Arc::clone(&lost),
        );
        let to_far = seed == 1;
        tokio::spawn(async move {
            let paths = [FIRST, SECOND].map(|delay| path(Arc::clone(&to), delay));
            let dice = noise(seed, 1 << 20);
            let mut dice = dice.iter().cycle();
            let mut buffer = vec![0; 65_535];
            while let Ok((length, source)) = from.recv_from(&mut buffer).await {
                let destination = if to_far {
                    *near.lock().unwrap() = source;
                    far
                } else {
                    *near.lock().unwrap()
                };
                for (index, path) in paths.iter().enumerate() {
                    // One in twenty.
                    if *dice.next().unwrap() < 13 {
                        lost.fetch_add(u64::from(to_far && index == 0), Relaxed);
                    } else {
                        let _ = path.send((Instant::now(), destination, buffer[..length].to_vec()));
                    }
                }
            }
        });
    }
    (address, lost)
}

type Packet = (Instant, SocketAddr, Vec<u8>);

/// Delays packets.
fn path(to: Arc<UdpSocket>, delay: Duration) -> mpsc::UnboundedSender<Packet> {
    let (sender, mut packets) = mpsc::unbounded_channel::<Packet>();
    tokio::spawn(async move {
        while let Some((came, destination, packet)) = packets.recv().await {
            sleep_until(came + delay).await;
            let _ = to.send_to(&packet, destination).await;
        }
    });
    sender
}

/// So that the sockets of the network hold all that is under way.
const WINDOW: &str = "transport: {stream_window: 60kB}";
const FIRST: Duration = Duration::from_millis(5);
const SECOND: Duration = Duration::from_millis(15);
