//! URLs as k6's client reads them: the grammar and the error texts are those of Go's `net/url`.
//!
//! Sources: RFC 3986 and the documentation of Go's package. Must not resolve names or know of
//! requests. Invariant: an address with an origin can be sent; one without says why not.

use std::fmt;
use std::sync::Arc;

use loadline_go::quoted;
use loadline_model::url::{Origin, Scheme};

/// A URL that was parsed.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    /// The URL as it is shown to scripts: path escaped, credentials kept.
    pub(crate) text: Arc<str>,
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

/// Why a well-formed URL cannot be sent to: code, tag, text.
#[derive(Clone, Debug)]
pub(crate) struct Unreachable {
    pub(crate) code: u16,
    pub(crate) text: String,
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
        Parts::parse(text).map(Parts::address).map_err(no_url)
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
        check_host(host)?;
        self.host = decoded(host);
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
            if self.has_authority {
                text.push_str("//");
                if let Some(userinfo) = userinfo {
                    text.push_str(userinfo);
                    text.push('@');
                }
                text.push_str(&self.host);
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
                return Err(Unreachable { code: 1000, text });
            }
        };
        let name = host_name(&self.host);
        if self.opaque.is_some() || name.is_empty() {
            let text = "http: no Host in request URL".to_owned();
            return Err(Unreachable { code: 1000, text });
        }
        let port_text = self.host[name.len()..]
            .rsplit_once(':')
            .map(|(_, port)| port);
        let port = match port_text.filter(|port| !port.is_empty()) {
            None => scheme.default_port(),
            Some(digits) => digits.parse().map_err(|_| Unreachable {
                code: 1210,
                text: format!("dial tcp: address {digits}: invalid port"),
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

fn check_host(host: &str) -> Result<(), String> {
    let port = if host.starts_with('[') {
        let end = host.rfind(']').ok_or("missing ']' in host")?;
        &host[end + 1..]
    } else {
        host.rfind(':').map_or("", |at| &host[at..])
    };
    let digits = port.strip_prefix(':');
    let is_port = port.is_empty()
        || digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_port {
        return Err(format!("invalid port {} after host", quoted(port)));
    }
    check_escapes(host)?;
    match host.chars().find(|c| c.is_ascii() && !is_host_char(*c)) {
        Some(c) => Err(format!(
            "invalid character {} in host name",
            quoted(&c.to_string())
        )),
        None => Ok(()),
    }
}

fn is_host_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"%".contains(c)
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

fn check_escapes(text: &str) -> Result<(), String> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'%') {
        at += found;
        let digits = bytes.get(at + 1..at + 3);
        if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
            let wrong: String = text[at..].chars().take(3).collect();
            return Err(format!("invalid URL escape {}", quoted(&wrong)));
        }
        at += 3;
    }
    Ok(())
}

/// A part with everything escaped that must be; escapes that are there stay.
fn escaped(text: &str, is_plain: fn(u8) -> bool) -> String {
    if text.bytes().all(|byte| is_plain(byte) || byte == b'%') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for byte in text.bytes() {
        if is_plain(byte) || byte == b'%' {
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
