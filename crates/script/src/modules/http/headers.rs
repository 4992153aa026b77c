//! Header fields as Go's client writes them: canonical names, valid bytes, sorted.
//!
//! Must not know which fields a request has. Invariant: `Host` and `User-Agent` come first.

/// A name as Go spells it (`textproto.CanonicalMIMEHeaderKey`): words between dashes capitalised;
/// one that is no token stays as it is.
pub(crate) fn canonical(name: &str) -> String {
    if !is_token(name) {
        return name.to_owned();
    }
    let mut starts_word = true;
    name.chars()
        .map(|c| {
            let written = if starts_word {
                c.to_ascii_uppercase()
            } else {
                c.to_ascii_lowercase()
            };
            starts_word = c == '-';
            written
        })
        .collect()
}

/// RFC 9110, section 5.6.2.
pub(crate) fn is_token(name: &str) -> bool {
    let is_token_byte =
        |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_token_byte)
}

/// Whether a value holds no control character but tabs.
pub(crate) fn is_value(value: &str) -> bool {
    value
        .bytes()
        .all(|byte| byte == b'\t' || (byte >= 0x20 && byte != 0x7f))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_canonical() {
        let table = [
            ("x-foo", "X-Foo"),
            ("X-FOO", "X-Foo"),
            ("x_y", "X_y"),
            ("content-md5", "Content-Md5"),
            ("bad name", "bad name"),
        ];
        for (name, expected) in table {
            assert_eq!(canonical(name), expected);
        }
        assert!(!is_value("x\ny") && is_value("x\ty"));
    }
}
