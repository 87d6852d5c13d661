//! What the two proxies say to each other at the start of a stream, and before each datagram.
//!
//! ```text
//! request   length u16 │ version u8 = 1 │ kind u8 │ port u16 │ algorithm: length u8, text │ host: type u8, bytes
//! answer    version u8 = 1 │ code u8
//! datagram  flow: variable-length integer (RFC 9000 §16), the id of the flow's stream │ payload
//! ```
//!
//! Numbers are big-endian. The side that opens a stream sends a request and may go on with data at once; the other
//! side sends an answer before its own data, or the answer alone. After the request and the answer, the stream of a
//! UDP flow carries the datagrams that are too big for QUIC, each behind its length (u16); its end is the flow's end.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bytes::{BufMut, Bytes, BytesMut};

use crate::congestion::Algorithm;
use crate::target::{Host, MAX_NAME, Target};

/// What the side that opens a stream wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What to open.
    pub kind: Kind,
    /// Where to.
    pub target: Target,
    /// The congestion control that the other side should use on this connection; `None` for its own choice, and also
    /// when this version does not know the one that was asked for.
    pub congestion: Option<Algorithm>,
}

/// What a stream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A TCP connection.
    Tcp,
    /// A UDP flow.
    Udp,
}

/// Why the other side does not do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Something else.
    #[error("failed")]
    Failed,
    /// The target is not on the allow-list.
    #[error("denied by the peer's allow-list")]
    Denied,
    /// The name does not resolve.
    #[error("no such host")]
    NoSuchHost,
    /// No route.
    #[error("unreachable")]
    Unreachable,
    /// The target answers that nobody listens.
    #[error("connection refused")]
    Refused,
    /// The target, or the peer, does not answer.
    #[error("timed out")]
    TimedOut,
    /// A limit is reached.
    #[error("too many streams or flows")]
    TooMany,
    /// The request makes no sense.
    #[error("bad request")]
    BadRequest,
}

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// They end too early.
    #[error("truncated")]
    Truncated,
    /// The version is not ours.
    #[error("unknown version {0}")]
    Version(u8),
    /// A field has a value that it cannot have.
    #[error("bad {0}")]
    Bad(&'static str),
}

impl Request {
    /// The bytes, length included.
    pub fn encode(&self) -> Bytes {
        let mut body = BytesMut::with_capacity(64);
        body.put_slice(&[VERSION, self.kind.code()]);
        body.put_u16(self.target.port);
        put_short(
            &mut body,
            self.congestion
                .map(|algorithm| algorithm.to_string())
                .unwrap_or_default()
                .as_bytes(),
        );
        match &self.target.host {
            Host::Ip(IpAddr::V4(ip)) => {
                body.put_u8(HOST_V4);
                body.put_slice(&ip.octets());
            }
            Host::Ip(IpAddr::V6(ip)) => {
                body.put_u8(HOST_V6);
                body.put_slice(&ip.octets());
            }
            Host::Name(name) => {
                body.put_u8(HOST_NAME);
                body.put_slice(name.as_bytes());
            }
        }
        let mut request = BytesMut::with_capacity(body.len() + 2);
        request.put_u16(u16::try_from(body.len()).expect("names and algorithms are short"));
        request.put_slice(&body);
        request.freeze()
    }

    /// The request in `body`, which is what follows the length.
    pub fn decode(body: &[u8]) -> Result<Request, WireError> {
        let mut rest = Reader(body);
        let version = rest.byte()?;
        if version != VERSION {
            return Err(WireError::Version(version));
        }
        let kind = Kind::from_code(rest.byte()?).ok_or(WireError::Bad("kind"))?;
        let port = u16::from_be_bytes(rest.array()?);
        let length = usize::from(rest.byte()?);
        let congestion = std::str::from_utf8(rest.take(length)?).map_err(|_| WireError::Bad("algorithm"))?;
        let host = match rest.byte()? {
            HOST_V4 => Host::Ip(Ipv4Addr::from(rest.array::<4>()?).into()),
            HOST_V6 => Host::Ip(Ipv6Addr::from(rest.array::<16>()?).into()),
            HOST_NAME => std::str::from_utf8(rest.take(rest.0.len())?)
                .ok()
                .and_then(Host::parse)
                .filter(|host| matches!(host, Host::Name(_)))
                .ok_or(WireError::Bad("name"))?,
            _ => return Err(WireError::Bad("host type")),
        };
        if !rest.0.is_empty() {
            return Err(WireError::Bad("length"));
        }
        Ok(Request {
            kind,
            target: Target::new(host, port).ok_or(WireError::Bad("port"))?,
            congestion: congestion.parse().ok(),
        })
    }
}

/// The bytes of an answer.
pub fn encode_answer(answer: Result<(), Refusal>) -> [u8; 2] {
    let code = match answer {
        Ok(()) => 0,
        Err(refusal) => REFUSALS
            .iter()
            .find(|(_, known)| *known == refusal)
            .map_or(1, |(code, _)| *code),
    };
    [VERSION, code]
}

/// The answer in its bytes. A code that this version does not know is a failure like any other.
pub fn decode_answer([version, code]: [u8; 2]) -> Result<Result<(), Refusal>, WireError> {
    match (version, code) {
        (VERSION, 0) => Ok(Ok(())),
        (VERSION, code) => {
            let known = REFUSALS.iter().find(|(known, _)| *known == code);
            Ok(Err(known.map_or(Refusal::Failed, |(_, refusal)| *refusal)))
        }
        (version, _) => Err(WireError::Version(version)),
    }
}

/// A datagram of the flow `flow`, below 2^62.
pub fn encode_datagram(flow: u64, payload: &[u8]) -> Bytes {
    let mut datagram = BytesMut::with_capacity(payload.len() + 8);
    match flow {
        0..0x40 => datagram.put_uint(flow, 1),
        0x40..0x4000 => datagram.put_uint(flow | 0x4000, 2),
        0x4000..0x4000_0000 => datagram.put_uint(flow | 0x8000_0000, 4),
        _ => datagram.put_u64(flow | 0xc000_0000_0000_0000),
    }
    datagram.put_slice(payload);
    datagram.freeze()
}

/// The flow of a datagram and its payload.
pub fn decode_datagram(mut datagram: Bytes) -> Result<(u64, Bytes), WireError> {
    let first = *datagram.first().ok_or(WireError::Truncated)?;
    let length = 1 << (first >> 6);
    if datagram.len() < length {
        return Err(WireError::Truncated);
    }
    let header = datagram.split_to(length);
    let mut flow = u64::from(first & 0x3f);
    for byte in header.iter().skip(1) {
        flow = flow << 8 | u64::from(*byte);
    }
    Ok((flow, datagram))
}

impl Kind {
    const fn code(self) -> u8 {
        match self {
            Kind::Tcp => 1,
            Kind::Udp => 2,
        }
    }

    fn from_code(code: u8) -> Option<Kind> {
        [Kind::Tcp, Kind::Udp]
            .into_iter()
            .find(|kind| kind.code() == code)
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], WireError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(WireError::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        self.take(N)?.try_into().map_err(|_| WireError::Truncated)
    }

    fn byte(&mut self) -> Result<u8, WireError> {
        self.array().map(|[byte]| byte)
    }
}

fn put_short(buffer: &mut BytesMut, text: &[u8]) {
    buffer.put_u8(u8::try_from(text.len()).expect("names of algorithms are short"));
    buffer.put_slice(text);
}

/// The longest body of a request that can be right.
pub const MAX_REQUEST: usize = 1 + 1 + 2 + 1 + u8::MAX as usize + 1 + MAX_NAME;
const VERSION: u8 = 1;
const HOST_V4: u8 = 1;
const HOST_NAME: u8 = 3;
const HOST_V6: u8 = 4;
const REFUSALS: [(u8, Refusal); 8] = [
    (1, Refusal::Failed),
    (2, Refusal::Denied),
    (3, Refusal::NoSuchHost),
    (4, Refusal::Unreachable),
    (5, Refusal::Refused),
    (6, Refusal::TimedOut),
    (7, Refusal::TooMany),
    (8, Refusal::BadRequest),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn request(kind: Kind, target: &str, congestion: Option<Algorithm>) -> Request {
        let target = target.parse().unwrap();
        Request {
            kind,
            target,
            congestion,
        }
    }

    #[test]
    fn known_requests_have_known_bytes() {
        let bytes = request(Kind::Tcp, "10.0.0.1:80", None).encode();
        assert_eq!(&bytes[..], [0, 10, 1, 1, 0, 80, 0, 1, 10, 0, 0, 1]);
        let bytes = request(Kind::Udp, "a.b:443", Some(Algorithm::Bbr3)).encode();
        assert_eq!(&bytes[..], b"\x00\x0d\x01\x02\x01\xbb\x04bbr3\x03a.b");
    }

    #[test]
    fn an_algorithm_of_a_later_version_is_no_wish() {
        let decoded = Request::decode(b"\x01\x02\x01\xbb\x04bbr9\x03a.b").unwrap();
        assert_eq!(decoded, request(Kind::Udp, "a.b:443", None));
    }

    #[test]
    fn answers_survive_and_unknown_codes_are_failures() {
        for (_, refusal) in REFUSALS {
            assert_eq!(decode_answer(encode_answer(Err(refusal))), Ok(Err(refusal)));
        }
        assert_eq!(decode_answer(encode_answer(Ok(()))), Ok(Ok(())));
        assert_eq!(decode_answer([1, 99]), Ok(Err(Refusal::Failed)));
        assert_eq!(decode_answer([2, 0]), Err(WireError::Version(2)));
    }

    #[test]
    fn the_longest_name_fits() {
        let name = format!("{}.{}", "a".repeat(126), "b".repeat(126));
        let request = request(Kind::Tcp, &format!("{name}:1"), None);
        let bytes = request.encode();
        assert!(bytes.len() - 2 <= MAX_REQUEST);
        assert_eq!(Request::decode(&bytes[2..]), Ok(request));
    }

    proptest! {
        #[test]
        fn requests_survive(udp: bool, ip: IpAddr, port in 1u16.., wish in 0..=Algorithm::ALL.len()) {
            let request = Request {
                kind: if udp { Kind::Udp } else { Kind::Tcp },
                target: Target::new(Host::Ip(ip), port).unwrap(),
                congestion: Algorithm::ALL.get(wish).copied(),
            };
            let bytes = request.encode();
            prop_assert_eq!(Request::decode(&bytes[2..]), Ok(request));
            for length in 2..bytes.len() {
                prop_assert!(Request::decode(&bytes[2..length]).is_err());
            }
        }

        #[test]
        fn no_bytes_do_harm(bytes: Vec<u8>) {
            if let Ok(request) = Request::decode(&bytes) {
                prop_assert_eq!(Request::decode(&request.encode()[2..]), Ok(request));
            }
            if let Ok((flow, payload)) = decode_datagram(bytes.clone().into()) {
                prop_assert_eq!(decode_datagram(encode_datagram(flow, &payload)), Ok((flow, payload)));
            }
        }

        #[test]
        fn datagrams_survive(flow in 0u64..1 << 62, payload: Vec<u8>) {
            let datagram = encode_datagram(flow, &payload);
            prop_assert_eq!(decode_datagram(datagram), Ok((flow, payload.into())));
        }
    }
}
