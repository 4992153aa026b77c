//! The section for remote write in k6's JSON file of options: `collectors["experimental-prometheus-rw"]`.
//!
//! Must not know files or variables. Source of the keys and their types: k6 v2.2.0, whose keys are
//! case-insensitive, as in Go. Invariant: a setting has the name of its variable, without the prefix.

use std::collections::BTreeMap;

use serde_json::Value;

/// How a key's value is written.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Truth,
    /// A duration, or a number of milliseconds.
    Span,
    /// A list of texts.
    List,
}

/// Keys, the settings that they stand for, and their types.
const KEYS: [(&str, &str, Kind); 14] = [
    ("url", "SERVER_URL", Kind::Text),
    (
        "insecureSkipTLSVerify",
        "INSECURE_SKIP_TLS_VERIFY",
        Kind::Truth,
    ),
    ("username", "USERNAME", Kind::Text),
    ("password", "PASSWORD", Kind::Text),
    ("clientCertificate", "CLIENT_CERTIFICATE", Kind::Text),
    ("clientCertificateKey", "CLIENT_CERTIFICATE_KEY", Kind::Text),
    ("bearerToken", "BEARER_TOKEN", Kind::Text),
    ("pushInterval", "PUSH_INTERVAL", Kind::Span),
    (
        "trendAsNativeHistogram",
        "TREND_AS_NATIVE_HISTOGRAM",
        Kind::Truth,
    ),
    ("trendStats", "TREND_STATS", Kind::List),
    ("staleMarkers", "STALE_MARKERS", Kind::Truth),
    ("sigV4Region", "SIGV4_REGION", Kind::Text),
    ("sigV4AccessKey", "SIGV4_ACCESS_KEY", Kind::Text),
    ("sigV4SecretKey", "SIGV4_SECRET_KEY", Kind::Text),
];
const HEADERS: &str = "headers";

/// The settings of the section.
#[derive(Debug, Default)]
pub(super) struct Section {
    /// By name: the key and the value in the form of a variable.
    words: BTreeMap<&'static str, (&'static str, String)>,
    pub(super) headers: Vec<(String, String)>,
}

impl Section {
    /// Parses the section. Unknown keys are ignored, as in k6.
    ///
    /// # Errors
    /// A value that the key does not allow; the message names the key, and shows no value.
    pub(super) fn read(section: &Value) -> Result<Section, String> {
        let mut read = Section::default();
        let keys = match section {
            Value::Null => return Ok(read),
            Value::Object(keys) => keys,
            _ => return Err("the section must be an object".to_owned()),
        };
        for (key, value) in keys.iter().filter(|(_, value)| !value.is_null()) {
            if key.eq_ignore_ascii_case(HEADERS) {
                read.headers = headers(value)?;
                continue;
            }
            let known = KEYS
                .iter()
                .find(|(known, ..)| key.eq_ignore_ascii_case(known));
            let Some((key, name, kind)) = known else {
                continue;
            };
            let word = kind.word(value).map_err(|why| format!("{key} {why}"))?;
            read.words.insert(name, (key, word));
        }
        Ok(read)
    }

    /// A setting in the form of its variable, and its key; `None`: it is unset or empty.
    pub(super) fn get(&self, name: &str) -> Option<(&'static str, &str)> {
        let (key, word) = self.words.get(name)?;
        (!word.is_empty()).then_some((*key, word.as_str()))
    }
}

impl Kind {
    fn word(self, value: &Value) -> Result<String, &'static str> {
        match (self, value) {
            (Kind::Text | Kind::Span, Value::String(text)) => Ok(text.clone()),
            (Kind::Truth, Value::Bool(truth)) => Ok(truth.to_string()),
            (Kind::Span, Value::Number(ms)) => Ok(format!("{ms}ms")),
            (Kind::List, Value::Array(items)) => {
                let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
                let texts = texts.ok_or("must be a list of texts")?;
                Ok(texts.join(","))
            }
            (Kind::Text, _) => Err("must be a text"),
            (Kind::Truth, _) => Err("must be true or false"),
            (Kind::Span, _) => {
                Err("must be a duration such as \"5s\", or a number of milliseconds")
            }
            (Kind::List, _) => Err("must be a list of texts"),
        }
    }
}

fn headers(value: &Value) -> Result<Vec<(String, String)>, String> {
    let wrong = || format!("{HEADERS} must be an object of texts");
    let pairs = value.as_object().ok_or_else(wrong)?.iter();
    pairs
        .map(|(name, value)| {
            let value = value.as_str().ok_or_else(wrong)?;
            Ok((name.clone(), value.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_stand_for_settings() {
        let section = Section::read(&json!({
            "URL": "http://h/w",
            "pushInterval": 1500,
            "trendStats": ["avg", "p(90)"],
            "staleMarkers": true,
            "bearerToken": null,
            "username": "",
            "headers": { "X-A": "a:b,c" },
            "unknown": { "is": "left out" },
        }));
        let section = section.expect("it can be read");
        assert_eq!(section.get("SERVER_URL"), Some(("url", "http://h/w")));
        assert_eq!(
            section.get("PUSH_INTERVAL"),
            Some(("pushInterval", "1500ms"))
        );
        assert_eq!(
            section.get("TREND_STATS"),
            Some(("trendStats", "avg,p(90)"))
        );
        assert_eq!(section.get("STALE_MARKERS"), Some(("staleMarkers", "true")));
        assert_eq!(section.get("BEARER_TOKEN"), None);
        assert_eq!(section.get("USERNAME"), None);
        assert_eq!(section.headers, [("X-A".to_owned(), "a:b,c".to_owned())]);
        assert!(Section::read(&Value::Null).is_ok());
    }

    #[test]
    fn what_a_key_does_not_take_is_refused_by_its_name() {
        for (section, name) in [
            (json!([]), "object"),
            (json!({ "url": 5 }), "url"),
            (json!({ "staleMarkers": "yes" }), "staleMarkers"),
            (json!({ "trendStats": "avg" }), "trendStats"),
            (json!({ "trendStats": [1] }), "trendStats"),
            (json!({ "pushInterval": true }), "pushInterval"),
            (json!({ "headers": { "secret": 5 } }), "headers"),
            (json!({ "headers": [] }), "headers"),
        ] {
            let why = Section::read(&section).expect_err("it is refused");
            assert!(why.contains(name) && !why.contains("secret"), "{why}");
        }
    }
}
