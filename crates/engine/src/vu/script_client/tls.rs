//! TLS as a script's options want it: versions, cipher suites, client certificates.
//!
//! Must not know sockets. Invariant: what [`TlsMaterial::new`] accepted can be made a
//! configuration of, unless the system has no certificate authorities.

use std::cell::OnceCell;
use std::sync::{Arc, OnceLock};

use loadline_model::client::{TlsPlan, TlsVersion};
use loadline_model::script_settings::{DomainIdentity, ScriptTls};
use loadline_script::hop::HopTls;
use rustls::client::danger::ServerCertVerifier;
use rustls::client::{ResolvesClientCert, Resumption};
use rustls::crypto::CryptoProvider;
use rustls::crypto::aws_lc_rs::{self, cipher_suite as suite};
use rustls::sign::CertifiedKey;
use rustls::{
    CipherSuite, ClientConfig, KeyLogFile, ProtocolVersion, SignatureScheme, SupportedCipherSuite,
};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::net::{TlsError, make_verifier};

/// Every cipher suite spoken, in Go's order of preference, with the names of Go's `crypto/tls`.
const SUITES: [(&str, SupportedCipherSuite); 9] = [
    ("TLS_AES_128_GCM_SHA256", suite::TLS13_AES_128_GCM_SHA256),
    ("TLS_AES_256_GCM_SHA384", suite::TLS13_AES_256_GCM_SHA384),
    (
        "TLS_CHACHA20_POLY1305_SHA256",
        suite::TLS13_CHACHA20_POLY1305_SHA256,
    ),
    (
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    ),
    (
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    ),
    (
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    ),
    (
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        suite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    ),
    (
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        suite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
    (
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        suite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
];

/// What configurations are made of; read once for all workers.
pub(super) struct TlsMaterial {
    plan: TlsPlan,
    provider: Arc<CryptoProvider>,
    identities: Arc<Identities>,
    verifier: OnceLock<Result<Arc<dyn ServerCertVerifier>, TlsError>>,
}

impl TlsMaterial {
    /// Reads certificates and keys; authorities are read when they are first needed.
    ///
    /// # Errors
    /// A certificate or key that cannot be used.
    pub(super) fn new(plan: &TlsPlan, script: &ScriptTls) -> Result<TlsMaterial, TlsError> {
        let provider = CryptoProvider {
            cipher_suites: allowed_suites(&script.cipher_suites),
            ..aws_lc_rs::default_provider()
        };
        let keys = script
            .identities
            .iter()
            .map(|identity| read_identity(identity, &provider))
            .collect::<Result<_, _>>()?;
        Ok(TlsMaterial {
            plan: plan.clone(),
            provider: Arc::new(provider),
            identities: Arc::new(Identities { keys }),
            verifier: OnceLock::new(),
        })
    }

    /// A configuration of its own for a worker.
    ///
    /// # Errors
    /// No certificate authorities, or no cipher suite left for the versions.
    fn make_config(&self) -> Result<Arc<ClientConfig>, TlsError> {
        let verifier = self
            .verifier
            .get_or_init(|| make_verifier(&self.plan, &self.provider))
            .clone()?;
        let versions: Vec<_> = [
            (TlsVersion::V1_2, &rustls::version::TLS12),
            (TlsVersion::V1_3, &rustls::version::TLS13),
        ]
        .into_iter()
        .filter(|(version, _)| (self.plan.min_version..=self.plan.max_version).contains(version))
        .map(|(_, supported)| supported)
        .collect();
        let mut config = ClientConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(&versions)
            .map_err(|error| TlsError::new(format!("TLS versions and cipher suites: {error}")))?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_client_cert_resolver(Arc::clone(&self.identities) as Arc<dyn ResolvesClientCert>);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        config.resumption = Resumption::disabled();
        // Writes where SSLKEYLOGFILE says, and nothing without it.
        config.key_log = Arc::new(KeyLogFile::new());
        Ok(Arc::new(config))
    }
}

/// The configuration of one worker, made when it is first needed.
#[derive(Default)]
pub(super) struct WorkerConfig(OnceCell<Arc<ClientConfig>>);

impl WorkerConfig {
    pub(super) fn get(&self, material: &TlsMaterial) -> Result<Arc<ClientConfig>, TlsError> {
        if let Some(config) = self.0.get() {
            return Ok(Arc::clone(config));
        }
        let made = material.make_config()?;
        Ok(Arc::clone(self.0.get_or_init(|| made)))
    }
}

/// The suites of TLS 1.3, which no option limits, and those of TLS 1.2 that are named; without
/// names all of them.
fn allowed_suites(names: &[String]) -> Vec<SupportedCipherSuite> {
    let is_allowed = |(name, suite): &&(&str, SupportedCipherSuite)| {
        suite.tls13().is_some() || names.is_empty() || names.iter().any(|given| given == name)
    };
    SUITES
        .iter()
        .filter(is_allowed)
        .map(|(_, suite)| *suite)
        .collect()
}

/// What was agreed on, in k6's words; `None` for what is not spoken here.
pub(super) fn agreed(version: Option<ProtocolVersion>, suite: CipherSuite) -> Option<HopTls> {
    let version = match version? {
        ProtocolVersion::TLSv1_2 => "tls1.2",
        ProtocolVersion::TLSv1_3 => "tls1.3",
        _ => return None,
    };
    let known = SUITES.iter().find(|(_, known)| known.suite() == suite);
    known.map(|(cipher_suite, _)| HopTls {
        version,
        cipher_suite,
    })
}

fn read_identity(
    identity: &DomainIdentity,
    provider: &CryptoProvider,
) -> Result<Arc<CertifiedKey>, TlsError> {
    let bad = |why: String| TlsError::new(format!("client certificate (tlsAuth): {why}"));
    let chain: Vec<_> = CertificateDer::pem_slice_iter(identity.certificate_pem.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|error| bad(error.to_string()))?;
    if chain.is_empty() {
        return Err(bad("holds no PEM certificate".to_owned()));
    }
    let key =
        PrivateKeyDer::from_pem_slice(identity.key_pem.as_bytes()).map_err(
            |error| match identity.password {
                Some(_) => bad("encrypted keys are not read: give the key in the clear".to_owned()),
                None => bad(format!("its private key: {error}")),
            },
        )?;
    let certified = CertifiedKey::from_der(chain, key, provider)
        .map_err(|error| bad(format!("its private key: {error}")))?;
    Ok(Arc::new(certified))
}

/// The client certificates. k6 shows the first that the peer can accept, whatever domains it was
/// given for.
#[derive(Debug)]
struct Identities {
    keys: Vec<Arc<CertifiedKey>>,
}

impl ResolvesClientCert for Identities {
    fn resolve(
        &self,
        authorities: &[&[u8]],
        schemes: &[SignatureScheme],
    ) -> Option<Arc<CertifiedKey>> {
        let accepted = |key: &&Arc<CertifiedKey>| {
            key.key.choose_scheme(schemes).is_some()
                && (authorities.is_empty()
                    || key.cert.iter().any(|certificate| {
                        issuer(certificate).is_some_and(|issuer| authorities.contains(&issuer))
                    }))
        };
        self.keys.iter().find(accepted).map(Arc::clone)
    }

    fn has_certs(&self) -> bool {
        !self.keys.is_empty()
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

/// The first item of DER: all of it, its content, and what follows it.
fn der_item(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let first = *bytes.get(1)?;
    let (header, length) = match first {
        0..=0x7f => (2, usize::from(first)),
        0x81..=0x84 => {
            let digits = usize::from(first & 0x0f);
            let fold = |sum: usize, byte: &u8| sum << 8 | usize::from(*byte);
            (2 + digits, bytes.get(2..2 + digits)?.iter().fold(0, fold))
        }
        _ => return None,
    };
    let end = header.checked_add(length)?;
    Some((bytes.get(..end)?, &bytes[header..end], &bytes[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> (DomainIdentity, Vec<u8>) {
        let key = rcgen::KeyPair::generate().expect("a key");
        let mut params =
            rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("good parameters");
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, "the issuer");
        let certificate = params.self_signed(&key).expect("a certificate");
        let identity = DomainIdentity {
            domains: Vec::new(),
            certificate_pem: certificate.pem(),
            key_pem: key.serialize_pem(),
            password: None,
        };
        (identity, certificate.der().to_vec())
    }

    #[test]
    fn the_first_certificate_that_the_peer_can_accept_is_shown() {
        let (given, der) = identity();
        let material = TlsMaterial::new(
            &TlsPlan::default(),
            &ScriptTls {
                identities: vec![given],
                cipher_suites: Vec::new(),
            },
        )
        .expect("a good identity");
        let own = issuer(&der).expect("a certificate has an issuer");
        assert!(own.windows(10).any(|window| window == b"the issuer"));
        let schemes = [SignatureScheme::ECDSA_NISTP256_SHA256];
        let shown = |authorities: &[&[u8]], schemes: &[SignatureScheme]| {
            material.identities.resolve(authorities, schemes).is_some()
        };
        assert!(shown(&[], &schemes));
        assert!(shown(&[b"other", own], &schemes));
        assert!(!shown(&[b"other"], &schemes));
        assert!(!shown(&[], &[SignatureScheme::RSA_PKCS1_SHA256]));
    }

    #[test]
    fn bad_identities_are_refused() {
        let (mut given, _) = identity();
        given.key_pem = "nothing".to_owned();
        let script = ScriptTls {
            identities: vec![given],
            cipher_suites: Vec::new(),
        };
        assert!(TlsMaterial::new(&TlsPlan::default(), &script).is_err());
    }

    #[test]
    fn named_suites_limit_tls_1_2_alone() {
        let named = ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256".to_owned()];
        assert_eq!(allowed_suites(&named).len(), 4);
        assert_eq!(allowed_suites(&[]).len(), SUITES.len());
        let agreed = agreed(
            Some(ProtocolVersion::TLSv1_2),
            CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        )
        .expect("spoken here");
        assert_eq!(
            (agreed.version, agreed.cipher_suite),
            ("tls1.2", named[0].as_str())
        );
    }

    #[test]
    fn der_that_is_cut_has_no_issuer() {
        let (_, der) = identity();
        for length in 0..40 {
            assert_eq!(issuer(&der[..length]), None, "{length}");
        }
    }
}
