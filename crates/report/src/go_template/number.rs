//! Numbers as Go writes them: `12`, `0x1F`, `0o17`, `0b101`, `1_000`, `1e3`, `.5`.
//!
//! Must not know where they stand. Invariant: a number with a point or an exponent is a float, any
//! other an integer of 64 bits.

use super::value::Value;

/// Reads a number, its sign included.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let bad = || format!("bad number syntax: {text:?}");
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.ends_with('i') {
        return Err(format!("complex number {text} is not supported"));
    }
    let lower = digits.to_ascii_lowercase();
    let (radix, rest) = split_radix(&lower);
    let plain = without_underscores(rest, radix != 10).ok_or_else(bad)?;
    if radix == 16 && plain.contains(['.', 'p']) {
        return Err(format!("hexadecimal float {text} is not supported"));
    }
    if radix == 10 && plain.contains(['.', 'e']) {
        let value: f64 = plain.parse().map_err(|_| bad())?;
        if !value.is_finite() || !plain.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return Err(bad());
        }
        return Ok(Value::Float(if negative { -value } else { value }));
    }
    if !plain.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err(bad());
    }
    let magnitude = i128::from_str_radix(&plain, radix).map_err(|_| bad())?;
    let value = if negative { -magnitude } else { magnitude };
    i64::try_from(value)
        .map(Value::Int)
        .map_err(|_| format!("integer overflow: {text}"))
}

fn split_radix(digits: &str) -> (u32, &str) {
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(rest) = digits.strip_prefix(prefix) {
            return (radix, rest);
        }
    }
    let old_octal = digits.len() > 1 && digits.starts_with('0');
    if old_octal
        && digits[1..]
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'_')
    {
        return (8, &digits[1..]);
    }
    (10, digits)
}

/// Underscores may stand between digits, and after the base.
fn without_underscores(digits: &str, after_base: bool) -> Option<String> {
    let misplaced = digits.ends_with('_')
        || digits.contains("__")
        || (digits.starts_with('_') && !after_base)
        || digits.contains("_.")
        || digits.contains("._");
    (!misplaced).then(|| digits.replace('_', ""))
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
