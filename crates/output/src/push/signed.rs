//! Signs a request when it is sent.
//!
//! Must not know what is sent. Invariant: the signed address is the one that the client sends.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::sigv4::{self, Signing};

/// The headers that sign a request sent now: names and values.
pub(crate) fn signed(
    method: &str,
    url: &str,
    body: &[u8],
    signing: &Signing,
) -> Vec<(&'static str, String)> {
    let (host, path, query) = parts(url);
    let request = sigv4::Signed {
        method,
        host: &host,
        path: &path,
        query: &query,
        body,
        unix_s: unix_s(),
    };
    sigv4::headers(&request, signing)
}

/// Host as sent (without the default port), path and query of an address.
fn parts(url: &str) -> (String, String, String) {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, "/"),
    };
    let host = authority.rsplit('@').next().unwrap_or_default();
    let usual = match scheme {
        "https" => ":443",
        _ => ":80",
    };
    let host = host.strip_suffix(usual).unwrap_or(host);
    (host.to_owned(), path.to_owned(), query.to_owned())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a signature carries the time of day"
)]
fn unix_s() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn an_address_falls_into_what_is_sent_of_it() {
        for (url, host, path, query) in [
            ("https://u:p@h:443/a?b=c", "h", "/a", "b=c"),
            ("http://h:80", "h", "/", ""),
            ("http://h:443/", "h:443", "/", ""),
            ("https://[::1]:8080/a/b", "[::1]:8080", "/a/b", ""),
        ] {
            let expected = (host.to_owned(), path.to_owned(), query.to_owned());
            assert_eq!(parts(url), expected);
        }
    }
}
