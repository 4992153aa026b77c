//! TLS settings: one client configuration per worker.
//!
//! Must not know sockets. Invariant: a configuration is made before the run starts, so that a bad
//! certificate file is refused before anything is sent.

use std::cell::OnceCell;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use loadline_model::ErrorClass;
use loadline_model::client::{ClientIdentity, Protocol, TlsPlan, TlsVersion};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};

use super::failure::{Cause, Failure, Stage, tls_error};

/// Sessions remembered when they are resumed: enough for every host of a plan.
const SESSIONS_MAX: usize = 256;

/// What is wrong with the TLS settings; the message names the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsError(String);

impl TlsError {
    pub(crate) fn new(why: String) -> TlsError {
        TlsError(why)
    }
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TlsError {}

/// The certificates read, ready to make configurations from.
pub(crate) struct TlsSettings {
    plan: TlsPlan,
    alpn: Vec<Vec<u8>>,
    verifier: Arc<dyn ServerCertVerifier>,
    provider: Arc<CryptoProvider>,
}

impl TlsSettings {
    /// Reads what the plan gives.
    pub(crate) fn read(plan: &TlsPlan, protocol: Protocol) -> Result<TlsSettings, TlsError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier = make_verifier(plan, &provider)?;
        let settings = TlsSettings {
            plan: plan.clone(),
            alpn: alpn_of(protocol),
            verifier,
            provider,
        };
        settings.make_config()?;
        Ok(settings)
    }

    /// A configuration of its own: workers share nothing, and no session crosses over.
    pub(crate) fn make_config(&self) -> Result<Arc<ClientConfig>, TlsError> {
        let versions: Vec<_> = [
            (TlsVersion::V1_2, &rustls::version::TLS12),
            (TlsVersion::V1_3, &rustls::version::TLS13),
        ]
        .into_iter()
        .filter(|(version, _)| (self.plan.min_version..=self.plan.max_version).contains(version))
        .map(|(_, supported)| supported)
        .collect();
        let builder = ClientConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(&versions)
            .map_err(|error| TlsError(format!("TLS versions: {error}")))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&self.verifier));
        let mut config = match &self.plan.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let (chain, key) = read_identity(identity)?;
                builder.with_client_auth_cert(chain, key).map_err(|error| {
                    TlsError(format!(
                        "client certificate {}: {error}",
                        identity.certificate_file.display()
                    ))
                })?
            }
        };
        config.alpn_protocols.clone_from(&self.alpn);
        config.resumption = if self.plan.resume {
            Resumption::in_memory_sessions(SESSIONS_MAX)
        } else {
            Resumption::disabled()
        };
        Ok(Arc::new(config))
    }
}

/// TLS settings that are read when they are first needed: most plain runs never do.
pub(crate) struct LazyTls {
    plan: TlsPlan,
    protocol: Protocol,
    settings: OnceLock<Result<TlsSettings, TlsError>>,
}

impl LazyTls {
    pub(crate) fn new(plan: &TlsPlan, protocol: Protocol) -> Arc<LazyTls> {
        Arc::new(LazyTls {
            plan: plan.clone(),
            protocol,
            settings: OnceLock::new(),
        })
    }

    /// The settings, read now if they were not yet.
    pub(crate) fn settings(&self) -> Result<&TlsSettings, TlsError> {
        self.settings
            .get_or_init(|| TlsSettings::read(&self.plan, self.protocol))
            .as_ref()
            .map_err(Clone::clone)
    }

    /// A worker's own view.
    pub(crate) fn for_worker(self: &Arc<Self>) -> WorkerTls {
        WorkerTls {
            lazy: Arc::clone(self),
            config: OnceCell::new(),
        }
    }
}

/// The client configuration of one worker, made when it is first needed.
pub(crate) struct WorkerTls {
    lazy: Arc<LazyTls>,
    config: OnceCell<Arc<ClientConfig>>,
}

impl WorkerTls {
    pub(super) fn config(&self) -> Result<Arc<ClientConfig>, TlsError> {
        if let Some(config) = self.config.get() {
            return Ok(Arc::clone(config));
        }
        let made = self.lazy.settings()?.make_config()?;
        Ok(Arc::clone(self.config.get_or_init(|| made)))
    }
}

fn alpn_of(protocol: Protocol) -> Vec<Vec<u8>> {
    match protocol {
        Protocol::Http1 => vec![b"http/1.1".to_vec()],
        Protocol::Negotiate { .. } => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
        Protocol::Http2 { .. } => vec![b"h2".to_vec()],
    }
}

pub(crate) fn make_verifier(
    plan: &TlsPlan,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, TlsError> {
    if !plan.verify {
        return Ok(Arc::new(TrustAnybody {
            provider: Arc::clone(provider),
        }));
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(file) = &plan.authorities_file {
        let bad =
            |why: String| TlsError(format!("certificate authorities {}: {why}", file.display()));
        let mut read = 0_usize;
        for certificate in CertificateDer::pem_slice_iter(&plan.authorities_pem) {
            let certificate = certificate.map_err(|error| bad(error.to_string()))?;
            roots
                .add(certificate)
                .map_err(|error| bad(error.to_string()))?;
            read += 1;
        }
        if read == 0 {
            return Err(bad("holds no PEM certificate".to_owned()));
        }
    }
    if roots.is_empty() {
        return Err(TlsError(
            "this system has no certificate authorities: give some with --cacert, or skip \
             verification with --insecure"
                .to_owned(),
        ));
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map(|verifier| verifier as Arc<dyn ServerCertVerifier>)
        .map_err(|error| TlsError(format!("certificate authorities: {error}")))
}

fn read_identity(
    identity: &ClientIdentity,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), TlsError> {
    let bad = |why: String| {
        TlsError(format!(
            "client certificate {}: {why}",
            identity.certificate_file.display()
        ))
    };
    let chain: Vec<_> = CertificateDer::pem_slice_iter(&identity.certificate_pem)
        .collect::<Result<_, _>>()
        .map_err(|error| bad(error.to_string()))?;
    if chain.is_empty() {
        return Err(bad("holds no PEM certificate".to_owned()));
    }
    let key = PrivateKeyDer::from_pem_slice(&identity.key_pem)
        .map_err(|error| bad(format!("its private key: {error}")))?;
    Ok((chain, key))
}

/// What a failed handshake means; `first` are the first bytes that came, `local` is this end.
pub(crate) fn handshake_failure(
    error: &std::io::Error,
    first: &[u8],
    local: Option<SocketAddr>,
) -> Failure {
    if let Some(tls) = tls_error(error) {
        let failure = match tls {
            rustls::Error::InvalidCertificate(why) => {
                Failure::new(ErrorClass::Certificate, refusal(why))
            }
            rustls::Error::InvalidMessage(_) => Failure::new(
                ErrorClass::Tls,
                "the peer answered the TLS handshake with something that is not TLS",
            ),
            other => Failure::new(ErrorClass::Tls, other.to_string()),
        };
        return failure.because(Cause::Handshake {
            error: tls.clone(),
            first: first.to_vec(),
        });
    }
    if error.kind() == std::io::ErrorKind::UnexpectedEof {
        return Failure::new(ErrorClass::Tls, "the peer closed during the TLS handshake")
            .because(Cause::ClosedInHandshake);
    }
    let mut failure = Failure::on_connection(Stage::Reading, error, local);
    failure.detail = format!("during the TLS handshake: {}", failure.detail);
    failure
}

/// Why a certificate was refused, without the instants that the library puts in.
fn refusal(why: &CertificateError) -> String {
    match why {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "certificate refused: it has expired".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "certificate refused: it is not valid yet".to_owned()
        }
        CertificateError::UnknownIssuer => {
            "certificate refused: its issuer is unknown here".to_owned()
        }
        other => format!("certificate refused: {other}"),
    }
}

/// Accepts every certificate: what `--insecure` asks for.
#[derive(Debug)]
struct TrustAnybody {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for TrustAnybody {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
