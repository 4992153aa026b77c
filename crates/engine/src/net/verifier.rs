//! Whom TLS trusts, and which of several faults of a certificate is told.
//!
//! Must not know the words that a fault is told in. Invariant: whoever the verifier within refuses is refused; only
//! the reason may be another.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

/// Looks at a certificate's name before it looks at who vouches for it, as Go does: a certificate that is
/// wrong in both is told to be another's.
#[derive(Debug)]
pub(super) struct NameFirst(pub(super) Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for NameFirst {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.0.verify_server_cert(shown, between, name, ocsp, now);
        if let Err(Error::InvalidCertificate(why)) = &verified
            && is_unknown_authority(why)
            && let Ok(certificate) = ParsedCertificate::try_from(shown)
        {
            verify_server_name(&certificate, name)?;
        }
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
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
