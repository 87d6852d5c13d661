//! HTTP CONNECT (RFC 9110 §9.3.6) for local applications.

use std::str::FromStr;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::Way;
use super::opening::Opening;
use super::splice::prepare;
use super::wire::Refusal;
use crate::target::Target;

/// Why a request is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadRequest {
    /// It is not HTTP, or its target is none.
    Malformed,
    /// Its method is not CONNECT.
    Method,
    /// Its head has no end within [`MAX_HEAD`] bytes.
    TooLong,
}

/// The target of the request at the start of `bytes`, and the length of its head, which ends with an empty line; `None`
/// while it is not all there.
pub fn parse(bytes: &[u8]) -> Result<Option<(Target, usize)>, BadRequest> {
    let within = bytes.get(..MAX_HEAD).unwrap_or(bytes);
    let end = within.windows(END.len()).position(|window| window == END);
    match (end.and_then(|end| within.get(..end)), bytes.len()) {
        (Some(head), _) => Ok(Some((parse_head(head)?, head.len() + END.len()))),
        (None, MAX_HEAD..) => Err(BadRequest::TooLong),
        (None, _) => Ok(None),
    }
}

fn parse_head(head: &[u8]) -> Result<Target, BadRequest> {
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
    let patience = way.shared.config().limits.connect;
    let mut opening = Opening::default();
    let target = match timeout(patience, opening.read(&mut tcp, parse)).await?? {
        Ok(target) => target,
        Err(BadRequest::Malformed) => return refuse(tcp, "400 Bad Request", "").await,
        Err(BadRequest::Method) => return refuse(tcp, "405 Method Not Allowed", "Allow: CONNECT\r\n").await,
        Err(BadRequest::TooLong) => return refuse(tcp, "431 Request Header Fields Too Large", "").await,
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
            opened.pair.send.write_chunk(opening.rest()).await?;
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

async fn refuse(mut tcp: TcpStream, status: &str, header: &str) -> anyhow::Result<()> {
    let response = format!("HTTP/1.1 {status}\r\n{header}Content-Length: 0\r\nConnection: close\r\n\r\n");
    tcp.write_all(response.as_bytes()).await?;
    Ok(tcp.shutdown().await?)
}

/// The longest head of a request, in bytes.
pub const MAX_HEAD: usize = 16 << 10;
const END: &[u8] = b"\r\n\r\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_in_the_first_line_and_data_may_follow() {
        let request = b"CONNECT server.lan:443 HTTP/1.1\r\nHost: other:1\r\n\r\ndata";
        let (target, length) = parse(request).unwrap().unwrap();
        assert_eq!(
            (target.to_string().as_str(), &request[length..]),
            ("server.lan:443", &b"data"[..])
        );
        let (target, _) = parse(b"CONNECT [2001:db8::1]:443 HTTP/1.0\r\n\r\n")
            .unwrap()
            .unwrap();
        assert_eq!(target.to_string(), "[2001:db8::1]:443");
        assert_eq!(parse(&request[..30]), Ok(None));
    }

    #[test]
    fn everything_else_is_refused() {
        let malformed = [
            &b"\r\n\r\n"[..],
            b"CONNECT server HTTP/1.1\r\n\r\n",
            b"CONNECT server:443\r\n\r\n",
            b"CONNECT server:443 HTTP/2\r\n\r\n",
            b"CONNECT a:1 b:2 HTTP/1.1\r\n\r\n",
            b"CONNECT http://a:1/ HTTP/1.1\r\n\r\n",
            b"CONNECT \xff:1 HTTP/1.1\r\n\r\n",
            b"\x05\x01\x00\r\n\r\n",
        ];
        for head in malformed {
            assert_eq!(parse(head), Err(BadRequest::Malformed), "{}", head.escape_ascii());
        }
        let get = parse(b"GET http://server/ HTTP/1.1\r\n\r\n");
        assert_eq!(get, Err(BadRequest::Method));
        assert_eq!(parse(&[b'a'; MAX_HEAD]), Err(BadRequest::TooLong));
    }
}
