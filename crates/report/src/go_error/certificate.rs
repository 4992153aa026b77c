//! Rejected certificates, in the words of Go's package `crypto/x509`.
//!
//! Reasons are recognised by the TLS library's message. Must not know what is verified. Invariant: the text
//! contains no times, which differ between connections.

/// Why the certificate of `host` was refused.
pub(super) fn refused(detail: &str, host: &str) -> String {
    let lower = detail.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if says(&["expired", "not valid yet", "notvalidyet"]) {
        return "certificate has expired or is not yet valid".to_owned();
    }
    if says(&["unknown", "issuer", "self-signed", "causedasendentity"]) {
        return "certificate signed by unknown authority".to_owned();
    }
    if says(&["name"]) {
        return wrong_name(detail, host);
    }
    match detail {
        "" => "certificate is not valid".to_owned(),
        other => other.to_owned(),
    }
}

fn wrong_name(detail: &str, host: &str) -> String {
    if host.parse::<core::net::IpAddr>().is_ok() {
        return format!(
            "cannot validate certificate for {host} because it doesn't contain any IP SANs"
        );
    }
    let presented = detail
        .split_once("only valid for")
        .map_or("", |(_, names)| names);
    let names: Vec<&str> = presented.split('"').skip(1).step_by(2).collect();
    if names.is_empty() {
        return format!("certificate is not valid for any names, but wanted to match {host}");
    }
    format!("certificate is valid for {}, not {host}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_read_as_gos() {
        let wrong = "certificate not trusted: certificate not valid for name \"b\"; certificate is only \
                     valid for DnsName(\"a\") or DnsName(\"c\")";
        for (detail, host, go) in [
            (
                "certificate expired: verification time 5 (UNIX)",
                "h",
                "certificate has expired or is not yet valid",
            ),
            (
                "certificate not trusted: UnknownIssuer",
                "h",
                "certificate signed by unknown authority",
            ),
            (wrong, "b", "certificate is valid for a, c, not b"),
            (
                wrong,
                "::1",
                "cannot validate certificate for ::1 because it doesn't contain any IP SANs",
            ),
            (
                "not valid for name",
                "h",
                "certificate is not valid for any names, but wanted to match h",
            ),
            ("BadSignature", "h", "BadSignature"),
        ] {
            assert_eq!(refused(detail, host), go);
        }
    }
}
