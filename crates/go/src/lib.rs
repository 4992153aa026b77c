//! Texts as parsed and formatted by Go's standard library. The tools that loadline replaces are written in Go,
//! and people compare, grep and parse their output.
//!
//! Source: the documentation of Go's packages `strconv`, `fmt`, `time`, `encoding/json`, `net/url` and
//! `net/textproto`, and the source of `net/http`. Must not know which tool is imitated, nor the use of a text.
//! Invariant: Go parses all output to the same value.

pub mod duration;
pub mod float;
pub mod header;
pub mod host;
pub mod integer;
pub mod json;
pub mod malformed;
pub mod proxy;
pub mod quote;
pub mod redirect;
mod syntax;
pub mod url;

pub use duration::GoDuration;
pub use quote::quoted;

/// Go's `strconv.ParseBool`; `None` if it fails.
#[must_use]
pub fn truth(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

/// Like [`truth`], for options.
///
/// # Errors
/// Go's message.
pub fn parse_bool(text: &str) -> Result<bool, String> {
    truth(text).ok_or_else(|| integer::message("ParseBool", text, integer::NumberFault::Syntax))
}

/// The operating system's message for an error in Go's format: in lower case, and without the number that
/// Rust's standard library appends.
#[must_use]
pub fn errno(message: &str) -> String {
    let words = message.split(" (os error").next().unwrap_or(message);
    words.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truths_have_a_few_spellings() {
        assert_eq!([truth("T"), truth("0")], [Some(true), Some(false)]);
        assert_eq!([truth("yes"), truth("")], [None, None]);
        assert_eq!(
            parse_bool("yes").expect_err("no truth"),
            "strconv.ParseBool: parsing \"yes\": invalid syntax"
        );
    }

    #[test]
    fn errors_of_the_system_lose_their_number() {
        assert_eq!(
            errno("Connection refused (os error 111)"),
            "connection refused"
        );
    }
}
