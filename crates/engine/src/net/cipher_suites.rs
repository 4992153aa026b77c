//! The supported cipher suites, with the names of Go's `crypto/tls`.
//!
//! Must not know connections. Invariant: the order is Go's order of preference, so a target chooses the same
//! suite for this client as for tools written in Go.

use rustls::crypto::aws_lc_rs::cipher_suite as suite;
use rustls::{CipherSuite, SupportedCipherSuite};

/// Every cipher suite spoken.
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

/// The TLS 1.3 suites, which no option limits, and the named TLS 1.2 suites; all of them if no names are given.
pub(super) fn allowed_suites(names: &[String]) -> Vec<SupportedCipherSuite> {
    let is_allowed = |(name, suite): &&(&str, SupportedCipherSuite)| {
        suite.tls13().is_some() || names.is_empty() || names.iter().any(|given| given == name)
    };
    SUITES
        .iter()
        .filter(is_allowed)
        .map(|(_, suite)| *suite)
        .collect()
}

/// Go's name of a suite; `None` for an unsupported one.
pub(crate) fn suite_name(suite: CipherSuite) -> Option<&'static str> {
    let known = SUITES.iter().find(|(_, known)| known.suite() == suite);
    known.map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_suites_limit_tls_1_2_alone() {
        let name = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";
        assert_eq!(allowed_suites(&[name.to_owned()]).len(), 4);
        assert_eq!(allowed_suites(&[]).len(), SUITES.len());
        let suite = CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256;
        assert_eq!(suite_name(suite), Some(name));
    }
}
