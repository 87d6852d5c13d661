//! Each end killed (SIGKILL) in the middle of transfers: the others notice, let everything go, and work again.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::common::{soon, until};
use crate::lab::{Proxies, in_namespace, listens, start};

const FORWARDS: &str = "  endless: {kind: tcp, listen: 127.0.0.1:7000, peer: far, target: \"127.0.0.1:19\"}\n  \
     web: {kind: tcp, listen: 127.0.0.1:8000, peer: far, target: \"127.0.0.1:80\"}";
/// Silence is noticed soon.
const IMPATIENT: &str = "transport: {idle: 3s, keep_alive: 1s}";
/// Silence is noticed later than anything is waited for here.
const PATIENT: &str = "transport: {idle: 600s, keep_alive: 1s}";

/// A server that writes for ever to whoever has sent something, and how its connections have ended.
#[derive(Clone, Default)]
struct Endless {
    reset: Arc<AtomicUsize>,
    open: Arc<AtomicUsize>,
}

impl Endless {
    async fn start() -> Endless {
        let (endless, listener) = (
            Endless::default(),
            TcpListener::bind("127.0.0.1:19").await.unwrap(),
        );
        let all = endless.clone();
        tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                tokio::spawn(all.clone().serve(tcp));
            }
        });
        endless
    }

    async fn serve(self, mut tcp: TcpStream) {
        self.open.fetch_add(1, Relaxed);
        // A reset: behind the application's end it is called a broken pipe.
        while tcp.write_all(&[0; 10_000]).await.is_ok() {}
        self.open.fetch_sub(1, Relaxed);
        self.reset.fetch_add(1, Relaxed);
    }
}

/// Applications that have read something and want more.
async fn applications(server: &Endless) -> Vec<TcpStream> {
    let mut all = Vec::new();
    for _ in 0..STREAMS {
        let mut tcp = TcpStream::connect("127.0.0.1:7000").await.unwrap();
        soon(tcp.read_exact(&mut [0; 100_000])).await.unwrap();
        all.push(tcp);
    }
    assert_eq!(server.open.load(Relaxed), STREAMS);
    all
}

/// They read what has come, and then that it was not all.
async fn are_reset(applications: Vec<TcpStream>) {
    for mut tcp in applications {
        let read = async {
            let mut buffer = [0; 65_536];
            loop {
                match tcp.read(&mut buffer).await {
                    Ok(0) => return None,
                    Ok(_) => {}
                    Err(error) => return Some(error.kind()),
                }
            }
        };
        assert_eq!(soon(read).await, Some(ErrorKind::ConnectionReset));
    }
}

#[test]
fn the_near_proxy_killed() {
    in_namespace(|| async {
        let mut proxies = Proxies::start(IMPATIENT, FORWARDS).await;
        let (server, before) = (Endless::start().await, proxies.far.open_files());
        let open = applications(&server).await;
        proxies.near.kill().await;
        are_reset(open).await;
        proxies.far.is_as(before).await;
        until("the server is told", || server.reset.load(Relaxed) == STREAMS).await;
        proxies.near.start_again().await;
        proxies.connected().await;
        drop(applications(&server).await);
        proxies.far.is_as(before).await;
    });
}

#[test]
fn the_far_proxy_killed_and_gone() {
    in_namespace(|| async {
        let mut proxies = Proxies::start(IMPATIENT, FORWARDS).await;
        let (server, before) = (Endless::start().await, proxies.near.open_files());
        let open = applications(&server).await;
        proxies.far.kill().await;
        until("the server is told", || server.reset.load(Relaxed) == STREAMS).await;
        are_reset(open).await;
        proxies.near.is_as(before).await;
        proxies.far.start_again().await;
        proxies.connected().await;
        drop(applications(&server).await);
        proxies.near.is_as(before).await;
    });
}

#[test]
fn the_far_proxy_killed_and_back_at_once_says_that_it_knows_nothing() {
    in_namespace(|| async {
        let mut proxies = Proxies::start(PATIENT, FORWARDS).await;
        let (server, before) = (Endless::start().await, proxies.near.open_files());
        let open = applications(&server).await;
        proxies.far.kill().await;
        proxies.far.start_again().await;
        are_reset(open).await;
        proxies.connected().await;
        drop(applications(&server).await);
        proxies.near.is_as(before).await;
    });
}

#[test]
fn the_client_killed() {
    in_namespace(|| async {
        let proxies = Proxies::start(IMPATIENT, FORWARDS).await;
        let server = Endless::start().await;
        let before = [&proxies.near, &proxies.far].map(|proxy| proxy.open_files());
        let mut clients: Vec<_> = (0..STREAMS)
            .map(|_| start("curl --silent --http0.9 --output /dev/null http://127.0.0.1:7000/"))
            .collect();
        until("they are served", || server.open.load(Relaxed) == STREAMS).await;
        for client in &mut clients {
            client.kill().await.unwrap();
        }
        until("the server is told", || server.reset.load(Relaxed) == STREAMS).await;
        proxies.near.is_as(before[0]).await;
        proxies.far.is_as(before[1]).await;
    });
}

#[test]
fn the_server_killed() {
    in_namespace(|| async {
        let proxies = Proxies::start(IMPATIENT, FORWARDS).await;
        let folder = proxies.folder.path();
        // It costs no disk.
        std::fs::File::create(folder.join("big"))
            .unwrap()
            .set_len(1 << 40)
            .unwrap();
        let mut nghttpd = start(&format!(
            "nghttpd --no-tls -a 127.0.0.1 -d {} 80",
            folder.display()
        ));
        listens(80).await;
        let before = [&proxies.near, &proxies.far].map(|proxy| proxy.open_files());
        let mut clients: Vec<_> = (0..STREAMS)
            .map(|_| {
                start("curl --silent --http2-prior-knowledge --output /dev/null http://127.0.0.1:8000/big")
            })
            .collect();
        until("they are served", || {
            let peer = proxies.near.stats().unwrap().peers.remove(0);
            peer.counters.streams_open == STREAMS as u64 && peer.counters.stream_bytes_received > 1_000_000
        })
        .await;
        nghttpd.kill().await.unwrap();
        for client in &mut clients {
            let status = soon(client.wait()).await.unwrap();
            assert!(!status.success(), "a part must not pass for the whole");
        }
        proxies.near.is_as(before[0]).await;
        proxies.far.is_as(before[1]).await;
    });
}

const STREAMS: usize = 10;
