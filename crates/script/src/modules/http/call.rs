//! A request as a script asked for it, with everything that a chain of hops needs.
//!
//! Must not send. Invariant: names of fields are canonical; `Host`, `Cookie` and framing are not
//! among the fields but kept for themselves.

use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use loadline_metric::TagSet;

use super::auth::Scheme;
use super::cookies::Jar;
use super::expected::Expected;
use super::url::Address;

/// A request as a script asked for it.
pub(crate) struct Call {
    /// As it was given.
    pub(crate) method: Arc<str>,
    pub(crate) address: Rc<Address>,
    /// What stands for the URL in tags, where a template or `tags.name` says so.
    pub(crate) name: Option<Arc<str>>,
    pub(crate) body: Option<CallBody>,
    /// Fields in the order in which they were given.
    pub(crate) headers: Vec<(Arc<str>, String)>,
    /// The script's own `Host`; empty: the URL's.
    pub(crate) host: String,
    /// The script's own `Cookie` field; empty without.
    pub(crate) cookie_header: String,
    pub(crate) cookies: Vec<CallCookie>,
    /// What the first hop sends: the request's own cookies, then the jar's.
    pub(crate) sent_cookies: Vec<CallCookie>,
    /// `None`: cookies are neither sent nor kept.
    pub(crate) jar: Option<Rc<Jar>>,
    /// Tags of the virtual user and the group.
    pub(crate) base: Rc<TagSet>,
    /// Tags of this request alone.
    pub(crate) tags: Option<TagSet>,
    pub(crate) timeout_ns: u64,
    pub(crate) redirects: Redirects,
    pub(crate) auth: Scheme,
    pub(crate) expected: Option<Rc<Expected>>,
    pub(crate) response_type: ResponseType,
    pub(crate) throws: bool,
}

/// A body in its two shapes.
pub(crate) struct CallBody {
    /// What is sent.
    pub(crate) sent: Bytes,
    /// What `response.request.body` shows; `None`: the same.
    pub(crate) shown: Option<Bytes>,
}

/// A cookie of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallCookie {
    pub(crate) name: String,
    pub(crate) value: String,
    /// Whether it stands for the jar's cookie of that name.
    pub(crate) replaces: bool,
}

/// How many redirects are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Redirects {
    pub(crate) most: i64,
    /// Whether the script asked for that number, and so needs no warning.
    pub(crate) chosen: bool,
}

/// What becomes of a body that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseType {
    Text,
    Binary,
    None,
}

/// Why a request was never made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) message: String,
    /// k6's error code; zero without.
    pub(crate) code: u16,
}

impl Refused {
    pub(crate) fn new(message: impl Into<String>) -> Refused {
        Refused {
            message: message.into(),
            code: 0,
        }
    }

    pub(crate) fn bad_url(why: &str) -> Refused {
        Refused {
            message: format!("invalid URL: {why}"),
            code: 1020,
        }
    }
}

impl Call {
    /// Whether neither the request nor the jar has a cookie.
    pub(crate) fn is_bare(&self) -> bool {
        self.cookies.is_empty() && self.jar.as_ref().is_none_or(|jar| jar.is_empty())
    }

    /// Cookies that go to an address: the request's own, then the jar's.
    pub(crate) fn cookies_for(&self, to: &Address, now_ms: i64) -> Vec<CallCookie> {
        let kept = match &self.jar {
            Some(jar) if !jar.is_empty() => jar.for_address(to, now_ms),
            _ => Vec::new(),
        };
        let mut cookies = self.cookies.clone();
        let is_replaced = |name: &str| {
            self.cookies
                .iter()
                .any(|own| own.replaces && own.name == name)
        };
        cookies.extend(kept.into_iter().filter(|(name, _)| !is_replaced(name)).map(
            |(name, value)| CallCookie {
                name,
                value,
                replaces: false,
            },
        ));
        cookies
    }
}
