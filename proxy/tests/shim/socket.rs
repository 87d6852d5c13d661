//! The sockets by themselves: trains of datagrams, ECN, addresses.

use std::future::poll_fn;
use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::pin::Pin;

use noq::udp::{EcnCodepoint, RecvMeta, Transmit};
use noq::{AsyncUdpSocket, UdpSender};
use proxy::shim::{Mode, Shim, ShimConfig, ShimSocket};

fn shim(address: &str, mode: Mode) -> (Shim, ShimSocket) {
    let sockets = [(); 2].map(|()| UdpSocket::bind(address).expect("loopback has ports"));
    let [base, further] = sockets;
    Shim::with_paths(
        base,
        vec![further],
        ShimConfig {
            mode,
            ..ShimConfig::default()
        },
    )
    .expect("the socket works")
}

async fn send(sender: &mut Pin<Box<dyn UdpSender>>, transmit: &Transmit<'_>) {
    poll_fn(|cx| sender.as_mut().poll_send(transmit, cx))
        .await
        .expect("the socket works");
}

/// Receives so many datagrams, each with its ECN bits.
async fn receive(socket: &mut ShimSocket, count: usize) -> Vec<(Vec<u8>, Option<EcnCodepoint>)> {
    let mut storage = vec![vec![0; 65_535]; 4];
    let mut datagrams = Vec::new();
    while datagrams.len() < count {
        let mut bufs: Vec<_> = storage.iter_mut().map(|buf| IoSliceMut::new(buf)).collect();
        let mut metas = [RecvMeta::default(); 4];
        let filled = poll_fn(|cx| socket.poll_recv(cx, &mut bufs, &mut metas))
            .await
            .expect("the socket works");
        for (buf, meta) in storage.iter().zip(metas).take(filled) {
            datagrams.extend(
                buf[..meta.len]
                    .chunks(meta.stride)
                    .map(|packet| (packet.to_vec(), meta.ecn)),
            );
        }
    }
    datagrams
}

#[tokio::test]
async fn trains_and_ecn_come_through_in_both_forms() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        for mode in [Mode::On, Mode::Off] {
            let ((from, socket), (_to, mut sink)) = (shim(address, mode), shim(address, mode));
            let mut sender = socket.create_sender();
            let segments = sender.max_transmit_segments().get().min(10);
            // Looks like a short QUIC header, so that it is told from a shim header.
            let packets: Vec<_> = (0..segments)
                .map(|n| vec![0x40 + u8::try_from(n).unwrap(); 1200])
                .collect();
            for ecn in [
                None,
                Some(EcnCodepoint::Ect0),
                Some(EcnCodepoint::Ect1),
                Some(EcnCodepoint::Ce),
            ] {
                let mut contents = packets.concat();
                // The last one of a train may be shorter.
                contents.truncate(contents.len() - 100 * (segments - 1).min(1));
                let transmit = Transmit {
                    destination: sink.local_addr().unwrap(),
                    ecn,
                    contents: &contents,
                    segment_size: (segments > 1).then_some(1200),
                    src_ip: None,
                };
                send(&mut sender, &transmit).await;
                let expected: Vec<_> = contents
                    .chunks(1200)
                    .map(|packet| (packet.to_vec(), ecn))
                    .collect();
                assert_eq!(receive(&mut sink, segments).await, expected, "{address} {mode:?}");
            }
            let sent = from.stats()[0].sent;
            assert_eq!(sent, if mode == Mode::On { 4 * segments as u64 } else { 0 });
        }
    }
}

#[tokio::test]
async fn packets_of_a_further_path_look_as_if_they_came_to_the_base_port() {
    let further = UdpSocket::bind("127.0.0.2:0").unwrap();
    let path = further.local_addr().unwrap();
    let base = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (_shim, mut sink) = Shim::with_paths(base, vec![further], ShimConfig::default()).unwrap();
    let plain = UdpSocket::bind("127.0.0.1:0").unwrap();
    plain.send_to(b"QUIC", path).unwrap();
    let (mut storage, mut metas) = (vec![0; 65_535], [RecvMeta::default()]);
    let filled = poll_fn(|cx| sink.poll_recv(cx, &mut [IoSliceMut::new(&mut storage)], &mut metas)).await;
    assert_eq!((filled.unwrap(), &storage[..metas[0].len]), (1, &b"QUIC"[..]));
    assert_eq!(metas[0].dst_ip, Some("127.0.0.1".parse().unwrap()));
    assert_eq!(metas[0].addr, plain.local_addr().unwrap());
}

#[tokio::test]
async fn a_sender_without_a_receiver_in_sight_waits_for_nothing() {
    // Nobody listens there: the ICMP error is nothing to QUIC.
    let gone = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (_from, socket) = shim("127.0.0.1:0", Mode::On);
    let mut sender = socket.create_sender();
    for _ in 0..100 {
        let (ecn, segment_size, src_ip) = (None, None, None);
        let transmit = Transmit {
            destination: gone,
            ecn,
            contents: &[0x40; 1200],
            segment_size,
            src_ip,
        };
        send(&mut sender, &transmit).await;
    }
}
