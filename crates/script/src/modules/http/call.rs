//! A request as specified by a script, with everything that a chain of hops needs.
//!
//! Must not send. Invariant: names of fields are canonical; `Host`, `Cookie` and framing are kept separately
//! from the fields.

use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use loadline_metric::TagSet;

use super::auth::Scheme;
use super::cookies::Jar;
use super::expected::Expected;
use super::url::Address;

/// A request as specified by a script.
pub(crate) struct Call {
    /// As given.
    pub(crate) method: Arc<str>,
    pub(crate) address: Rc<Address>,
    /// Replaces the URL in tags, if a template or `tags.name` sets it.
    pub(crate) name: Option<Arc<str>>,
    pub(crate) body: Option<CallBody>,
    /// Fields in the given order.
    pub(crate) headers: Vec<(Arc<str>, String)>,
    /// The script's own `Host`; empty: that of the URL.
    pub(crate) host: String,
    /// The script's own `Cookie` field; empty if none.
    pub(crate) cookie_header: String,
    pub(crate) cookies: Vec<CallCookie>,
    /// Cookies sent by the first hop: the request's own, then the jar's.
    pub(crate) sent_cookies: Vec<CallCookie>,
    /// `None`: cookies are neither sent nor stored.
    pub(crate) jar: Option<Rc<Jar>>,
    /// Tags of the virtual user and the group.
    pub(crate) base: Rc<TagSet>,
    /// Tags of this request only.
    pub(crate) tags: Option<TagSet>,
    pub(crate) timeout_ns: u64,
    pub(crate) redirects: Redirects,
    pub(crate) auth: Scheme,
    pub(crate) expected: Option<Rc<Expected>>,
    pub(crate) response_type: ResponseType,
    pub(crate) throws: bool,
}

/// A body in two forms.
pub(crate) struct CallBody {
    /// What is sent.
    pub(crate) sent: Bytes,
    /// The value of `response.request.body`; `None`: the same.
    pub(crate) shown: Option<Bytes>,
}

/// A cookie of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallCookie {
    pub(crate) name: String,
    pub(crate) value: String,
    /// Whether it replaces the jar's cookie with that name.
    pub(crate) replaces: bool,
}

/// Maximum number of redirects to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Redirects {
    pub(crate) most: i64,
    /// Whether the script chose the number, so no warning is needed.
    pub(crate) chosen: bool,
}

/// The type in which a received body is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseType {
    Text,
    Binary,
    None,
}

/// Why a request could not be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) message: String,
    /// k6's error code; zero if none.
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

    /// Cookies for an address: the request's own, then the jar's.
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
