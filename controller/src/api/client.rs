//! A blocking client of the API, for `bicastctl` and for tests.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Notice, Request, Response};

/// A connection to a running `bicastd`.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<UnixStream>,
}

/// Why a question got no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nothing listens there.
    #[error("cannot reach bicastd at {path}: {source}; is it running, and may you use its socket?")]
    Connect {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The connection broke.
    #[error("the connection to bicastd broke: {0}")]
    Io(#[from] std::io::Error),
    /// It ended before the answer.
    #[error("bicastd closed the connection")]
    Closed,
    /// The answer is not one of ours.
    #[error("bicastd answered something unknown: {0}")]
    Json(#[from] serde_json::Error),
    /// The answer is that it cannot be done.
    #[error("{0}")]
    Refused(String),
}

impl Client {
    /// Connects to the socket at `path`.
    pub fn connect(path: &Path) -> Result<Client, ClientError> {
        let stream = UnixStream::connect(path).map_err(|source| ClientError::Connect {
            path: path.to_owned(),
            source,
        })?;
        Ok(Client {
            stream: BufReader::new(stream),
        })
    }

    /// Gives up on an answer or a notice after `timeout`; `None` waits for ever.
    pub fn set_timeout(&self, timeout: Option<Duration>) -> Result<(), ClientError> {
        Ok(self.stream.get_ref().set_read_timeout(timeout)?)
    }

    /// Asks, and waits for the answer. [`Response::Error`] comes as [`ClientError::Refused`].
    pub fn ask(&mut self, request: &Request) -> Result<Response, ClientError> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        self.stream.get_mut().write_all(&line)?;
        match self.read()? {
            Response::Error(reason) => Err(ClientError::Refused(reason)),
            response => Ok(response),
        }
    }

    /// The next notice, after [`Request::Watch`].
    pub fn notice(&mut self) -> Result<Notice, ClientError> {
        self.read()
    }

    fn read<T: serde::de::DeserializeOwned>(&mut self) -> Result<T, ClientError> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(ClientError::Closed);
        }
        Ok(serde_json::from_str(&line)?)
    }
}
