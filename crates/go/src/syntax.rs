//! Common parts of number parsers: signs, bases, underscores.
//!
//! Must not know kinds of numbers. Invariant: results only contain digits and signs.

/// Whether there is a minus sign, and the text after the sign.
pub(crate) fn split_sign(text: &str) -> (bool, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    }
}

/// The base given by a prefix (ten without one), and the text after it. A single zero before digits is the
/// prefix of base eight.
pub(crate) fn split_base(lower: &str) -> (u32, &str) {
    for (prefix, base) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(rest) = lower.strip_prefix(prefix) {
            return (base, rest);
        }
    }
    let digits = lower.strip_prefix('0').filter(|rest| !rest.is_empty());
    let is_octal = |rest: &&str| {
        rest.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'_')
    };
    match digits.filter(is_octal) {
        Some(rest) => (8, rest),
        None => (10, lower),
    }
}

/// Only the digits: underscores are allowed between digits, and after the prefix of a base.
pub(crate) fn without_underscores(digits: &str, after_base: bool) -> Option<String> {
    let misplaced = digits.ends_with('_')
        || digits.contains("__")
        || (digits.starts_with('_') && !after_base)
        || digits.contains("_.")
        || digits.contains("._");
    (!misplaced).then(|| digits.replace('_', ""))
}
