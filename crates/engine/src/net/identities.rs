//! Client certificates: parsing them, and choosing one for a peer.
//!
//! Must not know sockets or files. Invariant: a parsed certificate can be used.

use std::sync::Arc;

use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::crypto::CryptoProvider;
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::{self, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use super::der::der_item;
use super::encrypted_key;
use super::tls::TlsError;

/// The message about PEM that holds something else.
pub(super) const NO_CERTIFICATE: &str = "it contains something that is not a certificate";

/// A client certificate as given.
pub(super) struct GivenIdentity<'a> {
    /// Its origin, for messages.
    pub(super) origin: String,
    pub(super) certificate_pem: &'a [u8],
    pub(super) key_pem: &'a [u8],
    /// The password of the key; `None`: it is not encrypted.
    pub(super) password: Option<&'a str>,
}

/// The client certificates; the first one acceptable to the peer is used.
#[derive(Debug)]
pub(super) struct Identities {
    keys: Vec<Arc<CertifiedKey>>,
    /// Whether the authorities named by the peer also decide, as in Go; otherwise they are only a hint, as in
    /// curl.
    heeds_authorities: bool,
}

impl Identities {
    /// Parses certificates and keys.
    ///
    /// # Errors
    /// The first that is invalid.
    pub(super) fn read<'a>(
        given: impl IntoIterator<Item = GivenIdentity<'a>>,
        heeds_authorities: bool,
        provider: &CryptoProvider,
    ) -> Result<Identities, TlsError> {
        let keys = given
            .into_iter()
            .map(|identity| read_identity(&identity, provider))
            .collect::<Result<_, _>>()?;
        Ok(Identities {
            keys,
            heeds_authorities,
        })
    }

    fn is_acceptable(
        &self,
        key: &CertifiedKey,
        authorities: &[&[u8]],
        schemes: &[SignatureScheme],
    ) -> bool {
        let of_authority = |certificate: &CertificateDer<'_>| {
            issuer(certificate).is_some_and(|issuer| authorities.contains(&issuer))
        };
        key.key.choose_scheme(schemes).is_some()
            && (!self.heeds_authorities
                || authorities.is_empty()
                || key.cert.iter().any(of_authority))
    }
}

impl ResolvesClientCert for Identities {
    fn resolve(
        &self,
        authorities: &[&[u8]],
        schemes: &[SignatureScheme],
    ) -> Option<Arc<CertifiedKey>> {
        let mut keys = self.keys.iter();
        keys.find(|key| self.is_acceptable(key, authorities, schemes))
            .map(Arc::clone)
    }

    fn has_certs(&self) -> bool {
        !self.keys.is_empty()
    }
}

fn read_identity(
    identity: &GivenIdentity<'_>,
    provider: &CryptoProvider,
) -> Result<Arc<CertifiedKey>, TlsError> {
    let bad = |why: String| TlsError::new(format!("client certificate {}: {why}", identity.origin));
    let chain: Vec<_> = CertificateDer::pem_slice_iter(identity.certificate_pem)
        .collect::<Result<_, _>>()
        .map_err(|error| bad(pem_fault(&error)))?;
    if chain.is_empty() {
        return Err(bad("holds no PEM certificate".to_owned()));
    }
    let key = key_of(identity).map_err(|why| bad(format!("its private key: {why}")))?;
    let certified =
        CertifiedKey::from_der(chain, key, provider).map_err(|error| bad(unfit(&error)))?;
    Ok(Arc::new(certified))
}

/// Why certificate and key do not fit together.
fn unfit(error: &rustls::Error) -> String {
    let of_key = match error {
        rustls::Error::InvalidCertificate(_) => return NO_CERTIFICATE.to_owned(),
        rustls::Error::InconsistentKeys(_) => "it is not the key of this certificate",
        rustls::Error::General(_) => {
            "its kind is not supported: use RSA with 2,048 bits or more, ECDSA or Ed25519"
        }
        other => return format!("its private key: {other}"),
    };
    format!("its private key: {of_key}")
}

/// What is wrong with a file in PEM.
pub(super) fn pem_fault(error: &pem::Error) -> String {
    match error {
        pem::Error::MissingSectionEnd { .. } => "it is cut off: an END line is missing".to_owned(),
        pem::Error::Base64Decode(_) => "its lines are not base64".to_owned(),
        other => other.to_string(),
    }
}

fn key_of(identity: &GivenIdentity<'_>) -> Result<PrivateKeyDer<'static>, String> {
    let Some(password) = identity.password else {
        return PrivateKeyDer::from_pem_slice(identity.key_pem)
            .map_err(|error| key_fault(&error, identity.key_pem));
    };
    if let Some(key) = encrypted_key::decrypted(identity.key_pem, password) {
        return key.map_err(str::to_owned);
    }
    // As in k6, a password may accompany an unencrypted key, and PKCS #8 is not decrypted.
    PrivateKeyDer::from_pem_slice(identity.key_pem).map_err(|_| {
        "it is encrypted as PKCS #8: rewrite it with openssl rsa -traditional, or in the clear"
            .to_owned()
    })
}

/// What is wrong with a key in PEM that comes without a password.
fn key_fault(error: &pem::Error, pem: &[u8]) -> String {
    const MARK: &[u8] = b"ENCRYPTED";
    match error {
        _ if pem.windows(MARK.len()).any(|window| window == MARK) => {
            "it is encrypted: write it in the clear with openssl pkey -in KEY -out PLAIN".to_owned()
        }
        pem::Error::NoItemsFound => "there is none".to_owned(),
        other => pem_fault(other),
    }
}

/// The issuer's name in a certificate, as DER (RFC 5280 section 4.1).
fn issuer(certificate: &[u8]) -> Option<&[u8]> {
    let (_, certificate, _) = der_item(certificate)?;
    let (_, mut rest, _) = der_item(certificate)?;
    const EXPLICIT_VERSION: u8 = 0xa0;
    if rest.first() == Some(&EXPLICIT_VERSION) {
        rest = der_item(rest)?.2;
    }
    let (_, _, rest) = der_item(rest)?;
    let (_, _, rest) = der_item(rest)?;
    der_item(rest).map(|(whole, _, _)| whole)
}

#[cfg(test)]
mod tests {
    use rustls::crypto::aws_lc_rs;

    use super::*;

    /// A certificate and its key, PEM, and the certificate as DER.
    fn made() -> (String, String, Vec<u8>) {
        let key = rcgen::KeyPair::generate().expect("a key");
        let mut params =
            rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("good parameters");
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, "the issuer");
        let certificate = params.self_signed(&key).expect("a certificate");
        let der = certificate.der().to_vec();
        (certificate.pem(), key.serialize_pem(), der)
    }

    fn read(certificate: &str, key: &str, heeds: bool) -> Result<Identities, TlsError> {
        let given = GivenIdentity {
            origin: "of the test".to_owned(),
            certificate_pem: certificate.as_bytes(),
            key_pem: key.as_bytes(),
            password: None,
        };
        Identities::read([given], heeds, &aws_lc_rs::default_provider())
    }

    #[test]
    fn the_first_certificate_that_the_peer_can_accept_is_shown() {
        let (certificate, key, der) = made();
        let own = issuer(&der).expect("a certificate has an issuer");
        assert!(own.windows(10).any(|window| window == b"the issuer"));
        let shown = |heeds: bool, authorities: &[&[u8]], scheme| {
            let identities = read(&certificate, &key, heeds).expect("a good identity");
            identities.resolve(authorities, &[scheme]).is_some()
        };
        let ecdsa = SignatureScheme::ECDSA_NISTP256_SHA256;
        assert!(shown(true, &[], ecdsa));
        assert!(shown(true, &[b"other", own], ecdsa));
        assert!(!shown(true, &[b"other"], ecdsa));
        assert!(shown(false, &[b"other"], ecdsa));
        assert!(!shown(true, &[], SignatureScheme::RSA_PKCS1_SHA256));
    }

    #[test]
    fn bad_identities_are_refused() {
        let (certificate, key, _) = made();
        let why = |certificate: &str, key: &str| {
            let refused = read(certificate, key, true).expect_err("it is no identity");
            let why = refused.to_string();
            let what = why.strip_prefix("client certificate of the test: ");
            what.expect("it says of which").to_owned()
        };
        let of_key = |key: &str| {
            let why = why(&certificate, key);
            let what = why.strip_prefix("its private key: ");
            what.expect("it says that it is the key").to_owned()
        };
        assert_eq!(of_key("nothing"), "there is none");
        assert_eq!(of_key(&made().1), "it is not the key of this certificate");
        let encrypted = key.replace("PRIVATE", "ENCRYPTED PRIVATE");
        assert!(of_key(&encrypted).starts_with("it is encrypted: "));
        assert_eq!(of_key(&key[..60]), "it is cut off: an END line is missing");
        let junk = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert_eq!(why(junk, &key), NO_CERTIFICATE);
    }

    #[test]
    fn der_that_is_cut_has_no_issuer() {
        let (.., der) = made();
        for length in 0..40 {
            assert_eq!(issuer(&der[..length]), None, "{length}");
        }
    }
}
