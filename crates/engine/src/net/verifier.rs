//! Whom TLS trusts, and which of several faults of a certificate is told.
//!
//! Must not know the words that a fault is told in. Invariant: whoever the verifier within refuses is refused, for this
//! reason or another, unless its very certificate is among those that are trusted.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

/// Judges certificates as Go does, by a verifier that is stricter.
///
/// A certificate that is itself trusted needs nobody who vouches for it, though it be an authority's, as those are
/// that `openssl req -x509` makes. And a certificate's name is looked at before those who vouch for it: one that is
/// wrong in both is told to be another's.
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
            // Its dates are good: they are looked at before who vouches for it.
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

/// Whether nobody who is trusted vouches for a certificate: also where a trusted authority bears the
/// name of the one that signed, and where an authority shows its own certificate.
pub(crate) fn is_unknown_authority(why: &CertificateError) -> bool {
    match why {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => true,
        CertificateError::Other(other) => other.to_string().contains("CaUsedAsEndEntity"),
        _ => false,
    }
}
