//! A socket in front of a bridge's management socket that writes down every message of both directions.

use anyhow::{Result, ensure};
use bytes::{Bytes, BytesMut};
use ofproto::FrameSplitter;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Who sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Direction {
    /// The client: ovs-ofctl or a controller.
    ToSwitch,
    /// The bridge.
    FromSwitch,
}

/// A message on its way.
#[derive(Debug, Clone)]
pub(super) struct Overheard {
    /// Which connection, in the order in which they were made.
    pub(super) connection: u32,
    /// Who sends.
    pub(super) direction: Direction,
    /// The message.
    pub(super) frame: Bytes,
}

#[derive(Debug, Default)]
struct Notes {
    overheard: Vec<Overheard>,
    open: usize,
    connections: u32,
    problem: Option<String>,
}

/// The socket.
#[derive(Debug)]
pub(super) struct Wiretap {
    path: PathBuf,
    notes: Arc<Mutex<Notes>>,
}

impl Wiretap {
    /// Listens at `path` for clients of the socket `bridge`. Its threads end with the process.
    pub(super) fn listen(path: &Path, bridge: &Path) -> Result<Wiretap> {
        let listener = UnixListener::bind(path)?;
        let notes = Arc::new(Mutex::new(Notes::default()));
        let (taken, bridge) = (Arc::clone(&notes), bridge.to_owned());
        std::thread::spawn(move || {
            for client in listener.incoming() {
                if let Err(error) = client.and_then(|client| listen_in(client, &bridge, &taken)) {
                    lock(&taken).problem = Some(error.to_string());
                }
            }
        });
        Ok(Wiretap {
            path: path.to_owned(),
            notes,
        })
    }

    /// Where clients connect.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes what was overheard, once only `open` connections are left: by connection, the client's messages before
    /// the bridge's, since nothing tells how those of two directions interleave.
    pub(super) fn take(&self, open: usize) -> Result<Vec<Overheard>> {
        let start = Instant::now();
        while lock(&self.notes).open != open {
            ensure!(start.elapsed() < PATIENCE, "a client does not hang up");
            std::thread::sleep(Duration::from_millis(2));
        }
        let mut notes = lock(&self.notes);
        if let Some(problem) = &notes.problem {
            anyhow::bail!("the wiretap has failed: {problem}");
        }
        let mut overheard = std::mem::take(&mut notes.overheard);
        overheard.sort_by_key(|message| (message.connection, message.direction));
        Ok(overheard)
    }
}

fn listen_in(client: UnixStream, bridge: &Path, notes: &Arc<Mutex<Notes>>) -> io::Result<()> {
    let bridge = UnixStream::connect(bridge)?;
    let connection = {
        let mut notes = lock(notes);
        notes.open += 1;
        notes.connections += 1;
        notes.connections
    };
    let (from_client, to_client) = (client.try_clone()?, client);
    let (from_bridge, to_bridge) = (bridge.try_clone()?, bridge);
    let (of_client, of_bridge) = (Arc::clone(notes), Arc::clone(notes));
    std::thread::spawn(move || {
        pass_on(
            from_client,
            to_bridge,
            (connection, Direction::ToSwitch),
            &of_client,
        );
    });
    std::thread::spawn(move || {
        pass_on(
            from_bridge,
            to_client,
            (connection, Direction::FromSwitch),
            &of_bridge,
        );
        lock(&of_bridge).open -= 1;
    });
    Ok(())
}

/// Writes each message down before it is passed on: whoever has received it finds it in the notes.
fn pass_on(
    mut from: UnixStream,
    mut to: UnixStream,
    (connection, direction): (u32, Direction),
    notes: &Mutex<Notes>,
) {
    let mut splitter = FrameSplitter::new(usize::from(u16::MAX));
    let mut received = BytesMut::new();
    let mut bytes = [0; 65_536];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        received.extend_from_slice(&bytes[..count]);
        let mut notes = lock(notes);
        loop {
            match splitter.next(&mut received) {
                Ok(Some(frame)) => notes.overheard.push(Overheard {
                    connection,
                    direction,
                    frame,
                }),
                Ok(None) => break,
                Err(error) => {
                    notes.problem = Some(error.to_string());
                    break;
                }
            }
        }
        drop(notes);
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    // One that is closed already needs no closing.
    let _ = to.shutdown(Shutdown::Write);
}

fn lock(notes: &Mutex<Notes>) -> MutexGuard<'_, Notes> {
    notes.lock().unwrap_or_else(PoisonError::into_inner)
}

const PATIENCE: Duration = Duration::from_secs(10);
