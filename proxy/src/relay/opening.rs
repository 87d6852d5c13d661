//! What a local application says before its data: read piece by piece until a parser finds it whole.

use std::io::{self, ErrorKind};

use bytes::{Bytes, BytesMut};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// Bytes that came and that no parser has taken yet.
#[derive(Debug, Default)]
pub(super) struct Opening(BytesMut);

impl Opening {
    /// Reads until `parse` gives a value and the length of what it was made of, or an error. It must not ask for more
    /// without bound.
    pub(super) async fn read<T, E>(
        &mut self,
        tcp: &mut TcpStream,
        parse: impl Fn(&[u8]) -> Result<Option<(T, usize)>, E>,
    ) -> io::Result<Result<T, E>> {
        loop {
            match parse(&self.0) {
                Ok(Some((value, length))) => {
                    let _parsed = self.0.split_to(length.min(self.0.len()));
                    return Ok(Ok(value));
                }
                Ok(None) => {}
                Err(error) => return Ok(Err(error)),
            }
            if tcp.read_buf(&mut self.0).await? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// What came behind all that was parsed.
    pub(super) fn rest(self) -> Bytes {
        self.0.freeze()
    }
}
