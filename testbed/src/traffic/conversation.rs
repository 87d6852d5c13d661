//! Conversations over TCP, had for real: at each end every byte is compared with the [`Story`], and so is the end.

use super::story::{Course, End, Noise, Story};
use crate::lab::Lab;
use anyhow::{Context, Result};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{setsockopt, sockopt};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The stories that are told, and what became of them.
#[derive(Debug)]
pub struct Conversations {
    /// What they follow from.
    pub seed: u64,
    /// Bytes each way, on average.
    pub mean: u64,
    /// Whether a connection may break without an end that wanted it: when programs between the two are killed.
    pub may_break: bool,
    books: Mutex<[Book; 2]>,
    /// Connections that servers have not finished with.
    served: AtomicUsize,
}

/// What one end saw.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Book {
    /// Conversations that came to both ends, with every byte.
    pub whole: u64,
    /// Connections that this end reset, as the story wanted.
    pub resets_made: u64,
    /// Connections that were reset by the other end, as the story wanted.
    pub resets_seen: u64,
    /// Connections that broke although the story does not say so.
    pub broken: u64,
    /// Bytes received, each compared.
    pub received: u64,
    /// Bytes sent in conversations that were whole.
    pub sent_whole: u64,
    /// Bytes received in conversations that were whole.
    pub received_whole: u64,
    /// What must never be: wrong bytes, a part that passed for the whole, an end that nobody wanted.
    pub wrong: u64,
    /// The first few of them in words.
    pub examples: Vec<String>,
}

impl Conversations {
    /// Stories yet to be told.
    pub fn new(seed: u64, mean: u64, may_break: bool) -> Arc<Conversations> {
        Arc::new(Conversations {
            seed,
            mean,
            may_break,
            books: Mutex::default(),
            served: AtomicUsize::new(0),
        })
    }

    /// What the clients' and the servers' ends saw.
    pub fn books(&self) -> [Book; 2] {
        self.books.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Serves at a port of a namespace, and has the server's part of each conversation.
    ///
    /// # Errors
    /// When the port is taken.
    pub fn serve(self: &Arc<Self>, lab: &Lab, namespace: &str, port: u16) -> Result<ConversationServer> {
        let listener = lab.ns(namespace)?.run(|| {
            TcpListener::bind(("0.0.0.0", port))
                .with_context(|| format!("cannot take TCP port {port} in `{namespace}`"))
        })?;
        listener.set_nonblocking(true)?;
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, all) = (Arc::clone(&stop), Arc::clone(self));
        let thread = std::thread::spawn(move || {
            while !stopped.load(Relaxed) {
                match listener.accept() {
                    Ok((tcp, _)) => {
                        all.served.fetch_add(1, Relaxed);
                        let all = Arc::clone(&all);
                        std::thread::spawn(move || {
                            all.answer(tcp);
                            all.served.fetch_sub(1, Relaxed);
                        });
                    }
                    Err(_) => std::thread::sleep(Duration::from_millis(2)),
                }
            }
        });
        Ok(ConversationServer {
            all: Arc::clone(self),
            stop,
            thread: Some(thread),
        })
    }

    /// Has the client's part of one conversation with the server that `address` leads to.
    pub fn have(&self, number: u64, address: SocketAddr) {
        let story = Story::new(self.seed, number, self.mean);
        let had = TcpStream::connect_timeout(&address, SILENCE).and_then(|mut tcp| {
            tcp.set_read_timeout(Some(SILENCE))?;
            tcp.write_all(&number.to_be_bytes())?;
            let mut greeting = [0; 8];
            tcp.read_exact(&mut greeting)?;
            Ok((tcp, greeting))
        });
        let how = match had {
            Ok((_, greeting)) if greeting != number.to_be_bytes() => Err("a wrong greeting".to_owned()),
            Ok((tcp, _)) => Part::new(story, End::Client).play(tcp),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                Err("the end before the greeting".to_owned())
            }
            Err(error) => Ok(Played::broken(&error)),
        };
        self.write_down(End::Client, number, &story, how);
    }

    /// Opens a connection with the server that `address` leads to, and says nothing more.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn be_silent(address: SocketAddr) -> io::Result<TcpStream> {
        let mut tcp = TcpStream::connect_timeout(&address, SILENCE)?;
        tcp.set_read_timeout(Some(SILENCE))?;
        tcp.write_all(&SILENT.to_be_bytes())?;
        tcp.read_exact(&mut [0; 8])?;
        Ok(tcp)
    }

    /// Ends such a connection, and waits for the server to do so.
    ///
    /// # Errors
    /// When it was reset, or the server does not end it.
    pub fn break_silence(mut tcp: TcpStream) -> io::Result<()> {
        tcp.shutdown(Shutdown::Write)?;
        match tcp.read(&mut [0])? {
            0 => Ok(()),
            _ => Err(ErrorKind::InvalidData.into()),
        }
    }

    /// Has the server's part.
    fn answer(&self, mut tcp: TcpStream) {
        let mut number = [0; 8];
        let greeted = tcp
            .set_nonblocking(false)
            .and_then(|()| tcp.set_read_timeout(Some(SILENCE)))
            .and_then(|()| tcp.read_exact(&mut number))
            .and_then(|()| tcp.write_all(&number));
        let number = u64::from_be_bytes(number);
        let story = Story::new(self.seed, number, self.mean);
        match greeted {
            Ok(()) if number == SILENT => {
                // Who is silent may be so for hours; an error is the client's to notice.
                let _ = tcp.set_read_timeout(None).and_then(|()| tcp.read(&mut [0]));
            }
            Ok(()) => {
                let how = Part::new(story, End::Server).play(tcp);
                self.write_down(End::Server, number, &story, how);
            }
            // Who it was is not known: the client's end tells.
            Err(_) => self.books.lock().unwrap_or_else(PoisonError::into_inner)[1].broken += 1,
        }
    }

    fn write_down(&self, end: End, number: u64, story: &Story, how: Result<Played, String>) {
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        let book = &mut books[end as usize];
        let complaint = match how {
            Ok(played) => {
                book.received += played.received;
                match (played.ending, story.course) {
                    (Ending::Whole, _) => {
                        book.whole += 1;
                        book.sent_whole += played.sent;
                        book.received_whole += played.received;
                        None
                    }
                    (Ending::Reset, _) => {
                        book.resets_made += 1;
                        None
                    }
                    (Ending::Broken(_), Course::Reset(by)) if by != end => {
                        book.resets_seen += 1;
                        None
                    }
                    (Ending::Broken(error), _) => {
                        book.broken += 1;
                        (!self.may_break).then(|| format!("{error} after {} bytes", played.received))
                    }
                }
            }
            Err(complaint) => Some(complaint),
        };
        if let Some(complaint) = complaint {
            book.wrong += 1;
            if book.examples.len() < EXAMPLES {
                book.examples
                    .push(format!("{end:?}, {number}, {story:?}: {complaint}"));
            }
        }
    }
}

/// Serves until it is dropped; then it waits until it has finished with every connection.
#[derive(Debug)]
pub struct ConversationServer {
    all: Arc<Conversations>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for ConversationServer {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let begin = Instant::now();
        while self.all.served.load(Relaxed) > 0 && begin.elapsed() < SILENCE {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// What was done and seen.
struct Played {
    sent: u64,
    received: u64,
    ending: Ending,
}

enum Ending {
    /// Both directions ended when and where they should.
    Whole,
    /// Reset by this end, as the story wants.
    Reset,
    /// By an error.
    Broken(String),
}

impl Played {
    fn broken(error: &io::Error) -> Played {
        Played {
            sent: 0,
            received: 0,
            ending: Ending::Broken(error.to_string()),
        }
    }
}

/// One end's part in a conversation.
struct Part {
    story: Story,
    end: End,
    out: Noise,
    expected: Noise,
    sent: u64,
    received: u64,
    /// Whether our direction, and the other's, has ended.
    ended: [bool; 2],
}

impl Part {
    fn new(story: Story, end: End) -> Part {
        Part {
            story,
            end,
            out: story.noise(end),
            expected: story.noise(end.other()),
            sent: 0,
            received: 0,
            ended: [false; 2],
        }
    }

    /// Plays it to the end. An error is something that must never be.
    fn play(mut self, mut tcp: TcpStream) -> Result<Played, String> {
        let error = loop {
            match self.step(&mut tcp) {
                Ok(Some(ending)) => return Ok(self.played(ending)),
                Ok(None) => {}
                Err(Trouble::Wrong(complaint)) => return Err(complaint),
                Err(Trouble::Io(error)) => break error,
            }
        };
        Ok(self.played(Ending::Broken(error.to_string())))
    }

    /// Reads before it writes: an error that writing gets hides itself from reading.
    fn step(&mut self, tcp: &mut TcpStream) -> Result<Option<Ending>, Trouble> {
        tcp.set_nonblocking(true)?;
        let [ended, other_ended] = self.ended;
        let my_turn = !ended && (self.story.course != Course::First(self.end.other()) || other_ended);
        let mut wanted = PollFlags::empty();
        wanted.set(PollFlags::POLLIN, !other_ended);
        wanted.set(PollFlags::POLLOUT, my_turn);
        let mut polled = [PollFd::new(tcp.as_fd(), wanted)];
        let patience = PollTimeout::try_from(SILENCE).unwrap_or(PollTimeout::MAX);
        if poll(&mut polled, patience).map_err(io::Error::from)? == 0 {
            return Err(Trouble::Wrong(format!("silence after {} bytes", self.received)));
        }
        if !other_ended {
            self.read(tcp)?;
        }
        if my_turn && self.write(tcp)? {
            if self.story.course == Course::Reset(self.end) {
                let now = libc::linger {
                    l_onoff: 1,
                    l_linger: 0,
                };
                setsockopt(tcp, sockopt::Linger, &now).map_err(io::Error::from)?;
                return Ok(Some(Ending::Reset));
            }
            tcp.shutdown(Shutdown::Write)?;
            self.ended[0] = true;
        }
        Ok((self.ended == [true; 2]).then_some(Ending::Whole))
    }

    fn read(&mut self, tcp: &mut TcpStream) -> Result<(), Trouble> {
        let mut buffer = [0; PIECE];
        let count = match tcp.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            result => result?,
        };
        if !self.expected.continues_with(&buffer[..count]) {
            return Err(Trouble::Wrong(format!("wrong bytes after {}", self.received)));
        }
        self.received += count as u64;
        let all = self.story.sends(self.end.other());
        if count == 0 {
            let resets = self.story.course == Course::Reset(self.end.other());
            if self.received != all || resets {
                return Err(Trouble::Wrong(format!(
                    "an end after {} bytes of {all}",
                    self.received
                )));
            }
            self.ended[1] = true;
        } else if self.received > all {
            return Err(Trouble::Wrong(format!(
                "{} bytes instead of {all}",
                self.received
            )));
        }
        Ok(())
    }

    /// Whether all is written now.
    fn write(&mut self, tcp: &mut TcpStream) -> Result<bool, Trouble> {
        let left = self.story.sends(self.end) - self.sent;
        if left > 0 {
            let piece = self.out.peek(usize::try_from(left).unwrap_or(usize::MAX));
            let count = match tcp.write(piece) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
                result => result?,
            };
            self.out.take(count);
            self.sent += count as u64;
        }
        Ok(self.sent == self.story.sends(self.end))
    }

    fn played(&self, ending: Ending) -> Played {
        Played {
            sent: self.sent,
            received: self.received,
            ending,
        }
    }
}

enum Trouble {
    Io(io::Error),
    Wrong(String),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Trouble::Io(error)
    }
}

const PIECE: usize = 1 << 16;
/// Longer than any loss is repaired.
const SILENCE: Duration = Duration::from_secs(60);
/// The number of connections without a story.
const SILENT: u64 = u64::MAX;
const EXAMPLES: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ends of many conversations over loopback.
    fn have(count: u64) -> [Book; 2] {
        let all = Conversations::new(5, 20_000, false);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..count {
                    let (tcp, _) = listener.accept().unwrap();
                    scope.spawn(|| all.answer(tcp));
                }
            });
            for number in 0..count {
                all.have(number, address);
            }
        });
        all.books()
    }

    #[test]
    fn every_story_is_told_as_it_is_written() {
        let [client, server] = have(60);
        assert_eq!((client.wrong, server.wrong), (0, 0), "{client:?} {server:?}");
        assert_eq!(client.whole, server.whole);
        assert_eq!(
            (client.resets_made, client.resets_seen),
            (server.resets_seen, server.resets_made)
        );
        assert_eq!(client.whole + client.resets_made + client.resets_seen, 60);
        assert_eq!(
            (client.sent_whole, client.received_whole),
            (server.received_whole, server.sent_whole)
        );
        assert!(client.resets_made > 0 && client.resets_seen > 0 && client.received > 0);
    }

    #[test]
    fn a_server_that_ends_early_is_found_out() {
        let all = Conversations::new(5, 20_000, false);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut tcp, _) = listener.accept().unwrap();
                let mut number = [0; 8];
                tcp.read_exact(&mut number).unwrap();
                tcp.write_all(&number).unwrap();
                tcp.shutdown(Shutdown::Write).unwrap();
                let _ = tcp.read_to_end(&mut Vec::new());
            });
            all.have(1, address);
        });
        let [client, _] = all.books();
        assert_eq!(client.wrong, 1);
        assert!(client.examples[0].contains("an end after 0 bytes"), "{client:?}");
    }
}
