//! curl, by HTTP/1.1 with connections that it keeps, and by HTTP/2.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::common::noise;
use crate::lab::{Proxies, in_namespace, listens, output, start};

#[test]
fn curl_downloads_by_every_kind_of_forward_and_keeps_its_connections() {
    in_namespace(|| async {
        let forwards = "  h1: {kind: tcp, listen: 127.0.0.1:8001, peer: far, target: \"127.0.0.1:80\"}\n  \
             h2: {kind: tcp, listen: 127.0.0.1:8002, peer: far, target: \"127.0.0.1:82\"}\n  \
             socks: {kind: socks5, listen: 127.0.0.1:1080, peer: far}\n  \
             http: {kind: http_connect, listen: 127.0.0.1:3128, peer: far}";
        let proxies = Proxies::start("", forwards).await;
        let page = noise(9, PAGE);
        let folder = proxies.folder.path();
        std::fs::write(folder.join("page"), &page).unwrap();
        let listener = TcpListener::bind("127.0.0.1:80").await.unwrap();
        tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                tokio::spawn(http(tcp));
            }
        });
        let _nghttpd = start(&format!(
            "nghttpd --no-tls -a 127.0.0.1 -d {} 82",
            folder.display()
        ));
        listens(82).await;

        let socks = "--proxy socks5h://127.0.0.1:1080";
        let connect = "--proxytunnel --proxy http://127.0.0.1:3128";
        // With HTTP/2 one transfer each: some versions of curl cannot use such a connection again, to any server.
        for (version, direct, port, transfers) in [
            ("--http1.1", 8001, 80, "1,1.1;0,1.1;0,1.1;"),
            ("--http2-prior-knowledge", 8002, 82, "1,2;"),
        ] {
            for (proxy, url) in [
                ("", format!("http://127.0.0.1:{direct}/page")),
                (socks, format!("http://localhost:{port}/page")),
                (connect, format!("http://localhost:{port}/page")),
            ] {
                let count = transfers.matches(';').count();
                let curl = format!(
                    "curl --silent --show-error --noproxy '' {version} {proxy} \
                     --write-out %{{stderr}}%{{num_connects}},%{{http_version}}; {}",
                    vec![url; count].join(" ")
                );
                let done = output(&curl, b"").await;
                let told = String::from_utf8(done.stderr).unwrap();
                assert!(done.status.success(), "{curl}: {told}");
                assert!(
                    done.stdout == page.repeat(count),
                    "{curl}: {} bytes",
                    done.stdout.len()
                );
                assert_eq!(told, transfers, "{curl}");
            }
        }
        let counters = proxies.near.stats().unwrap().peers.remove(0).counters;
        assert_eq!((counters.streams_opened, counters.streams_refused), (6, 0));
    });
}

/// A web server that keeps its connections and knows one page.
async fn http(tcp: TcpStream) {
    let (mut reader, mut writer) = tcp.into_split();
    let page = noise(9, PAGE);
    let mut head = Vec::new();
    while let Ok(byte) = reader.read_u8().await {
        head.push(byte);
        if head.ends_with(b"\r\n\r\n") {
            head.clear();
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {PAGE}\r\n\r\n");
            if writer.write_all(answer.as_bytes()).await.is_err() || writer.write_all(&page).await.is_err() {
                return;
            }
        }
    }
}

const PAGE: usize = 500_000;
