//! Access to a cluster: its address, TLS, credentials, and a single call.
//!
//! Must not know what is requested. Invariants: every call and every response has a limit; no `Debug` output
//! and no message contains a secret.

mod client;
mod credentials;
mod exec;
mod in_cluster;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) use client::{Call, Client, Prepared, Stream};
pub(crate) use credentials::Credentials;
pub(crate) use exec::ExecProgram;
pub(crate) use in_cluster::in_cluster;

/// Time limit of a call, including its response; calls that follow something have no limit.
pub const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// The configuration for one cluster and one of its users.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// Its name in messages: the context.
    pub(crate) name: String,
    /// `https://host:port`, possibly with a path; no trailing slash.
    pub(crate) server: String,
    /// The name that its certificate must have; `None`: the server's host.
    pub(crate) tls_server_name: Option<String>,
    /// Trusted authorities for its certificate, in PEM; `None`: the system's.
    pub(crate) authority: Option<Vec<u8>>,
    /// Whether TLS verification is skipped.
    pub(crate) trusts_all: bool,
    /// The proxy; `None`: the one from the environment.
    pub(crate) proxy: Option<String>,
    /// The credentials.
    pub(crate) user: User,
    /// The default namespace.
    pub(crate) namespace: String,
}

/// Credentials for a cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct User {
    pub(crate) means: Means,
    /// A certificate and its key in PEM.
    pub(crate) certificate: Option<(Vec<u8>, Secret)>,
    /// The user to impersonate.
    pub(crate) act_as: Option<ActAs>,
}

/// An impersonated user. Source: the Kubernetes documentation, "User impersonation".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ActAs {
    pub(crate) name: String,
    pub(crate) uid: Option<String>,
    pub(crate) groups: Vec<String>,
    /// Further attributes of the user, by key.
    pub(crate) extra: BTreeMap<String, Vec<String>>,
}

/// Credentials other than a certificate.
#[derive(Clone, Debug, Default)]
pub(crate) enum Means {
    /// None.
    #[default]
    None,
    /// A token.
    Token(Secret),
    /// A token in a file, which is rewritten from time to time.
    TokenFile(PathBuf),
    /// Name and password.
    Basic(String, Secret),
    /// The output of a program.
    Exec(ExecProgram),
}
