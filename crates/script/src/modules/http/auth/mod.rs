//! Authentication: the credentials that a request sends, and the rounds that some schemes need.
//!
//! Must not send. Invariant: a sequence of rounds is finite: each moves on to the next or ends.

mod digest;
mod ntlm;

use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::sample::Expectation;
use super::url::Address;
use crate::hop::HopAnswer;
use crate::vu::VuState;

/// An authentication scheme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// With the credentials of its URL, sent with the first request.
    #[default]
    Basic,
    /// RFC 7616, after a challenge.
    Digest,
    /// Microsoft's NT LAN Manager, after two rounds.
    Ntlm,
}

impl Scheme {
    /// The scheme with a name; unknown names are basic, since the URL's credentials are sent anyhow.
    pub(crate) fn named(name: &str) -> Scheme {
        match name {
            "digest" => Scheme::Digest,
            "ntlm" => Scheme::Ntlm,
            _ => Scheme::Basic,
        }
    }
}

/// The value of `Authorization` for basic authentication (RFC 7617).
pub(super) fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

/// The state of the rounds of one request.
pub(super) struct Rounds {
    scheme: Scheme,
    stage: Stage,
    /// Whether any hop was answered.
    any_ended: bool,
    authorization: Option<String>,
    /// The address without credentials, if the scheme shows that one.
    bare: Option<Rc<Address>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// No credentials were sent yet.
    First,
    /// NTLM's first message was sent.
    Negotiating,
    /// The proof was sent.
    Proven,
}

impl Rounds {
    pub(super) fn of(scheme: Scheme) -> Rounds {
        Rounds {
            scheme,
            stage: Stage::First,
            any_ended: false,
            authorization: None,
            bare: None,
        }
    }

    /// Registers the address of the next hop.
    pub(super) fn enter(&mut self, address: &Address) {
        self.stage = Stage::First;
        self.authorization = None;
        self.bare = match self.scheme {
            Scheme::Digest if address.credentials.is_some() => {
                Some(Rc::new(address.without_credentials()))
            }
            _ => None,
        };
    }

    /// Whether the URL's credentials are held back until a challenge.
    pub(super) fn hides_credentials(&self) -> bool {
        self.scheme == Scheme::Ntlm
    }

    /// The field of this round; `None`: the URL's credentials, if any.
    pub(super) fn authorization(&self) -> Option<&str> {
        self.authorization.as_deref()
    }

    /// The address to show instead of the hop's own.
    pub(super) fn bare_address(&self) -> Option<&Rc<Address>> {
        self.bare.as_ref()
    }

    /// The expected responses of this hop.
    pub(super) fn expectation(&self) -> Expectation {
        match self.scheme {
            Scheme::Digest if !self.any_ended => Expectation::Unauthorized,
            Scheme::Ntlm if !self.any_ended => Expectation::UnauthorizedOrCallback,
            _ => Expectation::Callback,
        }
    }

    /// Whether the response requires another round, which is then prepared.
    pub(super) fn go_on(
        &mut self,
        answer: &HopAnswer,
        method: &str,
        address: &Address,
        state: &VuState,
    ) -> bool {
        self.any_ended = true;
        if self.scheme == Scheme::Basic || answer.status != 401 {
            return false;
        }
        let (user, password) = address.credentials.clone().unwrap_or_default();
        let random = || state.host.random();
        let next = match (self.scheme, self.stage) {
            (Scheme::Digest, Stage::First) => challenge(answer, "Digest").and_then(|challenge| {
                let target = address.place.as_ref().ok()?.target.as_str();
                digest::answer(&challenge, &user, &password, method, target, random())
                    .map(|value| (value, Stage::Proven))
            }),
            (Scheme::Ntlm, Stage::First) => ["NTLM", "Negotiate"]
                .into_iter()
                .find(|name| challenge(answer, name).is_some())
                .map(|name| {
                    let message = STANDARD.encode(ntlm::negotiate());
                    (format!("{name} {message}"), Stage::Negotiating)
                }),
            (Scheme::Ntlm, Stage::Negotiating) => ["NTLM", "Negotiate"]
                .into_iter()
                .find_map(|name| Some((name, challenge(answer, name)?)))
                .and_then(|(name, message)| {
                    let message = STANDARD.decode(message.trim()).ok()?;
                    let client = random().to_le_bytes();
                    let now = state.host.unix_ns();
                    let proof = ntlm::authenticate(&message, &user, &password, client, now)?;
                    Some((format!("{name} {}", STANDARD.encode(proof)), Stage::Proven))
                }),
            _ => None,
        };
        let Some((value, stage)) = next else {
            return false;
        };
        self.authorization = Some(value);
        self.stage = stage;
        true
    }
}

/// The text after a scheme's name in `WWW-Authenticate`; empty if there is only the name.
fn challenge(answer: &HopAnswer, scheme: &str) -> Option<String> {
    answer
        .headers
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case(b"WWW-Authenticate"))
        .find_map(|(_, value)| {
            let value = String::from_utf8_lossy(value);
            let (name, rest) = value.split_once(' ').unwrap_or((&value, ""));
            name.eq_ignore_ascii_case(scheme).then(|| rest.to_owned())
        })
}
