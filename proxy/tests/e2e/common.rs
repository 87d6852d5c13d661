//! A pair of proxies, and servers and applications around them.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use proxy::tls::Class;
use proxy::{Config, PrivateKey, Proxy, config};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::time::{sleep, timeout};

#[path = "noise.rs"]
mod noise;
pub(crate) use noise::noise;

/// Long enough on any machine; what is waited for takes milliseconds.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// `near` dials `far`; both are ready.
pub(crate) struct Pair {
    pub(crate) near: Proxy,
    pub(crate) far: Proxy,
    pub(crate) near_key: PrivateKey,
    pub(crate) far_key: PrivateKey,
    pub(crate) folder: tempfile::TempDir,
}

impl Pair {
    /// `forwards` are those of the near side, in YAML's flow style and with `peer: far`; `allow` is the far side's list.
    pub(crate) async fn start(forwards: &str, allow: &str) -> Pair {
        Pair::with("", "", forwards, allow).await
    }

    /// The same with more of the near side's peer (`near_peer`), and more for both sides (`both`).
    pub(crate) async fn with(near_peer: &str, both: &str, forwards: &str, allow: &str) -> Pair {
        let folder = tempfile::tempdir().unwrap();
        let (near_key, far_key) = (PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap());
        let far = far(
            &folder,
            &near_key,
            &far_key,
            both,
            allow,
            ("127.0.0.1:0", "127.0.0.1:0"),
        )
        .await;
        let near = near(&folder, &far, &near_key, &far_key, near_peer, both, forwards).await;
        let pair = Pair {
            near,
            far,
            near_key,
            far_key,
            folder,
        };
        until("both are connected", || {
            pair.near.connected("far") && pair.far.connected("near")
        })
        .await;
        pair
    }

    pub(crate) fn forward(&self, name: &str) -> SocketAddr {
        self.near.forward(name).unwrap()
    }
}

pub(crate) async fn near(
    folder: &tempfile::TempDir,
    far: &Proxy,
    near_key: &PrivateKey,
    far_key: &PrivateKey,
    peer: &str,
    both: &str,
    forwards: &str,
) -> Proxy {
    let text = format!(
        "key: unused\nsocket: {}\n{both}\npeers:\n  far: {{key: {}, dial: \"{}\", dial_datagrams: \"{}\"{peer}}}\nforwards:\n{forwards}\n",
        socket(folder, "near").display(),
        far_key.public(),
        far.address(Class::Streams).unwrap(),
        far.address(Class::Datagrams).unwrap(),
    );
    Proxy::start(parse(&text), near_key.clone()).await.unwrap()
}

/// At `listen`: the addresses for streams and for datagrams.
pub(crate) async fn far(
    folder: &tempfile::TempDir,
    near_key: &PrivateKey,
    far_key: &PrivateKey,
    both: &str,
    allow: &str,
    listen: (&str, &str),
) -> Proxy {
    let text = format!(
        "key: unused\nlisten: {}\nlisten_datagrams: {}\nsocket: {}\n{both}\npeers:\n  near: {{key: {}, allow: [{allow}]}}\n",
        listen.0,
        listen.1,
        socket(folder, "far").display(),
        near_key.public(),
    );
    Proxy::start(parse(&text), far_key.clone()).await.unwrap()
}

pub(crate) fn socket(folder: &tempfile::TempDir, name: &str) -> PathBuf {
    folder.path().join(format!("{name}.sock"))
}

pub(crate) fn parse(text: &str) -> Config {
    config::parse("test.yaml", text).unwrap_or_else(|error| panic!("{error}"))
}

/// Waits until it is so.
pub(crate) async fn until(what: &str, condition: impl Fn() -> bool) {
    let wait = async {
        while !condition() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LONG, wait)
        .await
        .unwrap_or_else(|_| panic!("not so in time: {what}"));
}

/// Fails instead of waiting for ever.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(LONG, future).await.expect("it takes milliseconds")
}

/// A server whose connections `serve` handles. Gives its address.
pub(crate) async fn server<F: Future<Output = ()> + Send + 'static>(serve: fn(TcpStream) -> F) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            tokio::spawn(serve(tcp));
        }
    });
    address
}

/// Sends back what it gets; ends when the other side has ended.
pub(crate) async fn echo(mut tcp: TcpStream) {
    let (mut reader, mut writer) = tcp.split();
    if tokio::io::copy(&mut reader, &mut writer).await.is_ok() {
        let _ = writer.shutdown().await;
    }
}

/// Sends back datagrams.
pub(crate) async fn udp_echo() -> SocketAddr {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut buffer = vec![0; 65_535];
        loop {
            let Ok((length, from)) = socket.recv_from(&mut buffer).await else {
                continue;
            };
            let _ = socket.send_to(&buffer[..length], from).await;
        }
    });
    address
}

/// Sends `bytes`, ends, and gives what comes back until the end.
pub(crate) async fn exchange(tcp: TcpStream, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let (mut reader, mut writer) = tcp.into_split();
    let mut back = Vec::new();
    let send = async {
        writer.write_all(bytes).await?;
        writer.shutdown().await
    };
    let (sent, received) = soon(async { tokio::join!(send, reader.read_to_end(&mut back)) }).await;
    sent.and(received).map(|_| back)
}

/// One line there and the same back, over a fresh connection to `address`.
pub(crate) async fn echoes(address: SocketAddr) -> bool {
    let attempt = async {
        let tcp = TcpStream::connect(address).await.ok()?;
        exchange(tcp, b"hello").await.ok()
    };
    attempt.await.is_some_and(|back| back == b"hello")
}
