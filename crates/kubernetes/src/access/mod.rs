//! How a cluster is reached: its address, how it is known, how it knows us, and one call.
//!
//! Must not know what is asked. Invariants: every call and every answer has a limit; a secret is shown by no `Debug` and
//! stands in no message.

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

/// How long a call may take, its answer included; one that follows something may take as long as it likes.
pub const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// A text that is shown nowhere.
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

/// Everything that a configuration says of one cluster and one user of it.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// What messages call it: the context.
    pub(crate) name: String,
    /// `https://host:port`, perhaps with a path; no slash at the end.
    pub(crate) server: String,
    /// The name that its certificate must have; `None`: the server's host.
    pub(crate) tls_server_name: Option<String>,
    /// Authorities in PEM that its certificate may be signed by; `None`: the system's.
    pub(crate) authority: Option<Vec<u8>>,
    /// Whether TLS verification is skipped.
    pub(crate) trusts_all: bool,
    /// The proxy that leads to it; `None`: the one that the environment names.
    pub(crate) proxy: Option<String>,
    /// How it knows us.
    pub(crate) user: User,
    /// The namespace that is meant where none is said.
    pub(crate) namespace: String,
}

/// How a cluster knows us.
#[derive(Clone, Debug, Default)]
pub(crate) struct User {
    pub(crate) means: Means,
    /// A certificate and its key in PEM.
    pub(crate) certificate: Option<(Vec<u8>, Secret)>,
    /// Whom to act as.
    pub(crate) act_as: Option<ActAs>,
}

/// Somebody else as whom we ask. Source: the Kubernetes documentation, "User impersonation".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ActAs {
    pub(crate) name: String,
    pub(crate) uid: Option<String>,
    pub(crate) groups: Vec<String>,
    /// What else is known of a user, by its key.
    pub(crate) extra: BTreeMap<String, Vec<String>>,
}

/// By what besides a certificate.
#[derive(Clone, Debug, Default)]
pub(crate) enum Means {
    /// By nothing.
    #[default]
    None,
    /// By a token.
    Token(Secret),
    /// By a token in a file, which is written anew from time to time.
    TokenFile(PathBuf),
    /// By name and password.
    Basic(String, Secret),
    /// By what a program prints.
    Exec(ExecProgram),
}
