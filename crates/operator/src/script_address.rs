//! A remote script: its address and digest.
//!
//! Must not know who fetches it: the coordinator does, and verifies the digest before it runs anything.
//! Invariant: a valid value is one word that starts with `https://` and ends with a digest; it contains no
//! secret.

use crate::test::{Refusal, invalid, unsupported};

/// Annotation: the address of the script, or of an archive with it.
pub const SCRIPT_ANNOTATION: &str = "loadline.io/script";
/// Maximum length of an address.
const LENGTH_MAX: usize = 2_048;
const MARK: &str = "#sha256=";

/// Reads the annotation.
pub(crate) fn read(text: &str) -> Result<String, Refusal> {
    let told = |why: &str| format!("annotation {SCRIPT_ANNOTATION}: {why}");
    let refused = |why: &str| Err(invalid(told(why)));
    if text.starts_with("oci:") || text.starts_with("oci+") {
        return Err(unsupported(told(
            "an image or an artefact of a registry is mounted as a volume (volumes[].image), with script.localFile in it",
        )));
    }
    let Some(rest) = text.strip_prefix("https://") else {
        return refused("an address that begins with https:// is required");
    };
    if text.len() > LENGTH_MAX || text.bytes().any(|byte| !byte.is_ascii_graphic()) {
        return refused(
            "the address has blanks or other odd characters, or more than 2048 of them",
        );
    }
    let Some((address, hex)) = rest.split_once(MARK) else {
        return refused("the digest is required at the end, as sha256sum prints it: #sha256=…");
    };
    if hex.len() != 64 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return refused("64 hexadecimal digits are required after #sha256=");
    }
    let (host, path) = address.split_once('/').unwrap_or_default();
    if host.is_empty() || path.is_empty() || address.contains('#') {
        return refused("a host and a path are required before the digest");
    }
    if host.contains('@') {
        return refused(
            "a user or a password in it could be read by all; use an address that needs none",
        );
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn with_digest(address: &str) -> String {
        format!("{address}{MARK}{}", "0a".repeat(32))
    }

    #[test]
    fn an_address_with_a_digest_is_taken_as_it_is() {
        for address in ["https://h/a.tar", "https://h:8443/b/a.js?sign=x%20y&z"] {
            let text = with_digest(address);
            assert_eq!(read(&text), Ok(text.clone()));
        }
    }

    proptest! {
        /// Hostile annotations are refused, or are one word that a program takes for an address.
        #[test]
        fn what_passes_is_one_word(before in "(https://h/|https://|git\\+)?[ -~ä\\n]{0,20}", after in "[0-9a-f]{64}|[0-9aG ]{63,65}") {
            if let Ok(read) = read(&format!("{before}{MARK}{after}")) {
                prop_assert!(read.starts_with("https://") && read.bytes().all(|byte| byte.is_ascii_graphic()));
            }
        }
    }

    #[test]
    fn everything_else_is_refused_with_the_next_step() {
        let long = format!("https://h/{}", "a".repeat(LENGTH_MAX));
        for (text, reason, named) in [
            (String::new(), "InvalidSpec", "https://"),
            (with_digest("http://h/a"), "InvalidSpec", "https://"),
            (with_digest("--help"), "InvalidSpec", "https://"),
            (with_digest("oci://h/r:1"), "Unsupported", "volumes[].image"),
            (with_digest("https://h"), "InvalidSpec", "path"),
            (with_digest("https:///a"), "InvalidSpec", "host"),
            (
                with_digest("https://h/a#b"),
                "InvalidSpec",
                "before the digest",
            ),
            (with_digest("https://h/a b"), "InvalidSpec", "blanks"),
            (with_digest("https://h/ä"), "InvalidSpec", "odd"),
            (
                with_digest("https://me:secret@h/a"),
                "InvalidSpec",
                "password",
            ),
            (with_digest(&long), "InvalidSpec", "2048"),
            ("https://h/a".to_owned(), "InvalidSpec", "sha256sum"),
            ("https://h/a#sha256=ab".to_owned(), "InvalidSpec", "64"),
        ] {
            let refusal = read(&text).expect_err(&text);
            assert_eq!(refusal.reason, reason, "{text}");
            assert!(refusal.message.contains(named), "{refusal}");
            assert!(!refusal.message.contains("secret"), "{refusal}");
        }
    }
}
