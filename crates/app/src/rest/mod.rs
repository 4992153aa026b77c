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

use crate::http::Server;

pub(crate) use routes::Api;

/// The API, which is served until this is dropped.
pub(crate) struct Rest {
    _server: Server,
}

impl Rest {
    /// Begins to listen.
    ///
    /// # Errors
    /// Why nothing can listen there, in the words of k6.
    pub(crate) fn start(address: &str, api: Api) -> Result<Rest, String> {
        let server = Server::start("rest", address, Arc::new(api))?;
        Ok(Rest { _server: server })
    }
}
