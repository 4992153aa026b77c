//! How a service is known, and how it knows us.
//!
//! Must not know files. Invariant: what was checked when it was read is not checked again.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// How a service is known, and how it knows us.
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

impl std::fmt::Debug for TlsSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TlsSettings")
    }
}

/// The configuration of a client.
///
/// # Errors
/// Why a certificate or key cannot be used.
pub(crate) fn client_config(settings: &TlsSettings) -> Result<ClientConfig, String> {
    let provider = Arc::new(provider(settings));
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let builder = if settings.trusts_all {
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(TrustAll(provider)))
    } else {
        builder.with_root_certificates(roots(settings.authority.as_deref())?)
    };
    let Some((certificate, key)) = &settings.identity else {
        return Ok(builder.with_no_client_auth());
    };
    let chain = certificates(certificate, "the client's certificate")?;
    let key = PrivateKeyDer::from_pem_slice(key)
        .map_err(|error| format!("the client's key cannot be read: {error}"))?;
    builder
        .with_client_auth_cert(chain, key)
        .map_err(|error| format!("the client's certificate cannot be used: {error}"))
}

/// The suites that may be spoken.
pub(super) fn provider(settings: &TlsSettings) -> CryptoProvider {
    let mut provider = aws_lc_rs::default_provider();
    provider
        .cipher_suites
        .retain(|suite| !settings.newest_only || suite.tls13().is_some());
    provider
}

fn roots(authority: Option<&[u8]>) -> Result<RootCertStore, String> {
    let certificates = match authority {
        Some(pem) => certificates(pem, "the authority's certificate")?,
        None => rustls_native_certs::load_native_certs().certs,
    };
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates);
    Ok(roots)
}

fn certificates(pem: &[u8], what: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match read {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(format!("{what} is not in the file")),
        Err(error) => Err(format!("{what} cannot be read: {error}")),
    }
}

/// Takes any certificate, as the user asked.
#[derive(Debug)]
struct TrustAll(Arc<CryptoProvider>);

impl ServerCertVerifier for TrustAll {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
