//! QUIC over shims over two paths: what it sees, and what it does not.

use std::net::UdpSocket;
use std::sync::Arc;
use std::time::Duration;

use noq::TransportConfig;
use proxy::shim::header::HEADER_LEN;
use proxy::shim::{Hold, LossThresholds, Mode, PeerStats, Shim, ShimConfig};

use crate::network::{Network, Path};
use crate::pair::{Pair, Site, client_config, endpoint, server_config};

const MEGABYTE: usize = 1 << 20;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Two paths with the same loss, the second one later by `gap`.
fn paths(loss_per_mille: u64, gap: Duration) -> [Path; 2] {
    let path = |delay| Path {
        loss_per_mille,
        delay,
        rate_bps: 50_000_000,
    };
    [path(ms(5)), path(ms(5) + gap)]
}

/// As a connection over a shim is configured; the way there and back takes 10 ms.
fn tolerant(gap: Duration) -> TransportConfig {
    let mut transport = TransportConfig::default();
    LossThresholds::new(gap, ms(10), ShimConfig::default().lead).apply(&mut transport);
    transport
}

fn peer(shim: &Shim) -> PeerStats {
    let mut stats = shim.stats();
    assert_eq!(stats.len(), 1);
    stats.remove(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quic_sees_each_packet_once() {
    let config = ShimConfig::default();
    let pair = Pair::connect(config, config, &paths(0, ms(3)), tolerant(ms(3))).await;
    pair.transfer(2 * MEGABYTE).await;
    let (stats, seen) = (peer(&pair.server.shim), pair.incoming.stats().udp_rx.datagrams);
    let [fast, slow] = &stats.received.paths[..] else {
        panic!("two paths")
    };
    let firsts = fast.first_arrivals + slow.first_arrivals;
    let copies = fast.second_copies + slow.second_copies;
    assert_eq!(stats.shim, Some(true));
    assert!(
        firsts > 1_000 && copies * 10 > firsts * 9,
        "{firsts} packets, {copies} copies"
    );
    // But for those of the handshake, and those that came between the two looks.
    assert!(seen.abs_diff(firsts) < 30, "QUIC saw {seen} of {firsts}");
    let sent = peer(&pair.client.shim);
    assert_eq!(sent.sent_header_bytes, sent.sent * HEADER_LEN as u64);
    assert!(firsts + stats.received.neither() <= sent.sent);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn packets_that_one_path_lost_are_no_losses_to_quic() {
    let (gap, plain) = (
        ms(10),
        ShimConfig {
            hold: Hold::Off,
            ..ShimConfig::default()
        },
    );
    let mut declared = Vec::new();
    for (config, transport) in [
        (plain, TransportConfig::default()),
        (ShimConfig::default(), tolerant(gap)),
    ] {
        let pair = Pair::connect(config, config, &paths(50, gap), transport).await;
        pair.transfer(2 * MEGABYTE).await;
        let (stats, lost) = (
            peer(&pair.server.shim).received,
            pair.outgoing.stats().lost_packets,
        );
        // Of these, some were lost at a full socket of a busy machine.
        let really = stats.neither();
        let rescued: u64 = stats.paths.iter().map(|path| path.rescued).sum();
        println!("declared lost {lost}, really {really}, rescued {rescued}");
        assert!(rescued > 30);
        declared.push(lost.saturating_sub(really));
        pair.transfer_back(MEGABYTE).await;
    }
    let [without, with] = declared[..] else {
        panic!("two runs")
    };
    assert!(
        with * 3 < without,
        "{with} false losses with the shim's help, {without} without"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_end_learns_the_gap_of_what_it_sends() {
    let (gap, config) = (ms(12), ShimConfig::default());
    let pair = Pair::connect(config, config, &paths(0, gap), tolerant(gap)).await;
    let client = pair.client.shim.peer(pair.network.front);
    let server = pair.server.shim.peer(peer(&pair.server.shim).remote);
    pair.transfer(MEGABYTE).await;
    pair.transfer_back(MEGABYTE).await;
    for (handle, shim) in [(client, &pair.client.shim), (server, &pair.server.shim)] {
        let told = handle.outgoing_gap().get();
        assert!(told >= gap * 9 / 10, "the gap of {gap:?} came back as {told:?}");
        assert_eq!(peer(shim).outgoing_gap, told);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shim_is_off_where_one_side_has_it_off() {
    let mode = |mode| ShimConfig {
        mode,
        ..ShimConfig::default()
    };
    for (client, server, shim) in [
        (Mode::Auto, Mode::Auto, true),
        (Mode::On, Mode::Auto, true),
        (Mode::Off, Mode::Auto, false),
    ] {
        let pair = Pair::connect(mode(client), mode(server), &paths(0, ms(1)), tolerant(ms(1))).await;
        pair.transfer(100_000).await;
        for site in [&pair.client, &pair.server] {
            assert_eq!(peer(&site.shim).shim, Some(shim), "{client:?} {server:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_a_shim_is_reached_all_the_same() {
    let transport = Arc::new(TransportConfig::default());
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let runtime = noq::default_runtime().unwrap();
    let server = endpoint(
        runtime.wrap_udp_socket(socket).unwrap(),
        Some(server_config(transport.clone())),
    );
    let client = Site::new(ShimConfig::default(), None);
    let connecting = client
        .endpoint
        .connect_with(client_config(transport), address, "localhost")
        .unwrap();
    let (outgoing, incoming) = tokio::join!(async { connecting.await.unwrap() }, async {
        server.accept().await.unwrap().await.unwrap()
    });
    outgoing.send_datagram(b"hello".to_vec().into()).unwrap();
    assert_eq!(incoming.read_datagram().await.unwrap(), &b"hello"[..]);
    assert_eq!(peer(&client.shim).shim, Some(false));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn garbage_and_forgeries_do_no_harm() {
    let config = ShimConfig::default();
    let server = Site::new(config, Some(server_config(Arc::new(tolerant(ms(5))))));
    let client = Site::new(config, None);
    let network = Network::new(client.ports.clone(), server.ports.clone(), &paths(50, ms(5)), 1).unwrap();
    let connecting = client
        .endpoint
        .connect_with(
            client_config(Arc::new(tolerant(ms(5)))),
            network.front,
            "localhost",
        )
        .unwrap();
    let (outgoing, incoming) = tokio::join!(async { connecting.await.unwrap() }, async {
        server.endpoint.accept().await.unwrap().await.unwrap()
    });
    // Into the network as well, so that the forgeries come from the client's own address.
    let attacker = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut targets = server.ports.clone();
    targets.push(network.front);
    let attack = tokio::spawn(async move {
        for n in 0u32..2_000 {
            let mut datagram = vec![(n % 256).to_le_bytes()[0]; usize::try_from(n % 90).unwrap()];
            if n % 3 == 0 {
                datagram = [&[0x10, 0xff, 0xff, 0, 0, 0][..], &n.to_be_bytes(), &[0x41; 60]].concat();
            }
            for target in &targets {
                attacker.send_to(&datagram, target).unwrap();
            }
            tokio::time::sleep(Duration::from_micros(300)).await;
        }
    });
    let pair = Pair {
        client,
        server,
        network,
        outgoing,
        incoming,
    };
    for _ in 0..3 {
        pair.transfer(MEGABYTE / 2).await;
        pair.transfer_back(MEGABYTE / 2).await;
    }
    attack.await.unwrap();
    assert!(pair.server.shim.malformed() > 100);
    let known = pair.server.shim.stats();
    assert_eq!(known.len(), 2, "the client and the attacker");
    let client = pair.client.shim.peer(pair.network.front);
    assert!(
        client.outgoing_gap().get() < ms(500),
        "the forged echo of a second is not believed"
    );
}
