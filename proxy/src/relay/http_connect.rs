//! HTTP CONNECT (RFC 9110 §9.3.6) for local applications.

use std::str::FromStr;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::Way;
use super::splice::prepare;
use super::wire::Refusal;
use crate::target::Target;

/// Why a request is not served, as a status line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadRequest {
    /// It is not HTTP, or its target is none.
    Malformed,
    /// Its method is not CONNECT.
    Method,
}

/// The target in the head of a request: everything up to the empty line.
pub fn parse(head: &[u8]) -> Result<Target, BadRequest> {
    let head = std::str::from_utf8(head).map_err(|_| BadRequest::Malformed)?;
    let line = head.lines().next().ok_or(BadRequest::Malformed)?;
    let mut words = line.split(' ');
    let (method, target, version) = (words.next(), words.next(), words.next());
    if words.next().is_some() || !matches!(version, Some("HTTP/1.0" | "HTTP/1.1")) {
        return Err(BadRequest::Malformed);
    }
    if method != Some("CONNECT") {
        return Err(BadRequest::Method);
    }
    Target::from_str(target.unwrap_or_default()).map_err(|_| BadRequest::Malformed)
}

/// Serves one application.
pub(crate) async fn serve(mut tcp: TcpStream, way: &Way) -> anyhow::Result<()> {
    prepare(&tcp);
    let patience = way.shared.config.limits.connect;
    let (head, rest) = timeout(patience, read_head(&mut tcp)).await??;
    let target = match parse(&head) {
        Ok(target) => target,
        Err(BadRequest::Malformed) => return refuse(tcp, "400 Bad Request", "").await,
        Err(BadRequest::Method) => return refuse(tcp, "405 Method Not Allowed", "Allow: CONNECT\r\n").await,
    };
    let opened = async {
        let mut opened = way.open(&target).await?;
        opened.answer(patience).await?;
        Ok(opened)
    };
    match opened.await {
        Ok(mut opened) => {
            tcp.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
                .await?;
            // What the application sent behind its request, without waiting for the answer.
            opened.pair.send.write_chunk(rest).await?;
            way.join(tcp, opened, false, &target).await;
            Ok(())
        }
        Err(refusal) => {
            way.refused(&target, refusal);
            let status = match refusal {
                Refusal::Denied => "403 Forbidden",
                Refusal::TimedOut => "504 Gateway Timeout",
                Refusal::TooMany => "503 Service Unavailable",
                _ => "502 Bad Gateway",
            };
            refuse(tcp, status, &format!("X-Reason: {refusal}\r\n")).await
        }
    }
}

/// The head of the request, and what came behind it.
async fn read_head(tcp: &mut TcpStream) -> anyhow::Result<(Bytes, Bytes)> {
    let mut read = BytesMut::with_capacity(1024);
    loop {
        if let Some(end) = read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let head = read.split_to(end + 4).freeze();
            return Ok((head, read.freeze()));
        }
        anyhow::ensure!(read.len() < MAX_HEAD, "the request's head is too long");
        anyhow::ensure!(tcp.read_buf(&mut read).await? > 0, "the request ends early");
    }
}

async fn refuse(mut tcp: TcpStream, status: &str, header: &str) -> anyhow::Result<()> {
    let response = format!("HTTP/1.1 {status}\r\n{header}Content-Length: 0\r\nConnection: close\r\n\r\n");
    tcp.write_all(response.as_bytes()).await?;
    Ok(tcp.shutdown().await?)
}

const MAX_HEAD: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_in_the_first_line() {
        let target = parse(b"CONNECT server.lan:443 HTTP/1.1\r\nHost: other:1\r\n\r\n").unwrap();
        assert_eq!(target.to_string(), "server.lan:443");
        let target = parse(b"CONNECT [2001:db8::1]:443 HTTP/1.0\r\n\r\n").unwrap();
        assert_eq!(target.to_string(), "[2001:db8::1]:443");
    }

    #[test]
    fn everything_else_is_refused() {
        let malformed = [
            &b""[..],
            b"\r\n\r\n",
            b"CONNECT server HTTP/1.1\r\n\r\n",
            b"CONNECT server:443\r\n\r\n",
            b"CONNECT server:443 HTTP/2\r\n\r\n",
            b"CONNECT a:1 b:2 HTTP/1.1\r\n\r\n",
            b"CONNECT http://a:1/ HTTP/1.1\r\n\r\n",
            b"CONNECT \xff:1 HTTP/1.1\r\n\r\n",
            b"\x05\x01\x00",
        ];
        for head in malformed {
            assert_eq!(parse(head), Err(BadRequest::Malformed), "{}", head.escape_ascii());
        }
        assert_eq!(
            parse(b"GET http://server/ HTTP/1.1\r\n\r\n"),
            Err(BadRequest::Method)
        );
    }
}
