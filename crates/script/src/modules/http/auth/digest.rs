//! Digest authentication (RFC 7616): the `Authorization` field for a challenge.
//!
//! Must not know requests beyond method and target. Invariant: a challenge with an unknown algorithm gets no
//! response rather than a wrong one.

use data_encoding::HEXLOWER;
use md5::{Digest, Md5};
use sha2::{Sha256, Sha512_256};

/// The value of `Authorization`; `None` if the challenge cannot be answered.
pub(super) fn answer(
    challenge: &str,
    user: &str,
    password: &str,
    method: &str,
    target: &str,
    random: u64,
) -> Option<String> {
    let fields = fields(challenge);
    let field = |name: &str| {
        let found = fields
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    };
    let (realm, nonce) = (field("realm").unwrap_or_default(), field("nonce")?);
    let named = field("algorithm");
    let (algorithm, is_session) = match named.map(str::to_ascii_uppercase) {
        None => (Algorithm::Md5, false),
        Some(name) => {
            let (name, is_session) = match name.strip_suffix("-SESS") {
                Some(name) => (name.to_owned(), true),
                None => (name, false),
            };
            (Algorithm::named(&name)?, is_session)
        }
    };
    let cnonce = format!(
        "{random:016x}{:016x}",
        random.rotate_left(29) ^ 0x9e37_79b9_7f4a_7c15
    );
    let mut secret = algorithm.hash(&format!("{user}:{realm}:{password}"));
    if is_session {
        secret = algorithm.hash(&format!("{secret}:{nonce}:{cnonce}"));
    }
    let request = algorithm.hash(&format!("{method}:{target}"));
    let has_qop = field("qop").is_some_and(|list| list.split(',').any(|qop| qop.trim() == "auth"));
    let response = if has_qop {
        algorithm.hash(&format!(
            "{secret}:{nonce}:00000001:{cnonce}:auth:{request}"
        ))
    } else {
        algorithm.hash(&format!("{secret}:{nonce}:{request}"))
    };
    let mut value = format!(
        "Digest username=\"{user}\", realm=\"{realm}\", nonce=\"{nonce}\", uri=\"{target}\", response=\"{response}\""
    );
    if let Some(name) = named {
        value.push_str(&format!(", algorithm=\"{name}\""));
    }
    if let Some(opaque) = field("opaque") {
        value.push_str(&format!(", opaque=\"{opaque}\""));
    }
    if has_qop {
        value.push_str(&format!(", qop=auth, nc=00000001, cnonce=\"{cnonce}\""));
    }
    Some(value)
}

#[derive(Clone, Copy)]
enum Algorithm {
    Md5,
    Sha256,
    Sha512_256,
}

impl Algorithm {
    fn named(name: &str) -> Option<Algorithm> {
        match name {
            "MD5" => Some(Algorithm::Md5),
            "SHA-256" => Some(Algorithm::Sha256),
            "SHA-512-256" => Some(Algorithm::Sha512_256),
            _ => None,
        }
    }

    fn hash(self, text: &str) -> String {
        match self {
            Algorithm::Md5 => HEXLOWER.encode(&Md5::digest(text)),
            Algorithm::Sha256 => HEXLOWER.encode(&Sha256::digest(text)),
            Algorithm::Sha512_256 => HEXLOWER.encode(&Sha512_256::digest(text)),
        }
    }
}

/// `name=value` pairs separated by commas; a value may be quoted.
fn fields(challenge: &str) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    let mut rest = challenge.trim();
    while let Some((name, after)) = rest.split_once('=') {
        let name = name.trim_matches([' ', ',', '\t']).to_owned();
        let after = after.trim_start();
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_once(',').unwrap_or((after, "")),
        };
        fields.push((name, value.trim().to_owned()));
        rest = next;
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_example_without_qop_of_rfc_2069_comes_out() {
        // RFC 2069, section 2.4, as corrected by its erratum 749.
        let challenge = "realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"";
        let value = answer(
            challenge,
            "Mufasa",
            "CircleOfLife",
            "GET",
            "/dir/index.html",
            1,
        )
        .unwrap();
        assert!(
            value.contains("response=\"1949323746fe6a43ef61f9606e7febea\""),
            "{value}"
        );
        assert!(value.contains("opaque=\"5ccc069c403ebaf9f0171e9517f40e41\""));
        assert!(!value.contains("qop"));
    }

    #[test]
    fn an_unknown_algorithm_is_not_answered() {
        assert_eq!(
            answer("nonce=\"n\", algorithm=XYZ", "u", "p", "GET", "/", 1),
            None
        );
        let session = answer(
            "nonce=\"n\", algorithm=SHA-256-sess, qop=\"auth,auth-int\"",
            "u",
            "p",
            "GET",
            "/",
            1,
        );
        assert!(session.unwrap().contains("qop=auth, nc=00000001"));
    }

    proptest! {
        #[test]
        fn any_challenge_is_read_to_its_end(challenge in "\\PC{0,80}|[a-z]+=\"?[a-z,=\"]{0,20}") {
            let _ = answer(&challenge, "u", "p", "GET", "/", 1);
        }
    }
}
