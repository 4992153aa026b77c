//! Cookies: the contents of `Set-Cookie`, and the jar that stores them.
//!
//! Follows RFC 6265 like Go's `net/http/cookiejar` without a public suffix list, which is how k6 uses it. Must
//! not know scripts. Invariant: a jar never holds more than [`JAR_MAX`] cookies.

pub(super) mod class;
mod set_cookie;

use std::cell::{Cell, RefCell};
use std::net::{IpAddr, Ipv4Addr};

pub(crate) use set_cookie::{date_ms, set_cookies};

use super::url::Address;

/// Maximum cookies of a jar; beyond it the oldest is removed. Browsers keep about three thousand.
const JAR_MAX: usize = 3_000;

/// A cookie as a server or a script sets it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cookie {
    pub(crate) name: String,
    pub(crate) value: String,
    /// As written; empty if missing.
    pub(crate) domain: String,
    /// As written; empty if missing.
    pub(crate) path: String,
    /// Milliseconds since 1970; `None` without a date.
    pub(crate) expires_ms: Option<i64>,
    /// Seconds; negative: expires immediately; `None` if missing.
    pub(crate) max_age: Option<i64>,
    pub(crate) secure: bool,
    pub(crate) http_only: bool,
}

/// The cookies of a virtual user.
#[derive(Debug, Default)]
pub(crate) struct Jar {
    entries: RefCell<Vec<Entry>>,
    next: Cell<u64>,
}

#[derive(Clone, Debug)]
struct Entry {
    cookie: Cookie,
    /// Shared by sites with the same last two labels.
    key: String,
    domain: String,
    path: String,
    host_only: bool,
    expires_ms: Option<i64>,
    order: u64,
}

impl Jar {
    /// Whether the jar has no cookies, not even expired ones.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.borrow().is_empty()
    }

    /// Stores a cookie that came from an address, or removes it if it is expired.
    pub(crate) fn set(&self, from: &Address, cookie: Cookie, now_ms: i64) {
        if from.place.is_err() {
            return;
        }
        let host = from.host().to_ascii_lowercase();
        let Some((domain, host_only)) = domain_of(&host, &cookie.domain) else {
            return;
        };
        let path = if cookie.path.starts_with('/') {
            cookie.path.clone()
        } else {
            default_path(from.path()).to_owned()
        };
        let expires_ms = match cookie.max_age {
            Some(seconds) if seconds > 0 => {
                Some(now_ms.saturating_add(seconds.saturating_mul(1_000)))
            }
            Some(seconds) if seconds < 0 => Some(now_ms),
            _ => cookie.expires_ms,
        };
        let mut entries = self.entries.borrow_mut();
        let known = entries.iter().position(|entry| {
            entry.cookie.name == cookie.name && entry.domain == domain && entry.path == path
        });
        let order = match known {
            Some(at) => entries.remove(at).order,
            None => self.next.replace(self.next.get() + 1),
        };
        if expires_ms.is_some_and(|expires| expires <= now_ms) {
            return;
        }
        if entries.len() >= JAR_MAX {
            entries.remove(0);
        }
        entries.push(Entry {
            key: jar_key(&host).to_owned(),
            cookie,
            domain,
            path,
            host_only,
            expires_ms,
            order,
        });
    }

    /// The cookies for an address in sending order: longer paths first.
    pub(crate) fn for_address(&self, to: &Address, now_ms: i64) -> Vec<(String, String)> {
        let mut entries = self.entries.borrow_mut();
        if entries.is_empty() || to.place.is_err() {
            return Vec::new();
        }
        entries.retain(|entry| entry.expires_ms.is_none_or(|expires| expires > now_ms));
        let host = to.host().to_ascii_lowercase();
        let path = if to.path().is_empty() { "/" } else { to.path() };
        let key = jar_key(&host);
        let is_secure = is_trusted(to, &host);
        let mut matching: Vec<&Entry> = entries
            .iter()
            .filter(|entry| entry.key == key && entry.is_for(&host, path, is_secure))
            .collect();
        matching.sort_by_key(|entry| (std::cmp::Reverse(entry.path.len()), entry.order));
        matching
            .iter()
            .map(|entry| (entry.cookie.name.clone(), entry.cookie.value.clone()))
            .collect()
    }

    /// Removes the cookies that an address would set without a path or domain: all that are sent to it, or
    /// those with one name. k6 expires them in this way.
    pub(crate) fn forget(&self, to: &Address, name: Option<&str>) {
        let host = to.host().to_ascii_lowercase();
        let path = if to.path().is_empty() { "/" } else { to.path() };
        let own_path = default_path(to.path());
        let is_secure = is_trusted(to, &host);
        self.entries.borrow_mut().retain(|entry| {
            let is_chosen = match name {
                Some(name) => entry.cookie.name == name,
                None => entry.is_for(&host, path, is_secure),
            };
            !(is_chosen && entry.domain == host && entry.path == own_path)
        });
    }
}

impl Entry {
    fn is_for(&self, host: &str, path: &str, is_secure: bool) -> bool {
        let in_domain = host == self.domain || (!self.host_only && is_below(host, &self.domain));
        let in_path = path.strip_prefix(&*self.path).is_some_and(|rest| {
            rest.is_empty() || self.path.ends_with('/') || rest.starts_with('/')
        });
        in_domain && in_path && (is_secure || !self.cookie.secure)
    }
}

/// Whether secure cookies may be sent there: over TLS, or to the local machine, as in Go.
fn is_trusted(to: &Address, host: &str) -> bool {
    to.is_https()
        || host == "localhost"
        || host.ends_with(".localhost")
        || host
            .parse::<Ipv4Addr>()
            .is_ok_and(|address| address.is_loopback())
}

fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain)
        .is_some_and(|rest| rest.ends_with('.'))
}

/// Domain of a cookie, and whether it is host-only; `None` if the host must not set it.
fn domain_of(host: &str, domain: &str) -> Option<(String, bool)> {
    if domain.is_empty() {
        return Some((host.to_owned(), true));
    }
    if host.parse::<IpAddr>().is_ok() {
        return (host == domain).then(|| (host.to_owned(), true));
    }
    let domain = domain
        .strip_prefix('.')
        .unwrap_or(domain)
        .to_ascii_lowercase();
    let is_wellformed = !domain.is_empty()
        && !domain.starts_with('.')
        && !domain.ends_with('.')
        && domain.is_ascii();
    let is_own = host == domain || is_below(host, &domain);
    (is_wellformed && is_own).then_some((domain, false))
}

/// RFC 6265, section 5.1.4.
fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(at) if path.starts_with('/') => &path[..at],
        Some(_) => "/",
    }
}

/// The last two labels of a name; the whole of an IP address.
fn jar_key(host: &str) -> &str {
    if host.parse::<IpAddr>().is_ok() {
        return host;
    }
    let Some(last) = host.rfind('.').filter(|at| *at > 0) else {
        return host;
    };
    host[..last].rfind('.').map_or(host, |dot| &host[dot + 1..])
}

/// Name and value in the format of `Cookie`: invalid bytes are omitted, values with spaces or commas are
/// quoted.
pub(crate) fn append_pair(out: &mut String, name: &str, value: &str) {
    if !out.is_empty() {
        out.push_str("; ");
    }
    out.extend(
        name.chars()
            .map(|c| if c == '\n' || c == '\r' { '-' } else { c }),
    );
    out.push('=');
    let clean = |c: &char| (' '..='~').contains(c) && !"\";\\".contains(*c);
    let needs_quotes = value.contains([' ', ',']);
    if needs_quotes {
        out.push('"');
    }
    out.extend(value.chars().filter(clean));
    if needs_quotes {
        out.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(url: &str) -> Address {
        Address::parse(url).unwrap()
    }

    fn set(jar: &Jar, url: &str, line: &str) {
        let cookie = set_cookie::parse_set_cookie(line).expect("a cookie");
        jar.set(&at(url), cookie, 0);
    }

    fn sent(jar: &Jar, url: &str) -> String {
        let mut out = String::new();
        for (name, value) in jar.for_address(&at(url), 0) {
            append_pair(&mut out, &name, &value);
        }
        out
    }

    #[test]
    fn cookies_go_where_they_belong() {
        let jar = Jar::default();
        set(&jar, "http://a.example.com/x/y", "host=1");
        set(
            &jar,
            "http://a.example.com/",
            "domain=2; Domain=.example.com",
        );
        set(&jar, "http://a.example.com/", "foreign=3; Domain=other.com");
        set(&jar, "http://a.example.com/", "secure=4; Secure; Path=/");
        assert_eq!(sent(&jar, "http://a.example.com/x/z"), "host=1; domain=2");
        assert_eq!(sent(&jar, "http://a.example.com/xx"), "domain=2");
        assert_eq!(sent(&jar, "http://b.example.com/x/z"), "domain=2");
        assert_eq!(sent(&jar, "https://a.example.com/"), "domain=2; secure=4");
        assert_eq!(sent(&jar, "http://other.com/"), "");
    }

    #[test]
    fn a_cookie_is_replaced_in_place_and_forgotten_when_it_expires() {
        let jar = Jar::default();
        set(&jar, "http://h/", "a=1");
        set(&jar, "http://h/", "b=1");
        set(&jar, "http://h/", "a=2");
        assert_eq!(sent(&jar, "http://h/"), "a=2; b=1");
        set(&jar, "http://h/", "a=3; Max-Age=0");
        assert_eq!(sent(&jar, "http://h/"), "b=1");
        set(&jar, "http://h/", "c=1; Max-Age=5");
        assert_eq!(jar.for_address(&at("http://h/"), 5_000).len(), 1);
    }

    #[test]
    fn values_that_may_not_be_sent_are_mended() {
        let mut out = String::new();
        append_pair(&mut out, "a", "2;3, \"4");
        assert_eq!(out, "a=\"23, 4\"");
    }

    proptest! {
        #[test]
        fn a_jar_is_bounded_and_sends_only_to_hosts_that_match(
            cookies in prop::collection::vec(("[ab]\\.(x|y)\\.(com|de)", "[a-c]{1,2}", "|x.com|.y.de"), 0..40),
        ) {
            let jar = Jar::default();
            for (host, name, domain) in &cookies {
                let cookie = Cookie { name: name.clone(), domain: domain.clone(), ..Cookie::default() };
                jar.set(&at(&format!("http://{host}/")), cookie, 0);
            }
            prop_assert!(jar.entries.borrow().len() <= cookies.len());
            for entry in jar.entries.borrow().iter() {
                prop_assert!(!entry.is_for("evil.org", "/", true));
            }
        }
    }
}
