//! What bounds streams.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::common::{Pair, echo, echoes, server, soon, until};

async fn forwarding(both: &str) -> Pair {
    let address = server(echo).await;
    let forwards = format!("  web: {{kind: tcp, listen: 127.0.0.1:0, peer: far, target: \"{address}\"}}");
    Pair::with("", both, &forwards, "127.0.0.1:*").await
}

async fn stream(pair: &Pair) -> TcpStream {
    let mut tcp = TcpStream::connect(pair.forward("web")).await.unwrap();
    tcp.write_all(b"x").await.unwrap();
    soon(tcp.read_exact(&mut [0; 1])).await.unwrap();
    tcp
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_beyond_the_limit_waits_until_another_ends() {
    let pair = forwarding("limits: {streams: 2, connect: 20s}").await;
    let (one, two) = (stream(&pair).await, stream(&pair).await);
    let waiting = tokio::spawn({
        let forward = pair.forward("web");
        async move { echoes(forward).await }
    });
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    assert_eq!(pair.far.stats().peers[0].counters.streams_accepted, 2);
    drop(one);
    assert!(soon(waiting).await.unwrap());
    drop(two);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_load_whoever_dials_proves_its_address_first_and_gets_in() {
    let address = server(echo).await;
    let forwards = format!("  web: {{kind: tcp, listen: 127.0.0.1:0, peer: far, target: \"{address}\"}}");
    let limits = "limits: {handshakes: 4, connect: 60s}";
    let pair = Pair::with(", connection_per_flow: true", limits, &forwards, "127.0.0.1:*").await;
    let applications = (0..12).map(|_| {
        let forward = pair.forward("web");
        tokio::spawn(async move { echoes(forward).await })
    });
    for application in applications.collect::<Vec<_>>() {
        assert!(soon(application).await.unwrap());
    }
    assert!(pair.far.stats().handshakes.retried > 0);
    assert_eq!(pair.far.stats().handshakes.failed, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silence_ends_a_stream_when_the_configuration_says_so() {
    let pair = forwarding("limits: {stream_idle: 300ms}").await;
    let mut tcp = stream(&pair).await;
    assert!(soon(tcp.read(&mut [0; 1])).await.is_err());
    until("streams are let go", || {
        pair.far.stats().peers[0].counters.streams_open == 0
    })
    .await;
}
