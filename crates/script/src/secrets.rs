//! Secrets of a script: where they come from, and which were handed out.
//!
//! Whoever writes down what a script did asks [`Secrets::redacted`] for the text to write. Must not
//! know how sources are named on a command line. Invariant: a secret is redacted before the script
//! has it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use loadline_go::quoted;
use loadline_model::secret::SecretValues;

/// What stands in place of a secret; k6's words.
const REDACTED: &str = "***SECRET_REDACTED***";

/// One source's secrets by name.
pub type SecretSource = BTreeMap<String, String>;

/// Secrets of a script: where they come from, and which were handed out.
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
    /// Secrets of these sources; the one named `default` is asked where the script names none.
    #[must_use]
    pub fn new(sources: BTreeMap<String, Arc<SecretSource>>) -> Secrets {
        Secrets {
            sources,
            // As k6, which hides a single letter too.
            handed_out: SecretValues::marked(REDACTED, 1),
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
        self.handed_out.add(secret);
        Ok(secret)
    }

    /// A text without the secrets that were handed out, whether they stand in it as they are or as
    /// a URL or a JSON text spells them.
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
