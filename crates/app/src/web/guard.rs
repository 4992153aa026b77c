//! Who may see the page and give orders: this machine's own user, or who has the token.
//!
//! Must not know what is served. Invariants: a page of another site can neither read nor order, whatever
//! name it gives this machine; beyond this machine nothing is answered without the token.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use hyper::HeaderMap;
use hyper::header::{HOST, HeaderName, ORIGIN};

/// Bytes of a token: more than can be guessed.
const TOKEN_BYTES: usize = 16;

/// The rules of one server.
pub(super) struct Guard {
    /// What whoever asks must know; `None` where only this machine can ask.
    token: Option<String>,
}

/// Why somebody is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Without the token.
    Token,
    /// By a name that is not this machine's own.
    Host,
    /// From a page of another place.
    Origin,
}

impl Refusal {
    /// What the client is told.
    pub(super) fn text(self) -> &'static str {
        match self {
            Refusal::Token => "wrong or missing token: open the address that the terminal shows\n",
            Refusal::Host => "ask by the address that the terminal shows\n",
            Refusal::Origin => "not for pages of other places\n",
        }
    }
}

impl Guard {
    /// The rules for a server at this address.
    ///
    /// # Errors
    /// The system has no randomness to give.
    pub(super) fn new(address: &str) -> Result<Guard, String> {
        let is_own = address
            .to_socket_addrs()
            .is_ok_and(|mut found| found.all(|address| address.ip().is_loopback()));
        let token = match is_own {
            true => None,
            false => Some(random_word()?),
        };
        Ok(Guard { token })
    }

    /// The address to open.
    pub(super) fn url(&self, bound: SocketAddr) -> String {
        let token = self.token.as_deref();
        let query = token.map_or_else(String::new, |token| format!("?token={token}"));
        let host = match bound.ip() {
            ip if ip.is_unspecified() => format!("localhost:{}", bound.port()),
            _ => bound.to_string(),
        };
        format!("http://{host}/{query}")
    }

    /// Whether a request is answered.
    ///
    /// # Errors
    /// Why it is not.
    pub(super) fn check(&self, query: &str, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = text(headers, HOST).unwrap_or_default();
        match &self.token {
            Some(token) if !has_token(query, token) => return Err(Refusal::Token),
            None if !is_loopback(host) => return Err(Refusal::Host),
            _ => {}
        }
        match headers.contains_key(ORIGIN) {
            true if text(headers, ORIGIN) != Some(&format!("http://{host}")) => {
                Err(Refusal::Origin)
            }
            _ => Ok(()),
        }
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Whether a `Host` names this machine as only itself can be reached: a name of another site that
/// leads here is none.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn has_token(query: &str, token: &str) -> bool {
    query
        .split('&')
        .filter_map(|pair| pair.strip_prefix("token="))
        .any(|given| is_same(given.as_bytes(), token.as_bytes()))
}

/// Compares in a time that does not tell how much was right.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    let differing = a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b));
    a.len() == b.len() && differing == 0
}

/// A word that cannot be guessed.
///
/// # Errors
/// The system has no randomness to give.
pub(super) fn random_word() -> Result<String, String> {
    let mut bytes = [0; TOKEN_BYTES];
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let filled = provider.secure_random.fill(&mut bytes);
    filled.map_err(|_| "the system has no randomness for a token".to_owned())?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn headers(host: &str, origin: Option<&str>) -> HeaderMap {
        let value = |text: &str| HeaderValue::from_str(text).expect("a header's value");
        let mut headers = HeaderMap::new();
        headers.insert(HOST, value(host));
        if let Some(origin) = origin {
            headers.insert(ORIGIN, value(origin));
        }
        headers
    }

    #[test]
    fn on_this_machine_only_its_own_names_and_pages_count() {
        let guard = Guard::new("127.0.0.1:5665").expect("no token is needed");
        for host in [
            "127.0.0.1:5665",
            "localhost:5665",
            "[::1]:5665",
            "LOCALHOST",
        ] {
            assert_eq!(guard.check("", &headers(host, None)), Ok(()), "{host}");
        }
        for host in [
            "evil.example:5665",
            "",
            "127.0.0.1.evil.example",
            "10.0.0.1:5665",
        ] {
            assert_eq!(
                guard.check("", &headers(host, None)),
                Err(Refusal::Host),
                "{host}"
            );
        }
        let host = "127.0.0.1:5665";
        let own = headers(host, Some("http://127.0.0.1:5665"));
        assert_eq!(guard.check("", &own), Ok(()));
        for origin in ["http://evil.example", "null", "http://127.0.0.1:8080"] {
            let foreign = headers(host, Some(origin));
            assert_eq!(guard.check("", &foreign), Err(Refusal::Origin), "{origin}");
        }
        let bound = "127.0.0.1:5665".parse().expect("an address");
        assert_eq!(guard.url(bound), "http://127.0.0.1:5665/");
    }

    #[test]
    fn beyond_this_machine_the_token_counts() {
        let guard = Guard::new("0.0.0.0:5665").expect("a token");
        let url = guard.url("0.0.0.0:5665".parse().expect("an address"));
        let (address, query) = url.split_once('?').expect("the token is in the query");
        assert_eq!(address, "http://localhost:5665/");
        let headers = headers("generator.example:5665", None);
        assert_eq!(guard.check(query, &headers), Ok(()));
        assert_eq!(guard.check(&format!("a=b&{query}"), &headers), Ok(()));
        for wrong in [
            "",
            "token=",
            &query[..query.len() - 1],
            &format!("{query}0"),
        ] {
            assert_eq!(guard.check(wrong, &headers), Err(Refusal::Token), "{wrong}");
        }
    }
}
