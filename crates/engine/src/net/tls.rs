//! TLS settings of all front ends: one client configuration per worker.
//!
//! Must not know sockets. Invariant: accepted settings can be turned into a configuration, unless the system
//! has no certificate authorities.

use std::cell::OnceCell;
use std::fmt;
use std::sync::{Arc, OnceLock};

use loadline_model::client::{ClientPlan, Protocol, TlsPlan, TlsVersion};
use loadline_model::script_settings::ScriptTls;
use loadline_tls::TrustsAnybody;
use rustls::client::danger::ServerCertVerifier;
use rustls::client::{ResolvesClientCert, Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::{ClientConfig, KeyLogFile, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use super::cipher_suites::allowed_suites;
use super::identities::{GivenIdentity, Identities, NO_CERTIFICATE, pem_fault};
use super::verifier::GoVerifier;

/// Sessions remembered when they are resumed: enough for every host of a plan.
const SESSIONS_MAX: usize = 256;

/// What is wrong with the TLS settings; the message names the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsError(String);

impl TlsError {
    pub(super) fn new(why: String) -> TlsError {
        TlsError(why)
    }
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TlsError {}

/// Parsed TLS settings, shared by all workers.
pub(crate) struct TlsSettings {
    plan: TlsPlan,
    alpn: Vec<Vec<u8>>,
    provider: Arc<CryptoProvider>,
    identities: Arc<Identities>,
    /// Reading the system's authorities takes time that plain runs need not spend.
    verifier: OnceLock<Result<Arc<dyn ServerCertVerifier>, TlsError>>,
}

impl TlsSettings {
    /// From the plan of requests from templates.
    ///
    /// # Errors
    /// A client certificate or key is invalid.
    pub(crate) fn of_requests(
        plan: &TlsPlan,
        protocol: Protocol,
    ) -> Result<Arc<TlsSettings>, TlsError> {
        let provider = provider_of(&[]);
        let given = plan.identity.iter().map(|identity| GivenIdentity {
            origin: identity.certificate_file.display().to_string(),
            certificate_pem: &identity.certificate_pem,
            key_pem: &identity.key_pem,
            password: None,
        });
        let identities = Identities::read(given, false, &provider)?;
        Ok(TlsSettings::new(
            plan,
            alpn_of(protocol),
            provider,
            identities,
        ))
    }

    /// From a script's options.
    ///
    /// # Errors
    /// A client certificate or key is invalid.
    pub(crate) fn of_script(
        client: &ClientPlan,
        script: &ScriptTls,
    ) -> Result<Arc<TlsSettings>, TlsError> {
        let provider = provider_of(&script.cipher_suites);
        let given = script.identities.iter().map(|identity| GivenIdentity {
            origin: "(tlsAuth)".to_owned(),
            certificate_pem: identity.certificate_pem.as_bytes(),
            key_pem: identity.key_pem.as_bytes(),
            password: identity.password.as_deref(),
        });
        let identities = Identities::read(given, true, &provider)?;
        let alpn = alpn_of(client.protocol);
        Ok(TlsSettings::new(&client.tls, alpn, provider, identities))
    }

    fn new(
        plan: &TlsPlan,
        alpn: Vec<Vec<u8>>,
        provider: CryptoProvider,
        identities: Identities,
    ) -> Arc<TlsSettings> {
        Arc::new(TlsSettings {
            plan: plan.clone(),
            alpn,
            provider: Arc::new(provider),
            identities: Arc::new(identities),
            verifier: OnceLock::new(),
        })
    }

    /// A separate configuration per worker: workers share nothing, including sessions.
    ///
    /// # Errors
    /// No certificate authorities, or no cipher suite left for the versions.
    pub(crate) fn make_config(&self) -> Result<Arc<ClientConfig>, TlsError> {
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
            .map_err(|error| TlsError(format!("TLS versions and cipher suites: {error}")))?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_client_cert_resolver(Arc::clone(&self.identities) as Arc<dyn ResolvesClientCert>);
        config.alpn_protocols.clone_from(&self.alpn);
        config.resumption = if self.plan.resume {
            Resumption::in_memory_sessions(SESSIONS_MAX)
        } else {
            Resumption::disabled()
        };
        // Writes where SSLKEYLOGFILE says, and nothing without it.
        config.key_log = Arc::new(KeyLogFile::new());
        Ok(Arc::new(config))
    }
}

/// The client configuration of one worker, created on first use.
pub(crate) struct WorkerTls {
    settings: Arc<TlsSettings>,
    config: OnceCell<Arc<ClientConfig>>,
}

impl WorkerTls {
    pub(crate) fn new(settings: &Arc<TlsSettings>) -> WorkerTls {
        WorkerTls {
            settings: Arc::clone(settings),
            config: OnceCell::new(),
        }
    }

    pub(super) fn config(&self) -> Result<Arc<ClientConfig>, TlsError> {
        if let Some(config) = self.config.get() {
            return Ok(Arc::clone(config));
        }
        let made = self.settings.make_config()?;
        Ok(Arc::clone(self.config.get_or_init(|| made)))
    }
}

fn provider_of(suite_names: &[String]) -> CryptoProvider {
    CryptoProvider {
        cipher_suites: allowed_suites(suite_names),
        ..aws_lc_rs::default_provider()
    }
}

fn alpn_of(protocol: Protocol) -> Vec<Vec<u8>> {
    match protocol {
        Protocol::Http1 => vec![b"http/1.1".to_vec()],
        Protocol::Negotiate { .. } => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
        Protocol::Http2 { .. } => vec![b"h2".to_vec()],
    }
}

fn make_verifier(
    plan: &TlsPlan,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, TlsError> {
    if !plan.verify {
        return Ok(Arc::new(TrustsAnybody(Arc::clone(provider))));
    }
    let mut roots = RootCertStore::empty();
    let mut trusted = rustls_native_certs::load_native_certs().certs;
    roots.add_parsable_certificates(trusted.iter().cloned());
    if let Some(file) = &plan.authorities_file {
        let bad =
            |why: String| TlsError(format!("certificate authorities {}: {why}", file.display()));
        let given: Vec<_> = CertificateDer::pem_slice_iter(&plan.authorities_pem)
            .collect::<Result<_, _>>()
            .map_err(|error| bad(pem_fault(&error)))?;
        if given.is_empty() {
            return Err(bad("holds no PEM certificate".to_owned()));
        }
        for certificate in &given {
            roots
                .add(certificate.clone())
                .map_err(|_| bad(NO_CERTIFICATE.to_owned()))?;
        }
        trusted.extend(given);
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
        .map(|within| {
            let algorithms = provider.signature_verification_algorithms;
            Arc::new(GoVerifier {
                within,
                trusted,
                algorithms,
            }) as Arc<dyn ServerCertVerifier>
        })
        .map_err(|error| TlsError(format!("certificate authorities: {error}")))
}
