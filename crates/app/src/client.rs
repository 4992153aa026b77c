//! The client that asks servers beside the load: for modules of scripts, and for hooks of suites.
//!
//! Must not know what is asked. Invariant: whom this machine trusts is trusted, and a status is an answer, not an error.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use ureq::Agent;
use ureq::config::ConfigBuilder;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};
use ureq::typestate::AgentScope;

/// Its settings, to which the caller adds; the certificates of this machine are read.
pub(crate) fn builder() -> ConfigBuilder<AgentScope> {
    let roots: Vec<_> = rustls_native_certs::load_native_certs()
        .certs
        .iter()
        .map(|root| Certificate::from_der(root).to_owned())
        .collect();
    let tls = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(aws_lc_rs::default_provider()))
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .build();
    Agent::config_builder()
        .tls_config(tls)
        .http_status_as_error(false)
        .user_agent(concat!("loadline/", env!("CARGO_PKG_VERSION")))
}
