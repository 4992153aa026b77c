//! What is sent: requests built from templates, and how their responses are handled.
//!
//! Must not know the wire format. Invariant: a template's host is fixed; only path, query, headers and body
//! vary.

use std::path::PathBuf;
use std::sync::Arc;

use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};

use crate::secret::{redacted_field, redacted_text};
use crate::template::Template;
use crate::url::Origin;

/// Where a request's body comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum BodySource {
    /// No body.
    None,
    /// Bytes held in memory, identical for every request.
    Bytes {
        /// The bytes; results only carry their number.
        #[serde(skip)]
        bytes: Arc<[u8]>,
        /// Their number.
        length: u64,
    },
    /// Text with placeholders.
    Template {
        /// The text.
        template: Template,
    },
    /// A file that is read again for every request and sent in chunks.
    StreamFile {
        /// The file.
        path: PathBuf,
    },
    /// Bytes held in memory and sent in chunks.
    StreamBytes {
        /// The bytes; results only carry their number.
        #[serde(skip)]
        bytes: Arc<[u8]>,
        /// Their number.
        length: u64,
    },
}

impl BodySource {
    /// A body of fixed bytes; [`BodySource::None`] if there are none.
    #[must_use]
    pub fn from_bytes(bytes: Vec<u8>) -> BodySource {
        if bytes.is_empty() {
            return BodySource::None;
        }
        BodySource::Bytes {
            length: bytes.len() as u64,
            bytes: bytes.into(),
        }
    }
}

/// A request with placeholders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestTemplate {
    /// Method token.
    pub method: String,
    /// What to connect to.
    pub origin: Origin,
    /// Path and query.
    pub target: Template,
    /// Header lines in order. They contain `Host` and the body's framing only if the user set them; the engine
    /// adds what is missing.
    pub headers: Vec<HeaderTemplate>,
    /// The body.
    pub body: BodySource,
}

impl RequestTemplate {
    /// Removes secrets from its texts, for results.
    pub(crate) fn redact(&mut self) {
        self.target.redact(redacted_text);
        for line in &mut self.headers {
            line.value.redact(|text| redacted_field(&line.name, text));
        }
        if let BodySource::Template { template } = &mut self.body {
            template.redact(redacted_text);
        }
    }
}

/// One header line.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct HeaderTemplate {
    /// Field name, as it is sent.
    pub name: String,
    /// Field value; results show `***` instead of a secret ([`crate::secret`]).
    pub value: Template,
}

impl Serialize for HeaderTemplate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = redacted_field(&self.name, self.value.source());
        let mut line = serializer.serialize_struct("HeaderTemplate", 2)?;
        line.serialize_field("name", &self.name)?;
        line.serialize_field("value", &value)?;
        line.end()
    }
}

/// The order in which several requests are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestOrder {
    /// One after the other, across all virtual users.
    #[default]
    RoundRobin,
    /// Uniformly at random.
    Random,
}

/// The rules for redirects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RedirectRules {
    /// Browsers' rules: RFC 9110, section 15.4.
    #[default]
    Browsers,
    /// The rules of Go's client: every method except HEAD becomes GET after 301, 302 and 303, bodies are not
    /// sent again, and each request names the previous one as `Referer`.
    Go,
}

/// The requests of a behaviour and how their responses are handled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestMix {
    /// The requests; at least one.
    pub requests: Vec<RequestTemplate>,
    /// The order in which they are sent.
    pub order: RequestOrder,
    /// Maximum redirects to follow; zero: none.
    pub redirects_max: u32,
    /// The rules for these redirects.
    #[serde(default)]
    pub redirect_rules: RedirectRules,
    /// Whether each virtual user keeps cookies.
    pub cookies: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_stay_out_of_results() {
        let line = |name: &str| HeaderTemplate {
            name: name.to_owned(),
            value: Template::literal("v"),
        };
        let json = |name: &str| serde_json::to_string(&line(name)).expect("a line is JSON");
        assert_eq!(
            json("authorization"),
            r#"{"name":"authorization","value":"***"}"#
        );
        assert_eq!(json("X-Other"), r#"{"name":"X-Other","value":"v"}"#);
    }
}
