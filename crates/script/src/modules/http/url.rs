//! URLs as k6's client reads them: the grammar and the error texts are those of Go's `net/url`.
//!
//! Sources: RFC 3986 and the documentation of Go's package. Must not resolve names or know of
//! requests. Invariant: an address with an origin can be sent; one without says why not.

mod host;

use std::fmt;
use std::sync::Arc;

use loadline_go::quoted;
use loadline_model::url::{Origin, Scheme};

/// A URL that was parsed.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    /// The URL as Go writes it: path escaped, credentials kept.
    pub(crate) text: Arc<str>,
    /// The URL as the script or the target wrote it.
    pub(crate) given: Arc<str>,
    /// The same for tags: credentials masked.
    pub(crate) masked: Arc<str>,
    /// Where it leads, or why a request to it cannot be sent.
    pub(crate) place: Result<Place, Unreachable>,
    /// User and password, decoded.
    pub(crate) credentials: Option<(String, String)>,
    parts: Parts,
}

/// Where a URL leads.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) origin: Arc<Origin>,
    /// Path and query.
    pub(crate) target: String,
    /// The value of `Host`.
    pub(crate) authority: String,
}

/// Why a well-formed URL cannot be sent to.
#[derive(Clone, Debug)]
pub(crate) struct Unreachable {
    pub(crate) code: u16,
    pub(crate) tag: String,
    pub(crate) text: String,
}

impl Unreachable {
    /// With a text that is its own tag.
    pub(crate) fn new(code: u16, text: impl Into<String>) -> Unreachable {
        let text = text.into();
        Unreachable {
            code,
            tag: text.clone(),
            text,
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Parts {
    scheme: String,
    userinfo: Option<String>,
    host: String,
    has_authority: bool,
    opaque: Option<String>,
    path: String,
    query: Option<String>,
    fragment: Option<String>,
}

/// Why a text is no URL, in Go's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoUrl {
    url: String,
    why: String,
}

impl fmt::Display for NoUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "parse {}: {}", quoted(&self.url), self.why)
    }
}

impl Address {
    /// Parses a URL; `name` stands for it in tags.
    ///
    /// # Errors
    /// When it is none.
    pub(crate) fn parse(text: &str) -> Result<Address, NoUrl> {
        let no_url = |why: String| NoUrl {
            url: text.to_owned(),
            why,
        };
        let address = Parts::parse(text).map(Parts::address).map_err(no_url)?;
        Ok(match *address.text == *text {
            true => address,
            false => Address {
                given: text.into(),
                ..address
            },
        })
    }

    /// The address that a `Location` leads to from here.
    ///
    /// # Errors
    /// When it is no URL.
    pub(crate) fn resolve(&self, location: &str) -> Result<Address, NoUrl> {
        let no_url = |why: String| NoUrl {
            url: location.to_owned(),
            why,
        };
        let reference = Parts::parse(location).map_err(no_url)?;
        Ok(self.parts.resolve(reference).address())
    }

    /// The same with another query; an empty one is none.
    pub(crate) fn with_query(&self, query: &str) -> Address {
        let mut parts = self.parts.clone();
        // Go keeps a question mark that nothing follows.
        let keeps_mark = parts.query.as_deref() == Some("");
        parts.query = Some(query.to_owned()).filter(|query| keeps_mark || !query.is_empty());
        parts.address()
    }

    /// The URL with the password starred out, for errors.
    pub(crate) fn without_password(&self) -> String {
        match &self.parts.userinfo {
            None => self.text.to_string(),
            Some(userinfo) => match userinfo.split_once(':') {
                None => self.text.to_string(),
                Some((user, _)) => self.parts.text_with(Some(&format!("{user}:***"))),
            },
        }
    }

    /// The same without its credentials.
    pub(crate) fn without_credentials(&self) -> Address {
        let mut parts = self.parts.clone();
        parts.userinfo = None;
        parts.address()
    }

    /// Whether headers that name the user may go from this address to another (the other is the
    /// same host or lies below it).
    pub(crate) fn may_hand_secrets_to(&self, other: &Address) -> bool {
        let (from, to) = (host_name(&self.parts.host), host_name(&other.parts.host));
        to == from || (to.len() > from.len() && to.ends_with(&format!(".{from}")))
    }

    /// The host without its port.
    pub(crate) fn host(&self) -> &str {
        host_name(&self.parts.host)
    }

    /// The path, escaped; empty when there is none.
    pub(crate) fn path(&self) -> &str {
        &self.parts.path
    }

    pub(crate) fn is_https(&self) -> bool {
        self.parts.scheme == "https"
    }

    /// What the next request of a chain names as `Referer`; `None`: nothing.
    pub(crate) fn referer_for(&self, next: &Address) -> Option<String> {
        if self.is_https() && !next.is_https() {
            return None;
        }
        let mut parts = self.parts.clone();
        parts.userinfo = None;
        Some(parts.text())
    }
}

fn host_name(host: &str) -> &str {
    if let Some(inner) = host.strip_prefix('[') {
        return inner.split(']').next().unwrap_or(inner);
    }
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}

impl Parts {
    fn parse(text: &str) -> Result<Parts, String> {
        if text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        let (rest, fragment) = match text.split_once('#') {
            Some((rest, fragment)) => (rest, Some(fragment)),
            None => (text, None),
        };
        let mut parts = Parts::default();
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
        self.path = escaped(path, is_path_byte);
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

    /// RFC 3986, section 5.2.2.
    fn resolve(&self, mut reference: Parts) -> Parts {
        let had_scheme = !reference.scheme.is_empty();
        if !had_scheme {
            reference.scheme.clone_from(&self.scheme);
        }
        if had_scheme || reference.has_authority {
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

    fn text(&self) -> String {
        self.text_with(self.userinfo.as_deref())
    }

    fn text_with(&self, userinfo: Option<&str>) -> String {
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

    fn address(self) -> Address {
        let text: Arc<str> = self.text().into();
        let masked = match &self.userinfo {
            None => Arc::clone(&text),
            Some(userinfo) => {
                let (mask, separator) = match userinfo.contains(':') {
                    true => ("****:****", 1),
                    false => ("****", 0),
                };
                // k6 covers as many characters as the credentials have once they are unescaped.
                let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
                let covered = decoded(user).len() + decoded(password).len() + separator;
                let left = userinfo.get(covered..).unwrap_or_default();
                self.text_with(Some(&format!("{mask}{left}"))).into()
            }
        };
        let credentials = self.userinfo.as_deref().map(|userinfo| {
            let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
            (decoded(user), decoded(password))
        });
        Address {
            given: Arc::clone(&text),
            text,
            masked,
            place: self.place(),
            credentials,
            parts: self,
        }
    }

    fn place(&self) -> Result<Place, Unreachable> {
        let scheme = match self.scheme.as_str() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            other => {
                let text = format!("unsupported protocol scheme {}", quoted(other));
                return Err(Unreachable::new(1000, text));
            }
        };
        let name = host_name(&self.host);
        if self.opaque.is_some() || self.host.is_empty() {
            return Err(Unreachable::new(1000, "http: no Host in request URL"));
        }
        if name.is_empty() {
            return Err(Unreachable {
                tag: "lookup: no such host".to_owned(),
                ..Unreachable::new(1101, "lookup : no such host")
            });
        }
        let port_text = self.host[name.len()..]
            .rsplit_once(':')
            .map(|(_, port)| port);
        let port = match port_text.filter(|port| !port.is_empty()) {
            None => scheme.default_port(),
            Some(digits) => digits.parse().map_err(|_| {
                Unreachable::new(1210, format!("dial tcp: address {digits}: invalid port"))
            })?,
        };
        let name = ascii_host(name);
        Ok(Place {
            target: self.target(),
            authority: match self.host.is_ascii() {
                true => self.host.strip_suffix(':').unwrap_or(&self.host).to_owned(),
                false => port_text.map_or_else(|| name.clone(), |port| format!("{name}:{port}")),
            },
            origin: Arc::new(Origin {
                scheme,
                host: name,
                port,
            }),
        })
    }

    fn target(&self) -> String {
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
}

/// A host name as it is asked of DNS.
fn ascii_host(name: &str) -> String {
    if name.is_ascii() {
        return name.to_owned();
    }
    match url::Host::parse(name) {
        Ok(host) => host.to_string(),
        Err(_) => name.to_owned(),
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

fn is_path_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:@[]/".contains(&byte)
}

fn is_fragment_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:@[]/?".contains(&byte)
}

/// A text as it is spelled in a path.
pub(crate) fn in_path(text: &str) -> String {
    escaped(text, is_path_byte)
}

fn check_escapes(text: &str) -> Result<(), String> {
    let mut at = 0;
    while let Some(found) = text[at..].find('%') {
        at += found + escape_at(text, at + found)?.len();
    }
    Ok(())
}

/// The escape (`%41`) at a percent sign.
fn escape_at(text: &str, at: usize) -> Result<&str, String> {
    let is_escape = |escape: &&str| escape.bytes().skip(1).all(|byte| byte.is_ascii_hexdigit());
    text.get(at..at + 3).filter(is_escape).ok_or_else(|| {
        let wrong: String = text[at..].chars().take(3).collect();
        format!("invalid URL escape {}", quoted(&wrong))
    })
}

/// A part with everything escaped that must be; escapes that are there stay.
fn escaped(text: &str, is_plain: fn(u8) -> bool) -> String {
    escaped_but(text, |byte| is_plain(byte) || byte == b'%')
}

/// A part with all bytes escaped but these.
fn escaped_but(text: &str, is_plain: impl Fn(u8) -> bool) -> String {
    if text.bytes().all(&is_plain) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for byte in text.bytes() {
        if is_plain(byte) {
            out.push(byte as char);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// A part with its escapes undone.
fn decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if let (b'%', [high, low, after @ ..]) = (*first, tail)
            && let (Some(high), Some(low)) =
                ((*high as char).to_digit(16), (*low as char).to_digit(16))
        {
            bytes.push((high * 16 + low) as u8);
            rest = after;
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// RFC 3986, section 5.2.4, after laying `path` over `base`.
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
mod tests;
