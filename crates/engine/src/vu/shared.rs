//! What the virtual users of a worker share.
//!
//! One per worker, on its thread. Must not know schedules. Invariant: no borrow of a cell is held across a wait.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use loadline_model::{ClientPlan, ErrorClass, Nanos};
use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::http2_pool::Http2Pool;
use crate::client::{Broken, FailurePace, KeepRules, Stop, StopSign};
use crate::clock::Clock;
use crate::net::{Connected, Connector, Failure, Owner, Route, Routes, WireBytes};
use crate::record::Recorder;

/// Bytes of the read buffer that all connections of a worker share. One read of a full socket
/// buffer of a default-sized loopback connection fits.
pub(crate) const SCRATCH_BYTES: usize = 64 * 1024;

/// What the virtual users of a worker share.
pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) client: Arc<ClientPlan>,
    pub(crate) connector: Connector,
    /// Bytes over the whole worker.
    pub(crate) bytes: Rc<WireBytes>,
    pub(crate) routes: Routes,
    /// Which connections a virtual user keeps.
    pub(crate) keep: Rc<KeepRules>,
    pub(crate) recorder: RefCell<Recorder>,
    pub(crate) scratch: RefCell<Box<[u8]>>,
    /// `None` if HTTP/2 is not used.
    pub(crate) http2: Option<Rc<Http2Pool>>,
    pub(crate) random: RefCell<Xoshiro256PlusPlus>,
    /// Responses of this interval whose bodies are still sampled for the census.
    pub(crate) bodies_left: Cell<u32>,
    pub(crate) failures: FailurePace,
    /// When the last request ended, over the worker.
    pub(crate) last_done: Cell<Nanos>,
}

/// Bodies that a worker samples per interval: a kind that is one response in fifty is found within seconds.
pub(crate) const BODIES_MAX: u32 = 32;

impl Shared {
    /// Whether the body of one more response is sampled.
    #[inline]
    pub(crate) fn takes_body(&self) -> bool {
        let left = self.bodies_left.get();
        self.bodies_left.set(left.saturating_sub(1));
        left > 0
    }

    pub(crate) fn unix_ms(&self) -> u64 {
        (self.clock.started_unix_ns() + self.clock.now().0) / 1_000_000
    }

    pub(crate) fn next_random(&self) -> u64 {
        self.random.borrow_mut().next_u64()
    }

    /// Makes a connection on a route for a virtual user (its number in the whole test), and records it; also returns
    /// the row of its remote address.
    pub(crate) async fn connect(
        &self,
        stop: &impl StopSign,
        vu: u64,
        route: &Route,
    ) -> Result<(Connected, Option<usize>), Broken> {
        let owner = Owner {
            bytes: Rc::clone(&self.bytes),
            vu,
            is_looking_up: Cell::new(false),
        };
        let outcome = stop.guard(self.connector.connect(route, &owner)).await;
        let mut recorder = self.recorder.borrow_mut();
        match outcome {
            Ok(Ok(connected)) => {
                recorder.connections.made(&connected);
                let peer = recorder.peer(connected.address);
                Ok((connected, peer))
            }
            Ok(Err(failure)) => {
                recorder.connections.failed();
                Err(failure.into())
            }
            Err(stop) => {
                recorder.connections.failed();
                Err(match stop {
                    Stop::TimedOut if owner.is_looking_up.get() => unresolved(route).into(),
                    stop => stop.into(),
                })
            }
        }
    }
}

/// The failure of a connection that was given up while the resolver looked for an address.
fn unresolved(route: &Route) -> Failure {
    let host_port = route.origin.host_port();
    Failure::new(
        ErrorClass::Dns,
        format!("DNS lookup of {host_port} timed out: the name server does not answer"),
    )
}
