//! A virtual user's cookies; the rules (RFC 6265) are implemented by the `cookie_store` crate.
//!
//! Must not know requests. Invariant: a cookie is only sent where its rules allow.

use cookie_store::CookieStore;
use loadline_model::url::Origin;
use url::Url;

/// The cookies of one virtual user.
#[derive(Default)]
pub(crate) struct Cookies {
    store: CookieStore,
}

impl Cookies {
    /// The value of the Cookie header for a request; `None` without cookies.
    pub(crate) fn for_request(&self, origin: &Origin, target: &str) -> Option<String> {
        let url = url_of(origin, target)?;
        let mut pairs: Vec<String> = self
            .store
            .get_request_values(&url)
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        pairs.sort();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }

    /// Stores the cookies of a response's Set-Cookie fields.
    pub(crate) fn take(&mut self, origin: &Origin, target: &str, fields: &[String]) {
        let Some(url) = url_of(origin, target) else {
            return;
        };
        for field in fields {
            // A cookie that breaks the rules is ignored, as browsers do: also one with a control
            // byte (RFC 6265bis section 5.6), which no request could give back.
            if !field.bytes().any(is_control) {
                drop(self.store.parse(field, &url));
            }
        }
    }
}

fn is_control(byte: u8) -> bool {
    (byte < b' ' && byte != b'\t') || byte == 0x7f
}

fn url_of(origin: &Origin, target: &str) -> Option<Url> {
    Url::parse(&format!("{origin}{target}")).ok()
}

#[cfg(test)]
mod tests {
    use loadline_model::url::parse;

    use super::*;

    #[test]
    fn cookies_go_back_to_whom_they_came_from() {
        let mut cookies = Cookies::default();
        let here = parse("http://example.org/a").expect("a good URL").origin;
        let there = parse("http://example.com/").expect("a good URL").origin;
        cookies.take(&here, "/a", &["b=2; Path=/".to_owned(), "a=1".to_owned()]);
        assert_eq!(
            cookies.for_request(&here, "/a").as_deref(),
            Some("a=1; b=2")
        );
        assert_eq!(cookies.for_request(&there, "/"), None);
    }

    #[test]
    fn a_cookie_that_no_request_could_carry_is_not_kept() {
        let mut cookies = Cookies::default();
        let here = parse("http://example.org/").expect("a good URL").origin;
        for field in ["a=1\u{1}", "a\u{7f}=1", "a=1; Path=/\u{b}"] {
            cookies.take(&here, "/", &[field.to_owned()]);
        }
        assert_eq!(cookies.for_request(&here, "/"), None);
    }
}
