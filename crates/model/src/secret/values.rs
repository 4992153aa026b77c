//! Secrets whose values are known: those of a suite's variables, and those that a script asks for.
//!
//! Must not know where they come from. Invariant: a value that was added is hidden in every text that is
//! asked about afterwards.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{PoisonError, RwLock};

use super::HIDDEN;

/// Fewest bytes of a value: shorter ones would take ordinary text with them.
pub const SECRET_MIN: usize = 4;

/// Values that no text may show. Shared by whoever learns them and whoever tells.
#[derive(Debug, Default)]
pub struct SecretValues {
    /// The forms in which they may be written, the longest first.
    forms: RwLock<Vec<String>>,
}

impl SecretValues {
    /// These values.
    #[must_use]
    pub fn new(values: impl IntoIterator<Item = String>) -> SecretValues {
        let all = SecretValues::default();
        for value in values {
            all.add(&value);
        }
        all
    }

    /// One more; one of less than [`SECRET_MIN`] bytes is not hidden.
    pub fn add(&self, value: &str) {
        if value.len() < SECRET_MIN {
            return;
        }
        let mut forms = self.forms.write().unwrap_or_else(PoisonError::into_inner);
        let mut all: BTreeSet<String> = forms.drain(..).collect();
        all.extend(forms_of(value));
        forms.extend(all);
        // A value may be part of another.
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.read().is_empty()
    }

    /// The text without them.
    #[must_use]
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut hidden = Cow::Borrowed(text);
        for form in self.read().iter() {
            if hidden.contains(form.as_str()) {
                hidden = Cow::Owned(hidden.replace(form.as_str(), HIDDEN));
            }
        }
        hidden
    }

    /// Whether bytes that are no text hold one.
    #[must_use]
    pub fn are_in(&self, bytes: &[u8]) -> bool {
        let is_there = |form: &String| bytes.windows(form.len()).any(|at| at == form.as_bytes());
        self.read().iter().any(is_there)
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Vec<String>> {
        self.forms.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A value as it is, as JSON and HTML write it, and in a URL or a form.
fn forms_of(value: &str) -> BTreeSet<String> {
    let json = serde_json::Value::from(value).to_string();
    let json = json[1..json.len() - 1].to_owned();
    let html = value
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;");
    let percent: String = value.bytes().map(percent_coded).collect();
    let form = percent.replace("%20", "+");
    BTreeSet::from([value.to_owned(), json, html, percent, form])
}

fn percent_coded(byte: u8) -> String {
    match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_hidden_in_every_form() {
        let secrets = SecretValues::new(["open\"se&same".to_owned(), "abc".to_owned()]);
        for text in [
            "open\"se&same",
            "{\"a\":\"open\\\"se&same\"}",
            "<b>open&quot;se&amp;same</b>",
            "?k=open%22se%26same",
        ] {
            let hidden = secrets.hide(text);
            assert!(
                hidden.contains(HIDDEN) && !hidden.contains("same"),
                "{hidden}"
            );
        }
        assert_eq!(secrets.hide("abc"), "abc", "too short to be told from text");
        assert!(secrets.are_in(b"\xffopen\"se&same\x00"));
        assert!(!secrets.are_in(b"\xffopen"));
    }

    #[test]
    fn a_value_that_is_part_of_another_leaves_nothing_of_it() {
        let secrets = SecretValues::new(["pass".to_owned()]);
        secrets.add("password1");
        assert_eq!(secrets.hide("a password1 b pass"), "a *** b ***");
    }
}
