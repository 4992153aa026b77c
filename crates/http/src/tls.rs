//! How a service proves its identity, and how this client proves its own.
//!
//! Must not know files. Invariant: invalid settings are refused here, with a reason, before any connection is
//! made.

use std::fmt;
use std::sync::Arc;

use loadline_tls::TrustsAnybody;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, RootCertStore};
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig, TlsProvider};

/// TLS settings as given by the user.
#[derive(Clone, Default)]
pub struct TlsSettings {
    /// Whether TLS verification is skipped.
    pub trusts_all: bool,
    /// Whether TLS 1.3 is required.
    pub newest_only: bool,
    /// Certificate authorities in PEM; `None`: the system's.
    pub authority: Option<Vec<u8>>,
    /// Client certificate and key in PEM; `None`: no client certificate.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
}

impl fmt::Debug for TlsSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsSettings")
    }
}

/// The same, parsed.
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

/// Our client certificates, the leaf first, and their private key.
#[derive(Clone)]
pub struct Identity {
    certified: Arc<CertifiedKey>,
    /// The key in the form that the calling client takes.
    call_key: Arc<PrivateKey<'static>>,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}

impl Tls {
    /// Parses settings; loads this machine's authorities if the settings name none.
    ///
    /// # Errors
    /// A certificate or key cannot be read, or they do not belong together.
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

    /// The same settings with another identity.
    #[must_use]
    pub fn with_identity(&self, identity: Option<Identity>) -> Tls {
        Tls {
            identity,
            ..self.clone()
        }
    }

    /// TLS configuration for callers with their own connections. Without ALPN the protocol is HTTP/1.1.
    #[must_use]
    pub fn client_config(&self) -> ClientConfig {
        let provider = Arc::clone(&self.provider);
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("the suites of TLS 1.3 are always there");
        let builder = match self.trusts_all {
            true => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(TrustsAnybody(provider))),
            false => {
                let mut roots = RootCertStore::empty();
                roots.add_parsable_certificates(self.roots.iter().cloned());
                builder.with_root_certificates(roots)
            }
        };
        match &self.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let shown = SingleCertAndKey::from(Arc::clone(&identity.certified));
                builder.with_client_cert_resolver(Arc::new(shown))
            }
        }
    }

    /// TLS configuration for the calling client.
    pub(crate) fn agent_config(&self) -> TlsConfig {
        let certificates = |chain: &[CertificateDer<'_>]| -> Vec<Certificate<'static>> {
            let owned = chain
                .iter()
                .map(|one| Certificate::from_der(one).to_owned());
            owned.collect()
        };
        let identity = self.identity.as_ref().map(|identity| {
            let chain = certificates(&identity.certified.cert);
            ClientCert::new_with_certs(&chain, (*identity.call_key).to_owned())
        });
        TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .unversioned_rustls_crypto_provider(Arc::clone(&self.provider))
            .root_certs(RootCerts::Specific(Arc::new(certificates(&self.roots))))
            .client_cert(identity)
            .disable_verification(self.trusts_all)
            .build()
    }
}

impl Identity {
    /// Parses certificate and key in PEM.
    ///
    /// # Errors
    /// One of them cannot be read, or they do not belong together.
    pub fn read(certificate: &[u8], key: &[u8]) -> Result<Identity, String> {
        let unreadable = "the client's key cannot be read: it must be an unencrypted key in PEM (PKCS#8, PKCS#1 or SEC1)";
        let chain = chain(certificate, "the client's certificate")?;
        let call_key = PrivateKey::from_pem(key).map_err(|_| unreadable)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| unreadable)?;
        let certified = CertifiedKey::from_der(chain, key, &aws_lc_rs::default_provider())
            .map_err(|error| format!("the client's certificate cannot be used: {error}"))?;
        Ok(Identity {
            certified: Arc::new(certified),
            call_key: Arc::new(call_key),
        })
    }
}

fn chain(pem: &[u8], what: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match chain {
        Ok(chain) if !chain.is_empty() => Ok(chain),
        _ => Err(format!("{what} is not a certificate in PEM")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_another_certificate_is_refused_when_it_is_read() {
        let make = || rcgen::generate_simple_self_signed(["h".to_owned()]).expect("it is made");
        let (one, other) = (make(), make());
        let read = |key: &str| Identity::read(one.cert.pem().as_bytes(), key.as_bytes());
        assert!(read(&one.signing_key.serialize_pem()).is_ok());
        let why = read(&other.signing_key.serialize_pem()).expect_err("it does not fit");
        assert!(
            why.starts_with("the client's certificate cannot be used: "),
            "{why}"
        );
        assert!(read("no key").is_err());
    }
}
