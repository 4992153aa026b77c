//! The certificates of the stand-in: an authority, its own, and one for a client.
//!
//! Must not know what is served. Invariant: all are created for each stand-in.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

use super::SERVER_NAME;

/// An authority and what it signed.
pub(super) struct Pki {
    authority: Certificate,
    server: (Certificate, KeyPair),
    client: (Certificate, KeyPair),
}

impl std::fmt::Debug for Pki {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pki")
    }
}

impl Pki {
    pub(super) fn new() -> Pki {
        let key = KeyPair::generate().expect("the system gives random bytes");
        let mut params = params(&[], "stand-in authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = params.self_signed(&key).expect("the parameters are whole");
        let issuer = Issuer::new(params, key);
        Pki {
            server: signed(
                &["127.0.0.1", "localhost", SERVER_NAME],
                "stand-in",
                &issuer,
            ),
            client: signed(&[], "tester", &issuer),
            authority,
        }
    }

    /// The authority's certificate as a kubeconfig holds it.
    pub(super) fn authority_data(&self) -> String {
        STANDARD.encode(self.authority.pem())
    }

    /// A client's certificate and key as a kubeconfig holds them.
    pub(super) fn client_data(&self) -> (String, String) {
        let (certificate, key) = &self.client;
        (
            STANDARD.encode(certificate.pem()),
            STANDARD.encode(key.serialize_pem()),
        )
    }

    /// Takes clients with a certificate of the authority, and those without.
    pub(super) fn server_config(&self) -> Arc<ServerConfig> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        roots
            .add(self.authority.der().clone())
            .expect("it is a certificate");
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
                .allow_unauthenticated()
                .build()
                .expect("there is an authority");
        let (certificate, key) = &self.server;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has them")
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("key and certificate belong together");
        Arc::new(config)
    }
}

fn params(names: &[&str], common: &str) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).expect("the names are names");
    params.distinguished_name.push(DnType::CommonName, common);
    params
}

fn signed(names: &[&str], common: &str, issuer: &Issuer<'_, KeyPair>) -> (Certificate, KeyPair) {
    let key = KeyPair::generate().expect("the system gives random bytes");
    let certificate = params(names, common).signed_by(&key, issuer);
    (certificate.expect("the parameters are whole"), key)
}
