//! One switch's connection: frames in become events, messages out become frames.

use bytes::{Bytes, BytesMut};
use ofproto::{ForeignProtocol, FrameError, FrameSplitter, Message, Xid};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;

use crate::event::{ConnId, Event};

/// The queue of one connection's writer. Full means that the switch does not read: it is cut off.
pub type Outbox = mpsc::Sender<Outgoing>;

/// What the writer is told.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a queue has few; a message is not worth an allocation of its own"
)]
pub enum Outgoing {
    /// Send a message.
    Message(Xid, Message),
    /// Send what is queued before, then close.
    Close,
}

/// Carries one connection until it ends, and says why it did.
pub(super) async fn run(
    conn: ConnId,
    stream: TcpStream,
    events: mpsc::Sender<Event>,
    outgoing: mpsc::Receiver<Outgoing>,
) -> String {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%conn, %error, "TCP_NODELAY");
    }
    let (reader, writer) = stream.into_split();
    tokio::select! {
        reason = read(conn, reader, &events) => reason,
        reason = write(writer, outgoing) => reason,
    }
}

async fn read(conn: ConnId, mut reader: OwnedReadHalf, events: &mpsc::Sender<Event>) -> String {
    let mut splitter = FrameSplitter::new(MAX_FRAME);
    let mut buffer = BytesMut::with_capacity(READ_BUFFER);
    loop {
        buffer.reserve(READ_BUFFER);
        match reader.read_buf(&mut buffer).await {
            Ok(0) => return "closed by the switch".to_owned(),
            Ok(_) => {}
            Err(error) => return error.to_string(),
        }
        loop {
            match splitter.next(&mut buffer) {
                Ok(Some(frame)) => {
                    if events.send(event_of(conn, &frame)).await.is_err() {
                        return "bicastd stops".to_owned();
                    }
                }
                Ok(None) => break,
                // Where the next message begins cannot be known after this.
                Err(error) => {
                    tracing::warn!(%conn, "not OpenFlow: {error}{}", hint(&error));
                    return format!("not OpenFlow: {error}");
                }
            }
        }
    }
}

/// What the operator of a peer that speaks something else may want to know.
fn hint(error: &FrameError) -> &'static str {
    match error {
        FrameError::Foreign {
            protocol: ForeignProtocol::Tls,
        } => "; this port takes plain OpenFlow: set-controller with tcp:, not ssl:",
        _ => "",
    }
}

fn event_of(conn: ConnId, frame: &Bytes) -> Event {
    match Message::decode(frame) {
        Ok((header, message)) => Event::Message {
            conn,
            header,
            message,
        },
        Err(error) => Event::Malformed {
            conn,
            xid: frame
                .get(4..8)
                .and_then(|xid| xid.try_into().ok())
                .map_or(Xid(0), |xid| Xid(u32::from_be_bytes(xid))),
            answer: error.error_msg(frame),
            problem: error.to_string(),
        },
    }
}

async fn write(mut writer: OwnedWriteHalf, mut outgoing: mpsc::Receiver<Outgoing>) -> String {
    let mut queue = Vec::with_capacity(BATCH);
    let mut buffer = BytesMut::with_capacity(READ_BUFFER);
    loop {
        if outgoing.recv_many(&mut queue, BATCH).await == 0 {
            return "closed".to_owned();
        }
        let mut close = false;
        for item in queue.drain(..) {
            match item {
                Outgoing::Message(xid, message) => {
                    if let Err(error) = message.encode(xid, &mut buffer) {
                        tracing::error!(%error, message = message.name(), "cannot be encoded, not sent");
                    }
                }
                Outgoing::Close => {
                    close = true;
                    break;
                }
            }
        }
        if let Err(error) = writer.write_all(&buffer).await {
            return error.to_string();
        }
        buffer.clear();
        if close {
            let _ = writer.shutdown().await;
            return "closed".to_owned();
        }
    }
}

/// The length field has 16 bits, so no frame can be longer.
const MAX_FRAME: usize = 65_535;
const READ_BUFFER: usize = 64 << 10;
/// Messages encoded into one write.
const BATCH: usize = 256;
