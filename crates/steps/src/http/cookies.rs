//! The cookies of one thread, by JMeter's standard policy (RFC 6265).
//!
//! Must not know requests. Invariant: a cookie is sent to the hosts and paths that it is for, and to nobody else.

use super::url::Url;
use crate::text::Text;

/// A cookie manager.
#[derive(Debug, Default)]
pub struct CookieManager {
    /// Cookies that are there from the start.
    pub preset: Vec<PresetCookie>,
    /// Whether each iteration begins with these alone.
    pub clear_each_iteration: bool,
    /// Whether that is decided by the group's rule for users instead.
    pub by_group: bool,
    /// Whether nothing is stored and sent (`ignoreCookies`).
    pub ignore: bool,
}

/// A cookie of the plan.
#[derive(Debug, Default)]
pub struct PresetCookie {
    /// Its name.
    pub name: Text,
    /// Its value.
    pub value: Text,
    /// The host that it is for.
    pub domain: Text,
    /// The path that it is for.
    pub path: Text,
    /// Whether it goes over TLS only.
    pub secure: bool,
}

/// One cookie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cookie {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) domain: String,
    /// Whether hosts below the domain get it too.
    pub(super) with_subdomains: bool,
    pub(super) path: String,
    pub(super) secure: bool,
}

/// The cookies of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Jar(Vec<Cookie>);

impl Jar {
    /// The `Cookie` field for a URL; `None`: there is none to send.
    pub(super) fn field(&self, url: &Url) -> Option<String> {
        let path = url.target.split(['?', '#']).next().unwrap_or_default();
        let path = if path.is_empty() { "/" } else { path };
        let mut fitting: Vec<&Cookie> = self.0.iter().filter(|one| one.fits(url, path)).collect();
        fitting.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        let fitting = fitting.iter();
        let pairs: Vec<String> = fitting
            .map(|one| format!("{}={}", one.name, one.value))
            .collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }

    /// Stores a cookie in the place of one of the same name, domain and path.
    pub(super) fn store(&mut self, cookie: Cookie) {
        self.0.retain(|one| !one.is_same(&cookie));
        self.0.push(cookie);
    }

    /// Takes a `Set-Cookie` field of an answer.
    pub(super) fn take(&mut self, url: &Url, field: &str) {
        let mut parts = field.split(';');
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else {
            return;
        };
        let mut cookie = Cookie {
            name: name.trim().to_owned(),
            value: value.trim().to_owned(),
            domain: url.host.to_ascii_lowercase(),
            with_subdomains: false,
            path: folder(url),
            secure: false,
        };
        let mut is_expired = false;
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "domain" if !value.is_empty() => {
                    cookie.domain = value.trim_start_matches('.').to_ascii_lowercase();
                    cookie.with_subdomains = true;
                }
                "path" if value.starts_with('/') => value.clone_into(&mut cookie.path),
                "secure" => cookie.secure = true,
                "max-age" => is_expired = value.parse::<i64>().is_ok_and(|age| age <= 0),
                "expires" => is_expired |= is_long_past(value),
                _ => {}
            }
        }
        if cookie.name.is_empty() || !cookie.is_for_host(&url.host) {
            return;
        }
        // As in JMeter, one that has ended already takes away its like, and is kept where there is none.
        let was_there = self.0.iter().any(|one| one.is_same(&cookie));
        match is_expired && was_there {
            true => self.0.retain(|one| !one.is_same(&cookie)),
            false => self.store(cookie),
        }
    }
}

impl Cookie {
    fn is_same(&self, other: &Cookie) -> bool {
        self.name == other.name && self.domain == other.domain && self.path == other.path
    }

    fn is_for_host(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let below = host.strip_suffix(&self.domain);
        host == self.domain || self.with_subdomains && below.is_some_and(|rest| rest.ends_with('.'))
    }

    fn fits(&self, url: &Url, path: &str) -> bool {
        let below = path.strip_prefix(self.path.as_str());
        let is_on_path = below.is_some_and(|rest| {
            rest.is_empty() || self.path.ends_with('/') || rest.starts_with('/')
        });
        self.is_for_host(&url.host) && is_on_path && (!self.secure || url.scheme == "https")
    }
}

/// The folder of a URL's path.
fn folder(url: &Url) -> String {
    let path = url.target.split(['?', '#']).next().unwrap_or_default();
    match path.rfind('/') {
        None | Some(0) => "/".to_owned(),
        Some(end) => path[..end].to_owned(),
    }
}

/// Whether a date is of a year that has surely passed, as those are that take a cookie away.
fn is_long_past(date: &str) -> bool {
    let years = date
        .split([' ', '-'])
        .filter_map(|part| part.parse::<u32>().ok());
    years.filter(|year| *year >= 1900).any(|year| year < 2020)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    #[test]
    fn a_cookie_goes_where_it_came_from() {
        let mut jar = Jar::default();
        jar.take(&url("http://h/a/b"), "sid=abc; HttpOnly");
        jar.take(&url("http://h/a/b"), "all=1; Path=/");
        assert_eq!(
            jar.field(&url("http://h/a/c")).as_deref(),
            Some("sid=abc; all=1")
        );
        assert_eq!(jar.field(&url("http://h/x")).as_deref(), Some("all=1"));
        assert_eq!(jar.field(&url("http://other/a/c")), None);
    }

    #[test]
    fn a_cookie_for_another_domain_is_refused() {
        let mut jar = Jar::default();
        jar.take(&url("http://h.test/"), "a=1; Domain=other.test");
        jar.take(&url("http://h.test/"), "b=2; Domain=.test");
        assert_eq!(jar.field(&url("http://h.test/")).as_deref(), Some("b=2"));
    }

    #[test]
    fn an_ended_cookie_takes_its_like_away() {
        let mut jar = Jar::default();
        jar.take(&url("http://h/"), "a=1");
        jar.take(&url("http://h/"), "a=; Max-Age=0");
        assert_eq!(jar.field(&url("http://h/")), None);
    }
}
