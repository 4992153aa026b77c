//! How a service is known by its certificate, and how it knows us by ours.
//!
//! Must not know files. Invariant: what cannot be used is refused here, with a reason, before any connection is made.

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig, TlsProvider};

/// How a service is known, and how it knows us, as it is written.
#[derive(Clone, Default)]
pub struct TlsSettings {
    /// Whether any certificate will do.
    pub trusts_all: bool,
    /// Whether nothing below TLS 1.3 will do.
    pub newest_only: bool,
    /// Authorities in PEM; `None`: the system's.
    pub authority: Option<Vec<u8>>,
    /// A certificate and its key in PEM; `None`: nobody asks.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
}

impl fmt::Debug for TlsSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsSettings")
    }
}

/// The same, read.
#[derive(Clone)]
pub struct Tls {
    roots: Vec<CertificateDer<'static>>,
    trusts_all: bool,
    provider: Arc<CryptoProvider>,
    identity: Option<Identity>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

/// Our own certificates, the leaf first, and the key.
pub struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    /// The key as the client that makes calls takes it.
    call_key: PrivateKey<'static>,
}

impl Clone for Identity {
    fn clone(&self) -> Identity {
        Identity {
            chain: self.chain.clone(),
            key: self.key.clone_key(),
            call_key: self.call_key.to_owned(),
        }
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}

impl Tls {
    /// Reads settings, and this machine's authorities where they name none.
    ///
    /// # Errors
    /// A certificate or key cannot be read.
    pub fn new(settings: &TlsSettings) -> Result<Tls, String> {
        let mut provider = aws_lc_rs::default_provider();
        provider
            .cipher_suites
            .retain(|suite| !settings.newest_only || suite.tls13().is_some());
        let identity = settings.identity.as_ref();
        let identity = identity.map(|(certificate, key)| Identity::read(certificate, key));
        Ok(Tls {
            roots: match &settings.authority {
                Some(pem) => chain(pem, "the authority's certificate")?,
                None if settings.trusts_all => Vec::new(),
                None => rustls_native_certs::load_native_certs().certs,
            },
            trusts_all: settings.trusts_all,
            provider: Arc::new(provider),
            identity: identity.transpose()?,
        })
    }

    /// The same with another identity.
    #[must_use]
    pub fn with_identity(&self, identity: Option<Identity>) -> Tls {
        Tls {
            identity,
            ..self.clone()
        }
    }

    /// The configuration of a connection of one's own. Without ALPN HTTP/1.1 is spoken.
    ///
    /// # Errors
    /// Certificate and key do not belong together, or cannot be used.
    pub fn client_config(&self) -> Result<ClientConfig, String> {
        let provider = Arc::clone(&self.provider);
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
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
        let Some(identity) = self.identity.clone() else {
            return Ok(builder.with_no_client_auth());
        };
        builder
            .with_client_auth_cert(identity.chain, identity.key)
            .map_err(|error| format!("the client's certificate cannot be used: {error}"))
    }

    /// The configuration of a client that makes calls.
    ///
    /// # Errors
    /// As [`Tls::client_config`], which is asked first, because the client would not say why.
    pub(crate) fn agent_config(&self) -> Result<TlsConfig, String> {
        self.client_config()?;
        let certificates = |chain: &[CertificateDer<'_>]| -> Vec<Certificate<'static>> {
            let owned = chain
                .iter()
                .map(|one| Certificate::from_der(one).to_owned());
            owned.collect()
        };
        let identity = self.identity.as_ref().map(|identity| {
            ClientCert::new_with_certs(&certificates(&identity.chain), identity.call_key.to_owned())
        });
        Ok(TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .unversioned_rustls_crypto_provider(Arc::clone(&self.provider))
            .root_certs(RootCerts::Specific(Arc::new(certificates(&self.roots))))
            .client_cert(identity)
            .disable_verification(self.trusts_all)
            .build())
    }
}

impl Identity {
    /// Reads certificate and key in PEM.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn read(certificate: &[u8], key: &[u8]) -> Result<Identity, String> {
        let unreadable = "the client's key cannot be read: it must be an unencrypted key in PEM (PKCS#8, PKCS#1 or SEC1)";
        Ok(Identity {
            chain: chain(certificate, "the client's certificate")?,
            key: PrivateKeyDer::from_pem_slice(key).map_err(|_| unreadable)?,
            call_key: PrivateKey::from_pem(key).map_err(|_| unreadable)?,
        })
    }
}

fn chain(pem: &[u8], what: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match chain {
        Ok(chain) if !chain.is_empty() => Ok(chain),
        _ => Err(format!("{what} is no certificate in PEM")),
    }
}

/// Takes any certificate, as the user asked.
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
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
