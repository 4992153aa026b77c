//! A text in a small language of options, read from left to right, and the place where it goes wrong.
//!
//! Must not know any of these languages. Invariant: what has been read ends between two characters.

use std::fmt;

/// A text, and how far it has been read.
#[derive(Clone, Debug)]
pub struct TextReader<'t> {
    text: &'t str,
    at: usize,
}

/// Why a text is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// The column where it goes wrong, from 1.
    pub column: usize,
    /// What is wrong there, and what could stand there instead.
    pub why: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.why)
    }
}

impl std::error::Error for TextError {}

impl<'t> TextReader<'t> {
    /// A text of which nothing has been read.
    #[must_use]
    pub fn new(text: &'t str) -> TextReader<'t> {
        TextReader { text, at: 0 }
    }

    /// The bytes that have been read, as the place of an error that is found later.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// What has not been read.
    #[must_use]
    pub fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Reads the longest beginning of the rest whose characters are all accepted; it may be empty.
    pub fn take(&mut self, accepts: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        self.take_bytes(rest.find(|c| !accepts(c)).unwrap_or(rest.len()))
    }

    /// Reads so many bytes, which end between two characters.
    pub fn take_bytes(&mut self, bytes: usize) -> &'t str {
        let (taken, _) = self.rest().split_at(bytes);
        self.at += bytes;
        taken
    }

    /// Reads a word if it comes next; returns whether it did.
    pub fn takes(&mut self, word: &str) -> bool {
        let is_next = self.rest().starts_with(word);
        if is_next {
            self.at += word.len();
        }
        is_next
    }

    /// Reads spaces and tabs.
    pub fn skip_blanks(&mut self) {
        self.take(|c| c == ' ' || c == '\t');
    }

    /// An error at what comes next.
    #[must_use]
    pub fn error(&self, why: impl Into<String>) -> TextError {
        self.error_at(self.at, why)
    }

    /// An error at an earlier place, from [`TextReader::at`].
    #[must_use]
    pub fn error_at(&self, at: usize, why: impl Into<String>) -> TextError {
        TextError {
            column: self.text[..at].chars().count() + 1,
            why: why.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_counts_characters() {
        let mut reader = TextReader::new("µs \t<5");
        assert_eq!(reader.take(char::is_alphabetic), "µs");
        let at = reader.at();
        reader.skip_blanks();
        assert!(!reader.takes(">") && reader.takes("<"));
        assert_eq!(reader.rest(), "5");
        assert_eq!(reader.error_at(at, "a").to_string(), "column 3: a");
        assert_eq!(reader.error("b").to_string(), "column 6: b");
    }
}
