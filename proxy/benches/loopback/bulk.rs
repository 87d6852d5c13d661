//! An application that sends and a server that reads, by TCP.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

pub(crate) fn listen() -> TcpListener {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()
}

/// Sends so many bytes to `address`, which leads to `server`: from the first to the end that the server sees.
pub(crate) fn transfer(address: SocketAddr, server: &TcpListener, bytes: u64) -> Duration {
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let (mut tcp, _) = server.accept().unwrap();
            tcp.write_all(b"!").unwrap();
            let (mut buffer, mut received) = (vec![0; BLOCK], 0);
            loop {
                match tcp.read(&mut buffer).unwrap() {
                    0 => return (received, Instant::now()),
                    count => received += count as u64,
                }
            }
        });
        let mut tcp = TcpStream::connect(address).unwrap();
        // The way is open when the server has said something.
        tcp.read_exact(&mut [0]).unwrap();
        let (block, begin) = (vec![7; BLOCK], Instant::now());
        let mut left = bytes;
        while left > 0 {
            let part = left.min(BLOCK as u64);
            tcp.write_all(&block[..usize::try_from(part).unwrap()]).unwrap();
            left -= part;
        }
        tcp.shutdown(std::net::Shutdown::Write).unwrap();
        let (received, end) = reader.join().unwrap();
        assert_eq!(received, bytes);
        end - begin
    })
}

const BLOCK: usize = 256 << 10;
