//! The outcome of the values that a sink received, and how it reports problems.
//!
//! Must not know sinks. Invariant: written + lost = values received.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Why a sink's thread ended without a report.
pub(crate) const THREAD_FAILED: &str = "its thread failed; this is a defect of loadline";

/// The outcome of the values.
#[derive(Debug, Default)]
pub struct SinkReport {
    /// Values written, or accepted by the server.
    pub written: u64,
    /// Values lost: those of the piece with the error and, if a file failed, all after it.
    pub lost: u64,
    /// The first error that lost values; `None` if none were lost.
    pub error: Option<io::Error>,
}

/// Called once, with one line, when a sink starts to fail; its report says what it lost.
pub type OnTrouble = Arc<dyn Fn(&str) + Send + Sync>;

/// Set when nobody waits for the rest any more; unsent values are then lost.
pub type GiveUp = Arc<AtomicBool>;

impl SinkReport {
    /// The report for a thread that ended without one.
    pub(crate) fn of_a_defect() -> SinkReport {
        SinkReport {
            error: Some(io::Error::other(THREAD_FAILED)),
            ..SinkReport::default()
        }
    }
}
