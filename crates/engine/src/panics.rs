//! The message of a panic, for reports.
//!
//! Must not know what panicked. Invariant: the message is never empty.

use std::any::Any;

/// The message of a caught panic.
#[must_use]
pub fn words_of(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("without a word")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found() {
        for (panic, words) in [
            (Box::new("plain") as Box<dyn Any + Send>, "plain"),
            (Box::new("made".to_owned()), "made"),
            (Box::new(7), "without a word"),
        ] {
            assert_eq!(words_of(&*panic), words);
        }
    }
}
