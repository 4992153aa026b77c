//! The client for services beside the load, over HTTP/1.1 and TLS: clusters, metrics stores, receivers of
//! results, modules.
//!
//! Must not know what is requested, nor the load, whose client is in the engine. Invariants: the machine's
//! trusted authorities are trusted unless the user says otherwise; no error text contains an address, which may
//! hold a password.

mod answer;
mod tls;

use std::borrow::Cow;
use std::net::Ipv6Addr;

use loadline_go::proxy::is_bypassed;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ureq::config::ConfigBuilder;
use ureq::http::Uri;
use ureq::typestate::AgentScope;
use ureq::{Agent, Proxy};

pub use answer::{Answer, retry_after, shown};
pub use tls::{Identity, Tls, TlsSettings};

/// All but what RFC 3986, section 2.3, calls unreserved.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Text percent-encoded for a part of an address: what is not unreserved (RFC 3986, section 2.3).
#[must_use]
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// A host as it is written in an address: IPv6 addresses in brackets (RFC 3986, section 3.2.2).
#[must_use]
pub fn host_in_url(host: &str) -> Cow<'_, str> {
    match host.parse::<Ipv6Addr>() {
        Ok(_) => Cow::Owned(format!("[{host}]")),
        Err(_) => Cow::Borrowed(host),
    }
}

/// The settings of a client, to which the caller adds limits; any status is a response, not an error. Without
/// `tls` only `http://` works.
#[must_use]
pub fn config(tls: Option<&Tls>) -> ConfigBuilder<AgentScope> {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .user_agent(concat!("loadline/", env!("CARGO_PKG_VERSION")));
    match tls {
        Some(tls) => config.tls_config(tls.agent_config()),
        None => config,
    }
}

/// Settings for `https://` with the machine's trusted authorities.
#[must_use]
pub fn trusting_config() -> ConfigBuilder<AgentScope> {
    let tls = Tls::new(&TlsSettings::default()).expect("nothing of a user's is read");
    config(Some(&tls))
}

/// The proxy from the environment for an address; never one for loopback addresses, as with Go's clients.
#[must_use]
pub fn proxy_of(url: &str) -> Option<Proxy> {
    let uri = url.parse::<Uri>().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or_default();
    match is_bypassed(host) {
        true => None,
        false => Proxy::try_from_env(),
    }
}

/// Why there was no response.
#[must_use]
pub fn told(error: &ureq::Error) -> String {
    match error {
        // These two would reveal the address.
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => "its address cannot be used".to_owned(),
        ureq::Error::Timeout(_) => "no response in time".to_owned(),
        ureq::Error::HostNotFound => "its host name is unknown".to_owned(),
        ureq::Error::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_asked_without_a_proxy() {
        for url in [
            "http://localhost:1/",
            "https://127.0.0.2/",
            "http://[::1]:80/",
        ] {
            assert!(proxy_of(url).is_none(), "{url}");
        }
    }

    #[test]
    fn texts_and_hosts_are_written_as_addresses_have_them() {
        assert_eq!(encoded("a b{c=\"d\"}é"), "a%20b%7Bc%3D%22d%22%7D%C3%A9");
        assert_eq!(encoded("-._~9Z"), "-._~9Z");
        for (host, written) in [
            ("fd00::1", "[fd00::1]"),
            ("10.0.0.1", "10.0.0.1"),
            ("shop.example", "shop.example"),
        ] {
            assert_eq!(host_in_url(host), written);
        }
    }

    #[test]
    fn an_address_is_not_told() {
        let error = config(None)
            .build()
            .new_agent()
            .get("http://u:hush@h:99999/")
            .call()
            .expect_err("there is no such port");
        assert!(!told(&error).contains("hush"), "{error}");
    }
}
