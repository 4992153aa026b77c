//! Users and passwords of the Authorization Manager: the URLs for which they apply, and how they are sent.
//!
//! Must not know requests. Invariant: a password is only sent to URLs that match its entry.

use base64::Engine;
use data_encoding::HEXLOWER;
use md5::{Digest, Md5};
use sha2::Sha256;

use super::url::Url;
use crate::scope::Scope;
use crate::text::Text;

/// A user and password for URLs that begin with a prefix.
#[derive(Debug, Default)]
pub struct Authorization {
    /// The prefix.
    pub url: Text,
    /// The user.
    pub user: Text,
    /// The password.
    pub password: Text,
    /// The domain of the user; empty: none.
    pub domain: Text,
    /// The realm that a challenge must name; empty: any.
    pub realm: Text,
    /// Whether it waits for a challenge; otherwise it is sent with the first request, as Basic.
    pub is_digest: bool,
    /// Whether it is for a mechanism that is not spoken here: requests that it is for say nothing.
    pub is_silent: bool,
}

/// An entry that matches a URL, evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Credentials {
    user: String,
    password: String,
    realm: String,
    pub(super) is_digest: bool,
}

/// How credentials are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    Basic,
    Digest(Challenge),
}

/// The parameters of a digest challenge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    algorithm: Option<String>,
    qop: Option<String>,
    is_stale: bool,
}

/// The parts of a request that are digested.
pub(super) struct Digested<'a> {
    pub(super) method: &'a str,
    pub(super) target: &'a str,
    /// The body; `None`: the method has no body.
    pub(super) body: Option<&'a [u8]>,
    /// Sixteen random hexadecimal digits.
    pub(super) client_nonce: &'a str,
}

/// The first entry that matches a URL.
pub(super) fn for_url(
    entries: &[std::sync::Arc<Authorization>],
    url: &Url,
    scope: &mut Scope<'_>,
) -> Option<Credentials> {
    let [plain, ported] = url.without_query();
    let entry = entries.iter().find(|entry| {
        let prefix = entry.url.evaluate(scope);
        let prefix = prefix.as_ref();
        plain.starts_with(prefix) || ported.starts_with(prefix)
    })?;
    if entry.is_silent {
        return None;
    }
    let domain = entry.domain.evaluate(scope).to_uppercase();
    let user = entry.user.evaluate(scope).into_owned();
    Some(Credentials {
        user: match domain.is_empty() {
            true => user,
            false => format!("{domain}\\{user}"),
        },
        password: entry.password.evaluate(scope).into_owned(),
        realm: entry.realm.evaluate(scope).into_owned(),
        is_digest: entry.is_digest,
    })
}

impl Credentials {
    /// The header field with the credentials.
    pub(super) fn say(&self, scheme: &Scheme, request: &Digested<'_>) -> Option<String> {
        match scheme {
            Scheme::Basic => Some(basic(&self.user, &self.password)),
            Scheme::Digest(challenge) => challenge.answer(self, request),
        }
    }

    /// The scheme to use after challenges, given the one that failed before; `None`: there is none.
    pub(super) fn scheme_for<'c>(
        &self,
        challenges: impl Iterator<Item = &'c str>,
        before: Option<&Scheme>,
    ) -> Option<Scheme> {
        let (mut basic, mut digest) = (None, None);
        for text in challenges {
            let (name, parameters) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
            let challenge = Challenge::read(parameters);
            match name.to_ascii_lowercase().as_str() {
                "basic" => basic = Some(challenge),
                "digest" => digest = Some(challenge),
                _ => {}
            }
        }
        let is_stale = digest.as_ref().is_some_and(|one| one.is_stale);
        match before {
            Some(Scheme::Basic) if basic.is_some() => return None,
            Some(Scheme::Digest(_)) if digest.is_some() && !is_stale => return None,
            _ => {}
        }
        let fits = |one: &Challenge| self.realm.is_empty() || one.realm == self.realm;
        match (digest.filter(fits), basic.filter(fits)) {
            (Some(challenge), _) => Some(Scheme::Digest(challenge)),
            (None, Some(_)) => Some(Scheme::Basic),
            (None, None) => None,
        }
    }
}

impl Challenge {
    /// Parses parameters: comma-separated `name=value`, the value optionally quoted.
    fn read(text: &str) -> Challenge {
        let mut challenge = Challenge::default();
        let mut rest = text.trim_start();
        while let Some((name, behind)) = rest.split_once('=') {
            let (value, behind) = match behind.trim_start().strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
                None => behind.split_at(behind.find(',').unwrap_or(behind.len())),
            };
            let value = value.trim().to_owned();
            match name.trim().to_ascii_lowercase().as_str() {
                "realm" => challenge.realm = value,
                "nonce" => challenge.nonce = value,
                "opaque" => challenge.opaque = Some(value),
                "algorithm" => challenge.algorithm = Some(value),
                "qop" => challenge.qop = Some(value),
                "stale" => challenge.is_stale = value.eq_ignore_ascii_case("true"),
                _ => {}
            }
            rest = behind.trim_start_matches([',', ' ', '\t']);
        }
        challenge
    }

    /// The header field that answers it; `None`: it requires something unknown.
    fn answer(&self, credentials: &Credentials, request: &Digested<'_>) -> Option<String> {
        let algorithm = self.algorithm.as_deref().unwrap_or("MD5");
        let is_session = algorithm.eq_ignore_ascii_case("MD5-sess");
        let digest = |text: &[u8]| match algorithm.to_ascii_uppercase().as_str() {
            "MD5" | "MD5-SESS" => Some(HEXLOWER.encode(&Md5::digest(text))),
            "SHA-256" => Some(HEXLOWER.encode(&Sha256::digest(text))),
            _ => None,
        };
        let wanted = self.qop.as_deref().map(|list| {
            let offers = |name: &str| list.split(',').any(|one| one.trim() == name);
            match request.body {
                Some(_) if offers("auth-int") => Some("auth-int"),
                _ if offers("auth") => Some("auth"),
                _ => None,
            }
        });
        let (nonce, client_nonce) = (&self.nonce, request.client_nonce);
        let Credentials { user, password, .. } = credentials;
        let realm = &self.realm;
        let mut secret = digest(format!("{user}:{realm}:{password}").as_bytes())?;
        if is_session {
            secret = digest(format!("{secret}:{nonce}:{client_nonce}").as_bytes())?;
        }
        let (method, target) = (request.method, request.target);
        let mut of_request = format!("{method}:{target}");
        if wanted == Some(Some("auth-int")) {
            let of_body = digest(request.body.unwrap_or_default())?;
            of_request.push_str(&format!(":{of_body}"));
        }
        let of_request = digest(of_request.as_bytes())?;
        let (response, qop) = match wanted {
            None => (format!("{secret}:{nonce}:{of_request}"), String::new()),
            Some(qop) => {
                let qop = qop?;
                (
                    format!("{secret}:{nonce}:00000001:{client_nonce}:{qop}:{of_request}"),
                    format!(", qop={qop}, nc=00000001, cnonce=\"{client_nonce}\""),
                )
            }
        };
        let response = digest(response.as_bytes())?;
        let mut field = format!(
            "Digest username=\"{user}\", realm=\"{realm}\", nonce=\"{nonce}\", uri=\"{target}\", \
             response=\"{response}\"{qop}, algorithm={algorithm}"
        );
        if let Some(opaque) = &self.opaque {
            field.push_str(&format!(", opaque=\"{opaque}\""));
        }
        Some(field)
    }
}

/// User and password in the format of the Basic scheme.
pub(super) fn basic(user: &str, password: &str) -> String {
    let pair = format!("{}:{}", ascii(user), ascii(password));
    let coded = base64::engine::general_purpose::STANDARD.encode(pair);
    format!("Basic {coded}")
}

/// A text in ASCII, in which the client sends users and passwords.
fn ascii(text: &str) -> String {
    let letters = text.chars();
    letters
        .map(|letter| if letter.is_ascii() { letter } else { '?' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(realm: &str) -> Credentials {
        Credentials {
            user: "Mufasa".to_owned(),
            password: "Circle Of Life".to_owned(),
            realm: realm.to_owned(),
            is_digest: true,
        }
    }

    #[test]
    fn a_challenge_is_answered_as_in_rfc_2617() {
        let text = "Digest realm=\"testrealm@host.com\", qop=\"auth,auth-int\", \
                    nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"";
        let scheme = credentials("").scheme_for([text].into_iter(), None);
        let request = Digested {
            method: "GET",
            target: "/dir/index.html",
            body: None,
            client_nonce: "0a4f113b",
        };
        let said = credentials("").say(&scheme.expect("a scheme"), &request);
        let said = said.expect("an answer");
        assert!(
            said.contains("response=\"6629fae49393a05397450978507c4ef1\""),
            "{said}"
        );
        assert!(said.contains("qop=auth, nc=00000001, cnonce=\"0a4f113b\", algorithm=MD5"));
    }

    #[test]
    fn only_a_challenge_of_the_realm_is_answered_and_once() {
        let offers = |realm: &str, before: Option<&Scheme>| {
            let texts = ["Basic realm=\"a\"", "NTLM"];
            credentials(realm).scheme_for(texts.into_iter(), before)
        };
        assert_eq!(offers("a", None), Some(Scheme::Basic));
        assert_eq!(offers("b", None), None);
        assert_eq!(offers("a", Some(&Scheme::Basic)), None);
    }
}
