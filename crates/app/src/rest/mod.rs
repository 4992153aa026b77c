//! The REST API of a running script test: k6's, on a thread of its own.
//!
//! Must not know how a test is run: it reads a [`RunWatch`] and sends [`RunCommand`]s. Invariants:
//! nothing here runs on a worker's thread, and whatever a client sends is bounded and answered.
//!
//! [`RunWatch`]: loadline_run::RunWatch
//! [`RunCommand`]: loadline_model::RunCommand

mod routes;
mod setup_data;
mod status;

use std::sync::Arc;

use crate::http::{AccessSettings, Server};

pub(crate) use routes::Api;

/// The API, which is served until this is dropped.
pub(crate) struct Rest {
    server: Server,
}

impl Rest {
    /// Begins to listen.
    ///
    /// # Errors
    /// Why nothing can listen there, in the words of k6.
    pub(crate) fn start(address: &str, access: &AccessSettings, api: Api) -> Result<Rest, String> {
        let server = Server::start("rest", address, access, Arc::new(api))?;
        Ok(Rest { server })
    }

    /// The token that whoever asks must send; `None`: none is wanted.
    pub(crate) fn token(&self) -> Option<&str> {
        self.server.token()
    }
}
