//! Names of header fields in Go's spelling.
//!
//! Source: `textproto.CanonicalMIMEHeaderKey`. Must not know requests. Invariant: an invalid name stays
//! unchanged.

/// The name with the words between dashes capitalised, everything else in lower case.
#[must_use]
pub fn canonical(name: &str) -> String {
    if !is_token(name) {
        return name.to_owned();
    }
    let mut starts_word = true;
    let cased = name.chars().map(|c| {
        let cased = if starts_word {
            c.to_ascii_uppercase()
        } else {
            c.to_ascii_lowercase()
        };
        starts_word = c == '-';
        cased
    });
    cased.collect()
}

/// Whether a text is a token (RFC 9110, section 5.6.2).
#[must_use]
pub fn is_token(name: &str) -> bool {
    let is_token_byte =
        |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_token_byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_canonical() {
        for (name, expected) in [
            ("x-foo", "X-Foo"),
            ("X-FOO", "X-Foo"),
            ("x_y", "X_y"),
            ("x-a_b-cD", "X-A_b-Cd"),
            ("content-md5", "Content-Md5"),
            ("bad name", "bad name"),
        ] {
            assert_eq!(canonical(name), expected);
        }
    }
}
