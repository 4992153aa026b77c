//! Parsers for what observers read: metrics pages, responses, kernel files, paths.
//!
//! Must not know where a text comes from; nothing here opens anything. Invariant: any text gives a result or a
//! reason, never a panic.

pub mod exposition;
pub mod json_path;
pub mod lines;
pub mod placeholders;
pub mod proc;
pub mod prometheus;

use regex::{Regex, RegexBuilder};

/// Maximum bytes of a compiled pattern: nothing larger is written by hand.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// Maximum characters of foreign text in a message.
const SHOWN_MAX: usize = 120;

/// Compiles a regular expression.
///
/// # Errors
/// The expression is invalid or too large.
pub fn pattern(text: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(text)
        .size_limit(PATTERN_BYTES_MAX)
        .build();
    built.map_err(|error| {
        let error = error.to_string();
        let last = error.lines().last().unwrap_or_default().trim();
        let why = last.strip_prefix("error: ").unwrap_or(last);
        format!("{text:?} is not a regular expression (regex): {why}")
    })
}

/// Foreign text for a message: its first line, escaped and truncated.
pub(crate) fn shown(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let cut: String = line.chars().take(SHOWN_MAX).collect();
    match cut.len() < text.trim().len() {
        true => format!("{cut:?}..."),
        false => format!("{cut:?}"),
    }
}

/// A finite number.
pub(crate) fn finite(text: &str) -> Option<f64> {
    let number = text.trim().parse::<f64>().ok()?;
    number.is_finite().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_is_too_large_is_refused() {
        assert!(pattern("a{1000}{1000}").is_err());
        assert!(pattern("(").unwrap_err().contains("regular expression"));
        assert!(pattern(r"acked (\d+)").is_ok());
    }

    #[test]
    fn foreign_text_is_cut_to_a_line() {
        assert_eq!(shown("a\nb"), "\"a\"...");
        assert_eq!(shown(" a\n"), "\"a\"");
        assert!(shown(&"x".repeat(1_000)).len() < 140);
    }
}
