//! What ten thousand idle streams cost each proxy, each of the two in a process of its own.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[path = "../programs/mod.rs"]
mod programs;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use programs::{Programs, until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_idle_streams_cost_little_and_leave_nothing() {
    let streams = STREAMS.min(files() / 2 - 100);
    let programs = Programs::start("", "", echo_server().await);
    let both = [&programs.near, &programs.far];
    let open = || both.map(|program| program.stats().unwrap().peers[0].counters.streams_open);
    drop(stream(programs.forward).await);
    until("the first is gone", || open() == [0, 0]);
    let before = both.map(|program| program.usage());
    let tasks_before = both.map(|program| program.stats().unwrap().tasks);

    let mut opening = JoinSet::new();
    for part in 0..AT_A_TIME {
        let (count, forward) = ((streams + part) / AT_A_TIME, programs.forward);
        opening.spawn(async move {
            let mut held = Vec::new();
            for _ in 0..count {
                held.push(stream(forward).await);
            }
            held
        });
    }
    let held = opening.join_all().await;
    assert_eq!(open(), [streams as u64; 2]);
    for (program, before) in both.iter().zip(before) {
        let after = program.usage();
        let each = after.memory.saturating_sub(before.memory) / streams as u64;
        println!(
            "{streams} idle streams: {each} bytes and {} files for each",
            (after.files - before.files) / streams
        );
        assert!(each <= MOST_BYTES, "{each} bytes for each stream");
    }

    drop(held);
    until("all are gone", || open() == [0, 0]);
    until("their files are closed", || {
        both.iter()
            .zip(before)
            .all(|(program, before)| program.usage().files <= before.files + 10)
    });
    until("their tasks have ended", || {
        both.iter()
            .zip(tasks_before)
            .all(|(program, before)| program.stats().unwrap().tasks <= before + 10)
    });
    drop(stream(programs.forward).await);
}

/// Opens a stream that has carried a byte there and back.
async fn stream(forward: SocketAddr) -> TcpStream {
    let mut tcp = TcpStream::connect(forward).await.unwrap();
    tcp.write_all(b"x").await.unwrap();
    let mut byte = [0];
    let answer = tokio::time::timeout(Duration::from_secs(60), tcp.read_exact(&mut byte));
    answer.await.unwrap().unwrap();
    tcp
}

/// Sends each byte back.
async fn echo_server() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut tcp, _)) = listener.accept().await {
            tokio::spawn(async move {
                while let Ok(byte) = tcp.read_u8().await {
                    tcp.write_u8(byte).await.unwrap();
                }
            });
        }
    });
    address
}

/// How many files this process may have open: as many as the system lets it, for root what is needed.
fn files() -> usize {
    let needed = 2 * (STREAMS as u64 + 200);
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    let most = match setrlimit(Resource::RLIMIT_NOFILE, needed.max(most), needed.max(most)) {
        Ok(()) => needed.max(most),
        Err(_) => {
            setrlimit(Resource::RLIMIT_NOFILE, most, most).unwrap();
            most
        }
    };
    usize::try_from(most).unwrap()
}

const STREAMS: usize = 10_000;
const AT_A_TIME: usize = 32;
/// 200 MB for all.
const MOST_BYTES: u64 = 20_000;
