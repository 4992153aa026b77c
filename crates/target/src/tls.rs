//! The certificate authority and certificate generated at startup, and the TLS settings based on them.
//!
//! It must not know connections. Invariant: private keys exist only in memory; only the authority's certificate
//! is written to disk.

use crate::config::TlsConfig;
use crate::error::TargetError;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// Names that every certificate carries.
const LOCAL_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// What the server shows and how clients can check it.
pub(crate) struct Identity {
    /// Performs handshakes.
    pub(crate) acceptor: TlsAcceptor,
    /// PEM of the authority.
    pub(crate) ca_pem: String,
}

/// Makes an authority and a certificate signed by it, and writes the authority where that was asked.
///
/// # Errors
/// When a name is no name, or a file cannot be read or written.
pub(crate) fn make_identity(config: &TlsConfig) -> Result<Identity, TargetError> {
    let (ca_pem, chain, key) =
        issue(&config.names).map_err(|e| TargetError::Certificate(e.to_string()))?;
    if let Some(path) = &config.ca_out {
        std::fs::write(path, &ca_pem).map_err(|e| file_error("certificate authority", path, &e))?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let certificate_error = |e: rustls::Error| TargetError::Certificate(e.to_string());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(certificate_error)?;
    let builder = match &config.client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let roots = Arc::new(read_roots(path)?);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider)
                .build()
                .map_err(|e| file_error("client certificate authority", path, &e))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut server = builder
        .with_single_cert(chain, key)
        .map_err(certificate_error)?;
    server.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Identity {
        acceptor: TlsAcceptor::from(Arc::new(server)),
        ca_pem,
    })
}

type Issued = (String, Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn issue(names: &[String]) -> Result<Issued, rcgen::Error> {
    let ca_key = KeyPair::generate()?;
    let mut ca = CertificateParams::default();
    ca.distinguished_name
        .push(DnType::CommonName, "loadline target test authority");
    ca.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    ca.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let ca_certificate = ca.self_signed(&ca_key)?;
    let issuer = Issuer::new(ca, ca_key);

    let all_names: Vec<String> = LOCAL_NAMES
        .iter()
        .map(|name| (*name).to_owned())
        .chain(names.iter().cloned())
        .collect();
    let key = KeyPair::generate()?;
    let mut leaf = CertificateParams::new(all_names)?;
    leaf.distinguished_name
        .push(DnType::CommonName, "loadline target");
    leaf.use_authority_key_identifier_extension = true;
    leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let certificate = leaf.signed_by(&key, &issuer)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    Ok((ca_certificate.pem(), vec![certificate.der().clone()], key))
}

fn read_roots(path: &Path) -> Result<RootCertStore, TargetError> {
    const PURPOSE: &str = "client certificate authority";
    let certificates =
        CertificateDer::pem_file_iter(path).map_err(|e| file_error(PURPOSE, path, &e))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let certificate = certificate.map_err(|e| file_error(PURPOSE, path, &e))?;
        roots
            .add(certificate)
            .map_err(|e| file_error(PURPOSE, path, &e))?;
    }
    if roots.is_empty() {
        return Err(file_error(PURPOSE, path, &"it holds no PEM certificate"));
    }
    Ok(roots)
}

fn file_error(purpose: &'static str, path: &Path, reason: &dyn std::fmt::Display) -> TargetError {
    TargetError::File {
        purpose,
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}
