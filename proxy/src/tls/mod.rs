//! Mutual TLS 1.3: each side shows its raw public key (RFC 7250), and a key that is not listed is refused. A peer may be
//! known by the name in its certificate instead, which an authority must have signed.
//!
//! No resumption and hence no 0-RTT.

mod certificates;
mod either;
mod pinned;

use std::sync::Arc;

use noq::crypto;
use noq::crypto::rustls::{HandshakeData, QuicClientConfig, QuicServerConfig};
use rustls::client::danger::ServerCertVerifier;
use rustls::client::{AlwaysResolvesClientRawPublicKeys, ResolvesClientCert, Resumption, verify_server_name};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{AlwaysResolvesServerRawPublicKeys, ParsedCertificate, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;
use rustls::{ClientConfig, ServerConfig};

use crate::config::Identity;
use crate::key::{PrivateKey, PublicKey};
pub(crate) use certificates::Certificates;
use pinned::Pinned;

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

/// For dialling: only `peer` may answer. Also gives the name to dial it by.
pub(crate) fn client(
    key: &PrivateKey,
    certificates: Option<&Certificates>,
    peer: &Identity,
    class: Class,
) -> anyhow::Result<(QuicClientConfig, String)> {
    let (config, name) = match peer {
        Identity::Key(peer) => (client_config(key, *peer, class)?, "bicast"),
        Identity::Name(name) => {
            let certificates = Certificates::needed(certificates)?;
            let verifier = certificates.server_verifier()?;
            (dialling(verifier, certificates.shown(), class)?, name.as_str())
        }
    };
    Ok((config.try_into()?, name.to_owned()))
}

/// What a QUIC implementation that is not ours needs to dial a proxy: only `peer` may answer.
///
/// # Errors
/// When the TLS library does not have what the handshake needs.
pub fn client_config(key: &PrivateKey, peer: PublicKey, class: Class) -> anyhow::Result<ClientConfig> {
    let shown = Arc::new(AlwaysResolvesClientRawPublicKeys::new(raw(key)));
    dialling(Arc::new(Pinned::new(vec![peer])), shown, class)
}

fn dialling(
    verifier: Arc<dyn ServerCertVerifier>,
    shown: Arc<dyn ResolvesClientCert>,
    class: Class,
) -> anyhow::Result<ClientConfig> {
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_client_cert_resolver(shown);
    config.alpn_protocols = vec![class.protocol().to_vec()];
    config.resumption = Resumption::disabled();
    config.enable_early_data = false;
    config.enable_sni = false;
    Ok(config)
}

/// For listening: any of `peers` may come.
pub(crate) fn server(
    key: &PrivateKey,
    certificates: Option<&Certificates>,
    peers: &[&Identity],
    class: Class,
) -> anyhow::Result<Arc<dyn crypto::ServerConfig>> {
    let (mut keys, mut names) = (Vec::new(), Vec::new());
    for peer in peers {
        match peer {
            Identity::Key(key) => keys.push(*key),
            Identity::Name(name) => names.push(ServerName::try_from(name.as_str())?.to_owned()),
        }
    }
    let by_key: QuicServerConfig = server_config(key, keys, class)?.try_into()?;
    if names.is_empty() {
        return Ok(Arc::new(by_key));
    }
    let certificates = Certificates::needed(certificates)?;
    let by_name = listening(certificates.client_verifier(names)?, certificates.shown(), class)?;
    Ok(Arc::new(either::Either {
        by_key,
        by_name: by_name.try_into()?,
    }))
}

/// What a QUIC implementation that is not ours needs to take the place of a proxy that listens.
///
/// # Errors
/// When the TLS library does not have what the handshake needs.
pub fn server_config(key: &PrivateKey, peers: Vec<PublicKey>, class: Class) -> anyhow::Result<ServerConfig> {
    let shown = Arc::new(AlwaysResolvesServerRawPublicKeys::new(raw(key)));
    listening(Arc::new(Pinned::new(peers)), shown, class)
}

fn listening(
    verifier: Arc<dyn ClientCertVerifier>,
    shown: Arc<dyn ResolvesServerCert>,
    class: Class,
) -> anyhow::Result<ServerConfig> {
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(verifier)
        .with_cert_resolver(shown);
    let classes = class.at_the_same_port().iter();
    config.alpn_protocols = classes.map(|class| class.protocol().to_vec()).collect();
    config.max_early_data_size = 0;
    config.send_tls13_tickets = 0;
    Ok(config)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Whether the other end of an established connection has proved to be this.
pub(crate) fn is(connection: &noq::Connection, identity: &Identity) -> bool {
    let shown = connection.peer_identity();
    let shown = shown.and_then(|shown| shown.downcast::<Vec<CertificateDer<'static>>>().ok());
    let Some(shown) = shown.as_ref().and_then(|shown| shown.first()) else {
        return false;
    };
    match identity {
        Identity::Key(key) => PublicKey::from_spki(shown) == Some(*key),
        Identity::Name(name) => has_name(shown, name),
    }
}

/// Whether a certificate is for this name.
fn has_name(certificate: &CertificateDer<'_>, name: &str) -> bool {
    let (Ok(certificate), Ok(name)) = (
        ParsedCertificate::try_from(certificate),
        ServerName::try_from(name),
    ) else {
        return false;
    };
    verify_server_name(&certificate, &name).is_ok()
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
