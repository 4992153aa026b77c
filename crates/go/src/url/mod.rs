//! URLs as parsed and formatted by Go's `net/url`, including its error messages.
//!
//! Sources: RFC 3986 and the documentation of Go's package. Must not resolve names or know requests. Invariant:
//! a formatted URL parses to the same URL.

mod escape;
mod host;

use std::fmt;

use crate::quoted;
use escape::{check_escapes, escaped, is_fragment_byte, path_as_written};

pub use escape::{decoded, decoded_bytes, escaped_bytes, path_of};

/// A parsed URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Url {
    /// The scheme in lower case; empty in a reference.
    pub scheme: String,
    /// The part before the `@`, escaped.
    pub userinfo: Option<String>,
    /// Host and port, decoded.
    pub host: String,
    /// Whether two slashes introduced a host.
    pub has_authority: bool,
    /// The part after the scheme if it is not a path; `None` for all URLs that can be requested.
    pub opaque: Option<String>,
    /// The path, escaped; may be empty.
    pub path: String,
    /// The query as written, without its question mark.
    pub query: Option<String>,
    /// The fragment, escaped.
    pub fragment: Option<String>,
}

/// Why a text is not a URL, in Go's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoUrl {
    url: String,
    why: String,
}

impl fmt::Display for NoUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "parse {}: {}", quoted(&self.url), self.why)
    }
}

impl Url {
    /// Parses a URL or a reference.
    ///
    /// # Errors
    /// It is neither.
    pub fn parse(text: &str) -> Result<Url, NoUrl> {
        Url::read(text).map_err(|why| NoUrl {
            url: text.to_owned(),
            why,
        })
    }

    fn read(text: &str) -> Result<Url, String> {
        if text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        let (rest, fragment) = match text.split_once('#') {
            Some((rest, fragment)) => (rest, Some(fragment)),
            None => (text, None),
        };
        let mut parts = Url::default();
        if rest == "*" {
            "*".clone_into(&mut parts.path);
            return Ok(parts);
        }
        let (scheme, rest) = split_scheme(rest)?;
        parts.scheme = scheme.to_ascii_lowercase();
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        parts.query = query.map(str::to_owned);
        if let Some(fragment) = fragment {
            check_escapes(fragment)?;
            parts.fragment =
                Some(escaped(fragment, is_fragment_byte)).filter(|text| !text.is_empty());
        }
        parts.read_hierarchy(rest)?;
        Ok(parts)
    }

    fn read_hierarchy(&mut self, rest: &str) -> Result<(), String> {
        if !rest.starts_with('/') {
            if !self.scheme.is_empty() {
                self.opaque = Some(rest.to_owned());
                return Ok(());
            }
            let first = rest.split('/').next().unwrap_or_default();
            if first.contains(':') {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        let mut path = rest;
        if let Some(after) = rest.strip_prefix("//")
            && (!self.scheme.is_empty() || !rest.starts_with("///"))
        {
            let end = after.find('/').unwrap_or(after.len());
            self.read_authority(&after[..end])?;
            path = &after[end..];
        }
        check_escapes(path)?;
        self.path = path_as_written(path);
        Ok(())
    }

    fn read_authority(&mut self, authority: &str) -> Result<(), String> {
        self.has_authority = true;
        let host = match authority.rsplit_once('@') {
            Some((userinfo, host)) => {
                if !userinfo.bytes().all(is_userinfo_byte) {
                    return Err("net/url: invalid userinfo".to_owned());
                }
                check_escapes(userinfo)?;
                self.userinfo = Some(userinfo.to_owned());
                host
            }
            None => authority,
        };
        self.host = host::parse(&self.scheme, host)?;
        Ok(())
    }

    /// Resolves a reference from this URL: RFC 3986, section 5.2.2.
    #[must_use]
    pub fn resolve(&self, mut reference: Url) -> Url {
        let had_scheme = !reference.scheme.is_empty();
        if !had_scheme {
            reference.scheme.clone_from(&self.scheme);
        }
        // As in Go, `//` without anything names no other host.
        let has_host = !reference.host.is_empty() || reference.userinfo.is_some();
        if had_scheme || has_host {
            reference.path = without_dots(&reference.path, "");
            return reference;
        }
        if reference.path.is_empty() {
            reference.path.clone_from(&self.path);
            if reference.query.is_none() {
                reference.query.clone_from(&self.query);
                if reference.fragment.is_none() {
                    reference.fragment.clone_from(&self.fragment);
                }
            }
        } else {
            reference.path = without_dots(&reference.path, &self.path);
        }
        reference.host.clone_from(&self.host);
        reference.has_authority = self.has_authority;
        reference.userinfo.clone_from(&self.userinfo);
        reference
    }

    /// The URL as formatted by Go, including credentials.
    #[must_use]
    pub fn text(&self) -> String {
        self.text_with(self.userinfo.as_deref())
    }

    /// The same with other, escaped, credentials.
    #[must_use]
    pub fn text_with(&self, userinfo: Option<&str>) -> String {
        let mut text = String::with_capacity(64);
        if !self.scheme.is_empty() {
            text.push_str(&self.scheme);
            text.push(':');
        }
        if let Some(opaque) = &self.opaque {
            text.push_str(opaque);
        } else {
            let is_nothing = self.host.is_empty() && self.path.is_empty() && userinfo.is_none();
            if self.has_authority && !is_nothing {
                text.push_str("//");
                if let Some(userinfo) = userinfo {
                    text.push_str(userinfo);
                    text.push('@');
                }
                text.push_str(&host::escaped(&self.host));
            }
            text.push_str(&self.path);
        }
        if let Some(query) = &self.query {
            text.push('?');
            text.push_str(query);
        }
        if let Some(fragment) = &self.fragment {
            text.push('#');
            text.push_str(fragment);
        }
        text
    }

    /// Path and query, as in a request line.
    #[must_use]
    pub fn target(&self) -> String {
        let mut target = String::with_capacity(self.path.len() + 16);
        target.push_str(if self.path.is_empty() {
            "/"
        } else {
            &self.path
        });
        if let Some(query) = &self.query {
            target.push('?');
            target.push_str(query);
        }
        target
    }

    /// The same without the spaces that Go would send: they would end a request target.
    #[must_use]
    pub fn target_without_spaces(&self) -> String {
        self.target().replace(' ', "%20")
    }

    /// The host without its port, and without brackets.
    #[must_use]
    pub fn host_name(&self) -> &str {
        if let Some(inner) = self.host.strip_prefix('[') {
            return inner.split(']').next().unwrap_or(inner);
        }
        self.host
            .rsplit_once(':')
            .map_or(&*self.host, |(name, _)| name)
    }

    /// The digits of the port; `None` if there are none.
    #[must_use]
    pub fn port(&self) -> Option<&str> {
        let after = &self.host[self.host.rfind(']').unwrap_or_default()..];
        let port = after.rsplit_once(':').map(|(_, port)| port);
        port.filter(|port| !port.is_empty())
    }

    /// User and password, decoded.
    #[must_use]
    pub fn credentials(&self) -> Option<(String, String)> {
        let userinfo = self.userinfo.as_deref()?;
        let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
        Some((decoded(user), decoded(password)))
    }

    /// Whether headers that identify the user may be sent from this URL to another (the other is the same host
    /// or a subdomain).
    #[must_use]
    pub fn may_hand_secrets_to(&self, other: &Url) -> bool {
        let (from, to) = (self.host_name(), other.host_name());
        to == from || (to.len() > from.len() && to.ends_with(&format!(".{from}")))
    }

    /// The `Referer` of the next request in a chain; `None`: none.
    #[must_use]
    pub fn referer_for(&self, next: &Url) -> Option<String> {
        let is_told = self.scheme != "https" || next.scheme == "https";
        is_told.then(|| self.text_with(None))
    }
}

fn split_scheme(text: &str) -> Result<(&str, &str), String> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

fn is_userinfo_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte)
}

/// RFC 3986, section 5.2.4, after merging `path` with `base`.
fn without_dots(path: &str, base: &str) -> String {
    let full = if path.starts_with('/') || path.is_empty() {
        path.to_owned()
    } else {
        let folder = base.rfind('/').map_or("", |slash| &base[..=slash]);
        format!("{folder}{path}")
    };
    if full.is_empty() {
        return full;
    }
    let mut kept: Vec<&str> = Vec::new();
    let mut last = "";
    for segment in full.split('/').skip(usize::from(full.starts_with('/'))) {
        last = segment;
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            segment => kept.push(segment),
        }
    }
    if last == "." || last == ".." {
        kept.push("");
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str) -> String {
        match Url::parse(text) {
            Ok(url) => url.text(),
            Err(why) => why.to_string(),
        }
    }

    #[test]
    fn a_path_stays_as_written_unless_a_byte_of_it_cannot_stand_in_one() {
        for (text, wanted) in [
            ("http://h/%7Ea/%2F'[x]", "http://h/%7Ea/%2F'[x]"),
            ("http://h/'a'<", "http://h/%27a%27%3C"),
            ("http://h/%2F<", "http://h//%3C"),
            ("http://h/a b?c d#e f", "http://h/a%20b?c d#e%20f"),
            ("HTTP://h:80/\u{fc}?\u{fc}", "http://h:80/%C3%BC?\u{fc}"),
        ] {
            assert_eq!(rewritten(text), wanted);
        }
    }

    #[test]
    fn what_is_no_url_is_refused_in_gos_words() {
        for (text, why) in [
            ("http://h/%zz", "invalid URL escape \"%zz\""),
            (
                " http://h/",
                "first path segment in URL cannot contain colon",
            ),
            ("http://a b/", "invalid character \" \" in host name"),
        ] {
            assert_eq!(rewritten(text), format!("parse {}: {why}", quoted(text)));
        }
    }

    #[test]
    fn hosts_and_ports_come_apart() {
        let parts = |text: &str| {
            let url = Url::parse(text).expect("a URL");
            (url.host_name().to_owned(), url.port().map(str::to_owned))
        };
        assert_eq!(
            parts("http://h:81/"),
            ("h".to_owned(), Some("81".to_owned()))
        );
        assert_eq!(parts("http://h:/"), ("h".to_owned(), None));
        assert_eq!(parts("http://[::1]/"), ("::1".to_owned(), None));
        assert_eq!(
            parts("http://[::1]:8/"),
            ("::1".to_owned(), Some("8".to_owned()))
        );
    }
}
