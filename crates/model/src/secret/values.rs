//! Secrets whose values are known: a suite's variables, and secrets that a script requests.
//!
//! Must not know where they come from. Invariant: an added value is hidden in every text processed afterwards.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use loadline_go::url::escaped_bytes;

use super::HIDDEN;
use crate::markup::escaped;

/// Minimum bytes of a value: hiding shorter ones would damage ordinary text.
pub const SECRET_MIN: usize = 4;

/// Punctuation that the ways of URL encoding leave unescaped: RFC 3986's unreserved characters, those of
/// `encodeURIComponent`, of forms, and of Go's paths (original and re-encoded).
const UNESCAPED: [&[u8]; 5] = [
    b"-._~",
    b"-._~!'()*",
    b"-._*",
    b"-._~!$&'()*+,;=:@[]/%",
    b"-._~$&+,/:;=@",
];

/// Values that must not appear in any text. Shared by code that learns them and code that writes texts.
#[derive(Debug)]
pub struct SecretValues {
    /// Whether there are any: most runs have none, and this is checked for every line.
    any: AtomicBool,
    /// The forms in which they may be written, longest first: a value may be part of another.
    forms: RwLock<Vec<String>>,
    /// The replacement.
    mark: &'static str,
    /// Minimum bytes of a value.
    bytes_min: usize,
}

impl Default for SecretValues {
    /// An empty set; values of at least [`SECRET_MIN`] bytes will be replaced by [`HIDDEN`].
    fn default() -> SecretValues {
        SecretValues::marked(HIDDEN, SECRET_MIN)
    }
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

    /// An empty set; `mark` will replace values that have at least `bytes_min` bytes and are not blank.
    #[must_use]
    pub fn marked(mark: &'static str, bytes_min: usize) -> SecretValues {
        SecretValues {
            any: AtomicBool::new(false),
            forms: RwLock::default(),
            mark,
            bytes_min,
        }
    }

    /// Adds a value. One that is too short or blank is not hidden, since hardly any text would be left.
    pub fn add(&self, value: &str) {
        if value.len() < self.bytes_min || value.trim().is_empty() {
            return;
        }
        let mut forms = self.forms.write().unwrap_or_else(PoisonError::into_inner);
        let mut all: BTreeSet<String> = forms.drain(..).collect();
        all.extend(forms_of(value));
        forms.extend(all);
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        self.any.store(true, Ordering::Release);
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.any.load(Ordering::Acquire)
    }

    /// Hides the values in a text; if several start at the same position, the longest is hidden.
    #[must_use]
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        let forms = self.read();
        let mut found: Vec<(usize, &str)> = forms
            .iter()
            .filter_map(|form| Some((text.find(form)?, form.as_str())))
            .collect();
        let mut hidden = String::new();
        let mut kept = 0;
        // Among equals `min_by_key` returns the first, which is the longest.
        while let Some((at, form)) = found.iter().min_by_key(|(at, _)| *at).copied() {
            hidden.push_str(&text[kept..at]);
            hidden.push_str(self.mark);
            kept = at + form.len();
            found.retain_mut(|(at, form)| {
                if *at < kept {
                    let next = text[kept..].find(*form);
                    *at = next.map_or(usize::MAX, |next| kept + next);
                }
                *at != usize::MAX
            });
        }
        match kept {
            0 => Cow::Borrowed(text),
            _ => Cow::Owned(hidden + &text[kept..]),
        }
    }

    /// Whether binary data contains one of them.
    #[must_use]
    pub fn are_in(&self, bytes: &[u8]) -> bool {
        let is_there = |form: &String| bytes.windows(form.len()).any(|at| at == form.as_bytes());
        self.read().iter().any(is_there)
    }

    fn read(&self) -> RwLockReadGuard<'_, Vec<String>> {
        self.forms.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A value as it is, as JSON and markup escape it, and as it appears in a URL or a form.
fn forms_of(value: &str) -> BTreeSet<String> {
    let json = serde_json::Value::from(value).to_string();
    let json = json[1..json.len() - 1].to_owned();
    let mut forms = BTreeSet::from([value.to_owned(), json, escaped(value)]);
    for unescaped in UNESCAPED {
        let percent = escaped_bytes(value.as_bytes(), |byte| {
            byte.is_ascii_alphanumeric() || unescaped.contains(&byte)
        });
        forms.insert(percent.replace("%20", "+"));
        forms.insert(percent);
    }
    forms
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
            escaped("<b>open\"se&same</b>").as_str(),
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

    #[test]
    fn what_scripts_send_is_hidden_as_urls_and_forms_spell_it() {
        let secrets = SecretValues::marked("<hidden>", 1);
        secrets.add(" ");
        assert!(secrets.is_empty(), "no text would be left");
        secrets.add("p w/\"é");
        let text = r#"p w/"é p%20w/%22%C3%A9 p%20w%2F%22%C3%A9 p+w%2F%22%C3%A9 p w/\"é"#;
        assert_eq!(secrets.hide(text), ["<hidden>"; 5].join(" "));
        secrets.add("p w");
        secrets.add("hidden");
        assert_eq!(
            secrets.hide("p w/\"é and p w, hidden"),
            "<hidden> and <hidden>, <hidden>",
            "what is hidden is not looked through again"
        );
    }
}
