//! State shared by all workers of a server.
//!
//! It must not know who reads or changes it. Invariant: there is one recorder and one connection count per
//! worker.

use crate::clock::Clock;
use crate::config::TargetConfig;
use crate::metrics::Recorder;
use crate::queueing::QueueRegistry;
use crate::routes::RouteTable;
use crate::testbed::TestbedPart;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// What all workers share.
pub(crate) struct ServerState {
    pub(crate) config: TargetConfig,
    pub(crate) clock: Arc<Clock>,
    pub(crate) queues: QueueRegistry,
    pub(crate) routes: RouteTable,
    /// One per worker.
    pub(crate) recorders: Vec<Arc<Recorder>>,
    /// Open connections, one count per worker.
    pub(crate) open: Vec<AtomicUsize>,
    /// The server's role in a testbed; `None` for a standalone server.
    pub(crate) part: Option<TestbedPart>,
}
