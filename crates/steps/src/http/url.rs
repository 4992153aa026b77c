//! URLs as JMeter builds them from a sampler's fields.
//!
//! Must not know headers and bodies. Invariant: every requested URL contains only bytes allowed by the rules of
//! URIs; for others the error has the words of `java.net.URISyntaxException`.

use super::HttpFault;

/// Schemes with a handler in Java.
pub(super) const PROTOCOLS: [&str; 6] = ["http", "https", "ftp", "file", "jar", "mailto"];

/// An absolute URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Url {
    pub(super) scheme: String,
    /// User information, with the `@` after it; empty: none.
    user: String,
    /// Empty: no host.
    pub(super) host: String,
    pub(super) port: Option<u32>,
    /// Path and query, as written.
    pub(super) target: String,
}

impl Url {
    /// Parses a URL that starts with its scheme.
    pub(super) fn parse(text: &str) -> Option<Url> {
        let (scheme, rest) = text.split_once(':')?;
        let scheme = scheme.to_ascii_lowercase();
        let (authority, target) = match rest.strip_prefix("//") {
            Some(rest) => rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len())),
            None => ("", rest),
        };
        let (user, authority) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port.parse().ok()),
            _ => (authority, None),
        };
        Some(Url {
            scheme,
            user: user.to_owned(),
            host: host.to_owned(),
            port,
            target: target.to_owned(),
        })
    }

    /// The same URL without empty parts in its path.
    pub(super) fn with_single_slashes(mut self) -> Url {
        let end = self.target.find(['?', '#']).unwrap_or(self.target.len());
        let (path, rest) = self.target.split_at(end);
        if path.contains("//") {
            let mut single = String::with_capacity(path.len());
            for character in path.chars() {
                if character != '/' || !single.ends_with('/') {
                    single.push(character);
                }
            }
            self.target = format!("{single}{rest}");
        }
        self
    }

    /// The same host with another target.
    pub(super) fn with_target(&self, target: String) -> Url {
        Url {
            target,
            ..self.clone()
        }
    }

    /// The path as written; empty: none.
    pub(super) fn written_path(&self) -> &str {
        self.target.split(['?', '#']).next().unwrap_or_default()
    }

    /// The path, `/` if there is none.
    pub(super) fn path(&self) -> &str {
        let path = self.written_path();
        if path.is_empty() { "/" } else { path }
    }

    /// The host without the brackets of an IPv6 address.
    pub(super) fn plain_host(&self) -> &str {
        self.host.trim_matches(['[', ']'])
    }

    /// Whether there is a host that is valid by the rules of URIs.
    pub(super) fn has_host(&self) -> bool {
        !self.host.is_empty() && (self.host.starts_with('[') || !self.host.contains('%'))
    }

    /// The default port of its scheme.
    pub(super) fn default_port(&self) -> u32 {
        if self.scheme == "https" { 443 } else { 80 }
    }

    /// The explicit port, or the scheme's default.
    pub(super) fn effective_port(&self) -> u32 {
        self.port.unwrap_or(self.default_port())
    }

    /// The URL up to its path, and the same with the default port added or removed.
    pub(super) fn without_query(&self) -> [String; 2] {
        let path = self.written_path();
        let (scheme, host) = (&self.scheme, &self.host);
        let default = self.default_port();
        let with = |port: Option<u32>| match port {
            Some(port) => format!("{scheme}://{host}:{port}{path}"),
            None => format!("{scheme}://{host}{path}"),
        };
        let other = match self.port {
            None => Some(default),
            Some(port) if port == default => None,
            Some(port) => Some(port),
        };
        [with(self.port), with(other)]
    }

    /// Host, with the port unless it is the scheme's default.
    pub(super) fn authority(&self) -> String {
        match self.port {
            Some(port) if port != self.default_port() => format!("{}:{port}", self.host),
            _ => self.host.clone(),
        }
    }

    /// The same without its fragment.
    pub(super) fn without_fragment(mut self) -> Url {
        let end = self.target.find('#').unwrap_or(self.target.len());
        self.target.truncate(end);
        self
    }

    /// The target in the request line: without a fragment, with single slashes in its path, non-ASCII characters
    /// percent-encoded.
    pub(super) fn request_target(&self) -> String {
        let target = self.target.split('#').next().unwrap_or_default();
        let mut written = String::with_capacity(target.len() + 1);
        if !target.starts_with('/') {
            written.push('/');
        }
        for character in target.chars() {
            if character == '/' && written.ends_with('/') && !written.contains('?') {
                continue;
            }
            match character.is_ascii() {
                true => written.push(character),
                false => push_escaped(character, &mut written),
            }
        }
        written
    }
}

impl std::fmt::Display for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (user, authority) = (&self.user, self.authority());
        if authority.is_empty() {
            return write!(f, "{}:{}", self.scheme, self.target);
        }
        write!(f, "{}://{user}{authority}{}", self.scheme, self.target)
    }
}

/// Java's error for a text that is not a URL.
pub(super) fn malformed(message: String) -> HttpFault {
    HttpFault {
        class: "java.net.MalformedURLException".to_owned(),
        message,
    }
}

/// The fault of a URL by the rules of URIs, in Java's words.
pub(super) fn fault_of(url: &str) -> Option<HttpFault> {
    let told = |what: &str, index: usize| HttpFault {
        class: "java.net.URISyntaxException".to_owned(),
        message: format!("{what} at index {index}: {url}"),
    };
    let start = url.find(':').map_or(0, |at| at + 1);
    if start == url.len() {
        return Some(told("Expected scheme-specific part", start));
    }
    let path_at = match url[start..].strip_prefix("//") {
        Some(rest) => rest.find('/').map_or(url.len(), |at| start + 2 + at),
        None => start,
    };
    let query_at = url.find('?').unwrap_or(url.len());
    let fragment_at = url.find('#').unwrap_or(url.len());
    if let Some(rest) = url[start..].strip_prefix("//") {
        let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
        if let Some((what, index)) = fault_of_brackets(authority) {
            return Some(told(what, start + 2 + index));
        }
    }
    for (index, (at, character)) in url.char_indices().enumerate() {
        if character == '%' {
            let digits = url.as_bytes().get(at + 1..at + 3);
            if digits.is_none_or(|two| !two.iter().all(u8::is_ascii_hexdigit)) {
                return Some(told("Malformed escape pair", index));
            }
        } else if is_illegal(character)
            || matches!(character, '[' | ']') && (path_at..query_at.min(fragment_at)).contains(&at)
        {
            // For an authority, Java reports its start.
            let (part, index) = match at {
                _ if at > fragment_at => ("fragment", index),
                _ if at > query_at => ("query", index),
                _ if at >= path_at => ("path", index),
                _ => ("authority", start + 2),
            };
            return Some(told(&format!("Illegal character in {part}"), index));
        }
    }
    None
}

/// The fault of an authority that has brackets, and where it is: they belong around an IPv6 address.
fn fault_of_brackets(authority: &str) -> Option<(&'static str, usize)> {
    if !authority.contains(['[', ']']) || authority.contains(is_illegal) {
        return None;
    }
    let host_at = authority.find('@').map_or(0, |at| at + 1);
    let host = &authority[host_at..];
    let Some(within) = host.strip_prefix('[') else {
        return fault_of_name(host).map(|index| ("Illegal character in hostname", host_at + index));
    };
    let address_at = host_at + 1;
    match within.split_once(']') {
        None => Some(("Expected closing bracket for IPv6 address", authority.len())),
        Some(("", _)) => Some(("Expected closing bracket for IPv6 address", address_at)),
        Some((address, _)) => {
            let address = address.split('%').next().unwrap_or_default();
            let is_address = address.parse::<core::net::Ipv6Addr>().is_ok();
            (!is_address).then_some(("Malformed IPv6 address", address_at))
        }
    }
}

/// Where a host with brackets stops being a name: at a hyphen that ends a label, or at the bracket.
fn fault_of_name(host: &str) -> Option<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    let end = host.find(|c: char| !is_part(c))?;
    let before = host[..end].trim_end_matches('-');
    Some(if before.len() == end { end } else { end - 1 })
}

/// Appends a character percent-encoded.
pub(super) fn push_escaped(character: char, out: &mut String) {
    let mut bytes = [0; 4];
    for byte in character.encode_utf8(&mut bytes).bytes() {
        out.push_str(&format!("%{byte:02X}"));
    }
}

/// A URL with invalid characters percent-encoded.
pub(super) fn escaped(url: &str) -> String {
    let mut escaped = String::with_capacity(url.len());
    for character in url.chars() {
        match is_illegal(character) {
            true => push_escaped(character, &mut escaped),
            false => escaped.push(character),
        }
    }
    escaped
}

fn is_illegal(character: char) -> bool {
    matches!(
        character,
        '|' | '{' | '}' | '\\' | '^' | '`' | '"' | '<' | '>' | ' '
    ) || character.is_ascii_control()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str) -> String {
        Url::parse(url).expect("a URL").request_target()
    }

    #[test]
    fn targets_are_written_as_javas_client_writes_them() {
        assert_eq!(target("http://h"), "/");
        assert_eq!(target("http://h:81?q=1"), "/?q=1");
        assert_eq!(target("http://h/a//b/../c/é#f"), "/a/b/../c/%C3%A9");
    }

    #[test]
    fn brackets_belong_to_hosts_and_queries() {
        assert_eq!(fault_of("http://[::1]/a?b[]=1"), None);
        assert!(fault_of("http://h/a[1]").is_some());
    }

    #[test]
    fn faults_are_told_in_javas_words() {
        let told = |url: &str| fault_of(url).map(|fault| fault.message);
        assert_eq!(
            told("http://h/a|b").as_deref(),
            Some("Illegal character in path at index 10: http://h/a|b")
        );
        assert_eq!(
            told("http://h/a?%zz").as_deref(),
            Some("Malformed escape pair at index 11: http://h/a?%zz")
        );
        assert_eq!(told("http://h/a?b=c"), None);
        assert_eq!(
            told("http://[h:80]/a").as_deref(),
            Some("Malformed IPv6 address at index 8: http://[h:80]/a")
        );
        for (what, url) in [
            (
                "Expected closing bracket for IPv6 address at index 8",
                "http://[]/a",
            ),
            (
                "Expected closing bracket for IPv6 address at index 9",
                "http://[h/a",
            ),
            ("Illegal character in hostname at index 8", "http://a-[b]/c"),
            (
                "Illegal character in hostname at index 8",
                "http://a[b]:8080",
            ),
        ] {
            assert_eq!(told(url), Some(format!("{what}: {url}")));
        }
        assert_eq!(
            told("http:").as_deref(),
            Some("Expected scheme-specific part at index 5: http:")
        );
    }

    #[test]
    fn who_asks_is_told_and_not_sent() {
        let url = Url::parse("http://me:secret@h:81/a").expect("a URL");
        assert_eq!(url.to_string(), "http://me:secret@h:81/a");
        assert_eq!(url.authority(), "h:81");
    }

    #[test]
    fn a_url_without_a_host_is_told_as_java_tells_it() {
        let told = |url: &str| Url::parse(url).expect("a URL").to_string();
        assert_eq!(told("http:///x"), "http:/x");
        assert_eq!(told("http://"), "http:");
        assert_eq!(told("http:/HTTP://h/x"), "http:/HTTP://h/x");
        assert_eq!(told("file:/etc/x"), "file:/etc/x");
    }
}
