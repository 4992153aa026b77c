//! A request as endpoints see it: parts decoded, body complete.
//!
//! It must not know connections. Invariant: `path` starts with `/` and is still percent-encoded; `query` is
//! decoded and in the order of the URL.

use bytes::Bytes;
use http::header::{AUTHORIZATION, HOST};
use http::{HeaderMap, Method};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// A whole request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) path: String,
    /// The query as it came, without `?`; `None` when the URL had none.
    pub(crate) query_text: Option<String>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) peer: IpAddr,
    pub(crate) secure: bool,
}

impl Request {
    /// The first value of a query parameter.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// A query parameter parsed; `default` when absent.
    ///
    /// # Errors
    /// Names the parameter and its text.
    pub(crate) fn query_or<T: std::str::FromStr>(
        &self,
        name: &str,
        default: T,
    ) -> Result<T, String> {
        match self.query(name) {
            None => Ok(default),
            Some(text) => text
                .parse()
                .map_err(|_| format!("invalid {name}: {text:?}")),
        }
    }

    /// The first value of a header, when it is text.
    pub(crate) fn header(&self, name: impl http::header::AsHeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The host that the client named.
    pub(crate) fn host(&self) -> &str {
        self.header(HOST).unwrap_or("localhost")
    }

    /// Scheme and host; a proxy's `X-Forwarded-Proto` is believed.
    pub(crate) fn base_url(&self) -> String {
        let forwarded = self
            .header("x-forwarded-proto")
            .filter(|proto| *proto == "https");
        let secure = self.secure || forwarded.is_some();
        format!(
            "{}://{}",
            if secure { "https" } else { "http" },
            self.host()
        )
    }

    /// The URL that the client asked for.
    pub(crate) fn url(&self) -> String {
        let mut url = self.base_url() + &self.path;
        if let Some(query) = &self.query_text {
            url.push('?');
            url.push_str(query);
        }
        url
    }

    /// The client's address; the first of `X-Forwarded-For` where a proxy set it.
    pub(crate) fn origin(&self) -> String {
        let forwarded = self
            .header("x-forwarded-for")
            .and_then(|list| list.split(',').next());
        forwarded.map_or_else(|| self.peer.to_string(), |first| first.trim().to_owned())
    }

    /// User and password of basic authorization (RFC 7617).
    pub(crate) fn basic_auth(&self) -> Option<(String, String)> {
        use base64::Engine as _;
        let value = self.header(AUTHORIZATION)?.strip_prefix("Basic ")?;
        let raw = base64::engine::general_purpose::STANDARD
            .decode(value.trim())
            .ok()?;
        let text = String::from_utf8(raw).ok()?;
        let (user, password) = text.split_once(':')?;
        Some((user.to_owned(), password.to_owned()))
    }

    /// The cookies that the client sent, in order.
    pub(crate) fn cookies(&self) -> Vec<(String, String)> {
        let lines = self.headers.get_all(http::header::COOKIE);
        let pairs = lines
            .iter()
            .filter_map(|line| line.to_str().ok())
            .flat_map(|l| l.split(';'));
        let split = pairs.filter_map(|pair| pair.trim().split_once('='));
        split
            .map(|(name, value)| (name.to_owned(), value.trim_matches('"').to_owned()))
            .collect()
    }

    /// The query as `{"name": ["value", …]}`, names sorted.
    pub(crate) fn args_json(&self) -> Value {
        multimap(self.query.iter().cloned())
    }

    /// The headers as `{"Name": ["value", …]}`, names sorted and capitalised.
    pub(crate) fn headers_json(&self) -> Value {
        multimap(self.headers.iter().map(|(name, value)| {
            (
                title_case(name.as_str()),
                String::from_utf8_lossy(value.as_bytes()).into_owned(),
            )
        }))
    }
}

/// Groups values by name, names sorted.
pub(crate) fn multimap(pairs: impl Iterator<Item = (String, String)>) -> Value {
    let mut grouped: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (name, value) in pairs {
        grouped.entry(name).or_default().push(Value::String(value));
    }
    Value::Object(
        grouped
            .into_iter()
            .map(|(k, v)| (k, Value::Array(v)))
            .collect::<Map<_, _>>(),
    )
}

/// `x-more-info` as `X-More-Info`.
pub(crate) fn title_case(name: &str) -> String {
    let mut start = true;
    name.chars()
        .map(|c| {
            let shown = if start { c.to_ascii_uppercase() } else { c };
            start = c == '-';
            shown
        })
        .collect()
}

/// Decodes `a=1&b=2` (application/x-www-form-urlencoded); bytes that are no UTF-8 are replaced.
pub(crate) fn parse_query(text: &str) -> Vec<(String, String)> {
    text.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (
                percent_decode(&name.replace('+', " ")),
                percent_decode(&value.replace('+', " ")),
            )
        })
        .collect()
}

/// Decodes `%41`; a `%` that starts no escape stays as it is.
pub(crate) fn percent_decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn queries_are_decoded_in_order() {
        let pairs = parse_query("a=1&a=2&b&c=x%20y+z&%41=%zz&&d=%e2%82%ac");
        let expected = [
            ("a", "1"),
            ("a", "2"),
            ("b", ""),
            ("c", "x y z"),
            ("A", "%zz"),
            ("d", "\u{20ac}"),
        ];
        assert_eq!(pairs, expected.map(|(k, v)| (k.to_owned(), v.to_owned())));
    }

    #[test]
    fn header_names_are_capitalised() {
        assert_eq!(title_case("x-more-info"), "X-More-Info");
        assert_eq!(title_case("host"), "Host");
    }

    proptest! {
        #[test]
        fn decoding_takes_any_text(text in "\\PC*") {
            percent_decode(&text);
            parse_query(&text);
        }

        #[test]
        fn decoding_reverses_encoding(raw in "\\PC{0,40}") {
            let encoded: String = raw.bytes().map(|b| format!("%{b:02x}")).collect();
            prop_assert_eq!(percent_decode(&encoded), raw);
        }
    }
}
