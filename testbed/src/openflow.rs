//! A plain OpenFlow client for scripts and tests: one connection to a bridge, one question after the other.

use anyhow::{Context, Result, bail, ensure};
use bytes::BytesMut;
use ofproto::{FrameSplitter, Header, Hello, Message, Xid};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// A connection to a bridge's management socket.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    splitter: FrameSplitter,
    received: BytesMut,
    next_xid: u32,
}

/// What came in: header and message.
pub type Received = (Header, Message);

impl Client {
    /// Connects and says hello.
    ///
    /// # Errors
    /// When there is no bridge or it does not greet.
    pub fn connect(socket: &Path) -> Result<Client> {
        let stream =
            UnixStream::connect(socket).with_context(|| format!("cannot connect to {}", socket.display()))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut client = Client {
            stream,
            splitter: FrameSplitter::new(usize::from(u16::MAX)),
            received: BytesMut::new(),
            next_xid: 1,
        };
        client.send(&Message::Hello(Hello::v1_3()))?;
        match client.receive()? {
            (_, Message::Hello(_)) => Ok(client),
            (_, other) => bail!("a bridge that greets with {}", other.name()),
        }
    }

    /// Sends a message.
    ///
    /// # Errors
    /// When it has no form on the wire, or the connection is gone.
    pub fn send(&mut self, message: &Message) -> Result<Xid> {
        let xid = self.take_xid();
        let mut frame = BytesMut::new();
        message.encode(xid, &mut frame)?;
        self.stream.write_all(&frame)?;
        Ok(xid)
    }

    /// The next message.
    ///
    /// # Errors
    /// When none comes for ten seconds, or it cannot be read.
    pub fn receive(&mut self) -> Result<Received> {
        loop {
            if let Some(frame) = self.splitter.next(&mut self.received)? {
                return Ok(Message::decode(&frame)?);
            }
            let mut bytes = [0; 4096];
            let count = self.stream.read(&mut bytes).context("the bridge says nothing")?;
            ensure!(count > 0, "the bridge has closed the connection");
            self.received.extend_from_slice(&bytes[..count]);
        }
    }

    /// Sends a message and a barrier; returns what came in until the bridge answered the barrier.
    ///
    /// # Errors
    /// As [`send`](Self::send) and [`receive`](Self::receive).
    pub fn ask(&mut self, message: &Message) -> Result<Vec<Received>> {
        self.send(message)?;
        self.settle()
    }

    /// As [`ask`](Self::ask) with the bytes of a message; its transaction id is put in.
    ///
    /// # Errors
    /// As [`ask`](Self::ask), and when the bytes are less than a header.
    pub fn ask_bytes(&mut self, frame: &[u8]) -> Result<Vec<Received>> {
        let mut frame = frame.to_vec();
        let xid = self.take_xid();
        frame
            .get_mut(4..8)
            .context("less than a header")?
            .copy_from_slice(&xid.0.to_be_bytes());
        self.stream.write_all(&frame)?;
        self.settle()
    }

    /// Receives until `wanted` has come.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub fn wait_for(&mut self, wanted: impl Fn(&Message) -> bool) -> Result<()> {
        while !wanted(&self.receive()?.1) {}
        Ok(())
    }

    fn settle(&mut self) -> Result<Vec<Received>> {
        let barrier = self.send(&Message::BarrierRequest)?;
        let mut received = vec![];
        loop {
            let (header, message) = self.receive()?;
            match message {
                Message::BarrierReply if header.xid == barrier => return Ok(received),
                message => received.push((header, message)),
            }
        }
    }

    fn take_xid(&mut self) -> Xid {
        let xid = Xid(self.next_xid);
        self.next_xid += 1;
        xid
    }
}

/// How long to wait for a message; a bridge answers in milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
