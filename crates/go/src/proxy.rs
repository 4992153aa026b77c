//! The hosts that Go's clients never reach through a proxy.
//!
//! Source: the documentation of `golang.org/x/net/http/httpproxy`. Must not know which proxy there is. Invariant:
//! decided by the host's text alone, nothing is looked up.

use core::net::IpAddr;

/// Whether a host is this machine, by its name or a loopback address; an IPv6 address may be in brackets.
#[must_use]
pub fn is_bypassed(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_reached_directly() {
        for host in ["localhost", "LocalHost", "127.0.0.2", "::1", "[::1]"] {
            assert!(is_bypassed(host), "{host}");
        }
        for host in ["localhost.example", "10.0.0.1", "[fe80::1]", ""] {
            assert!(!is_bypassed(host), "{host}");
        }
    }
}
