//! The live page of a run: its figures, charts and verdict in a browser during the run, and orders from there.
//!
//! One thread sums up the run's events and writes the page's, another serves them. Must not know how a run is
//! made: it reads [`RunEvent`]s and sends [`RunCommand`]s. Invariants: the run never waits for a page; memory
//! does not grow with the run's length, nor with the number of readers.
//!
//! [`RunCommand`]: loadline_model::RunCommand

mod readers;
mod routes;
pub(crate) mod state;
mod story;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

use loadline_model::{Executor, RunCommand, RunEvent, TestPlan};
use loadline_report::html::Steering;
use loadline_run::RunWatch;

use crate::http::{AccessSettings, Server, random_word};
use routes::Page;
use story::Told;

/// Default address of the page.
pub(crate) const ADDRESS: &str = "127.0.0.1:5665";
/// Events between the run and the page: enough for minutes, so that only a hanging thread misses any.
const EVENTS: usize = 256;

/// The input of a live page.
pub(crate) struct WebSetup<'a> {
    /// `host:port`, or only a port, on this machine.
    pub(crate) address: &'a str,
    /// The access settings.
    pub(crate) access: &'a AccessSettings,
    /// The plan of the run.
    pub(crate) plan: &'a TestPlan,
    /// The receiver of orders.
    pub(crate) commands: Sender<RunCommand>,
    /// Access to the metrics of a script or of a plan of steps; `None` for other runs.
    pub(crate) watch: Option<Arc<RunWatch>>,
    /// Whether the run waits for an order before it starts.
    pub(crate) is_paused: bool,
}

/// A live page, which is served until this is dropped.
pub(crate) struct Web {
    events: Option<SyncSender<Told>>,
    missed: Arc<AtomicU64>,
    story: Option<JoinHandle<()>>,
    /// Dropped last: the final events are still being sent to the readers.
    server: Option<Server>,
    url: String,
}

impl Web {
    /// Starts to serve.
    ///
    /// # Errors
    /// Why it cannot listen there.
    pub(crate) fn start(setup: WebSetup<'_>) -> Result<Web, String> {
        let address = full(setup.address);
        let (events, told) = sync_channel(EVENTS);
        let missed = Arc::new(AtomicU64::new(0));
        let steering = Steering {
            can_pause: setup.is_paused || setup.plan.scenarios.iter().any(is_steered),
            nonce: random_word()?,
        };
        let page = Arc::new(Page {
            steering,
            events: events.clone(),
            commands: setup.commands,
            watch: setup.watch.clone(),
            readers: Arc::new(AtomicUsize::new(0)),
        });
        let server = Server::start("web", &address, setup.access, page)?;
        let url = server.url().to_owned();
        let lost = Arc::clone(&missed);
        let story = thread::Builder::new()
            .name("web-story".to_owned())
            .spawn(move || story::tell(&told, setup.watch.as_deref(), &lost))
            .map_err(|error| format!("cannot start a thread for the live page: {error}"))?;
        Ok(Web {
            events: Some(events),
            missed,
            story: Some(story),
            server: Some(server),
            url,
        })
    }

    /// The URL to open, with its token if one is required.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Handles an event of the run.
    pub(crate) fn event(&self, event: &RunEvent) {
        let Some(events) = &self.events else { return };
        match events.try_send(Told::Run(Box::new(event.clone()))) {
            Ok(()) | Err(TrySendError::Disconnected(_)) => {}
            Err(TrySendError::Full(_)) => {
                self.missed.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        if let Some(events) = self.events.take() {
            // A finished thread needs no end; a hanging one is waited for here.
            drop(events.send(Told::Close));
        }
        if let Some(story) = self.story.take() {
            drop(story.join());
        }
        drop(self.server.take());
    }
}

fn is_steered(scenario: &loadline_model::Scenario) -> bool {
    matches!(scenario.executor, Executor::ExternallyControlled { .. })
}

/// A port without a host is on this machine only.
fn full(address: &str) -> String {
    match address {
        "" => ADDRESS.to_owned(),
        port if port.chars().all(|c| c.is_ascii_digit()) => format!("127.0.0.1:{port}"),
        address => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_one_of_this_machine() {
        assert_eq!(full(""), "127.0.0.1:5665");
        assert_eq!(full("8080"), "127.0.0.1:8080");
        assert_eq!(full(":8080"), ":8080");
        assert_eq!(full("0.0.0.0:1"), "0.0.0.0:1");
    }
}
