//! How a cluster is known by its certificate, and how it knows us by ours.
//!
//! Must not know files. Invariant: what cannot be used is refused here, with a reason, before any connection is made.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig, TlsProvider};

use super::{Access, Secret};
use crate::error::{Error, Result};

/// The authorities that a cluster's certificate may be signed by.
#[derive(Clone)]
pub(crate) struct Certificates {
    roots: Vec<CertificateDer<'static>>,
    trusts_all: bool,
}

impl std::fmt::Debug for Certificates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Certificates")
    }
}

/// Our own certificates, the leaf first, and the key.
pub(crate) struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    /// The key as it was given.
    key_pem: Secret,
}

impl Clone for Identity {
    fn clone(&self) -> Identity {
        Identity {
            chain: self.chain.clone(),
            key: self.key.clone_key(),
            key_pem: self.key_pem.clone(),
        }
    }
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Identity")
    }
}

impl Certificates {
    /// The authorities of a configuration; the system's where it names none.
    ///
    /// # Errors
    /// The PEM cannot be read or holds no certificate.
    pub(crate) fn of(access: &Access) -> Result<Certificates> {
        let roots = match &access.authority {
            Some(pem) => chain(pem, "the certificate authority")?,
            None if access.trusts_all => Vec::new(),
            None => rustls_native_certs::load_native_certs().certs,
        };
        Ok(Certificates {
            roots,
            trusts_all: access.trusts_all,
        })
    }

    /// The configuration of a connection of our own, for what is more than a call. Without ALPN HTTP/1.1 is spoken.
    ///
    /// # Errors
    /// Certificate and key do not belong together, or cannot be used.
    pub(crate) fn client_config(&self, identity: Option<&Identity>) -> Result<ClientConfig> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::config(error.to_string()))?;
        let builder = match self.trusts_all {
            true => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(TrustAll(provider))),
            false => {
                let mut roots = RootCertStore::empty();
                roots.add_parsable_certificates(self.roots.iter().cloned());
                builder.with_root_certificates(roots)
            }
        };
        let Some(identity) = identity else {
            return Ok(builder.with_no_client_auth());
        };
        builder
            .with_client_auth_cert(identity.chain.clone(), identity.key.clone_key())
            .map_err(|error| {
                Error::config(format!("the client's certificate cannot be used: {error}"))
            })
    }

    /// The configuration of the client that makes calls.
    ///
    /// # Errors
    /// As [`Certificates::client_config`], which is asked first, because the client would not say why.
    pub(crate) fn call_config(&self, identity: Option<&Identity>) -> Result<TlsConfig> {
        self.client_config(identity)?;
        let certificates = |chain: &[CertificateDer<'static>]| -> Vec<Certificate<'static>> {
            let owned = chain
                .iter()
                .map(|one| Certificate::from_der(one).to_owned());
            owned.collect()
        };
        let client = match identity {
            Some(identity) => {
                let key = PrivateKey::from_pem(identity.key_pem.reveal().as_bytes());
                let key = key.map_err(|_| unreadable_key())?;
                Some(ClientCert::new_with_certs(
                    &certificates(&identity.chain),
                    key,
                ))
            }
            None => None,
        };
        Ok(TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .unversioned_rustls_crypto_provider(Arc::new(aws_lc_rs::default_provider()))
            .root_certs(RootCerts::Specific(Arc::new(certificates(&self.roots))))
            .client_cert(client)
            .disable_verification(self.trusts_all)
            .build())
    }
}

impl Identity {
    /// Reads certificate and key in PEM.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub(crate) fn read(certificate: &[u8], key: &Secret) -> Result<Identity> {
        Ok(Identity {
            chain: chain(certificate, "the client's certificate")?,
            key: PrivateKeyDer::from_pem_slice(key.reveal().as_bytes())
                .map_err(|_| unreadable_key())?,
            key_pem: key.clone(),
        })
    }
}

fn unreadable_key() -> Error {
    Error::config(
        "the client's key cannot be read: it must be an unencrypted key in PEM (PKCS#8, PKCS#1 or SEC1)",
    )
}

fn chain(pem: &[u8], what: &str) -> Result<Vec<CertificateDer<'static>>> {
    let chain: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match chain {
        Ok(chain) if !chain.is_empty() => Ok(chain),
        _ => Err(Error::config(format!("{what} is no certificate in PEM"))),
    }
}

/// Takes any certificate, as `insecure-skip-tls-verify` says.
#[derive(Debug)]
struct TrustAll(Arc<CryptoProvider>);

impl ServerCertVerifier for TrustAll {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
