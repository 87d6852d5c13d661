//! iperf3, whose connection for control and whose data, TCP or UDP, are at the same port.

use serde_json::Value;

use crate::lab::{Proxies, in_namespace, output, start};

#[test]
fn iperf3_measures_tcp_and_udp_in_both_directions() {
    in_namespace(|| async {
        let forwards = "  tcp: {kind: tcp, listen: 127.0.0.1:5202, peer: far, target: \"127.0.0.1:5201\"}\n  \
             udp: {kind: udp, listen: 127.0.0.1:5202, peer: far, target: \"127.0.0.1:5201\"}";
        let proxies = Proxies::start("", forwards).await;
        let _server = start("iperf3 --server --bind 127.0.0.1");
        for direction in ["", "--reverse"] {
            let end = iperf(&format!("{direction} --time 1")).await;
            // What is still under way at the end does not count.
            let received = end["sum_received"]["bytes"].as_f64().unwrap();
            assert!(received > 500_000.0, "{direction}: {end}");
            for length in [1200, 8000] {
                let end = iperf(&format!(
                    "{direction} --udp --length {length} --bitrate 10M --bytes 500K"
                ))
                .await;
                let sum = &end["sum"];
                let (packets, lost) = (
                    sum["packets"].as_f64().unwrap(),
                    sum["lost_packets"].as_f64().unwrap(),
                );
                assert!(
                    packets > 50.0 && lost < packets / 2.0,
                    "{direction} {length}: {sum}"
                );
            }
        }
        let counters = proxies.near.stats().unwrap().peers.remove(0).counters;
        assert_eq!((counters.streams_refused, counters.flows_refused), (0, 0));
        assert!(
            counters.flows_opened >= 4 && counters.datagrams_too_big > 50,
            "{counters:?}"
        );
    });
}

/// What iperf3 says at the end.
async fn iperf(arguments: &str) -> Value {
    // The server may not listen yet, or still be busy with the one before.
    for _ in 0..100 {
        let done = output(
            &format!("iperf3 --client 127.0.0.1 --port 5202 --json {arguments}"),
            b"",
        )
        .await;
        let mut told: Value = serde_json::from_slice(&done.stdout).unwrap();
        if done.status.success() {
            return told["end"].take();
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("iperf3 does not come through with {arguments}");
}
