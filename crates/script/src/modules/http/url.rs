//! URLs as parsed by k6's client: the grammar and the error texts are those of Go's `net/url`.
//!
//! Sources: RFC 3986 and the documentation of Go's package. Must not resolve names or know requests. Invariant:
//! an address with an origin can be requested; one without has the reason.

use std::sync::Arc;

pub(crate) use loadline_go::url::NoUrl;
use loadline_go::url::{Url, decoded};
use loadline_model::url::{Origin, OriginFault};

/// A parsed URL.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    /// The URL as formatted by Go: path escaped, credentials kept.
    pub(crate) text: Arc<str>,
    /// The URL as written by the script or the target.
    pub(crate) given: Arc<str>,
    /// The same for tags: credentials masked.
    pub(crate) masked: Arc<str>,
    /// Its destination, or why it cannot be requested.
    pub(crate) place: Result<Place, Unreachable>,
    /// User and password, decoded.
    pub(crate) credentials: Option<(String, String)>,
    parts: Url,
}

/// The destination of a URL.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) origin: Arc<Origin>,
    /// Path and query.
    pub(crate) target: String,
    /// The host as in the URL, with its port.
    pub(crate) authority: String,
}

/// Why a well-formed URL cannot be requested.
#[derive(Clone, Debug)]
pub(crate) struct Unreachable {
    pub(crate) code: u16,
    pub(crate) tag: String,
    pub(crate) text: String,
}

impl Unreachable {
    /// With a text that is also the tag.
    pub(crate) fn new(code: u16, text: impl Into<String>) -> Unreachable {
        let text = text.into();
        Unreachable {
            code,
            tag: text.clone(),
            text,
        }
    }
}

impl Address {
    /// Parses a URL.
    ///
    /// # Errors
    /// It is invalid.
    pub(crate) fn parse(text: &str) -> Result<Address, NoUrl> {
        let address = Address::of(Url::parse(text)?);
        Ok(match *address.text == *text {
            true => address,
            false => Address {
                given: text.into(),
                ..address
            },
        })
    }

    /// Resolves a reference relative to this address.
    ///
    /// # Errors
    /// The reference is invalid.
    pub(crate) fn resolve(&self, reference: &str) -> Result<Address, NoUrl> {
        Ok(Address::of(self.parts.resolve(Url::parse(reference)?)))
    }

    /// The same address with another query; an empty one is omitted.
    pub(crate) fn with_query(&self, query: &str) -> Address {
        let mut parts = self.parts.clone();
        // Go keeps a trailing question mark.
        let keeps_mark = parts.query.as_deref() == Some("");
        parts.query = Some(query.to_owned()).filter(|query| keeps_mark || !query.is_empty());
        Address::of(parts)
    }

    /// The URL with its password masked, for errors.
    pub(crate) fn without_password(&self) -> String {
        match &self.parts.userinfo {
            None => self.text.to_string(),
            Some(userinfo) => match userinfo.split_once(':') {
                None => self.text.to_string(),
                Some((user, _)) => self.parts.text_with(Some(&format!("{user}:***"))),
            },
        }
    }

    /// The same address without credentials.
    pub(crate) fn without_credentials(&self) -> Address {
        let mut parts = self.parts.clone();
        parts.userinfo = None;
        Address::of(parts)
    }

    /// The host without its port.
    pub(crate) fn host(&self) -> &str {
        self.parts.host_name()
    }

    /// The path, escaped; empty if there is none.
    pub(crate) fn path(&self) -> &str {
        &self.parts.path
    }

    pub(crate) fn is_https(&self) -> bool {
        self.parts.scheme == "https"
    }

    /// Its parts.
    pub(crate) fn parts(&self) -> &Url {
        &self.parts
    }

    /// The address with these parts.
    pub(crate) fn of(parts: Url) -> Address {
        let text: Arc<str> = parts.text().into();
        let masked = match &parts.userinfo {
            None => Arc::clone(&text),
            Some(userinfo) => {
                let (mask, separator) = match userinfo.contains(':') {
                    true => ("****:****", 1),
                    false => ("****", 0),
                };
                // k6 masks as many characters as the unescaped credentials have.
                let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
                let covered = decoded(user).len() + decoded(password).len() + separator;
                let left = userinfo.get(covered..).unwrap_or_default();
                parts.text_with(Some(&format!("{mask}{left}"))).into()
            }
        };
        Address {
            given: Arc::clone(&text),
            text,
            masked,
            place: Place::of(&parts),
            credentials: parts.credentials(),
            parts,
        }
    }
}

impl Place {
    fn of(url: &Url) -> Result<Place, Unreachable> {
        let origin = Origin::of(url).map_err(|fault| match &fault {
            OriginFault::NoHost if !url.host.is_empty() && url.opaque.is_none() => Unreachable {
                tag: "lookup: no such host".to_owned(),
                ..Unreachable::new(1101, "lookup : no such host")
            },
            OriginFault::Scheme(_) | OriginFault::NoHost => {
                Unreachable::new(1000, fault.to_string())
            }
            OriginFault::Port(_) => Unreachable::new(1210, fault.to_string()),
        })?;
        Ok(Place {
            target: url.target(),
            authority: url.host.strip_suffix(':').unwrap_or(&url.host).to_owned(),
            origin: Arc::new(origin),
        })
    }
}

#[cfg(test)]
mod tests;
