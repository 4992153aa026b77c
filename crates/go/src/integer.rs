//! Integers as parsed by Go's `strconv`.
//!
//! Must not know flags or options. Invariant: texts that Go refuses are refused, for the same reason.

use std::fmt;
use std::num::IntErrorKind::{NegOverflow, PosOverflow};
use std::num::ParseIntError;

use crate::quote::quoted;
use crate::syntax::{split_base, split_sign, without_underscores};

/// Why a text is not a number, in Go's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberFault {
    /// The syntax is invalid.
    Syntax,
    /// It does not fit in 64 bits.
    Range,
}

impl fmt::Display for NumberFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NumberFault::Syntax => "invalid syntax",
            NumberFault::Range => "value out of range",
        })
    }
}

/// Parses decimal digits with or without a sign: `ParseInt` with base 10.
///
/// # Errors
/// Go's message.
pub fn parse_int(text: &str) -> Result<i64, String> {
    text.parse().map_err(|error| told("ParseInt", text, &error))
}

/// Parses decimal digits without a sign: `ParseUint` with base 10.
///
/// # Errors
/// Go's message.
pub fn parse_uint(text: &str) -> Result<u64, String> {
    if text.starts_with('+') {
        return Err(message("ParseUint", text, NumberFault::Syntax));
    }
    text.parse()
        .map_err(|error| told("ParseUint", text, &error))
}

fn told(function: &str, text: &str, error: &ParseIntError) -> String {
    let fault = match error.kind() {
        PosOverflow | NegOverflow => NumberFault::Range,
        _ => NumberFault::Syntax,
    };
    message(function, text, fault)
}

/// Go's error message when a function of `strconv` refuses a text.
#[must_use]
pub fn message(function: &str, text: &str, fault: NumberFault) -> String {
    format!("strconv.{function}: parsing {}: {fault}", quoted(text))
}

/// Parses an integer literal of Go, including `0x1F`, `0o17`, `017`, `0b101` and `1_000`: `ParseInt` with base
/// 0.
///
/// # Errors
/// The fault of the text.
pub fn parse_literal(text: &str) -> Result<i64, NumberFault> {
    let (negative, digits) = split_sign(text);
    let lower = digits.to_ascii_lowercase();
    let (base, rest) = split_base(&lower);
    let body = without_underscores(rest, base != 10).ok_or(NumberFault::Syntax)?;
    if body.is_empty() || !body.chars().all(|c| c.is_digit(base)) {
        return Err(NumberFault::Syntax);
    }
    let magnitude = i128::from_str_radix(&body, base).map_err(|_| NumberFault::Range)?;
    let value = if negative { -magnitude } else { magnitude };
    i64::try_from(value).map_err(|_| NumberFault::Range)
}

/// [`parse_literal`] with Go's message, as in Go's flags for integers.
///
/// # Errors
/// Go's message.
pub fn parse_int_literal(text: &str) -> Result<i64, String> {
    parse_literal(text).map_err(|fault| message("ParseInt", text, fault))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_read_as_in_go() {
        for (text, number) in [
            ("0x1F", 31),
            ("017", 15),
            ("0b101", 5),
            ("0o17", 15),
            ("1_000", 1000),
            ("0_7", 7),
            ("0x_f", 15),
            ("0", 0),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(parse_literal(text), Ok(number), "{text}");
        }
        for text in ["1_", "_1", "1__0", "0x", "08", "", "-", "+-1", "1.5", "x"] {
            assert_eq!(parse_literal(text), Err(NumberFault::Syntax), "{text}");
        }
        assert_eq!(
            parse_literal("9223372036854775808"),
            Err(NumberFault::Range)
        );
    }

    #[test]
    fn decimal_numbers_are_refused_in_gos_words() {
        assert_eq!(parse_int("+5"), Ok(5));
        assert_eq!(parse_uint("5"), Ok(5));
        assert_eq!(
            parse_int("x").expect_err("no number"),
            "strconv.ParseInt: parsing \"x\": invalid syntax"
        );
        assert_eq!(
            parse_int("9223372036854775808").expect_err("too great"),
            "strconv.ParseInt: parsing \"9223372036854775808\": value out of range"
        );
        for text in ["", "+5", "-1", "1_0"] {
            let refused = parse_uint(text).expect_err(text);
            assert!(
                refused.starts_with("strconv.ParseUint: parsing "),
                "{refused}"
            );
        }
    }
}
