//! Certificates made for a test, and a TLS server that uses them.
//!
//! Must not know how a client judges them. Invariant: keys only exist in memory and in the temporary folder of
//! one test.

use std::io::{self, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair,
    date_time_ymd,
};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::server::{Server, Stop};
use crate::web;

/// A certificate authority for a test.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its key, PEM.
pub struct Identity {
    /// The certificate.
    pub certificate_pem: String,
    /// Its private key.
    pub key_pem: String,
    certificate: rustls::pki_types::CertificateDer<'static>,
    key: Vec<u8>,
}

/// A server-side connection.
pub(crate) type TlsStream<'a> = StreamOwned<ServerConnection, &'a TcpStream>;

/// The validity period of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    /// From the distant past to the distant future.
    Now,
    /// Until the end of 2001.
    Past,
}

impl Authority {
    /// Creates an authority with this name.
    ///
    /// # Panics
    /// No key can be generated.
    #[must_use]
    pub fn new(name: &str) -> Authority {
        let mut params = CertificateParams::new(Vec::new()).expect("no names are fine names");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key can be made");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("an authority can be made");
        Authority { issuer }
    }

    /// Its certificate, PEM.
    #[must_use]
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// Writes its certificate to a file with this name and returns the path.
    ///
    /// # Panics
    /// The file cannot be written.
    #[must_use]
    pub fn save(&self, folder: &Path, name: &str) -> String {
        save(folder, name, &self.pem())
    }

    /// Signs a certificate for a name or an address.
    ///
    /// # Panics
    /// `name` is not allowed in a certificate.
    #[must_use]
    pub fn sign(&self, name: &str, validity: Validity) -> Identity {
        let key = KeyPair::generate().expect("a key can be made");
        let certificate = params_of(name, validity)
            .signed_by(&key, &self.issuer)
            .expect("a certificate can be signed");
        Identity::new(&certificate, &key)
    }
}

impl Identity {
    /// A self-signed certificate: an authority's, as most programs make them.
    ///
    /// # Panics
    /// `name` is not allowed in a certificate.
    #[must_use]
    pub fn self_signed(name: &str, validity: Validity) -> Identity {
        let mut params = params_of(name, validity);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key can be made");
        let certificate = params.self_signed(&key).expect("a key can sign its own");
        Identity::new(&certificate, &key)
    }

    fn new(certificate: &Certificate, key: &KeyPair) -> Identity {
        Identity {
            certificate_pem: certificate.pem(),
            key_pem: key.serialize_pem(),
            certificate: certificate.der().clone(),
            key: key.serialize_der(),
        }
    }

    /// Writes certificate and key to files with this prefix and returns both paths.
    ///
    /// # Panics
    /// A file cannot be written.
    #[must_use]
    pub fn save(&self, folder: &Path, name: &str) -> (String, String) {
        (
            save(folder, &format!("{name}.pem"), &self.certificate_pem),
            save(folder, &format!("{name}.key"), &self.key_pem),
        )
    }

    /// Starts a server with this certificate that responds to every request with `ok`.
    ///
    /// # Panics
    /// The certificate cannot be used.
    #[must_use]
    pub fn serve(&self) -> Server {
        self.serve_text("ok")
    }

    /// The same with another body.
    ///
    /// # Panics
    /// The certificate cannot be used.
    #[must_use]
    pub fn serve_text(&self, body: &str) -> Server {
        let answer = web::ok(body);
        self.serve_by(&[], move |tls, _| {
            while web::read_head(tls)?.is_some() {
                tls.write_all(&answer)?;
            }
            Ok(())
        })
    }

    /// Starts a server with this certificate that negotiates one of these protocols (ALPN), and passes each
    /// connection to `serve`.
    ///
    /// # Panics
    /// The certificate cannot be used.
    pub(crate) fn serve_by(
        &self,
        protocols: &[&str],
        serve: impl Fn(&mut TlsStream<'_>, &Stop) -> io::Result<()> + Send + Sync + 'static,
    ) -> Server {
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.clone()));
        let mut config =
            ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
                .with_safe_default_protocol_versions()
                .expect("the default versions are supported")
                .with_no_client_auth()
                .with_single_cert(vec![self.certificate.clone()], key)
                .expect("key and certificate fit");
        config.alpn_protocols = protocols
            .iter()
            .map(|name| name.as_bytes().to_vec())
            .collect();
        let config = Arc::new(config);
        Server::start(move |stream, stop| {
            let connection = ServerConnection::new(Arc::clone(&config));
            let connection = connection.map_err(io::Error::other)?;
            serve(&mut StreamOwned::new(connection, stream), stop)
        })
    }
}

fn params_of(name: &str, validity: Validity) -> CertificateParams {
    let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
    if validity == Validity::Past {
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(2001, 12, 31);
    }
    params
}

fn save(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("the temporary folder can be written to");
    path.to_str().expect("temporary paths are text").to_owned()
}
