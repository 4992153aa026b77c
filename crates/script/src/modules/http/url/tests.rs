//! URLs compared with observed results of Go's `net/url` and the examples of RFC 3986.
//!
//! Must not need requests. Invariant under test: the text of an address parses to itself.

use super::*;
use proptest::prelude::*;

fn error(text: &str) -> String {
    Address::parse(text).unwrap_err().to_string()
}

fn unreachable(text: &str) -> String {
    Address::parse(text).unwrap().place.unwrap_err().text
}

#[test]
fn what_is_no_url_is_said_in_gos_words() {
    let table = [
        ("http://[::1", "parse \"http://[::1\": missing ']' in host"),
        (
            "http://a b/",
            "parse \"http://a b/\": invalid character \" \" in host name",
        ),
        (
            "http://h/%zz",
            "parse \"http://h/%zz\": invalid URL escape \"%zz\"",
        ),
        ("://x", "parse \"://x\": missing protocol scheme"),
        (
            "http://h:abc/",
            "parse \"http://h:abc/\": invalid port \":abc\" after host",
        ),
        (
            " http://h/",
            "parse \" http://h/\": first path segment in URL cannot contain colon",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(error(text), expected);
    }
    assert_eq!(unreachable("nope"), "unsupported protocol scheme \"\"");
    assert_eq!(
        unreachable("ftp://a/b"),
        "unsupported protocol scheme \"ftp\""
    );
    assert_eq!(unreachable("http:///x"), "http: no Host in request URL");
    assert_eq!(
        unreachable("http://h:99999/"),
        "dial tcp: address 99999: invalid port"
    );
}

#[test]
fn text_target_and_mask_are_k6s() {
    let table = [
        (
            "http://h:81/a b/\u{e9}?q=\u{e9}\"",
            "http://h:81/a%20b/%C3%A9?q=\u{e9}\"",
            "/a%20b/%C3%A9?q=\u{e9}\"",
        ),
        ("HTTP://h/Z", "http://h/Z", "/Z"),
        ("http://h?x=1", "http://h?x=1", "/?x=1"),
        ("http://h/a#b", "http://h/a#b", "/a"),
    ];
    for (text, shown, target) in table {
        let address = Address::parse(text).unwrap();
        assert_eq!(&*address.text, shown);
        assert_eq!(address.place.unwrap().target, target);
    }
    let address = Address::parse("http://us:p%40w@h/x").unwrap();
    // k6 masks the length of the unescaped credentials.
    assert_eq!(&*address.masked, "http://****:****0w@h/x");
    assert_eq!(
        address.credentials,
        Some(("us".to_owned(), "p@w".to_owned()))
    );
}

#[test]
fn locations_resolve_as_the_rfc_says() {
    // RFC 3986, section 5.4.
    let base = Address::parse("http://a/b/c/d;p?q").unwrap();
    let table = [
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y#s", "http://a/b/c/g?y#s"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"),
        ("https://x/y", "https://x/y"),
    ];
    for (location, expected) in table {
        assert_eq!(
            &*base.resolve(location).unwrap().text,
            expected,
            "{location}"
        );
    }
}

proptest! {
    #[test]
    fn parsing_any_text_ends_and_its_text_parses_again(text in "\\PC{0,40}|https?://[a-z.:@%/?#\\[\\]]{0,30}") {
        if let Ok(address) = Address::parse(&text) {
            let again = Address::parse(&address.text).map(|again| again.text);
            if address.place.is_ok() {
                prop_assert_eq!(again.as_deref(), Ok(&*address.text));
            }
        }
    }
}
