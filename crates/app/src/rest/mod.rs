//! The REST API of a running test: k6's of a script, and of other loads as much of it as ends them; on a thread of its own.
//!
//! Must not know how a test is run: it reads a [`RunWatch`] and sends [`RunCommand`]s. Invariants:
//! nothing here runs on a worker's thread, and whatever a client sends is bounded and answered.
//!
//! [`RunWatch`]: loadline_run::RunWatch
//! [`RunCommand`]: loadline_model::RunCommand

mod ending;
mod routes;
mod setup_data;
mod status;

use std::sync::Arc;
use std::sync::mpsc::Sender;

use loadline_model::{ExitCode, RunCommand};

use crate::Ending;
use crate::http::{AccessSettings, Server, Service, TokenChoice};
use crate::terminal::print;

use ending::EndingApi;
pub(crate) use routes::Api;

/// The API, which is served until this is dropped.
pub(crate) struct Rest {
    _server: Server,
}

impl Rest {
    /// Begins to listen; says which token the API wants, where it was not the user who named it.
    ///
    /// # Errors
    /// Why nothing can listen there, in the words of k6.
    pub(crate) fn start(
        address: &str,
        access: &AccessSettings,
        api: impl Service,
    ) -> Result<Rest, String> {
        let server = Server::start("rest", address, access, Arc::new(api))?;
        if let (Some(token), TokenChoice::Fresh) = (server.token(), &access.token) {
            print::to_stderr(&format!(
                "REST API at {address}: send Authorization: Bearer {token} (--control-token names another, or off)\n"
            ));
        }
        Ok(Rest { _server: server })
    }
}

/// Serves the API of what can be ended alone, on `--address`.
///
/// # Errors
/// Nothing can listen there.
pub(crate) fn of_ending(
    address: &str,
    access: &AccessSettings,
    commands: Sender<RunCommand>,
) -> Result<Rest, Ending> {
    let started = Rest::start(address, access, EndingApi::new(commands));
    started.map_err(|why| {
        let message = format!("--address: {why}; name another address with --address=HOST:PORT");
        Ending::refusal(ExitCode::CannotListen, &message)
    })
}
