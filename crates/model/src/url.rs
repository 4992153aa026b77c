//! The destination of a request: origins and request targets, parsed once.
//!
//! Accepts what the command lines of load generators accept: a missing scheme means `http`, user information
//! becomes basic authentication, a fragment is dropped. Must not resolve names. Invariant: a parsed URL
//! contains no white space and no control characters.

use std::fmt;

use loadline_go::host::dns_name;
use loadline_go::quoted;
use loadline_go::url::{Url, decoded, escaped_bytes};
use serde::{Deserialize, Serialize};

/// The scheme of an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Plain TCP (or a Unix-domain socket).
    Http,
    /// TLS.
    Https,
}

impl Scheme {
    /// The scheme's default port.
    #[must_use]
    pub fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }

    /// The scheme's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }
}

/// Scheme, host and port: the endpoint of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Origin {
    /// Plain or TLS.
    pub scheme: Scheme,
    /// Host name or address; an IPv6 address without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

impl Origin {
    /// The value of the Host header; the scheme's default port is omitted.
    #[must_use]
    pub fn authority(&self) -> String {
        let host = self.bracketed_host();
        if self.port == self.scheme.default_port() {
            host
        } else {
            format!("{host}:{}", self.port)
        }
    }

    /// Host and port, always with the port; for CONNECT and for messages.
    #[must_use]
    pub fn host_port(&self) -> String {
        format!("{}:{}", self.bracketed_host(), self.port)
    }

    /// The origin of a URL as Go interprets it.
    ///
    /// # Errors
    /// Why the URL cannot be requested, in Go's words.
    pub fn of(url: &Url) -> Result<Origin, OriginFault> {
        let scheme = match url.scheme.as_str() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            other => return Err(OriginFault::Scheme(other.to_owned())),
        };
        let host = url.host_name();
        if url.opaque.is_some() || host.is_empty() {
            return Err(OriginFault::NoHost);
        }
        let port = match url.port() {
            None => scheme.default_port(),
            Some(digits) => digits
                .parse()
                .map_err(|_| OriginFault::Port(digits.to_owned()))?,
        };
        Ok(Origin {
            scheme,
            host: dns_name(host).into_owned(),
            port,
        })
    }

    fn bracketed_host(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.name(), self.authority())
    }
}

/// Why a URL that Go can parse cannot be requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OriginFault {
    /// The scheme is neither `http` nor `https`.
    Scheme(String),
    /// There is no host.
    NoHost,
    /// The port is not a number below 65536.
    Port(String),
}

impl fmt::Display for OriginFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OriginFault::Scheme(scheme) => {
                write!(f, "unsupported protocol scheme {}", quoted(scheme))
            }
            OriginFault::NoHost => f.write_str("http: no Host in request URL"),
            OriginFault::Port(digits) => {
                write!(f, "dial tcp: address {digits}: invalid port")
            }
        }
    }
}

/// A parsed URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedUrl {
    /// What to connect to.
    pub origin: Origin,
    /// Path and query, starting with a slash.
    pub target: String,
    /// User and password of the URL, decoded; `None` if there are none.
    pub credentials: Option<(String, String)>,
}

/// Parses a URL.
///
/// # Errors
/// Says which part is wrong and why, in words for the user.
pub fn parse(text: &str) -> Result<ParsedUrl, String> {
    let bad = |why: &str| format!("URL {text:?}: {why}");
    if let Some(c) = text.chars().find(|c| c.is_control() || *c == ' ') {
        return Err(bad(&format!("contains {c:?}; percent-encode it")));
    }
    let (scheme, rest) = match text.split_once("://") {
        None => (Scheme::Http, text),
        Some((name, rest)) if name.eq_ignore_ascii_case("http") => (Scheme::Http, rest),
        Some((name, rest)) if name.eq_ignore_ascii_case("https") => (Scheme::Https, rest),
        Some((name, _)) if !name.contains(['/', '?']) => {
            return Err(bad(&format!(
                "scheme {name:?} is not supported; use http or https"
            )));
        }
        Some(_) => (Scheme::Http, text),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let (userinfo, host_port) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    let (host, port) = split_host_port(host_port).map_err(|why| bad(&why))?;
    // Soft hyphens and zero-width characters are not part of a name; a host may consist of nothing else.
    let host = dns_name(host);
    if host.is_empty() {
        return Err(bad("has no host"));
    }
    let tail = tail.split('#').next().unwrap_or_default();
    let target = match tail.as_bytes().first() {
        Some(b'/') => tail.to_owned(),
        _ => format!("/{tail}"),
    };
    Ok(ParsedUrl {
        origin: Origin {
            scheme,
            host: host.into_owned(),
            port: port.unwrap_or_else(|| scheme.default_port()),
        },
        target,
        credentials: userinfo.map(split_userinfo),
    })
}

/// Percent-encodes what is not allowed in a request target: control bytes, spaces, `#` and non-ASCII bytes.
#[must_use]
pub fn encode_target(bytes: &[u8]) -> String {
    escaped_bytes(bytes, |byte| matches!(byte, 0x21..=0x7e) && byte != b'#')
}

/// Splits `host[:port]`; an IPv6 address is in brackets.
///
/// # Errors
/// Says which part is wrong.
pub fn split_host_port(text: &str) -> Result<(&str, Option<u16>), String> {
    let (host, port) = if let Some(inner) = text.strip_prefix('[') {
        let (host, rest) = inner
            .split_once(']')
            .ok_or("has an IPv6 address without its closing bracket")?;
        match rest.strip_prefix(':') {
            Some(port) => (host, Some(port)),
            None if rest.is_empty() => (host, None),
            None => return Err(format!("has {rest:?} after the address")),
        }
    } else {
        match text.split_once(':') {
            Some((_, port)) if port.contains(':') => {
                return Err("has an IPv6 address without brackets".to_owned());
            }
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        }
    };
    if host.contains(['[', ']']) {
        return Err("has a bracket that belongs to no IPv6 address".to_owned());
    }
    let port = match port {
        None | Some("") => None,
        Some(digits) => match digits.parse::<u16>() {
            Ok(port) if port > 0 => Some(port),
            _ => return Err(format!("has port {digits:?}, which is not from 1 to 65535")),
        },
    };
    Ok((host, port))
}

fn split_userinfo(text: &str) -> (String, String) {
    let (user, password) = text.split_once(':').unwrap_or((text, ""));
    (decoded(user), decoded(password))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin_of(text: &str) -> String {
        parse(text).expect("a good URL").origin.to_string()
    }

    #[test]
    fn names_beyond_ascii_are_in_punycode() {
        assert_eq!(
            origin_of("http://bücher.example:81/"),
            "http://xn--bcher-kva.example:81"
        );
        let url = Url::parse("https://a.bücher.example/").expect("a good URL");
        let origin = Origin::of(&url).expect("it leads somewhere");
        assert_eq!(origin.host, "a.xn--bcher-kva.example");
    }

    #[test]
    fn urls_are_taken_apart() {
        let url = parse("https://u:p%40ss@example.org:8443/a/b?c=d#e").expect("a good URL");
        assert_eq!(url.origin.to_string(), "https://example.org:8443");
        assert_eq!(url.target, "/a/b?c=d");
        assert_eq!(url.credentials, Some(("u".to_owned(), "p@ss".to_owned())));
        assert_eq!(origin_of("localhost:8080"), "http://localhost:8080");
        assert_eq!(origin_of("HTTP://[::1]:80/"), "http://[::1]");
        assert_eq!(
            parse("example.org?x=1").expect("a good URL").target,
            "/?x=1"
        );
        assert_eq!(
            parse("h/redirect-to?url=http://x/")
                .expect("a good URL")
                .origin
                .host,
            "h"
        );
    }

    #[test]
    fn bad_urls_say_why() {
        for (text, part) in [
            ("ftp://x/", "scheme"),
            ("http://", "no host"),
            ("http://\u{ad}/", "no host"),
            ("http://h:70000/", "port"),
            ("http://::1/", "brackets"),
            ("[[]", "bracket"),
            ("http://h/a b", "percent-encode"),
        ] {
            let message = parse(text).expect_err("a bad URL");
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn targets_are_encoded() {
        assert_eq!(
            encode_target(b"/a b?\xc3\xa9=1%20#x"),
            "/a%20b?%C3%A9=1%20%23x"
        );
    }
}
