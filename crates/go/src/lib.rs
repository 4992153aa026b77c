//! Texts as Go's standard library reads and writes them. The tools whose place loadline takes are
//! written in Go, and people compare, grep and parse what they print.
//!
//! Source: the documentation of Go's packages `strconv`, `fmt`, `time`, `encoding/json`,
//! `net/url` and `net/textproto`, and the source of `net/http`. Must not know which tool speaks, nor what a text is for. Invariant: what is
//! written here, Go reads as the same value.

pub mod duration;
pub mod float;
pub mod header;
pub mod host;
pub mod integer;
pub mod json;
pub mod malformed;
pub mod quote;
pub mod redirect;
mod syntax;
pub mod url;

pub use duration::GoDuration;
pub use quote::quoted;

/// Go's `strconv.ParseBool`; `None` where that fails.
#[must_use]
pub fn truth(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

/// As [`truth`], for options.
///
/// # Errors
/// Go's message.
pub fn parse_bool(text: &str) -> Result<bool, String> {
    truth(text).ok_or_else(|| integer::message("ParseBool", text, integer::NumberFault::Syntax))
}

/// What the operating system says of an error, as Go writes it: in lower case, and without the number
/// that Rust's standard library puts behind it.
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
