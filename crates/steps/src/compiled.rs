//! A text of a plan, and a value compiled from it: a pattern, a path, a query.
//!
//! Must not know the compiled value. Invariant: the same text is not compiled twice in a row.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::scope::Scope;
use crate::text::Text;

/// A text of a plan, and a value compiled from it.
pub struct Compiled<T> {
    text: Text,
    constant: OnceLock<Arc<T>>,
    latest: Mutex<Option<(String, Arc<T>)>>,
}

impl<T> Compiled<T> {
    /// A text that is not compiled yet.
    #[must_use]
    pub fn new(text: Text) -> Compiled<T> {
        Compiled {
            text,
            constant: OnceLock::new(),
            latest: Mutex::new(None),
        }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// The current value of the text, and the value that `make` compiles from it.
    pub(crate) fn get(
        &self,
        scope: &mut Scope<'_>,
        make: impl FnOnce(&str) -> T,
    ) -> (Cow<'_, str>, Arc<T>) {
        if let Some(text) = self.text.constant() {
            let made = self.constant.get_or_init(|| Arc::new(make(text)));
            return (Cow::Borrowed(text), Arc::clone(made));
        }
        let value = self.text.evaluate(scope);
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((source, made)) = &*latest
            && *source == value
        {
            return (value, Arc::clone(made));
        }
        let made = Arc::new(make(&value));
        *latest = Some((value.clone().into_owned(), Arc::clone(&made)));
        (value, made)
    }
}

impl<T> Default for Compiled<T> {
    fn default() -> Compiled<T> {
        Compiled::new(Text::default())
    }
}

impl<T> From<Text> for Compiled<T> {
    fn from(text: Text) -> Compiled<T> {
        Compiled::new(text)
    }
}

impl<T> Clone for Compiled<T> {
    fn clone(&self) -> Compiled<T> {
        Compiled::new(self.text.clone())
    }
}

impl<T> fmt::Debug for Compiled<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(formatter)
    }
}
