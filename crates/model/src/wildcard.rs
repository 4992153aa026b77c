//! Patterns for names in which `*` stands for any text.
//!
//! Must not know what is named. Invariant: the time is that of searching the name once for each part of the
//! pattern.

/// Whether a pattern matches a whole name. A `*` stands for any number of characters, including none; all
/// others stand for themselves.
#[must_use]
pub fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut left) = name.strip_prefix(head) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let tail = parts.pop().unwrap_or_default();
    for part in parts {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_take_what_they_should() {
        for (pattern, name, expected) in [
            ("self", "self", true),
            ("self", "selfish", false),
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("**", "ä", true),
            ("httpbin-*", "httpbin-7c9", true),
            ("httpbin-*", "httpbin-", true),
            ("httpbin-*", "httpbin", false),
            ("*-worker", "php-worker", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "acb", false),
            ("a*b*c", "a--c--b", false),
            ("a*a", "a", false),
            ("ab*b", "ab", false),
            ("*b*b*", "ab", false),
            ("ü*ß", "über groß", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
