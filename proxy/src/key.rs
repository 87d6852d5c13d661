//! The keys that proxies know each other by: Ed25519, written in base64 as WireGuard's are.

use std::fmt;
use std::io;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ring::hmac;
use rustls::crypto::ring::{default_provider, sign};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::sign::SigningKey;

/// What a peer is known by: an Ed25519 public key (RFC 8032). Its text is 44 characters of base64.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey([u8; KEY_BYTES]);

/// The secret half, an Ed25519 seed. Its text is 44 characters of base64; it is never shown by `Debug`.
#[derive(Clone)]
pub struct PrivateKey([u8; KEY_BYTES]);

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read.
    #[error("cannot read the key file {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// It holds something else.
    #[error("{path} does not hold a private key, expected one line made by `bicast-proxy keygen`")]
    File {
        /// The file.
        path: String,
    },
    /// The text is not a key.
    #[error("not a key, expected 44 characters of base64 as `bicast-proxy keygen` prints them")]
    Text,
    /// The system gives no random numbers.
    #[error("the system gives no random numbers")]
    Random,
}

impl PrivateKey {
    /// A new key from the system's random numbers.
    pub fn generate() -> Result<PrivateKey, KeyError> {
        let mut seed = [0; KEY_BYTES];
        default_provider()
            .secure_random
            .fill(&mut seed)
            .map_err(|_| KeyError::Random)?;
        Ok(PrivateKey(seed))
    }

    /// Reads the file that `keygen` wrote.
    pub fn read(path: &Path) -> Result<PrivateKey, KeyError> {
        let name = || path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|source| KeyError::Read { path: name(), source })?;
        text.parse().map_err(|_| KeyError::File { path: name() })
    }

    /// The line that the key file holds.
    pub fn to_text(&self) -> String {
        BASE64.encode(self.0)
    }

    /// What signs handshakes.
    pub(crate) fn signing_key(&self) -> Arc<dyn SigningKey> {
        let der = [PKCS8_PREFIX.as_slice(), &self.0].concat();
        sign::any_eddsa_type(&PrivatePkcs8KeyDer::from(der)).expect("any 32 bytes are an Ed25519 seed")
    }

    /// A secret for another purpose, the same whenever this program runs, which tells nothing about the key.
    pub(crate) fn derive(&self, purpose: &str) -> [u8; KEY_BYTES] {
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &self.0), purpose.as_bytes());
        tag.as_ref()
            .try_into()
            .expect("a tag of HMAC-SHA-256 has 32 bytes")
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        let key = self.signing_key();
        let spki = key.public_key().expect("Ed25519 keys of this provider have one");
        PublicKey::from_spki(&spki).expect("the provider encodes Ed25519 as RFC 8410 says")
    }
}

impl PublicKey {
    /// The key in a SubjectPublicKeyInfo (RFC 8410 §4), which is what a raw public key is on the wire (RFC 7250).
    pub(crate) fn from_spki(spki: &[u8]) -> Option<PublicKey> {
        let key = spki.strip_prefix(SPKI_PREFIX.as_slice())?;
        key.try_into().ok().map(PublicKey)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64.encode(self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey")
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<PublicKey, KeyError> {
        decode(text).map(PublicKey)
    }
}

impl FromStr for PrivateKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<PrivateKey, KeyError> {
        decode(text).map(PrivateKey)
    }
}

fn decode(text: &str) -> Result<[u8; KEY_BYTES], KeyError> {
    let bytes = BASE64.decode(text.trim()).map_err(|_| KeyError::Text)?;
    bytes.try_into().map_err(|_| KeyError::Text)
}

const KEY_BYTES: usize = 32;
/// PKCS #8 (RFC 8410 §7) up to the seed.
const PKCS8_PREFIX: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];
/// SubjectPublicKeyInfo (RFC 8410 §4) up to the key.
const SPKI_PREFIX: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_key_of_rfc_8032_test_1_follows_from_its_seed() {
        let hex = |text: &str| -> Vec<u8> {
            (0..text.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
                .collect()
        };
        let seed = hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
        let public = hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
        let key = PrivateKey(seed.try_into().unwrap());
        assert_eq!(key.public().0.as_slice(), public);
    }

    #[test]
    fn keys_survive_their_text() {
        let key = PrivateKey::generate().unwrap();
        let again: PrivateKey = format!("{}\n", key.to_text()).parse().unwrap();
        assert_eq!(again.public(), key.public());
        assert_eq!(
            key.public().to_string().parse::<PublicKey>().unwrap(),
            key.public()
        );
        assert_ne!(PrivateKey::generate().unwrap().public(), key.public());
    }

    #[test]
    fn what_is_not_a_key_is_refused_and_a_private_one_is_not_shown() {
        for wrong in ["", "AAAA", "not base64 at all", &"A".repeat(44)] {
            assert!(wrong.parse::<PublicKey>().is_err(), "{wrong}");
        }
        let key = PrivateKey::generate().unwrap();
        assert!(!format!("{key:?}").contains(&key.to_text()));
    }
}
