//! The request after a redirect, as in Go's client.
//!
//! Source: `redirectBehavior`, `Client.do` and `makeHeadersCopier` of `net/http` in Go 1.26. Must not know who
//! sends. Invariant: what was once dropped in a chain does not come back.

use crate::quoted;
use crate::url::Url;

/// Fields that identify the user: they are not sent to other sites.
const OF_THE_USER: [&str; 6] = [
    "Authorization",
    "Www-Authenticate",
    "Cookie",
    "Cookie2",
    "Proxy-Authorization",
    "Proxy-Authenticate",
];
/// Fields that describe a body: they are sent along with the body.
const OF_BODY: [&str; 4] = [
    "Content-Encoding",
    "Content-Language",
    "Content-Location",
    "Content-Type",
];

/// What is kept of the initial request in a chain of redirects.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    has_body: bool,
    is_on_site: bool,
    has_host: bool,
}

/// The next request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Its URL.
    pub to: Url,
    /// Its method; `None`: that of the last one.
    pub method: Option<&'static str>,
    /// Its `Referer`, unless the user set one; `None`: none.
    pub referer: Option<String>,
}

impl Default for Chain {
    /// A chain that has not started: everything is kept.
    fn default() -> Chain {
        Chain {
            has_body: true,
            is_on_site: true,
            has_host: true,
        }
    }
}

/// Whether a response with this status is a redirect, if it has a location.
#[must_use]
pub fn is_redirect(status: u16) -> bool {
    matches!(status, 301..=303 | 307 | 308)
}

impl Chain {
    /// Follows a response with this redirect status.
    ///
    /// # Errors
    /// The location is not a URL.
    pub fn follow(
        &mut self,
        first: &Url,
        (last, method): (&Url, &str),
        status: u16,
        location: &str,
    ) -> Result<Hop, String> {
        let reference = Url::parse(location).map_err(|why| {
            let location = quoted(location);
            format!("failed to parse Location header {location}: {why}")
        })?;
        self.has_host &= reference.scheme.is_empty();
        let to = last.resolve(reference);
        self.is_on_site &= first.may_hand_secrets_to(&to);
        let keeps_method = matches!(status, 307 | 308);
        self.has_body &= keeps_method;
        let becomes_get = !keeps_method && !matches!(method, "GET" | "HEAD");
        Ok(Hop {
            referer: last.referer_for(&to),
            method: becomes_get.then_some("GET"),
            to,
        })
    }

    /// Whether the body is kept.
    #[must_use]
    pub fn has_body(self) -> bool {
        self.has_body
    }

    /// Whether the user's own host is kept.
    #[must_use]
    pub fn has_host(self) -> bool {
        self.has_host
    }

    /// Whether a field with this name is kept; case-insensitive.
    #[must_use]
    pub fn has_field(self, name: &str) -> bool {
        let is_one = |names: &[&str]| names.iter().any(|one| name.eq_ignore_ascii_case(one));
        (self.is_on_site || !is_one(&OF_THE_USER)) && (self.has_body || !is_one(&OF_BODY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a good URL")
    }

    fn hop(to: &str, method: Option<&'static str>, referer: Option<&str>) -> Result<Hop, String> {
        Ok(Hop {
            to: url(to),
            method,
            referer: referer.map(str::to_owned),
        })
    }

    #[test]
    fn a_reference_to_no_host_stays_where_it_is() {
        let first = url("http://h/a?b");
        let mut chain = Chain::default();
        let hop = chain.follow(&first, (&first, "GET"), 302, "//");
        assert_eq!(hop.map(|hop| hop.to.text()), Ok("http://h/a?b".to_owned()));
    }

    #[test]
    fn methods_but_get_and_head_become_get_without_a_body() {
        let first = url("http://h/a");
        for (method, status, becomes, has_body) in [
            ("POST", 301, Some("GET"), false),
            ("PUT", 302, Some("GET"), false),
            ("HEAD", 303, None, false),
            ("GET", 302, None, false),
            ("", 302, Some("GET"), false),
            ("POST", 307, None, true),
            ("PUT", 308, None, true),
        ] {
            let mut chain = Chain::default();
            let next = chain.follow(&first, (&first, method), status, "/b");
            assert_eq!(
                next,
                hop("http://h/b", becomes, Some("http://h/a")),
                "{method} {status}"
            );
            assert_eq!(chain.has_body(), has_body, "{method} {status}");
            assert_eq!(chain.has_field("content-type"), has_body);
            assert!(chain.has_field("Content-Md5") && chain.has_field("cookie"));
            chain
                .follow(&first, (&first, "GET"), 307, "/c")
                .expect("leads on");
            assert_eq!(chain.has_body(), has_body, "a lost body stays lost");
        }
        assert!(is_redirect(303) && !is_redirect(304));
    }

    #[test]
    fn what_names_the_user_stays_on_the_site_that_the_chain_began_on() {
        let (first, below) = (url("http://h/"), url("http://x.h/"));
        let mut chain = Chain::default();
        let mut has = |from: &Url, location: &str| {
            chain
                .follow(&first, (from, "GET"), 302, location)
                .expect("leads on");
            (
                chain.has_field("Authorization"),
                chain.has_field("Proxy-Authenticate"),
            )
        };
        assert_eq!(has(&first, "http://x.h/"), (true, true));
        assert_eq!(has(&below, "http://h/"), (true, true));
        assert_eq!(has(&first, "http://other/"), (false, false));
        assert_eq!(has(&url("http://other/"), "http://h/"), (false, false));
    }

    #[test]
    fn a_host_of_the_users_own_goes_along_relative_ways() {
        let first = url("https://h/");
        let mut chain = Chain::default();
        let mut has = |location: &str| {
            let hop = chain.follow(&first, (&first, "GET"), 302, location);
            (chain.has_host(), hop.expect("leads on").referer)
        };
        assert_eq!(has("/a"), (true, Some("https://h/".to_owned())));
        assert_eq!(has("//h/a"), (true, Some("https://h/".to_owned())));
        assert_eq!(has("http://h/a"), (false, None));
        assert!(!has("/a").0);
        assert_eq!(
            chain.follow(&first, (&first, "GET"), 302, "/%zz"),
            Err("failed to parse Location header \"/%zz\": parse \"/%zz\": invalid URL escape \"%zz\"".to_owned())
        );
    }
}
