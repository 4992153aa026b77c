//! The REST API of a running test: k6's for scripts, and for other loads the part that stops them; on a
//! separate thread.
//!
//! Must not know how a test is run: it reads a [`RunWatch`] and sends [`RunCommand`]s. Invariants: nothing here
//! runs on a worker's thread, and every client request is bounded and gets a response.
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

/// The API, served until this is dropped.
pub(crate) struct Rest {
    _server: Server,
}

impl Rest {
    /// Starts to listen; prints the API's token if it was not set by the user.
    ///
    /// # Errors
    /// Why it cannot listen there, in k6's words.
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

/// Serves the API of something that can only be stopped, on `--address`.
///
/// # Errors
/// It cannot listen there.
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
