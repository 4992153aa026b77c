//! Secrets of a script: where they come from, and which were handed out.
//!
//! Whoever writes down what a script did asks [`Secrets::redacted`] for the text to write. Must not
//! know how sources are named on a command line. Invariant: a secret is redacted before the script
//! has it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use loadline_go::quoted;
use serde_json::Value;

use loadline_go::url::in_path;

/// What stands in place of a secret; k6's words.
const REDACTED: &str = "***SECRET_REDACTED***";

/// One source's secrets by name.
pub type SecretSource = BTreeMap<String, String>;

/// Secrets of a script: where they come from, and which were handed out.
#[derive(Debug, Default)]
pub struct Secrets {
    sources: BTreeMap<String, Arc<SecretSource>>,
    any: AtomicBool,
    /// Texts to redact, in the order in which they became known.
    handed_out: RwLock<Vec<String>>,
}

impl Secrets {
    /// Secrets of these sources; the one named `default` is asked where the script names none.
    #[must_use]
    pub fn new(sources: BTreeMap<String, Arc<SecretSource>>) -> Secrets {
        Secrets {
            sources,
            ..Secrets::default()
        }
    }

    /// Hands a secret out.
    ///
    /// # Errors
    /// In k6's words: there is no such source, or no such secret in it.
    pub fn get(&self, source: &str, name: &str) -> Result<&str, String> {
        if self.sources.is_empty() {
            return Err("no secret sources are configured".to_owned());
        }
        let Some(secrets) = self.sources.get(source) else {
            let name = quoted(source);
            return Err(format!("no secret source with name {name} is configured"));
        };
        let secret = secrets.get(name).ok_or("no value")?;
        self.note(secret);
        Ok(secret)
    }

    /// A text without the secrets that were handed out, whether they stand in it as they are or as
    /// a URL or a JSON text spells them.
    #[must_use]
    pub fn redacted<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !self.any.load(Ordering::Acquire) {
            return Cow::Borrowed(text);
        }
        let secrets = self.handed_out.read();
        without(text, &secrets.unwrap_or_else(PoisonError::into_inner))
    }

    /// Secrets of nothing but white space are let be: no text would be left.
    fn note(&self, secret: &str) {
        if secret.trim().is_empty() {
            return;
        }
        let mut secrets = self.handed_out.write();
        let secrets = secrets
            .as_mut()
            .unwrap_or_else(|poisoned| poisoned.get_mut());
        for spelling in spellings(secret) {
            if !secrets.contains(&spelling) {
                secrets.push(spelling);
            }
        }
        self.any.store(true, Ordering::Release);
    }
}

/// The secret, and how URLs, forms, `encodeURIComponent` and JSON spell it.
fn spellings(secret: &str) -> [String; 6] {
    let in_form: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let in_query = in_form.replace('+', "%20");
    let as_component = UNESCAPED
        .iter()
        .fold(in_query.clone(), |text, (escape, plain)| {
            text.replace(escape, plain)
        });
    let in_json = Value::from(secret).to_string();
    let in_json = in_json[1..in_json.len() - 1].to_owned();
    [
        secret.to_owned(),
        in_path(secret),
        in_form,
        in_query,
        as_component,
        in_json,
    ]
}

/// What forms escape and `encodeURIComponent` does not.
const UNESCAPED: [(&str, &str); 5] = [
    ("%21", "!"),
    ("%27", "'"),
    ("%28", "("),
    ("%29", ")"),
    ("%7E", "~"),
];

/// Where several could be replaced at one place, it is the one that was known first, as in k6.
fn without<'a>(text: &'a str, secrets: &[String]) -> Cow<'a, str> {
    let first_in = |rest: &str| {
        let found = secrets.iter().filter_map(|secret| {
            let at = rest.find(secret.as_str())?;
            Some((at, secret.len()))
        });
        found.reduce(|first, other| if other.0 < first.0 { other } else { first })
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some((at, length)) = first_in(rest) {
        out.push_str(&rest[..at]);
        out.push_str(REDACTED);
        rest = &rest[at + length..];
    }
    match out.is_empty() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(out + rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(values: &[(&str, &str)]) -> Secrets {
        let source = values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let source = Arc::new(source.collect());
        Secrets::new(BTreeMap::from([("default".to_owned(), source)]))
    }

    #[test]
    fn what_was_handed_out_is_redacted_in_all_its_spellings() {
        let secrets = secrets(&[("a", "p w/\"é"), ("b", "p w"), ("blank", " ")]);
        let text = r#"p w/"é p%20w/%22%C3%A9 p%20w%2F%22%C3%A9 p+w%2F%22%C3%A9 p w/\"é"#;
        assert_eq!(secrets.redacted(text), text);
        assert_eq!(secrets.get("default", "blank"), Ok(" "));
        assert_eq!(secrets.redacted(text), text);
        assert_eq!(secrets.get("default", "a"), Ok("p w/\"é"));
        let hidden = [REDACTED; 5].join(" ");
        assert_eq!(secrets.redacted(text), hidden);
        // The longer one was known first.
        assert_eq!(secrets.get("default", "b"), Ok("p w"));
        assert_eq!(
            secrets.redacted("p w/\"é and p w"),
            format!("{REDACTED} and {REDACTED}")
        );
    }

    #[test]
    fn what_is_not_there_is_told_in_k6s_words() {
        let known = secrets(&[("a", "1")]);
        assert_eq!(known.get("default", "b"), Err("no value".to_owned()));
        assert_eq!(
            known.get("x\"y", "b"),
            Err("no secret source with name \"x\\\"y\" is configured".to_owned())
        );
        assert_eq!(
            Secrets::default().get("default", "a"),
            Err("no secret sources are configured".to_owned())
        );
    }
}
