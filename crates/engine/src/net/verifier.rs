//! Trust decisions of TLS, and which of several certificate errors is reported.
//!
//! Must not know the words for an error. Invariant: whatever the inner verifier refuses is refused, for the
//! same or another reason, unless the exact certificate is among the trusted ones, or is a CA that one of them signed.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use super::issuer::has_signed;

/// Verifies certificates as Go does, on top of a stricter verifier.
///
/// A certificate that is itself trusted needs no issuer, even if it is a CA certificate, like those from
/// `openssl req -x509`; and one of a CA may serve if a trusted CA signed it. A certificate's name is checked before
/// its issuers: if both are wrong, the name is reported.
#[derive(Debug)]
pub(super) struct GoVerifier {
    pub(super) within: Arc<WebPkiServerVerifier>,
    pub(super) trusted: Vec<CertificateDer<'static>>,
    pub(super) algorithms: WebPkiSupportedAlgorithms,
}

impl GoVerifier {
    fn is_signed(&self, shown: &CertificateDer<'_>) -> bool {
        let mut trusted = self.trusted.iter();
        trusted.any(|authority| has_signed(authority, shown, &self.algorithms))
    }
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
            if self.trusted.contains(shown) || is_refused_authority(why) && self.is_signed(shown) {
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
/// issuer, whose key may be of another kind, and an authority that presents its own certificate.
pub(crate) fn is_unknown_authority(why: &CertificateError) -> bool {
    match why {
        CertificateError::UnknownIssuer
        | CertificateError::BadSignature
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => true,
        why => is_refused_authority(why),
    }
}

/// Whether an authority presents its own certificate.
fn is_refused_authority(why: &CertificateError) -> bool {
    matches!(why, CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity"))
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
    use rustls::RootCertStore;
    use rustls::crypto::aws_lc_rs;

    use super::*;

    fn authority(key: KeyPair) -> CertifiedIssuer<'static, KeyPair> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        CertifiedIssuer::self_signed(params, key).expect("a certificate")
    }

    fn leaf(issuer: &CertifiedIssuer<'static, KeyPair>, is_ca: IsCa) -> CertificateDer<'static> {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a good name");
        params.is_ca = is_ca;
        let key = KeyPair::generate().expect("a key");
        let signed = params.signed_by(&key, issuer).expect("a certificate");
        signed.der().clone()
    }

    fn verified(
        trusted: &CertifiedIssuer<'static, KeyPair>,
        shown: &CertificateDer<'_>,
        name: &str,
    ) -> Result<(), Error> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let algorithms = provider.signature_verification_algorithms;
        let trusted = vec![trusted.der().clone()];
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(trusted.iter().cloned());
        let within = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .expect("there is an authority");
        let verifier = GoVerifier {
            within,
            trusted,
            algorithms,
        };
        let name = ServerName::try_from(name).expect("a good name");
        let seen = verifier.verify_server_cert(shown, &[], &name, &[], UnixTime::now());
        seen.map(|_| ())
    }

    #[test]
    fn a_key_of_another_kind_under_the_same_name_is_an_unknown_authoritys() {
        let known = KeyPair::generate_for(&rcgen::PKCS_ED25519).expect("a key");
        let other = authority(KeyPair::generate().expect("a key"));
        let shown = leaf(&other, IsCa::NoCa);
        match verified(&authority(known), &shown, "localhost") {
            Err(Error::InvalidCertificate(why)) => assert!(is_unknown_authority(&why), "{why}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_authority_may_serve_if_a_trusted_one_signed_it() {
        let trusted = authority(KeyPair::generate().expect("a key"));
        let is_ca = || IsCa::Ca(BasicConstraints::Unconstrained);
        let shown = leaf(&trusted, is_ca());
        verified(&trusted, &shown, "localhost").expect("it is signed");
        let another_name = verified(&trusted, &shown, "other");
        assert!(
            matches!(&another_name, Err(Error::InvalidCertificate(why)) if !is_unknown_authority(why)),
            "{another_name:?}"
        );
        let other = authority(KeyPair::generate().expect("a key"));
        verified(&trusted, &leaf(&other, is_ca()), "localhost").expect_err("nobody knows it");
    }
}
