//! Numbers as Go writes them: `12`, `0x1F`, `0o17`, `0b101`, `1_000`, `1e3`, `.5`.
//!
//! Must not know where they are used. Invariant: a number with a point or an exponent is a float, any other an
//! integer of 64 bits.

use loadline_go::float;
use loadline_go::integer::{self, NumberFault};

use super::value::Value;

/// Reads a number, its sign included.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let bad = || format!("bad number syntax: {text:?}");
    let (sign, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) => (text.split_at(1).0, digits),
        None => ("", text),
    };
    if digits.ends_with('i') {
        return Err(format!("complex number {text} is not supported"));
    }
    let lower = digits.to_ascii_lowercase();
    let is_hexadecimal = lower.starts_with("0x");
    if is_hexadecimal && lower.contains(['.', 'p']) {
        return Err(format!("hexadecimal float {text} is not supported"));
    }
    if !is_hexadecimal && lower.contains(['.', 'e']) {
        let value = float::parse(digits)
            .filter(|_| !digits.starts_with(['-', '+']))
            .ok_or_else(bad)?;
        return Ok(Value::Float(if sign == "-" { -value } else { value }));
    }
    integer::parse_literal(text)
        .map(Value::Int)
        .map_err(|fault| match fault {
            NumberFault::Syntax => bad(),
            NumberFault::Range => format!("integer overflow: {text}"),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_in_go() {
        let int = |text: &str| match parse(text) {
            Ok(Value::Int(value)) => Some(value),
            _ => None,
        };
        assert_eq!(int("0x1F"), Some(31));
        assert_eq!(int("017"), Some(15));
        assert_eq!(int("0b101"), Some(5));
        assert_eq!(int("1_000"), Some(1000));
        assert_eq!(int("-9223372036854775808"), Some(i64::MIN));
        assert!(matches!(parse("1e3"), Ok(Value::Float(value)) if value == 1000.0));
        assert!(matches!(parse("+.5"), Ok(Value::Float(value)) if value == 0.5));
        for bad in [
            "1_",
            "_1",
            "1__0",
            "0x",
            "08",
            "9223372036854775808",
            "2i",
            "0x1p4",
            "1e",
            "-",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
