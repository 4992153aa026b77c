//! What k6 reports for TLS failures: handshakes, certificates, and records after them.
//!
//! Must not know requests. Invariant: failures that k6 has no words for are reported in the library's.

use std::net::IpAddr;

use loadline_model::civil::Civil;
use rustls::{AlertDescription, CertificateError, Error as TlsError};

use super::{Occasion, Trouble, code};
use crate::net::{alert, in_words, is_tls_record, is_unknown_authority, likely_cause};

/// What TLS found wrong after the handshake.
pub(super) fn broken(error: &TlsError) -> Trouble {
    match error {
        TlsError::AlertReceived(description) => {
            let detail = format!("remote error: tls: {}", alert(*description));
            Trouble::new(code::NOT_TCP, detail.clone(), detail)
        }
        TlsError::DecryptError => local_alert("bad record MAC"),
        other => Trouble::generic(format!("tls: {}", in_words(&other.to_string()))),
    }
}

/// An alert sent by this end, in Go's words.
fn local_alert(words: &str) -> Trouble {
    let detail = format!("local error: tls: {words}");
    Trouble::new(code::NOT_TCP, detail.clone(), detail)
}

/// What went wrong in a handshake; `first` are the first received bytes.
pub(super) fn handshake(error: &TlsError, first: &[u8], occasion: Occasion<'_>) -> Trouble {
    match error {
        TlsError::InvalidCertificate(why) => certificate(why, occasion.host, occasion.unix_s),
        TlsError::InvalidMessage(_) if !is_tls_record(first) => {
            let tag = "tls: first record does not look like a TLS handshake";
            let detail = match first.starts_with(b"HTTP/") {
                true => "http: server gave HTTP response to HTTPS client",
                false => tag,
            };
            Trouble::new(code::NOT_TLS, tag, detail)
        }
        TlsError::AlertReceived(AlertDescription::CloseNotify) => Trouble::generic("EOF"),
        other => {
            let mut trouble = broken(other);
            let cause = likely_cause(other, first).map(|cause| format!(" ({cause})"));
            trouble.detail.push_str(&cause.unwrap_or_default());
            trouble
        }
    }
}

fn certificate(why: &CertificateError, host: &str, unix_s: u64) -> Trouble {
    let failed = |what: &str| format!("tls: failed to verify certificate: x509: {what}");
    match why {
        unknown if is_unknown_authority(unknown) || is_of_no_authority(unknown) => Trouble::new(
            code::UNKNOWN_AUTHORITY,
            "x509: unknown authority",
            failed("certificate signed by unknown authority"),
        ),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            Trouble::new(
                code::WRONG_HOSTNAME,
                "x509: certificate doesn't match hostname",
                failed(&wrong_name(why, host)),
            )
        }
        other => {
            let what = match other {
                CertificateError::ExpiredContext { not_after, .. } => {
                    expiry(unix_s, "after", not_after.as_secs())
                }
                CertificateError::NotValidYetContext { not_before, .. } => {
                    expiry(unix_s, "before", not_before.as_secs())
                }
                CertificateError::Expired | CertificateError::NotValidYet => {
                    "certificate has expired or is not yet valid".to_owned()
                }
                CertificateError::InvalidPurpose
                | CertificateError::InvalidPurposeContext { .. } => {
                    "certificate specifies an incompatible key usage".to_owned()
                }
                CertificateError::Other(other) => match &*other.to_string() {
                    "UnsupportedCriticalExtension" => "unhandled critical extension".to_owned(),
                    name => in_words(name),
                },
                other => other.to_string(),
            };
            Trouble::new(code::GENERIC, format!("x509: {what}"), failed(&what))
        }
    }
}

/// Whether the chain contains a certificate that may not sign others.
fn is_of_no_authority(why: &CertificateError) -> bool {
    matches!(why, CertificateError::Other(other) if other.to_string() == "EndEntityUsedAsCa")
}

fn expiry(now: u64, side: &str, limit: u64) -> String {
    format!(
        "certificate has expired or is not yet valid: current time {} is {side} {}",
        Civil::of_unix_s(now).rfc3339(),
        Civil::of_unix_s(limit).rfc3339()
    )
}

fn wrong_name(why: &CertificateError, host: &str) -> String {
    let presented: Vec<&str> = match why {
        CertificateError::NotValidForNameContext { presented, .. } => presented
            .iter()
            .filter_map(|name| name.split('"').nth(1))
            .collect(),
        _ => Vec::new(),
    };
    if host.parse::<IpAddr>().is_ok() {
        return format!(
            "cannot validate certificate for {host} because it doesn't contain any IP SANs"
        );
    }
    match presented.as_slice() {
        [] => format!("certificate is not valid for any names, but wanted to match {host}"),
        names => format!("certificate is valid for {}, not {host}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corrupt_record_is_told_in_k6s_words() {
        let corrupt = broken(&TlsError::DecryptError);
        assert_eq!(
            (corrupt.code, corrupt.tag.as_str()),
            (1010, "local error: tls: bad record MAC")
        );
    }

    #[test]
    fn an_alert_without_a_cause_is_explained_beside_k6s_words() {
        let occasion = Occasion {
            host: "h",
            unix_s: 0,
            is_proxied: false,
        };
        let alert = TlsError::AlertReceived(AlertDescription::HandshakeFailure);
        let trouble = handshake(&alert, b"\x15\x03\x03", occasion);
        assert_eq!(trouble.tag, "remote error: tls: handshake failure");
        let explained = format!("{} (it accepts none of the offered ciphers", trouble.tag);
        assert!(trouble.detail.starts_with(&explained), "{}", trouble.detail);
    }

    #[test]
    fn certificates_are_refused_in_k6s_words() {
        let of = |why: CertificateError, host: &str| {
            let occasion = Occasion {
                host,
                unix_s: 1_795_259_556,
                is_proxied: false,
            };
            handshake(&TlsError::InvalidCertificate(why), b"\x16\x03", occasion)
        };
        let unknown = of(CertificateError::UnknownIssuer, "h");
        assert_eq!(
            (unknown.code, unknown.tag.as_str()),
            (1310, "x509: unknown authority")
        );
        let wrong = of(CertificateError::NotValidForName, "127.0.0.1");
        assert_eq!(wrong.code, 1311);
        assert!(
            wrong.detail.ends_with("it doesn't contain any IP SANs"),
            "{}",
            wrong.detail
        );
        let other = |name: &str| {
            let why =
                rustls::OtherError(std::sync::Arc::new(std::io::Error::other(name.to_owned())));
            of(CertificateError::Other(why), "h").tag
        };
        assert_eq!(other("EndEntityUsedAsCa"), "x509: unknown authority");
        assert_eq!(
            other("UnsupportedCriticalExtension"),
            "x509: unhandled critical extension"
        );
        assert_eq!(
            other("MaximumPathDepthExceeded"),
            "x509: maximum path depth exceeded"
        );
        let late = of(
            CertificateError::ExpiredContext {
                time: rustls_pki_types::UnixTime::since_unix_epoch(std::time::Duration::ZERO),
                not_after: rustls_pki_types::UnixTime::since_unix_epoch(
                    std::time::Duration::from_secs(1_609_459_200),
                ),
            },
            "h",
        );
        assert_eq!(
            (late.code, late.tag.as_str()),
            (
                1000,
                "x509: certificate has expired or is not yet valid: current time \
                 2026-11-21T11:12:36Z is after 2021-01-01T00:00:00Z"
            )
        );
    }
}
