//! Many short connections.

use crate::common::{echo, echoes};
use crate::lab::{Proxies, in_namespace};
use tokio::net::TcpListener;

#[test]
fn thousands_of_short_connections_leave_nothing_behind() {
    in_namespace(|| async {
        let forwards = "  echo: {kind: tcp, listen: 127.0.0.1:7000, peer: far, target: \"127.0.0.1:7\"}";
        let proxies = Proxies::start("", forwards).await;
        let listener = TcpListener::bind("127.0.0.1:7").await.unwrap();
        tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                tokio::spawn(echo(tcp));
            }
        });
        let before = [&proxies.near, &proxies.far].map(|proxy| proxy.open_files());
        let applications = (0..AT_ONCE).map(|_| {
            tokio::spawn(async {
                for _ in 0..EACH {
                    assert!(echoes(([127, 0, 0, 1], 7000).into()).await);
                }
            })
        });
        for application in applications.collect::<Vec<_>>() {
            application.await.unwrap();
        }
        for (proxy, before) in [&proxies.near, &proxies.far].into_iter().zip(before) {
            proxy.is_as(before).await;
            let peer = proxy.stats().unwrap().peers.remove(0);
            let streams = peer.counters.streams_opened + peer.counters.streams_accepted;
            assert_eq!((streams, peer.counters.streams_aborted), (AT_ONCE * EACH, 0));
            assert_eq!(peer.counters.stream_bytes_sent, 5 * AT_ONCE * EACH);
            assert_eq!(peer.connections.len(), 2);
        }
    });
}

const AT_ONCE: u64 = 50;
const EACH: u64 = 50;
