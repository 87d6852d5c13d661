//! One listener for peers that are known by their keys and for those that are known by name. Whoever dials says in its
//! first message which kind of certificate it takes, and so which of the two it is.

use std::any::Any;

use noq::crypto::rustls::QuicServerConfig;
use noq::crypto::{
    ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use noq::{ConnectionId, Side};
use noq_proto::TransportError;
use noq_proto::transport_parameters::TransportParameters;

/// What each of them is answered with.
pub(super) struct Either {
    pub(super) by_key: QuicServerConfig,
    pub(super) by_name: QuicServerConfig,
}

impl ServerConfig for Either {
    fn initial_keys(&self, version: u32, id: ConnectionId) -> Result<Keys, UnsupportedVersion> {
        self.by_key.initial_keys(version, id)
    }

    fn retry_tag(&self, version: u32, id: ConnectionId, packet: &[u8]) -> [u8; 16] {
        self.by_key.retry_tag(version, id, packet)
    }

    fn start_session(&self, version: u32, parameters: &TransportParameters) -> Box<dyn Session> {
        Box::new(Undecided {
            session: self.by_key.start_session(version, parameters),
            by_name: Some(self.by_name.start_session(version, parameters)),
            hello: Vec::new(),
        })
    }
}

/// A session that becomes one of two with the first message.
struct Undecided {
    /// The one that it is; the one for keys while it is not known.
    session: Box<dyn Session>,
    /// The one that it is else, while it is not known.
    by_name: Option<Box<dyn Session>>,
    /// As much as has come of the first message.
    hello: Vec<u8>,
}

impl Session for Undecided {
    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        if self.by_name.is_none() {
            return self.session.read_handshake(bytes);
        }
        self.hello.extend_from_slice(bytes);
        let Some(raw) = takes_raw_keys(&self.hello) else {
            return Ok(false);
        };
        if let Some(by_name) = self.by_name.take().filter(|_| !raw) {
            self.session = by_name;
        }
        self.session.read_handshake(&std::mem::take(&mut self.hello))
    }

    fn initial_keys(&self, id: ConnectionId, side: Side) -> Keys {
        self.session.initial_keys(id, side)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.session.handshake_data()
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        self.session.peer_identity()
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        self.session.early_crypto()
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.session.early_data_accepted()
    }

    fn is_handshaking(&self) -> bool {
        self.session.is_handshaking()
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        self.session.transport_parameters()
    }

    fn write_handshake(&mut self, buffer: &mut Vec<u8>) -> Option<Keys> {
        self.session.write_handshake(buffer)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        self.session.next_1rtt_keys()
    }

    fn is_valid_retry(&self, id: ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        self.session.is_valid_retry(id, header, payload)
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        self.session.export_keying_material(output, label, context)
    }
}

/// Whether a ClientHello (RFC 8446 §4.1.2) takes a raw public key of the server (RFC 7250 §3); `None` while it is not all
/// there. One that makes no sense, or is too long, is refused by whoever reads all of it.
fn takes_raw_keys(hello: &[u8]) -> Option<bool> {
    let mut message = Reader(hello);
    message.take(1)?;
    let length = message.number(3)?;
    if length > MAX_HELLO {
        return Some(true);
    }
    let types = certificate_types(message.take(length)?);
    Some(types.is_some_and(|types| types.contains(&RAW_PUBLIC_KEY)))
}

/// What `server_certificate_type` lists.
fn certificate_types(hello: &[u8]) -> Option<&[u8]> {
    let mut hello = Reader(hello);
    hello.take(VERSION_AND_RANDOM)?;
    for length_of_length in [1, 2, 1] {
        // Session id, cipher suites, compression methods.
        hello.vector(length_of_length)?;
    }
    let mut extensions = Reader(hello.vector(2)?);
    loop {
        let (kind, data) = (extensions.number(2)?, extensions.vector(2)?);
        if kind == SERVER_CERTIFICATE_TYPE {
            return Reader(data).vector(1);
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    /// A number of so many bytes, at most three.
    fn number(&mut self, bytes: usize) -> Option<usize> {
        let bytes = self.take(bytes)?;
        Some(
            bytes
                .iter()
                .fold(0, |number, byte| number << 8 | usize::from(*byte)),
        )
    }

    /// What follows its length.
    fn vector(&mut self, length_of_length: usize) -> Option<&'a [u8]> {
        let length = self.number(length_of_length)?;
        self.take(length)
    }
}

const VERSION_AND_RANDOM: usize = 2 + 32;
const SERVER_CERTIFICATE_TYPE: usize = 20;
const RAW_PUBLIC_KEY: u8 = 2;
/// Many times as long as ours are.
const MAX_HELLO: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A ClientHello with these extensions.
    fn hello(extensions: &[u8]) -> Vec<u8> {
        let with_length = |bytes: &[u8]| [&u16::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat();
        let start = [
            &[3; VERSION_AND_RANDOM][..],
            &[2, 9, 9],
            &[0, 2, 0x13, 1],
            &[1, 0],
        ]
        .concat();
        let body = [start, with_length(extensions)].concat();
        [&[1, 0][..], &with_length(&body)].concat()
    }

    #[test]
    fn who_takes_raw_keys_says_so_in_an_extension() {
        let other = [0, 43, 0, 3, 2, 3, 4];
        let raw = [&other[..], &[0, 20, 0, 2, 1, 2]].concat();
        let either = [&[0, 20, 0, 3, 2, 0, 2][..], &other].concat();
        let x509 = [0, 20, 0, 2, 1, 0];
        for (extensions, takes) in [
            (&raw[..], true),
            (&either, true),
            (&x509, false),
            (&other, false),
            (&[], false),
        ] {
            let hello = hello(extensions);
            assert_eq!(takes_raw_keys(&hello), Some(takes), "{extensions:?}");
            for length in 0..hello.len() {
                assert_eq!(takes_raw_keys(&hello[..length]), None);
            }
        }
        assert_eq!(
            takes_raw_keys(&[1, 0xff, 0, 0]),
            Some(true),
            "not kept until it is all there"
        );
    }

    proptest! {
        #[test]
        fn no_bytes_do_harm(bytes: Vec<u8>, extensions: Vec<u8>) {
            let _ = takes_raw_keys(&bytes);
            let _ = takes_raw_keys(&hello(&extensions));
        }
    }
}
