//! The data plane: workers, virtual users, connections, timers.
//!
//! Drives `schedule` and `wire` with one current-thread runtime per worker; while they run, workers only share
//! the iteration pool and each other's mailboxes. Must not print, write files or know what shows its
//! measurements. Invariant: every arrival and every started request is counted in exactly one snapshot.

pub mod batches;
mod client;
pub mod clock;
mod connections_seen;
mod exchange;
pub mod hook;
pub mod live;
mod mailbox;
mod net;
pub mod panics;
mod planned;
pub mod platform;
mod record;
mod record_script;
mod report;
pub mod runtime;
mod script;
mod slot;
mod start;
pub mod steps;
mod tag_sets;
mod timers;
mod vu;
mod worker;

pub use client::INSTANT_FAILURES_PER_SECOND;
pub use net::TlsError;
pub use planned::PlannedArrivals;
pub use record_script::{Occasion, ScriptMetrics, ScriptRecorder};
pub use report::{INTERVAL, WorkerReport};
pub use script::{InitFailure, ScriptLog, ScriptSetup, ScriptSignal, Traced};
pub use start::{Engine, EngineSetup, StartError};
