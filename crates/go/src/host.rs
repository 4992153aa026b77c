//! The `Host` field as sent by Go's client.
//!
//! Sources: the documentation and the behaviour of `net/http` and `golang.org/x/net/http/httpguts`. Must not
//! know addresses. Invariant: the result only contains bytes that are valid in a host.

use std::borrow::Cow;

/// The field's value for the host of a request; blank if it contains invalid bytes. Non-ASCII labels are in
/// Punycode, and the zone of an IPv6 address is removed.
#[must_use]
pub fn header_value(host: &str) -> Cow<'_, str> {
    let ascii = ascii(host);
    if ascii.bytes().all(is_host_byte) {
        without_zone(ascii)
    } else {
        Cow::Borrowed("")
    }
}

/// A host name for DNS: non-ASCII names in Punycode, names with invalid ASCII characters unchanged.
#[must_use]
pub fn dns_name(name: &str) -> Cow<'_, str> {
    let is_of_names = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-.".contains(c);
    if name.is_ascii() || !name.chars().all(is_of_names) {
        return Cow::Borrowed(name);
    }
    // An apparent letter may decompose to a blank and an accent.
    let ascii = idna::domain_to_ascii(name).ok();
    let ascii = ascii.filter(|ascii| ascii.is_ascii() && ascii.chars().all(is_of_names));
    ascii.map_or(Cow::Borrowed(name), Cow::Owned)
}

/// Each label separately and literally: no mapping, no lower case.
fn ascii(host: &str) -> Cow<'_, str> {
    if host.is_ascii() {
        return Cow::Borrowed(host);
    }
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') => (name, Some(port)),
        _ => (host, None),
    };
    let labels: Option<Vec<String>> = name.split('.').map(ascii_label).collect();
    let Some(labels) = labels else {
        return Cow::Borrowed(host);
    };
    let name = labels.join(".");
    Cow::Owned(match port {
        Some(port) => format!("{name}:{port}"),
        None => name,
    })
}

fn ascii_label(label: &str) -> Option<String> {
    match label.is_ascii() {
        true => Some(label.to_owned()),
        false => idna::punycode::encode_str(label).map(|code| format!("xn--{code}")),
    }
}

fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!$%&'()*+,-.:;=[]_~".contains(&byte)
}

/// `[fe80::1%eth0]:80` → `[fe80::1]:80`.
fn without_zone(host: Cow<'_, str>) -> Cow<'_, str> {
    if !host.starts_with('[') {
        return host;
    }
    let Some(end) = host.rfind(']') else {
        return host;
    };
    match host[..end].rfind('%') {
        Some(zone) => Cow::Owned(format!("{}{}", &host[..zone], &host[end..])),
        None => host,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_asked_for_in_punycode() {
        for (name, asked) in [
            ("bücher.example", "xn--bcher-kva.example"),
            ("BÜCHER.example", "xn--bcher-kva.example"),
            ("A.example", "A.example"),
            ("ü_b", "ü_b"),
            ("fe80::1%eth0", "fe80::1%eth0"),
        ] {
            assert_eq!(dns_name(name), asked);
        }
    }

    #[test]
    fn hosts_are_sent_as_go_sends_them() {
        let rows = [
            ("a:99999", "a:99999"),
            ("A.B", "A.B"),
            ("a%20b", "a%20b"),
            ("a;b=c", "a;b=c"),
            ("a b", ""),
            ("a/b", ""),
            ("a@b", ""),
            ("ä.B/x", ""),
            ("é", "xn--9ca"),
            ("É.test", "xn--dca.test"),
            ("Bücher.test", "xn--Bcher-kva.test"),
            ("é:80", "xn--9ca:80"),
            ("[é]", "xn--[]-bja"),
            ("日本", "xn--wgv71a"),
            ("[a", "[a"),
            ("[::1%25lo]", "[::1]"),
            ("[::1%lo]:80", "[::1]:80"),
        ];
        for (host, sent) in rows {
            assert_eq!(header_value(host), sent, "{host}");
        }
    }

    proptest! {
        #[test]
        fn only_bytes_of_hosts_are_sent(host in "\\PC{0,40}") {
            prop_assert!(header_value(&host).bytes().all(is_host_byte));
        }
    }

    #[test]
    fn letters_that_stand_for_blanks_make_no_name() {
        assert_eq!(dns_name("hr\u{b8}\u{706e}"), "hr\u{b8}\u{706e}");
    }
}
