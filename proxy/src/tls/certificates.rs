//! Peers that are known by a name in a certificate (RFC 5280, RFC 6125) which an authority has signed.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme,
    client::verify_server_name,
};

use crate::config;

/// What we show, and whom we trust to say who the other side is.
#[derive(Debug)]
pub(crate) struct Certificates {
    shown: Arc<SingleCertAndKey>,
    roots: Arc<RootCertStore>,
}

impl Certificates {
    /// Reads the files.
    pub(crate) fn read(files: &config::Certificates) -> anyhow::Result<Certificates> {
        let key = PrivateKeyDer::from_pem_file(&files.key)
            .with_context(|| format!("cannot read a private key from {}", files.key.display()))?;
        let shown = CertifiedKey::from_der(certificates(&files.chain)?, key, &super::provider())
            .with_context(|| format!("{} and {}", files.chain.display(), files.key.display()))?;
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&files.authority)? {
            let added = roots.add(certificate);
            added.with_context(|| files.authority.display().to_string())?;
        }
        Ok(Certificates {
            shown: Arc::new(shown.into()),
            roots: Arc::new(roots),
        })
    }

    /// The configuration does not name a peer by its certificate without them.
    pub(super) fn needed(certificates: Option<&Certificates>) -> anyhow::Result<&Certificates> {
        certificates.context("the configuration has no `certificates`")
    }

    pub(super) fn shown(&self) -> Arc<SingleCertAndKey> {
        Arc::clone(&self.shown)
    }

    /// Of whom we dial; its name is checked too.
    pub(super) fn server_verifier(&self) -> anyhow::Result<Arc<WebPkiServerVerifier>> {
        let builder = WebPkiServerVerifier::builder_with_provider(Arc::clone(&self.roots), super::provider());
        Ok(builder.build()?)
    }

    /// Of whoever dials us: its certificate must be for one of `names`.
    pub(super) fn client_verifier(
        &self,
        names: Vec<ServerName<'static>>,
    ) -> anyhow::Result<Arc<dyn ClientCertVerifier>> {
        let builder = WebPkiClientVerifier::builder_with_provider(Arc::clone(&self.roots), super::provider());
        let signed = builder.build()?;
        Ok(Arc::new(Named { names, signed }))
    }
}

fn certificates(file: &Path) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let cannot = || format!("cannot read certificates from {}", file.display());
    let certificates = CertificateDer::pem_file_iter(file).with_context(cannot)?;
    let certificates: Vec<_> = certificates.collect::<Result<_, _>>().with_context(cannot)?;
    anyhow::ensure!(
        !certificates.is_empty(),
        "there is no certificate in {}",
        file.display()
    );
    Ok(certificates)
}

/// Accepts certificates for one of the names that are signed as `signed` wants them.
#[derive(Debug)]
struct Named {
    names: Vec<ServerName<'static>>,
    signed: Arc<dyn ClientCertVerifier>,
}

impl ClientCertVerifier for Named {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.signed.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        shown: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self.signed.verify_client_cert(shown, intermediates, now)?;
        let certificate = ParsedCertificate::try_from(shown)?;
        let is = |name: &ServerName<'_>| verify_server_name(&certificate, name).is_ok();
        match self.names.iter().any(is) {
            true => Ok(verified),
            false => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed.verify_tls12_signature(message, shown, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed.verify_tls13_signature(message, shown, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.signed.supported_verify_schemes()
    }
}
