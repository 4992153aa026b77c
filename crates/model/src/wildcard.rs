//! Patterns of names in which `*` stands for anything.
//!
//! Must not know what is named. Invariant: the time that it takes is that of searching the name once for each part.

/// Whether the whole of a name is what a pattern says. A `*` stands for any number of characters, none included; all
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
