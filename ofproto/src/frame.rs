//! Where each message ends in a stream of bytes.

use std::fmt;

use bytes::{Buf, Bytes, BytesMut};
use thiserror::Error;

use crate::HEADER_LEN;

/// Cuts a stream of bytes into whole messages by the length in each header. It does not look further into them:
/// a message of another version is a frame too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameSplitter {
    max_len: usize,
    at_start: bool,
}

impl FrameSplitter {
    /// A splitter for the beginning of a connection that refuses messages longer than `max_len` bytes.
    #[must_use]
    pub const fn new(max_len: usize) -> Self {
        Self {
            max_len,
            at_start: true,
        }
    }

    /// Takes the next whole message off the front of `buf`; `None` when more bytes are needed.
    ///
    /// # Errors
    ///
    /// When the stream cannot be OpenFlow. `buf` is left as it is; there is no way to go on, since nothing tells
    /// where the next message begins.
    pub fn next(&mut self, buf: &mut BytesMut) -> Result<Option<Bytes>, FrameError> {
        if self.at_start
            && let Some(protocol) = ForeignProtocol::guess(buf)
        {
            return Err(FrameError::Foreign { protocol });
        }
        let Some([_, _, high, low]) = buf.first_chunk() else {
            return Ok(None);
        };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        if length < HEADER_LEN {
            return Err(FrameError::TooShort { length });
        }
        if length > self.max_len {
            return Err(FrameError::TooLong {
                length,
                limit: self.max_len,
            });
        }
        if buf.len() < length {
            buf.reserve(length - buf.len());
            return Ok(None);
        }
        self.at_start = false;
        Ok(Some(buf.copy_to_bytes(length)))
    }
}

/// A stream that cannot be cut into messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A header says that its message is shorter than the header itself.
    #[error("header gives a length of {length} bytes, less than the 8 of the header itself")]
    TooShort {
        /// The length in the header.
        length: usize,
    },
    /// A header says that its message is longer than allowed.
    #[error("header gives a length of {length} bytes, more than the {limit} that are allowed")]
    TooLong {
        /// The length in the header.
        length: usize,
        /// How long a message may be.
        limit: usize,
    },
    /// The first bytes of the connection are those of another protocol.
    #[error("the peer speaks {protocol}, not OpenFlow")]
    Foreign {
        /// What the peer speaks.
        protocol: ForeignProtocol,
    },
}

/// A protocol that now and then arrives at an OpenFlow port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForeignProtocol {
    /// A TLS handshake.
    Tls,
    /// An HTTP request or answer.
    Http,
    /// An SSH greeting.
    Ssh,
}

impl ForeignProtocol {
    /// What a connection that begins with these bytes speaks, if it is clearly not OpenFlow.
    #[must_use]
    pub fn guess(bytes: &[u8]) -> Option<Self> {
        // A TLS record of type handshake, version 3.x. As OpenFlow it would be an echo of version 0x16.
        if bytes.starts_with(&[0x16, 0x03]) && bytes.get(2).is_some_and(|minor| *minor <= 4) {
            return Some(Self::Tls);
        }
        let http = [
            "GET ", "PUT ", "HEAD ", "POST ", "PATCH ", "DELETE ", "OPTIONS ", "CONNECT ", "TRACE ", "PRI ",
            "HTTP/",
        ];
        if http.iter().any(|word| bytes.starts_with(word.as_bytes())) {
            return Some(Self::Http);
        }
        bytes.starts_with(b"SSH-").then_some(Self::Ssh)
    }
}

impl fmt::Display for ForeignProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tls => "TLS",
            Self::Http => "HTTP",
            Self::Ssh => "SSH",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ECHO: [u8; 10] = [4, 2, 0, 10, 0, 0, 0, 1, 0xaa, 0xbb];

    #[test]
    fn stream_is_cut_at_the_lengths_wherever_it_is_torn() {
        let stream = [ECHO, ECHO, ECHO].concat();
        for tear in 0..stream.len() {
            let mut splitter = FrameSplitter::new(65_535);
            let mut buf = BytesMut::new();
            let mut frames = Vec::new();
            for part in [&stream[..tear], &stream[tear..]] {
                buf.extend_from_slice(part);
                while let Some(frame) = splitter.next(&mut buf).unwrap() {
                    frames.push(frame);
                }
            }
            assert_eq!(frames, [&ECHO[..]; 3], "torn at {tear}");
            assert!(buf.is_empty());
        }
    }

    #[test]
    fn impossible_lengths_are_refused_as_soon_as_they_are_seen() {
        let mut splitter = FrameSplitter::new(100);
        assert_eq!(
            splitter.next(&mut BytesMut::from(&[4, 0, 0, 7][..])),
            Err(FrameError::TooShort { length: 7 })
        );
        assert_eq!(
            splitter.next(&mut BytesMut::from(&[4, 0, 0, 101][..])),
            Err(FrameError::TooLong {
                length: 101,
                limit: 100
            })
        );
    }

    #[test]
    fn other_protocols_are_called_by_name() {
        for (bytes, text) in [
            (
                &b"\x16\x03\x01\x02\x00\x01"[..],
                "the peer speaks TLS, not OpenFlow",
            ),
            (b"GET / HTTP/1.1\r\n", "the peer speaks HTTP, not OpenFlow"),
            (b"SSH-2.0-x", "the peer speaks SSH, not OpenFlow"),
        ] {
            let error = FrameSplitter::new(65_535)
                .next(&mut BytesMut::from(bytes))
                .unwrap_err();
            assert_eq!(error.to_string(), text);
        }
    }
}
