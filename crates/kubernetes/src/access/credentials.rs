//! Credentials for a cluster, cached until they expire.
//!
//! Must not know the calls. Invariant: expired credentials are never sent, and refused ones are renewed once.

use std::borrow::Cow;
use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use loadline_http::Identity;

use super::{ActAs, Means, Secret, User};
use crate::error::{Error, Result};
use crate::place::encoded;

/// How long a token from a file is cached: kubelets renew it long before it expires.
const FILE_KEPT: Duration = Duration::from_secs(60);
/// How long before its expiry a credential is renewed, so that none expires in transit.
const AHEAD: Duration = Duration::from_secs(10);

/// What we show a cluster.
#[derive(Debug)]
pub(crate) struct Credentials {
    user: User,
    kept: Mutex<KeptCredentials>,
}

#[derive(Debug, Default)]
struct KeptCredentials {
    shown: Option<Shown>,
    /// Until when, in nanoseconds since 1970.
    until_unix_ns: u64,
}

/// The credentials of one call.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// The value of the `Authorization` header; `None`: not sent.
    pub(crate) authorization: Option<Secret>,
    /// The client certificate; `None`: none.
    pub(crate) identity: Option<Identity>,
    /// The impersonated user.
    pub(crate) act_as: Option<ActAs>,
    /// Increases when a certificate may have been replaced.
    pub(crate) edition: u64,
}

impl Shown {
    /// The headers with the credentials.
    ///
    /// # Errors
    /// A value contains characters that would end its line.
    pub(crate) fn headers(&self) -> Result<Vec<(Cow<'static, str>, &str)>> {
        let mut headers: Vec<(Cow<'static, str>, &str)> = Vec::new();
        if let Some(secret) = &self.authorization {
            headers.push(("Authorization".into(), secret.reveal()));
        }
        if let Some(other) = &self.act_as {
            headers.push(("Impersonate-User".into(), &other.name));
            let uid = other.uid.iter();
            headers.extend(uid.map(|uid| ("Impersonate-Uid".into(), uid.as_str())));
            let groups = other.groups.iter();
            headers.extend(groups.map(|group| ("Impersonate-Group".into(), group.as_str())));
            for (key, values) in &other.extra {
                let name = format!("Impersonate-Extra-{}", encoded(key));
                let values = values.iter();
                headers.extend(values.map(|value| (name.clone().into(), value.as_str())));
            }
        }
        let is_unfit = |value: &str| value.chars().any(char::is_control);
        match headers.iter().find(|(_, value)| is_unfit(value)) {
            Some((name, _)) => Err(Error::config(format!(
                "what the kubeconfig gives for the header {name} has characters that cannot be sent"
            ))),
            None => Ok(headers),
        }
    }
}

impl Credentials {
    /// Credentials of a user; nothing is read yet.
    pub(crate) fn new(user: User) -> Credentials {
        Credentials {
            user,
            kept: Mutex::new(KeptCredentials::default()),
        }
    }

    /// The current credentials.
    ///
    /// # Errors
    /// A file cannot be read, a certificate is invalid, or a program fails.
    pub(crate) fn now(&self, now_unix_ns: u64) -> Result<Shown> {
        let mut kept = self.lock();
        if let Some(shown) = kept
            .shown
            .as_ref()
            .filter(|_| now_unix_ns < kept.until_unix_ns)
        {
            return Ok(shown.clone());
        }
        let edition = kept.shown.as_ref().map_or(0, |shown| {
            shown.edition + u64::from(shown.identity.is_some())
        });
        let (shown, until_unix_ns) = self.read(now_unix_ns, edition)?;
        *kept = KeptCredentials {
            shown: Some(shown.clone()),
            until_unix_ns,
        };
        Ok(shown)
    }

    /// The cached credentials were refused; `true` if renewing may help.
    pub(crate) fn refused(&self) -> bool {
        self.lock().until_unix_ns = 0;
        matches!(self.user.means, Means::TokenFile(_) | Means::Exec(_))
    }

    fn read(&self, now_unix_ns: u64, edition: u64) -> Result<(Shown, u64)> {
        let mut certificate = self.user.certificate.clone();
        let mut until_unix_ns = u64::MAX;
        let bearer = |token: &str| Some(Secret::new(format!("Bearer {token}")));
        let authorization = match &self.user.means {
            Means::None => None,
            Means::Token(token) => bearer(token.reveal()),
            Means::Basic(name, password) => {
                let pair = STANDARD.encode(format!("{name}:{}", password.reveal()));
                Some(Secret::new(format!("Basic {pair}")))
            }
            Means::TokenFile(path) => {
                until_unix_ns = now_unix_ns.saturating_add(nanoseconds(FILE_KEPT));
                let token = fs::read_to_string(path).map_err(|error| {
                    Error::config(format!(
                        "the token in {} cannot be read: {error}",
                        path.display()
                    ))
                })?;
                bearer(token.trim())
            }
            Means::Exec(program) => {
                let printed = program.run()?;
                if let Some(expires) = printed.expires_unix_ns {
                    until_unix_ns = expires.saturating_sub(nanoseconds(AHEAD));
                }
                certificate = printed.certificate.or(certificate);
                printed.token.and_then(|token| bearer(token.reveal()))
            }
        };
        let identity = match &certificate {
            Some((certificate, key)) => {
                Some(Identity::read(certificate, key.reveal().as_bytes()).map_err(Error::config)?)
            }
            None => None,
        };
        let shown = Shown {
            authorization,
            identity,
            act_as: self.user.act_as.clone(),
            edition,
        };
        Ok((shown, until_unix_ns))
    }

    fn lock(&self) -> MutexGuard<'_, KeptCredentials> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
