//! What the virtual users of a worker share.
//!
//! One per worker, on its thread. Must not know schedules. Invariant: no borrow of a cell in here
//! is held across a wait.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use loadline_model::client::Protocol;
use loadline_model::{ClientPlan, Nanos};
use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::http2_pool::Http2Pool;
use super::script::WorkerScript;
use crate::clock::Clock;
use crate::net::{Connector, Routes, WireBytes};
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
    pub(crate) recorder: RefCell<Recorder>,
    pub(crate) scratch: RefCell<Box<[u8]>>,
    pub(crate) http2: Http2Pool,
    pub(crate) random: RefCell<Xoshiro256PlusPlus>,
    /// Set once an interval: the next answer's body is looked at for the census.
    pub(crate) sample_due: Cell<bool>,
    /// What script virtual users share; `None` when no scenario is a script's.
    pub(crate) script: Option<Rc<WorkerScript>>,
    /// When the last request ended, over the worker.
    pub(crate) last_done: Cell<Nanos>,
}

impl Shared {
    pub(crate) fn unix_ms(&self) -> u64 {
        (self.clock.started_unix_ns() + self.clock.now().0) / 1_000_000
    }

    pub(crate) fn next_random(&self) -> u64 {
        self.random.borrow_mut().next_u64()
    }

    /// Requests after which an HTTP/2 connection is replaced; `None`: never.
    pub(crate) fn http2_requests_max(&self) -> Option<u64> {
        if self.client.keep_alive {
            self.client.max_requests_per_connection
        } else {
            Some(1)
        }
    }

    /// Requests at a time on one HTTP/2 connection; `None` when HTTP/2 is not spoken.
    pub(crate) fn http2_streams(&self) -> Option<u32> {
        match self.client.protocol {
            Protocol::Http1 => None,
            protocol => Some(protocol.streams()),
        }
    }
}
