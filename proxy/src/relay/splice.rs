//! One TCP connection and one QUIC stream, joined: bytes, ends, resets and back-pressure pass both ways.
//!
//! | TCP | stream |
//! |---|---|
//! | FIN | FIN |
//! | RST, or any error | reset and stop, both directions |
//! | not read | not read, so that the window closes and the other proxy stops reading its TCP |
//!
//! An idle stream holds no buffers.

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use noq::{RecvStream, SendStream, VarInt};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::wire::{Refusal, WireError, decode_answer};
use crate::counters::Counters;
use crate::unread::Window;

/// Both directions of a stream. Dropped before [`Pair::finished`], it is reset: a part must never pass for the whole.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) send: SendStream,
    pub(crate) recv: RecvStream,
    finished: bool,
}

/// Why a stream ended before both its ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    #[error("TCP: {0}")]
    Tcp(io::Error),
    #[error("stream: {0}")]
    Stream(io::Error),
    #[error("{0}")]
    Refused(#[from] Refusal),
    #[error("answer: {0}")]
    Answer(#[from] WireError),
    #[error("silent for too long")]
    Idle,
}

impl Pair {
    pub(crate) fn new((send, recv): (SendStream, RecvStream)) -> Pair {
        Pair {
            send,
            recv,
            finished: false,
        }
    }

    /// Both directions have come to their ends.
    pub(crate) fn finished(mut self) {
        self.finished = true;
    }

    /// The other side's answer to our request.
    pub(crate) async fn answer(&mut self) -> Result<(), Broken> {
        answer(&mut self.recv).await
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        if !self.finished {
            // An error means that the stream is closed already.
            let _ = self.send.reset(ABORTED);
            let _ = self.recv.stop(ABORTED);
        }
    }
}

/// Joins the two until both directions have ended. With `answer_due`, the other side's answer to our request has not
/// been read yet: what TCP sends goes on its way before it.
///
/// On an error TCP gets a RST when it is dropped, and so does the stream with `pair`.
pub(crate) async fn splice(
    tcp: &TcpStream,
    pair: &mut Pair,
    answer_due: bool,
    counters: &Counters,
    window: &Window,
    idle: Option<Duration>,
) -> Result<(), Broken> {
    // From the start: if the process is killed, the kernel closes in its stead, and a FIN would say that this was all.
    reset_on_close(tcp);
    let moved = AtomicU64::new(0);
    let Pair { send, recv, .. } = pair;
    let sent = |bytes: u64| {
        moved.fetch_add(bytes, Relaxed);
        counters.stream_bytes_sent.add(bytes);
    };
    let received = |bytes: u64| {
        moved.fetch_add(bytes, Relaxed);
        counters.stream_bytes_received.add(bytes);
    };
    let both = async {
        tokio::try_join!(
            to_stream(tcp, send, answer_due, sent),
            to_tcp(recv, tcp, answer_due, window, received)
        )
    };
    let result = tokio::select! {
        both = both => both.map(|_| ()),
        // Noticed even when nobody reads or writes, such as after a FIN.
        error = reset(tcp) => Err(Broken::Tcp(error)),
        () = silence(&moved, idle) => Err(Broken::Idle),
    };
    if result.is_ok() {
        end_on_close(tcp);
    }
    result
}

/// What is wanted of a TCP socket on either side: no delay, and a sign when the other end has vanished.
pub(crate) fn prepare(tcp: &TcpStream) {
    // Without these it works as well, only later.
    let _ = tcp.set_nodelay(true);
    let keep_alive = TcpKeepalive::new()
        .with_time(KEEP_ALIVE)
        .with_interval(KEEP_ALIVE);
    let _ = SockRef::from(tcp).set_tcp_keepalive(&keep_alive);
}

/// Closing sends RST.
pub(crate) fn reset_on_close(tcp: &TcpStream) {
    // A socket that refuses this is closed by FIN; there is nobody else to tell.
    let _ = SockRef::from(tcp).set_linger(Some(Duration::ZERO));
}

/// Closing sends what there is, then FIN.
fn end_on_close(tcp: &TcpStream) {
    let _ = SockRef::from(tcp).set_linger(None);
}

async fn to_stream(
    tcp: &TcpStream,
    send: &mut SendStream,
    answer_due: bool,
    count: impl Fn(u64),
) -> Result<(), Broken> {
    let stopped = send.stopped();
    let copy = async {
        loop {
            tcp.readable().await.map_err(Broken::Tcp)?;
            match read(tcp) {
                Ok(bytes) if bytes.is_empty() => return Ok(()),
                Ok(bytes) => {
                    let length = bytes.len() as u64;
                    send.write_chunk(bytes)
                        .await
                        .map_err(|error| Broken::Stream(error.into()))?;
                    count(length);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(Broken::Tcp(error)),
            }
        }
    };
    let result = tokio::select! {
        result = copy => result,
        _ = stopped => Err(Broken::Stream(io::ErrorKind::ConnectionReset.into())),
    };
    // If it was a refusal, that says more than the stop which goes with it; it may be behind.
    if answer_due && matches!(result, Err(Broken::Stream(_))) {
        sleep(ANSWER_BEHIND).await;
    }
    result?;
    send.finish().map_err(|error| Broken::Stream(error.into()))
}

/// What TCP has, without keeping a buffer while it has nothing. Empty at the end.
fn read(tcp: &TcpStream) -> io::Result<Bytes> {
    let mut buffer = BytesMut::with_capacity(READ_BYTES);
    tcp.try_read_buf(&mut buffer)?;
    // Until the other side has all of it, a buffer is kept: little is not to keep a large one.
    match buffer.len() < READ_BYTES / 2 {
        true => Ok(Bytes::copy_from_slice(&buffer)),
        false => Ok(buffer.freeze()),
    }
}

async fn to_tcp(
    recv: &mut RecvStream,
    tcp: &TcpStream,
    answer_due: bool,
    window: &Window,
    count: impl Fn(u64),
) -> Result<(), Broken> {
    if answer_due {
        answer(recv).await?;
    }
    let mut chunks: [Bytes; CHUNKS] = Default::default();
    while let Some(filled) = recv
        .read_many_chunks(&mut chunks)
        .await
        .map_err(|error| Broken::Stream(error.into()))?
    {
        let filled = chunks.get_mut(..filled).unwrap_or_default();
        let length: usize = filled.iter().map(Bytes::len).sum();
        let mut write = pin!(write_all(tcp, filled));
        let written = match timeout(UNREAD_AFTER, &mut write).await {
            Ok(written) => written,
            Err(_) => {
                let _unread = window.unread();
                write.await
            }
        };
        written.map_err(Broken::Tcp)?;
        count(length as u64);
    }
    SockRef::from(tcp).shutdown(Shutdown::Write).map_err(Broken::Tcp)
}

/// Writes all of them in few system calls; they are empty afterwards.
async fn write_all(tcp: &TcpStream, chunks: &mut [Bytes]) -> io::Result<()> {
    let mut done = 0;
    while let Some(rest) = chunks.get_mut(done..).filter(|rest| !rest.is_empty()) {
        let mut slices = [IoSlice::new(&[]); CHUNKS];
        for (slice, chunk) in slices.iter_mut().zip(rest.iter()) {
            *slice = IoSlice::new(chunk);
        }
        let mut written = match tcp.try_write_vectored(slices.get(..rest.len()).unwrap_or(&slices)) {
            Ok(written) => written,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                tcp.writable().await?;
                continue;
            }
            Err(error) => return Err(error),
        };
        for chunk in rest {
            let step = written.min(chunk.len());
            chunk.advance(step);
            written -= step;
            if !chunk.is_empty() {
                break;
            }
            done += 1;
        }
    }
    Ok(())
}

async fn answer(recv: &mut RecvStream) -> Result<(), Broken> {
    let mut bytes = [0; 2];
    recv.read_exact(&mut bytes)
        .await
        .map_err(|error| Broken::Stream(io::Error::other(error)))?;
    Ok(decode_answer(bytes)??)
}

/// Waits for a RST, or the like.
async fn reset(tcp: &TcpStream) -> io::Error {
    loop {
        if let Err(error) = tcp.ready(Interest::ERROR).await {
            return error;
        }
        match tcp.take_error() {
            Ok(Some(error)) | Err(error) => return error,
            // Whoever read or wrote just before has got the error; it ends the stream.
            Ok(None) => std::future::pending::<()>().await,
        }
    }
}

/// Waits until nothing has moved for `idle`.
async fn silence(moved: &AtomicU64, idle: Option<Duration>) {
    let Some(idle) = idle else {
        return std::future::pending().await;
    };
    let mut before = moved.load(Relaxed);
    loop {
        sleep(idle).await;
        let now = moved.load(Relaxed);
        if now == before {
            return;
        }
        before = now;
    }
}

/// The code of a stream that is reset or stopped.
const ABORTED: VarInt = VarInt::from_u32(1);
/// How long a refusal may come later than the stop that goes with it.
const ANSWER_BEHIND: Duration = Duration::from_secs(1);
const READ_BYTES: usize = 64 << 10;
/// Whoever takes nothing for so long does not read.
const UNREAD_AFTER: Duration = Duration::from_millis(500);
/// A chunk is about one packet; so many are written to TCP in one go.
const CHUNKS: usize = 32;
const KEEP_ALIVE: Duration = Duration::from_secs(60);
