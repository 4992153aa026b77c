//! One process of a testbed: how it handles a request, and its configuration.
//!
//! It must not know the other processes beyond their addresses. Invariant: what a client should see is counted
//! in the shared memory before it is sent.

mod burner;
mod client;
mod line;
mod memory;
mod proxy;
mod queue;
mod relay;
mod run;
mod service;
mod upstreams;

use crate::metrics::Family;
use crate::reply::Reply;
use crate::request::Request;
use crate::server::Worker;
use crate::testbed::fleet::Control;
use crate::testbed::tally::{CounterSlot, Tally};
use http::StatusCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

pub(crate) use line::LineTemplate;
pub(crate) use run::serve;

/// Where every component that speaks HTTP shows its metrics.
const METRICS_PATH: &str = "/metrics";

/// What makes an HTTP server a component of a testbed.
pub(crate) struct TestbedPart {
    /// `None` for the control port, which is no component.
    pub(crate) tally: Option<Arc<Tally>>,
    pub(crate) role: Role,
}

/// The header of an answer that names the replica.
const REPLICA_HEADER: &str = "x-replica";

/// What it does with requests.
pub(crate) enum Role {
    Service(Box<service::Service>),
    Proxy(Box<proxy::Proxy>),
    Queue(queue::Queue),
    Control(Control),
}

/// What becomes of one request.
pub(crate) enum Outcome {
    /// The endpoint or route that it asks for answers.
    Endpoint,
    /// This in place of the endpoint's answer.
    Instead(Reply),
    /// This; the request means nothing to the endpoints.
    Own(Reply),
}

impl TestbedPart {
    /// Counts a request in; the value counts it out.
    pub(crate) fn enter(&self, request: &Request) -> Visit {
        let tally = self.tally.clone();
        let scrape = request.path == METRICS_PATH;
        if let Some(tally) = &tally {
            let slot = if scrape {
                CounterSlot::Scrapes
            } else {
                CounterSlot::Requests
            };
            tally.add(slot, 1);
            tally.add(CounterSlot::InFlight, u64::from(!scrape));
        }
        Visit { tally, scrape }
    }

    /// Adds the replica's name to a response, so that a client can distinguish replicas.
    pub(crate) fn sign(&self, reply: &mut Reply) {
        if let Role::Service(service) = &self.role
            && let Some(name) = service.name()
        {
            reply.headers.insert(REPLICA_HEADER, name.clone());
        }
    }

    /// Does what a request costs, and says who answers it.
    pub(crate) async fn answer(
        &self,
        worker: &Arc<Worker>,
        request: &Request,
        start_ns: u64,
    ) -> Outcome {
        let metrics = request.path == METRICS_PATH;
        match &self.role {
            Role::Control(control) => Outcome::Own(control.answer(worker, request).await),
            _ if metrics => Outcome::Endpoint,
            Role::Service(service) => service.answer(worker).await,
            Role::Proxy(proxy) => Outcome::Own(proxy.answer(worker, request, start_ns).await),
            Role::Queue(queue) => Outcome::Own(queue.answer(worker)),
        }
    }

    /// Writes the log line of a request, where there is a log.
    pub(crate) fn log(&self, worker: &Worker, request: &Request, status: u16, elapsed_ns: u64) {
        if let Role::Service(service) = &self.role
            && request.path != METRICS_PATH
        {
            service.log(worker, request, status, Duration::from_nanos(elapsed_ns));
        }
    }

    /// Metrics besides those that every server has.
    pub(crate) fn families(&self) -> Vec<Family> {
        match &self.role {
            Role::Proxy(proxy) => proxy.families(self.tally.as_deref()),
            Role::Queue(queue) => queue.families(),
            Role::Service(_) | Role::Control(_) => Vec::new(),
        }
    }
}

/// A request that is there.
pub(crate) struct Visit {
    tally: Option<Arc<Tally>>,
    scrape: bool,
}

impl Visit {
    /// Counts the response; 0 means a deliberately missing one.
    pub(crate) fn answered(&self, status: u16) {
        if let (Some(tally), false) = (&self.tally, self.scrape) {
            tally.count_status(status);
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if let (Some(tally), false) = (&self.tally, self.scrape) {
            tally.subtract(CounterSlot::InFlight, 1);
        }
    }
}

/// A number by which times are multiplied, set while requests are served.
#[derive(Debug)]
struct Factor(AtomicU64);

impl Factor {
    fn new(factor: f64) -> Self {
        Self(AtomicU64::new(factor.to_bits()))
    }

    fn set(&self, factor: f64) {
        self.0.store(factor.to_bits(), Relaxed);
    }

    fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Relaxed))
    }
}

/// The response when there is no room or no replica.
fn unavailable(why: &str) -> Reply {
    Reply::error(StatusCode::SERVICE_UNAVAILABLE, why)
}
