//! Authentication of participants: certificates of one authority, created for one run.
//!
//! An identity comes from a token, from which both sides derive the same authority, or from a PEM file in which
//! somebody else's authority has signed it. Must not know the messages. Invariant: only holders of the token,
//! or of a certificate of the authority, are accepted.

use std::fmt;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, PKCS_ED25519};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tonic::transport::{Certificate, ClientTlsConfig, ServerTlsConfig};

/// The name in the certificate of a coordinator whose authority is a token's.
const COORDINATOR: &str = "coordinator.loadline";
/// Bytes of a token.
const TOKEN_BYTES: usize = 32;
/// The bytes before the 32 bytes of an Ed25519 key in PKCS#8 (RFC 8410).
const ED25519_PKCS8: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// Allows its holder to take part in one test, as an agent or as the coordinator.
#[derive(Clone, PartialEq, Eq)]
pub struct Token([u8; TOKEN_BYTES]);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// Why an identity could not be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityError(String);

impl fmt::Display for IdentityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for IdentityError {}

impl Token {
    /// A new random token.
    ///
    /// # Errors
    /// The system returns no random bytes.
    pub fn fresh() -> Result<Token, IdentityError> {
        let mut bytes = [0; TOKEN_BYTES];
        let failed = |_| IdentityError("the system gives no random bytes".to_owned());
        aws_lc_rs::rand::fill(&mut bytes).map_err(failed)?;
        Ok(Token(bytes))
    }

    /// Parses a token.
    ///
    /// # Errors
    /// The text is not a token.
    pub fn parse(text: &str) -> Result<Token, IdentityError> {
        let bytes = URL_SAFE_NO_PAD.decode(text.trim()).ok();
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        let none = || {
            IdentityError("it is not a token; take the one that the coordinator prints".to_owned())
        };
        bytes.map(Token).ok_or_else(none)
    }

    /// The token as text.
    #[must_use]
    pub fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }
}

/// A unique name; `None`: the system returns no random bytes.
pub(crate) fn fresh_name() -> Option<String> {
    let mut bytes = [0; 16];
    aws_lc_rs::rand::fill(&mut bytes).ok()?;
    Some(URL_SAFE_NO_PAD.encode(bytes))
}

/// A certificate, its key, and the authority that peers are verified against.
#[derive(Clone)]
pub struct Identity {
    /// PEM.
    certificate: String,
    /// PEM.
    key: String,
    /// PEM.
    authority: String,
    /// The name that a coordinator's certificate must have; `None`: the host name that agents connect to.
    coordinator: Option<&'static str>,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}

impl Identity {
    /// Derives the identity from a token.
    ///
    /// # Errors
    /// The certificate cannot be created.
    pub fn of_token(token: &Token) -> Result<Identity, IdentityError> {
        let failed =
            |error: rcgen::Error| IdentityError(format!("no certificate can be made: {error}"));
        let authority_key = authority_key(token).map_err(failed)?;
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params
            .distinguished_name
            .push(DnType::CommonName, "loadline run");
        let authority = params.self_signed(&authority_key).map_err(failed)?;
        let issuer = Issuer::new(params, authority_key);
        let key = KeyPair::generate().map_err(failed)?;
        let leaf = CertificateParams::new(vec![COORDINATOR.to_owned()]).map_err(failed)?;
        let leaf = leaf.signed_by(&key, &issuer).map_err(failed)?;
        Ok(Identity {
            certificate: leaf.pem(),
            key: key.serialize_pem(),
            authority: authority.pem(),
            coordinator: Some(COORDINATOR),
        })
    }

    /// Reads the identity from a PEM file: a certificate, its key, and then the authority's certificate.
    ///
    /// # Errors
    /// The file does not have this form.
    pub fn of_pem(text: &str) -> Result<Identity, IdentityError> {
        let none = |what: &str| {
            IdentityError(format!(
                "it has no {what}; a certificate, its private key and the authority's certificate are required, in PEM"
            ))
        };
        let mut certificates =
            CertificateDer::pem_slice_iter(text.as_bytes()).filter_map(Result::ok);
        let leaf = certificates.next().ok_or_else(|| none("certificate"))?;
        let authority = certificates.last().ok_or_else(|| none("authority"))?;
        let key =
            PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|_| none("private key"))?;
        let label = match &key {
            PrivateKeyDer::Pkcs1(_) => "RSA PRIVATE KEY",
            PrivateKeyDer::Sec1(_) => "EC PRIVATE KEY",
            _ => "PRIVATE KEY",
        };
        Ok(Identity {
            certificate: pem("CERTIFICATE", &leaf),
            key: pem(label, key.secret_der()),
            authority: pem("CERTIFICATE", &authority),
            coordinator: None,
        })
    }

    /// TLS settings of a coordinator with this identity.
    pub(crate) fn server(&self) -> ServerTlsConfig {
        ServerTlsConfig::new()
            .identity(tonic::transport::Identity::from_pem(
                &self.certificate,
                &self.key,
            ))
            .client_ca_root(Certificate::from_pem(&self.authority))
    }

    /// TLS settings of an agent with this identity, for a coordinator at a host.
    pub(crate) fn client(&self, host: &str) -> ClientTlsConfig {
        ClientTlsConfig::new()
            .identity(tonic::transport::Identity::from_pem(
                &self.certificate,
                &self.key,
            ))
            .ca_certificate(Certificate::from_pem(&self.authority))
            .domain_name(self.coordinator.unwrap_or(host))
    }
}

/// The key that every holder of the token derives.
fn authority_key(token: &Token) -> Result<KeyPair, rcgen::Error> {
    let mut seed = b"loadline run authority v1".to_vec();
    seed.extend(token.0);
    let mut der = ED25519_PKCS8.to_vec();
    der.extend(digest(&SHA256, &seed).as_ref());
    KeyPair::from_pkcs8_der_and_sign_algo(&PrivatePkcs8KeyDer::from(der), &PKCS_ED25519)
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<&str> = text
        .as_bytes()
        .chunks(64)
        .filter_map(|line| std::str::from_utf8(line).ok())
        .collect();
    format!(
        "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
        lines.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_as_it_was_written() {
        let token = Token::fresh().expect("random bytes");
        assert_eq!(
            Token::parse(&format!(" {}\n", token.text())),
            Ok(token.clone())
        );
        assert_ne!(Token::fresh(), Ok(token));
        for text in ["", "abc", "ü", &"A".repeat(44)] {
            assert!(Token::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn all_who_have_a_token_derive_one_authority() {
        let token = Token::fresh().expect("random bytes");
        let [one, other] = [(); 2].map(|()| authority_key(&token).expect("a key"));
        assert_eq!(one.public_key_raw(), other.public_key_raw());
        let identity = Identity::of_token(&token).expect("an identity");
        let file = format!(
            "{}{}{}",
            identity.certificate, identity.key, identity.authority
        );
        let read = Identity::of_pem(&file).expect("it is whole");
        let bare = |text: &str| text.replace(['\r', '\n'], "");
        assert_eq!(bare(&read.certificate), bare(&identity.certificate));
        assert_eq!(bare(&read.key), bare(&identity.key));
        assert_eq!(bare(&read.authority), bare(&identity.authority));
    }

    #[test]
    fn a_file_that_lacks_something_is_refused_by_its_name() {
        let identity = Identity::of_token(&Token::fresh().expect("random")).expect("an identity");
        for (text, lacks) in [
            (String::new(), "certificate"),
            (identity.certificate.clone(), "authority"),
            (
                format!("{}{}", identity.certificate, identity.authority),
                "private key",
            ),
        ] {
            let error = Identity::of_pem(&text).expect_err("it is not whole");
            assert!(
                error
                    .to_string()
                    .starts_with(&format!("it has no {lacks};")),
                "{error}"
            );
        }
    }
}
