//! Character classes of RFC 9110 §5.6 and small byte helpers.
//!
//! It must not know what the bytes belong to. Invariant: every function is total over all bytes.

/// `tchar` of RFC 9110 §5.6.2, by byte.
const TOKEN: [bool; 256] = token_table();

const fn token_table() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let marks = b"!#$%&'*+-.^_`|~";
    let mut at = 0;
    while at < marks.len() {
        table[marks[at] as usize] = true;
        at += 1;
    }
    table
}

/// Whether `byte` is allowed in a method or a header name.
#[inline]
pub(crate) fn is_token_byte(byte: u8) -> bool {
    TOKEN[usize::from(byte)]
}

/// Whether `bytes` is a non-empty token.
pub(crate) fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(|&byte| is_token_byte(byte))
}

/// Optional white space (RFC 9110 §5.6.3): space or horizontal tab.
#[inline]
pub(crate) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// `bytes` without optional white space at both ends.
#[inline]
pub(crate) fn trim_blanks(mut bytes: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = bytes
        && is_blank(*first)
    {
        bytes = rest;
    }
    while let [rest @ .., last] = bytes
        && is_blank(*last)
    {
        bytes = rest;
    }
    bytes
}

/// A non-empty run of decimal digits as a number; `None` for anything else and for overflow.
///
/// `str::parse` is not used because it also accepts a leading `+`.
pub(crate) fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |value, &byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_bytes_are_those_of_the_rfc() {
        let allowed: Vec<u8> = (0..=255).filter(|&byte| is_token_byte(byte)).collect();
        let expected =
            "!#$%&'*+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~";
        assert_eq!(allowed, expected.as_bytes());
        assert!(is_token(b"X-Id"));
        assert!(!is_token(b""));
        assert!(!is_token(b"X Id"));
    }

    #[test]
    fn trims_both_ends_only() {
        assert_eq!(trim_blanks(b" \t a b\t"), b"a b");
        assert_eq!(trim_blanks(b" \t "), b"");
        assert_eq!(trim_blanks(b""), b"");
    }

    #[test]
    fn decimal_takes_digits_alone() {
        assert_eq!(decimal(b"0042"), Some(42));
        assert_eq!(decimal(b"18446744073709551615"), Some(u64::MAX));
        for bad in [
            &b""[..],
            b"+1",
            b"-1",
            b"1 ",
            b"0x1",
            b"18446744073709551616",
        ] {
            assert_eq!(decimal(bad), None, "{bad:?}");
        }
    }
}
