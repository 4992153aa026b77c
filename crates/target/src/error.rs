//! Startup errors of the server.
//!
//! It must not know what the server does once it runs. Invariant: every message names the next step.

use crate::routes::RouteFileError;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why the server could not start. Every message names the next step.
#[derive(Debug)]
#[non_exhaustive]
pub enum TargetError {
    /// The address cannot be listened on.
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// A thread or its event loop could not be made.
    Worker(std::io::Error),
    /// The certificate could not be made; holds the reason.
    Certificate(String),
    /// A file that was named could not be read or written.
    File {
        /// What the file is for.
        purpose: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system or the parser said.
        reason: String,
    },
    /// The routes file is wrong.
    Routes(Box<RouteFileError>),
}

impl std::fmt::Display for TargetError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Listen { address, source } => write!(
                f,
                "cannot listen on {address}: {source}; choose another address, or port 0 for a free one"
            ),
            Self::Worker(source) => write!(
                f,
                "cannot start a server thread: {source}; ask for fewer threads or raise the limits of \
                 threads and open files"
            ),
            Self::Certificate(reason) => write!(
                f,
                "cannot make the certificate: {reason}; check the names given for it"
            ),
            Self::File {
                purpose,
                path,
                reason,
            } => {
                write!(
                    f,
                    "{purpose} {}: {reason}; check the path and its permissions",
                    path.display()
                )
            }
            Self::Routes(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TargetError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Listen { source, .. } | Self::Worker(source) => Some(source),
            Self::Routes(error) => Some(error),
            Self::Certificate(_) | Self::File { .. } => None,
        }
    }
}

impl From<RouteFileError> for TargetError {
    fn from(error: RouteFileError) -> Self {
        Self::Routes(Box::new(error))
    }
}
