//! Mutual TLS 1.3 with raw public keys (RFC 7250): each side shows its key, and a key that is not listed is refused.
//!
//! No certificates, no authorities, no resumption and hence no 0-RTT.

use std::sync::Arc;

use noq::crypto::rustls::{HandshakeData, QuicClientConfig, QuicServerConfig};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, Resumption};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error, ServerConfig,
    SignatureScheme,
};

use crate::key::{PrivateKey, PublicKey};

/// What a connection carries. Streams and datagrams travel apart, because packets of streams may be held back below
/// QUIC until a missing one is rescued, and datagrams may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// TCP, opened by either side.
    Streams,
    /// TCP of one forward, or of one TCP connection, opened by the side that dialled.
    Own,
    /// UDP, opened by either side.
    Datagrams,
}

impl Class {
    /// The application protocol (ALPN) of such a connection; the number is the version of [`crate::relay::wire`].
    const fn protocol(self) -> &'static [u8] {
        match self {
            Class::Streams => b"bicast-streams/1",
            Class::Own => b"bicast-own/1",
            Class::Datagrams => b"bicast-datagrams/1",
        }
    }

    /// The classes that one UDP socket takes.
    const fn at_the_same_port(self) -> &'static [Class] {
        match self {
            Class::Streams | Class::Own => &[Class::Streams, Class::Own],
            Class::Datagrams => &[Class::Datagrams],
        }
    }
}

/// For dialling: only `peer` may answer.
pub(crate) fn client(key: &PrivateKey, peer: PublicKey, class: Class) -> anyhow::Result<QuicClientConfig> {
    let verifier = Arc::new(Pinned::new(vec![peer]));
    let mut config = ClientConfig::builder_with_provider(Arc::clone(&verifier.provider))
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(raw(key))));
    config.alpn_protocols = vec![class.protocol().to_vec()];
    config.resumption = Resumption::disabled();
    config.enable_early_data = false;
    config.enable_sni = false;
    Ok(config.try_into()?)
}

/// For listening: any of `peers` may come.
pub(crate) fn server(
    key: &PrivateKey,
    peers: Vec<PublicKey>,
    class: Class,
) -> anyhow::Result<QuicServerConfig> {
    let verifier = Arc::new(Pinned::new(peers));
    let mut config = ServerConfig::builder_with_provider(Arc::clone(&verifier.provider))
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(verifier)
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(raw(key))));
    let classes = class.at_the_same_port().iter();
    config.alpn_protocols = classes.map(|class| class.protocol().to_vec()).collect();
    config.max_early_data_size = 0;
    config.send_tls13_tickets = 0;
    Ok(config.try_into()?)
}

/// Whose key the other end of an established connection proved to hold.
pub(crate) fn identity(connection: &noq::Connection) -> Option<PublicKey> {
    let shown = connection.peer_identity()?;
    let keys = shown.downcast_ref::<Vec<CertificateDer<'static>>>()?;
    PublicKey::from_spki(keys.first()?)
}

/// What an established connection carries.
pub(crate) fn class(connection: &noq::Connection) -> Option<Class> {
    let data = connection.handshake_data()?;
    let protocol = data.downcast_ref::<HandshakeData>()?.protocol.as_deref()?;
    [Class::Streams, Class::Own, Class::Datagrams]
        .into_iter()
        .find(|class| class.protocol() == protocol)
}

fn raw(key: &PrivateKey) -> Arc<CertifiedKey> {
    let signing = key.signing_key();
    let spki = signing
        .public_key()
        .map(|spki| CertificateDer::from(spki.to_vec()));
    Arc::new(CertifiedKey::new(spki.into_iter().collect(), signing))
}

/// Accepts exactly the listed keys.
#[derive(Debug)]
struct Pinned {
    keys: Vec<PublicKey>,
    provider: Arc<CryptoProvider>,
}

impl Pinned {
    fn new(keys: Vec<PublicKey>) -> Pinned {
        let provider = Arc::new(ring::default_provider());
        Pinned { keys, provider }
    }

    fn check(&self, shown: &CertificateDer<'_>) -> Result<(), Error> {
        let key = PublicKey::from_spki(shown).ok_or(CertificateError::BadEncoding)?;
        match self.keys.contains(&key) {
            true => Ok(()),
            false => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    fn check_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        let spki = SubjectPublicKeyInfoDer::from(shown.as_ref());
        verify_tls13_signature_with_raw_key(message, &spki, signature, algorithms)
    }
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(shown).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _shown: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(rustls::PeerIncompatible::Tls12NotOffered.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, shown, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        shown: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(shown).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _shown: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(rustls::PeerIncompatible::Tls12NotOffered.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, shown, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}
