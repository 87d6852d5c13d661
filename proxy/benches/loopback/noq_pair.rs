//! noq itself with its own defaults: a client that sends one stream to a server that throws it away.

use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use noq::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime};
use proxy::PrivateKey;
use proxy::tls::{self, Class};
use socket2::SockRef;

use super::{Run, programs};

pub(crate) fn run(bytes: u64) -> Run {
    let (mut server, mut said) = start(&["noq-server"]);
    let address = line(&mut said);
    let (mut client, mut said) = start(&["noq-client", &address, &bytes.to_string()]);
    let micros: u64 = line(&mut said).parse().unwrap();
    // Both wait to be told to go.
    let cpu = [&client, &server].map(|child| programs::usage(child.id()).cpu);
    for child in [&mut client, &mut server] {
        drop(child.stdin.take());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    Run {
        took: Duration::from_micros(micros),
        cpu,
    }
}

fn start(arguments: &[&str]) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(child.stdout.take().unwrap());
    (child, said)
}

fn line(said: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    line.trim().to_owned()
}

/// The process that reads, until it is killed.
pub(crate) fn serve() {
    on_one_thread(async {
        let key = key();
        let crypto: QuicServerConfig = tls::server_config(&key, vec![key.public()], Class::Streams)
            .unwrap()
            .try_into()
            .unwrap();
        let endpoint = endpoint(Some(ServerConfig::with_crypto(Arc::new(crypto))));
        println!("{}", endpoint.local_addr().unwrap());
        while let Some(incoming) = endpoint.accept().await {
            let connection = incoming.await.unwrap();
            let mut stream = connection.accept_uni().await.unwrap();
            let mut chunks: [Bytes; 32] = Default::default();
            while stream.read_many_chunks(&mut chunks).await.unwrap().is_some() {}
            connection.closed().await;
        }
    });
}

/// The process that sends. Prints the microseconds that it took.
pub(crate) fn send(address: SocketAddr, bytes: u64) {
    on_one_thread(async {
        let key = key();
        let crypto: QuicClientConfig = tls::client_config(&key, key.public(), Class::Streams)
            .unwrap()
            .try_into()
            .unwrap();
        let endpoint = endpoint(None);
        let connecting = endpoint.connect_with(ClientConfig::new(Arc::new(crypto)), address, "server");
        let connection = connecting.unwrap().await.unwrap();
        let mut stream = connection.open_uni().await.unwrap();
        let (block, begin) = (Bytes::from(vec![7; BLOCK]), Instant::now());
        let mut left = bytes;
        while left > 0 {
            let part = left.min(BLOCK as u64);
            stream
                .write_chunk(block.slice(..usize::try_from(part).unwrap()))
                .await
                .unwrap();
            left -= part;
        }
        stream.finish().unwrap();
        stream.stopped().await.unwrap();
        println!("{}", begin.elapsed().as_micros());
        let _ = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await;
    });
}

fn endpoint(server: Option<ServerConfig>) -> Endpoint {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let wanted = SockRef::from(&socket);
    wanted.set_recv_buffer_size(SOCKET_BUFFER).unwrap();
    wanted.set_send_buffer_size(SOCKET_BUFFER).unwrap();
    Endpoint::new(EndpointConfig::default(), server, socket, Arc::new(TokioRuntime)).unwrap()
}

/// As programs that measure QUIC libraries usually do.
fn on_one_thread(future: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(future);
}

/// The same at both ends.
fn key() -> PrivateKey {
    KEY.parse().unwrap()
}

const KEY: &str = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";
const BLOCK: usize = 256 << 10;
/// As large as the proxies want it.
const SOCKET_BUFFER: usize = 4 << 20;
