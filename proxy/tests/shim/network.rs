//! Two sites joined by two paths, in this process.
//!
//! ```text
//!               +------------------- path 0: loss, rate, delay ------------------+--> base port
//!   client --> front                                                           back       server
//!               +------------------- path 1: loss, rate, delay + gap ------------+--> path 1 port
//! ```
//!
//! Each datagram goes on both paths, and each copy is addressed to the port that stands for its path, as the
//! bridges of two sites do it. The way back is the same.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What one path does, in either direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    /// Of a thousand datagrams, so many are lost.
    pub(crate) loss_per_mille: u64,
    /// One way.
    pub(crate) delay: Duration,
    /// Bits per second, behind a queue of [`QUEUE`].
    pub(crate) rate_bps: u64,
}

/// The network; it ends when it is dropped.
pub(crate) struct Network {
    /// Where the client finds the server.
    pub(crate) front: SocketAddr,
    end: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// How long a queue may get.
pub(crate) const QUEUE: Duration = Duration::from_millis(20);

impl Network {
    /// Joins the ports of a client and those of a server; one path for each port.
    pub(crate) fn new(
        client: Vec<SocketAddr>,
        server: Vec<SocketAddr>,
        paths: &[Path],
        seed: u64,
    ) -> io::Result<Self> {
        let [front, back] = [UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?];
        let (address, end) = (front.local_addr()?, Arc::new(AtomicBool::new(false)));
        let mut threads = Vec::new();
        let mut direction = |from: &UdpSocket, via: &UdpSocket, to, seed| {
            let (from, via, end) = (from.try_clone()?, via.try_clone()?, end.clone());
            from.set_nonblocking(true)?;
            let mut direction = Direction {
                to,
                paths: paths.iter().map(|path| (*path, Instant::now())).collect(),
                random: seed,
                queue: BinaryHeap::new(),
                taken: 0,
            };
            threads.push(std::thread::spawn(move || {
                while !end.load(Ordering::Relaxed) {
                    direction.turn(&from, &via);
                    std::thread::sleep(Duration::from_micros(50));
                }
            }));
            io::Result::Ok(())
        };
        direction(&front, &back, server, seed)?;
        direction(&back, &front, client, seed ^ u64::MAX)?;
        Ok(Self {
            front: address,
            end,
            threads,
        })
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

struct Direction {
    to: Vec<SocketAddr>,
    /// Each with the time at which its queue is empty.
    paths: Vec<(Path, Instant)>,
    random: u64,
    queue: BinaryHeap<Reverse<OnItsWay>>,
    taken: u64,
}

/// When it is due, its number, its path, its bytes.
type OnItsWay = (Instant, u64, usize, Arc<[u8]>);

impl Direction {
    fn turn(&mut self, from: &UdpSocket, via: &UdpSocket) {
        let mut buf = [0; 2048];
        while let Ok((len, _)) = from.recv_from(&mut buf) {
            self.take(&buf[..len]);
        }
        while let Some(Reverse((due, _, path, datagram))) = self.queue.peek()
            && *due <= Instant::now()
        {
            let _ = via.send_to(datagram, self.to[*path]);
            self.queue.pop();
        }
    }

    fn take(&mut self, datagram: &[u8]) {
        let now = Instant::now();
        self.taken += 1;
        let shared = Arc::from(datagram);
        for (index, (path, empty_at)) in self.paths.iter_mut().enumerate() {
            self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
            if mix(self.random) % 1000 < path.loss_per_mille {
                continue;
            }
            let begin = now.max(*empty_at);
            if begin - now > QUEUE {
                continue;
            }
            *empty_at = begin + Duration::from_nanos(datagram.len() as u64 * 8_000_000_000 / path.rate_bps);
            self.queue.push(Reverse((
                *empty_at + path.delay,
                self.taken,
                index,
                Arc::clone(&shared),
            )));
        }
    }
}

/// SplitMix64's finalizer.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
