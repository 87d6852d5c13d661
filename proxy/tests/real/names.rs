//! dig, which asks a name server of our own by UDP and by TCP.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};

use crate::lab::{Proxies, in_namespace, output};

#[test]
fn dig_gets_answers_short_and_long_by_udp_and_by_tcp() {
    in_namespace(|| async {
        let forwards = "  udp: {kind: udp, listen: 127.0.0.1:5300, peer: far, target: \"127.0.0.1:53\"}\n  \
             tcp: {kind: tcp, listen: 127.0.0.1:5300, peer: far, target: \"127.0.0.1:53\"}";
        let proxies = Proxies::start("", forwards).await;
        name_server().await;
        let long = vec![format!("\"{}\"", "x".repeat(250)); 12].join(" ");
        for (arguments, answer) in [
            ("server.example A", "192.0.2.7"),
            ("+tcp server.example A", "192.0.2.7"),
            ("+bufsize=4096 server.example TXT", long.as_str()),
        ] {
            let dig = format!("dig @127.0.0.1 -p 5300 +short +tries=20 +time=3 {arguments}");
            let done = output(&dig, b"").await;
            let told = String::from_utf8(done.stdout).unwrap();
            assert!(done.status.success(), "{dig}: {told}");
            assert_eq!(told.trim(), answer, "{dig}");
        }
        let counters = proxies.near.stats().unwrap().peers.remove(0).counters;
        assert!(
            counters.flows_opened >= 2 && counters.streams_opened == 1,
            "{counters:?}"
        );
        assert!(counters.datagrams_too_big >= 1, "the long answer: {counters:?}");
    });
}

async fn name_server() {
    let udp = UdpSocket::bind("127.0.0.1:53").await.unwrap();
    let tcp = TcpListener::bind("127.0.0.1:53").await.unwrap();
    tokio::spawn(async move {
        let mut question = [0; 512];
        while let Ok((length, from)) = udp.recv_from(&mut question).await {
            let _ = udp.send_to(&answer(&question[..length]), from).await;
        }
    });
    tokio::spawn(async move {
        while let Ok((mut tcp, _)) = tcp.accept().await {
            let length = tcp.read_u16().await.unwrap();
            let mut question = vec![0; usize::from(length)];
            tcp.read_exact(&mut question).await.unwrap();
            let answer = answer(&question);
            tcp.write_u16(u16::try_from(answer.len()).unwrap()).await.unwrap();
            tcp.write_all(&answer).await.unwrap();
        }
    });
}

/// RFC 1035 §4: the question, and one record for its name.
fn answer(question: &[u8]) -> Vec<u8> {
    let name = question[12..].iter().position(|byte| *byte == 0).unwrap();
    let asked = &question[12..12 + name + 5];
    let text = asked[name + 1..name + 3] == [0, 16];
    let data = match text {
        true => [&[250][..], &[b'x'; 250]].concat().repeat(12),
        false => vec![192, 0, 2, 7],
    };
    let mut answer = [&question[..2], &[0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0], asked].concat();
    answer.extend([0xc0, 12]);
    answer.extend(&asked[name + 1..]);
    answer.extend([0, 0, 0, 60]);
    answer.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
    answer.extend(data);
    answer
}
