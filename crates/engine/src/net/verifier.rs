//! Trust decisions of TLS, and which of several certificate errors is reported.
//!
//! Must not know the words for an error. Invariant: whatever the inner verifier refuses is refused, for the
//! same or another reason, unless the exact certificate is among the trusted ones.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

/// Verifies certificates as Go does, on top of a stricter verifier.
///
/// A certificate that is itself trusted needs no issuer, even if it is a CA certificate, like those from
/// `openssl req -x509`. And a certificate's name is checked before its issuers: if both are wrong, the name is
/// reported.
#[derive(Debug)]
pub(super) struct GoVerifier {
    pub(super) within: Arc<WebPkiServerVerifier>,
    pub(super) trusted: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for GoVerifier {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self
            .within
            .verify_server_cert(shown, between, name, ocsp, now);
        if let Err(Error::InvalidCertificate(why)) = &verified
            && is_unknown_authority(why)
            && let Ok(certificate) = ParsedCertificate::try_from(shown)
        {
            verify_server_name(&certificate, name)?;
            // Its dates are valid: they are checked before its issuers.
            if self.trusted.contains(shown) {
                return Ok(ServerCertVerified::assertion());
            }
        }
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.within
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.within
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.within.supported_verify_schemes()
    }
}

/// Whether a certificate has no trusted issuer. This includes a trusted authority with the same name as the
/// issuer, and an authority that presents its own certificate.
pub(crate) fn is_unknown_authority(why: &CertificateError) -> bool {
    match why {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => true,
        CertificateError::Other(other) => other.to_string().contains("CaUsedAsEndEntity"),
        _ => false,
    }
}
