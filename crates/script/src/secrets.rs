//! Secrets of a script: their sources, and which were handed out.
//!
//! Code that records what a script did uses the text from [`Secrets::redacted`]. Must not know how sources are
//! named on a command line. Invariant: a secret is redacted before the script gets it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use loadline_go::quoted;
use loadline_model::secret::SecretValues;

/// Replaces a secret; k6's words.
const REDACTED: &str = "***SECRET_REDACTED***";

/// One source's secrets by name.
pub type SecretSource = BTreeMap<String, String>;

/// Secrets of a script: their sources, and which were handed out.
#[derive(Debug)]
pub struct Secrets {
    sources: BTreeMap<String, Arc<SecretSource>>,
    handed_out: SecretValues,
}

impl Default for Secrets {
    fn default() -> Secrets {
        Secrets::new(BTreeMap::new())
    }
}

impl Secrets {
    /// Secrets of these sources; the one named `default` is used if the script names none.
    #[must_use]
    pub fn new(sources: BTreeMap<String, Arc<SecretSource>>) -> Secrets {
        Secrets {
            sources,
            // As in k6, which redacts even a single letter.
            handed_out: SecretValues::marked(REDACTED, 1),
        }
    }

    /// Hands out a secret.
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
        self.handed_out.add(secret);
        Ok(secret)
    }

    /// A text with all handed-out secrets redacted, whether written plainly or encoded as in a URL or a JSON
    /// text.
    #[must_use]
    pub fn redacted<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.handed_out.hide(text)
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
    fn what_was_handed_out_is_redacted() {
        let secrets = secrets(&[("a", "p w"), ("blank", " ")]);
        assert_eq!(secrets.redacted("a p w b"), "a p w b");
        assert_eq!(secrets.get("default", "blank"), Ok(" "));
        assert_eq!(secrets.get("default", "a"), Ok("p w"));
        assert_eq!(
            secrets.redacted("a p w b p%20w"),
            format!("a {REDACTED} b {REDACTED}")
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
