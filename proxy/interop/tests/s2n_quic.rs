//! Our QUIC beside s2n-quic, which shares no transport code with it: each side once as the client and once as the
//! server, with our handshake of mutual raw public keys, and streams as they are between two proxies.

#[path = "../../tests/e2e/noise.rs"]
mod noise;

use std::net::SocketAddr;
use std::time::Duration;

use noise::noise;
use proxy::relay::wire::{Kind, Request, decode_answer, encode_answer};
use proxy::tls::{self, Class};
use proxy::{PrivateKey, Proxy, config};
use s2n_quic::client::Connect;
use s2n_quic::provider::tls::rustls as s2n_rustls;
use s2n_quic::{Client, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// A client of another make, our listener, and behind it a server: bytes and ends both ways, on many streams.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_another_make_is_relayed_by_our_listener() {
    let target = echo_server().await;
    let [ours, theirs] = keys();
    let (far, _folder) = listener(&ours, &theirs, target).await;
    let client = client(&theirs, &ours);
    let to = Connect::new(far.address(Class::Streams).unwrap()).with_server_name("bicast");
    let mut connection = soon(client.connect(to)).await.unwrap();
    connection.keep_alive(true).unwrap();

    for seed in 0..4 {
        let stream = connection.open_bidirectional_stream().await.unwrap();
        let (mut recv, mut send) = stream.split();
        let sent = noise(seed, 2_000_000);
        let request = Request {
            kind: Kind::Tcp,
            target: target.to_string().parse().unwrap(),
            congestion: None,
        };
        let write = async {
            send.write_all(&request.encode()).await.unwrap();
            send.write_all(&sent).await.unwrap();
            send.shutdown().await.unwrap();
        };
        let read = async {
            let mut answer = [0; 2];
            recv.read_exact(&mut answer).await.unwrap();
            assert_eq!(decode_answer(answer).unwrap(), Ok(()));
            let mut back = Vec::new();
            recv.read_to_end(&mut back).await.unwrap();
            back
        };
        let ((), back) = soon(async { tokio::join!(write, read) }).await;
        assert!(
            back == sent,
            "stream {seed}: {} bytes of {}",
            back.len(),
            sent.len()
        );
    }
    let peer = far.stats().peers.remove(0);
    assert_eq!(peer.counters.streams_accepted, 4);
    assert_eq!(peer.counters.streams_aborted, 0);
    assert_eq!(peer.counters.stream_bytes_sent, 8_000_000);
}

/// A client of another make that breaks off resets the server behind our listener.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_by_another_make_is_passed_on() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = server.local_addr().unwrap();
    let [ours, theirs] = keys();
    let (far, _folder) = listener(&ours, &theirs, target).await;
    let client = client(&theirs, &ours);
    let to = Connect::new(far.address(Class::Streams).unwrap()).with_server_name("bicast");
    let mut connection = soon(client.connect(to)).await.unwrap();
    let mut stream = connection.open_bidirectional_stream().await.unwrap();
    let request = Request {
        kind: Kind::Tcp,
        target: target.to_string().parse().unwrap(),
        congestion: None,
    };
    stream.send(request.encode()).await.unwrap();
    let (mut tcp, _) = soon(server.accept()).await.unwrap();
    stream.reset(7u8.into()).unwrap();
    let error = soon(tcp.read(&mut [0])).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

/// Whoever shows another key than those that are listed does not get in.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_another_make_with_an_unknown_key_is_refused() {
    let [ours, theirs] = keys();
    let (far, _folder) = listener(&ours, &theirs, "127.0.0.1:9".parse().unwrap()).await;
    let stranger = client(&PrivateKey::generate().unwrap(), &ours);
    let to = Connect::new(far.address(Class::Streams).unwrap()).with_server_name("bicast");
    // The client's handshake is over before the listener has looked at its key: what comes next fails.
    if let Ok(mut connection) = soon(stranger.connect(to)).await {
        let refused = async {
            let mut stream = connection.open_bidirectional_stream().await.ok()?;
            let _ = stream.send("x".into()).await;
            stream.receive().await.ok().flatten()
        };
        assert_eq!(soon(refused).await, None);
    }
    assert_eq!(far.stats().peers[0].counters.connections, 0);
}

/// An application, our proxy, and a server of another make in the place of the far proxy.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_proxy_relays_to_a_server_of_another_make() {
    let [ours, theirs] = keys();
    let tls = tls::server_config(&theirs, vec![ours.public()], Class::Streams).unwrap();
    let mut server = Server::builder()
        .with_tls(s2n_rustls::Server::from(tls))
        .unwrap()
        .with_io("127.0.0.1:0")
        .unwrap()
        .start()
        .unwrap();
    let address = server.local_addr().unwrap();
    tokio::spawn(async move {
        while let Some(mut connection) = server.accept().await {
            tokio::spawn(async move {
                while let Ok(Some(stream)) = connection.accept_bidirectional_stream().await {
                    let (mut recv, mut send) = stream.split();
                    tokio::spawn(async move {
                        let length = usize::from(recv.read_u16().await.unwrap());
                        let mut request = vec![0; length];
                        recv.read_exact(&mut request).await.unwrap();
                        let request = Request::decode(&request).unwrap();
                        assert_eq!(request.target.to_string(), "nowhere.example:7");
                        send.write_all(&encode_answer(Ok(()))).await.unwrap();
                        tokio::io::copy(&mut recv, &mut send).await.unwrap();
                        send.shutdown().await.unwrap();
                    });
                }
            });
        }
    });
    let folder = tempfile::tempdir().unwrap();
    // Nothing answers datagrams there: that connection is dialled in vain, again and again.
    let text = format!(
        "key: unused\nsocket: {}\nshim: {{mode: off}}\npeers:\n  far: {{key: {}, dial: \"{address}\"}}\n\
         forwards:\n  web: {{kind: tcp, listen: \"127.0.0.1:0\", peer: far, target: \"nowhere.example:7\"}}\n",
        folder.path().join("near.sock").display(),
        theirs.public(),
    );
    let near = Proxy::start(config::parse("near.yaml", &text).unwrap(), ours)
        .await
        .unwrap();
    for seed in 0..4 {
        let sent = noise(seed, 2_000_000);
        let tcp = TcpStream::connect(near.forward("web").unwrap()).await.unwrap();
        let (mut reader, mut writer) = tcp.into_split();
        let write = async {
            writer.write_all(&sent).await.unwrap();
            writer.shutdown().await.unwrap();
        };
        let mut back = Vec::new();
        let (read, ()) = soon(async { tokio::join!(reader.read_to_end(&mut back), write) }).await;
        read.unwrap();
        assert!(back == sent, "{seed}: {} bytes of {}", back.len(), sent.len());
    }
}

async fn listener(ours: &PrivateKey, theirs: &PrivateKey, target: SocketAddr) -> (Proxy, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "key: unused\nlisten: 127.0.0.1:0\nlisten_datagrams: 127.0.0.1:0\nsocket: {}\nshim: {{mode: off}}\n\
         peers:\n  other: {{key: {}, allow: [\"{target}\"]}}\n",
        folder.path().join("far.sock").display(),
        theirs.public(),
    );
    let config = config::parse("far.yaml", &text).unwrap();
    (Proxy::start(config, ours.clone()).await.unwrap(), folder)
}

fn client(own: &PrivateKey, peer: &PrivateKey) -> Client {
    let tls = tls::client_config(own, peer.public(), Class::Streams).unwrap();
    Client::builder()
        .with_tls(s2n_rustls::Client::from(tls))
        .unwrap()
        .with_io("127.0.0.1:0")
        .unwrap()
        .start()
        .unwrap()
}

fn keys() -> [PrivateKey; 2] {
    [PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap()]
}

/// Sends everything back, and ends when the other side has ended.
async fn echo_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut tcp, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut reader, mut writer) = tcp.split();
                tokio::io::copy(&mut reader, &mut writer).await.unwrap();
                writer.shutdown().await.unwrap();
            });
        }
    });
    address
}

/// Fails instead of waiting for ever.
async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(60), future)
        .await
        .expect("it takes milliseconds")
}
