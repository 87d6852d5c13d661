//! What relaying costs without QUIC: bytes from one TCP connection to another, by two processes one after the other.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};

use super::{Run, bulk, programs};

pub(crate) fn run(bytes: u64) -> Run {
    let server = bulk::listen();
    let (mut far, address) = start(server.local_addr().unwrap());
    let (mut near, address) = start(address);
    let took = bulk::transfer(address, &server, bytes);
    let cpu = [&near, &far].map(|child| programs::usage(child.id()).cpu);
    for child in [&mut near, &mut far] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    Run { took, cpu }
}

fn start(target: SocketAddr) -> (Child, SocketAddr) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["splice", &target.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    (child, line.trim().parse().unwrap())
}

/// The process: joins each connection with one to `target`, until it is killed.
pub(crate) fn serve(target: SocketAddr) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .unwrap();
        println!("{}", listener.local_addr().unwrap());
        while let Ok((mut tcp, _)) = listener.accept().await {
            let mut other = tokio::net::TcpStream::connect(target).await.unwrap();
            let copied = tokio::io::copy_bidirectional_with_sizes(&mut tcp, &mut other, BLOCK, BLOCK).await;
            copied.unwrap();
        }
    });
}

/// What the proxies read at a time.
const BLOCK: usize = 32 << 10;
