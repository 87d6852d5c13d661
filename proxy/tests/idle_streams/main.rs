//! What idle streams cost: alone in its process, because it looks at the process's memory and files.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test may fail by panicking")]

#[path = "../e2e/common.rs"]
#[expect(dead_code, reason = "shared with tests that need all of it")]
mod common;

use common::{Pair, echo, echoes, server, soon, until};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_idle_streams_cost_little_and_leave_nothing() {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, most.min(20_000), most).unwrap();
    let address = server(echo).await;
    let forwards = format!("  web: {{kind: tcp, listen: 127.0.0.1:0, peer: far, target: \"{address}\"}}");
    let pair = Pair::start(&forwards, "127.0.0.1:*").await;
    drop(stream(&pair).await);
    until("the first is gone", || {
        pair.far.stats().peers[0].counters.streams_open == 0
    })
    .await;
    let (memory, files_before) = (resident(), files());

    let mut streams = Vec::new();
    for _ in 0..1000 {
        streams.push(stream(&pair).await);
    }
    assert_eq!(pair.far.stats().peers[0].counters.streams_open, 1000);
    let each = resident().saturating_sub(memory) / 1000;
    println!("{each} bytes for each stream: two proxies, an application and a server");
    // 20 kB for each of the proxies is the aim.
    assert!(each < 50_000, "{each} bytes for each stream");

    drop(streams);
    until("all are gone", || {
        pair.far.stats().peers[0].counters.streams_open == 0
    })
    .await;
    until("their files are closed", || files() <= files_before + 10).await;
    assert!(echoes(pair.forward("web")).await);
}

async fn stream(pair: &Pair) -> TcpStream {
    let mut tcp = TcpStream::connect(pair.forward("web")).await.unwrap();
    tcp.write_all(b"x").await.unwrap();
    soon(tcp.read_exact(&mut [0; 1])).await.unwrap();
    tcp
}

/// A process's resident memory, bytes.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

fn files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}
