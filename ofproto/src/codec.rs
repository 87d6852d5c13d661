//! A connection as a stream and a sink of messages, for `tokio_util::codec::Framed`.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use thiserror::Error;
use tokio_util::codec::{Decoder, Encoder};

use crate::{DecodeError, EncodeError, FrameError, FrameSplitter, Header, Message, Xid};

/// Cuts a connection into messages and reads them; writes messages with their transaction ids.
///
/// What comes in is a [`Result`] inside the stream's own: a frame that is no message is answered and the connection
/// goes on, while an error of the stream itself ([`CodecError`]) ends it.
///
/// ```
/// use bytes::BytesMut;
/// use ofproto::{Codec, Message, Xid};
/// use tokio_util::codec::{Decoder, Encoder};
///
/// let (mut codec, mut buffer) = (Codec::default(), BytesMut::new());
/// codec.encode((Xid(7), Message::BarrierRequest), &mut buffer)?;
/// buffer.extend_from_slice(&[4, 99, 0, 8, 0, 0, 0, 8]); // no such type
///
/// let (header, message) = codec.decode(&mut buffer)?.expect("a whole frame").expect("a message");
/// assert_eq!((header.xid, message), (Xid(7), Message::BarrierRequest));
///
/// let refused = codec.decode(&mut buffer)?.expect("a whole frame").expect_err("no message");
/// let (xid, answer) = refused.answer();
/// assert_eq!(xid, Xid(8));
/// codec.encode((xid, answer), &mut buffer)?;
/// # Ok::<(), ofproto::CodecError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Codec {
    splitter: FrameSplitter,
}

impl Codec {
    /// A codec for the beginning of a connection that refuses messages longer than `max_len` bytes.
    #[must_use]
    pub const fn new(max_len: usize) -> Self {
        Self {
            splitter: FrameSplitter::new(max_len),
        }
    }
}

impl Default for Codec {
    /// Takes messages as long as the header can say: 65,535 bytes.
    fn default() -> Self {
        Self::new(u16::MAX.into())
    }
}

impl Decoder for Codec {
    type Item = Result<(Header, Message), Refused>;
    type Error = CodecError;

    fn decode(&mut self, buf: &mut BytesMut) -> Result<Option<Self::Item>, CodecError> {
        let Some(frame) = self.splitter.next(buf)? else {
            return Ok(None);
        };
        let decoded = Message::decode(&frame).map_err(|error| Refused { frame, error });
        Ok(Some(decoded))
    }
}

impl Encoder<(Xid, &Message)> for Codec {
    type Error = CodecError;

    fn encode(&mut self, (xid, message): (Xid, &Message), buf: &mut BytesMut) -> Result<(), CodecError> {
        message.validate()?;
        Ok(message.encode(xid, buf)?)
    }
}

impl Encoder<(Xid, Message)> for Codec {
    type Error = CodecError;

    fn encode(&mut self, (xid, message): (Xid, Message), buf: &mut BytesMut) -> Result<(), CodecError> {
        self.encode((xid, &message), buf)
    }
}

/// A frame that is no message. The connection goes on behind it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{error}")]
pub struct Refused {
    /// The frame as it came.
    pub frame: Bytes,
    /// What is wrong with it.
    pub error: DecodeError,
}

impl Refused {
    /// The `OFPT_ERROR` to send back, and the frame's transaction id to send it with.
    #[must_use]
    pub fn answer(&self) -> (Xid, Message) {
        // A frame has a header, or the splitter would not have cut it.
        let xid = self.frame.get(4..8).map_or(0, |mut bytes| bytes.get_u32());
        (Xid(xid), Message::Error(self.error.error_msg(&self.frame)))
    }
}

/// Why a connection cannot go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CodecError {
    /// It cannot be read or written, or it ended within a message.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// What came in cannot be cut into messages.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A message to be sent has no form on the wire. Nothing of it was written.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNKNOWN_TYPE: [u8; 8] = [4, 99, 0, 8, 0, 0, 0, 9];

    #[test]
    fn a_refused_frame_leaves_the_next_ones_readable() {
        let mut codec = Codec::default();
        let mut buf = BytesMut::from(&UNKNOWN_TYPE[..]);
        codec.encode((Xid(10), &Message::BarrierReply), &mut buf).unwrap();

        let refused = codec.decode(&mut buf).unwrap().unwrap().unwrap_err();
        let (xid, Message::Error(answer)) = refused.answer() else {
            panic!("an error is answered")
        };
        assert_eq!(
            (xid, &answer.data[..], answer.error.to_string().as_str()),
            (Xid(9), &UNKNOWN_TYPE[..], "OFPBRC_BAD_TYPE")
        );

        let (header, message) = codec.decode(&mut buf).unwrap().unwrap().unwrap();
        assert_eq!((header.xid, message), (Xid(10), Message::BarrierReply));
        assert!(codec.decode(&mut buf).unwrap().is_none());
    }

    #[test]
    fn a_connection_that_ends_within_a_message_is_an_error() {
        let mut codec = Codec::default();
        let mut buf = BytesMut::from(&UNKNOWN_TYPE[..7]);
        assert!(codec.decode(&mut buf).unwrap().is_none());
        assert!(matches!(codec.decode_eof(&mut buf), Err(CodecError::Io(_))));
    }

    #[test]
    fn a_message_beyond_the_limit_ends_the_connection() {
        let mut buf = BytesMut::from(&[4, 2, 0, 9, 0, 0, 0, 1, 0xaa][..]);
        let error = Codec::new(8).decode(&mut buf).unwrap_err();
        assert_eq!(
            error.to_string(),
            "header gives a length of 9 bytes, more than the 8 that are allowed"
        );
    }

    #[test]
    fn a_message_that_does_not_fit_writes_nothing() {
        let mut buf = BytesMut::from(&b"before"[..]);
        let echo = Message::EchoRequest(Bytes::from(vec![0; 65_528]));
        let error = Codec::default().encode((Xid(1), echo), &mut buf).unwrap_err();
        assert!(matches!(error, CodecError::Encode(EncodeError::TooLong { .. })));
        assert_eq!(&buf[..], b"before");
    }
}
