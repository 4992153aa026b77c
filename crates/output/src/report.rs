//! What became of the values that a sink was given, and whom it tells of trouble.
//!
//! Must not know sinks. Invariant: written + lost = values received.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Why a sink's thread is gone without a report.
pub(crate) const THREAD_FAILED: &str = "its thread failed; this is a defect of loadline";

/// What became of the values.
#[derive(Debug, Default)]
pub struct SinkReport {
    /// Values written, or taken by the server they were sent to.
    pub written: u64,
    /// Values that were not: those of the piece that met the error and, where a file failed, all
    /// after it.
    pub lost: u64,
    /// The first error that lost values; `None` when none were lost.
    pub error: Option<io::Error>,
}

/// Told once, in one line, when a sink begins to fail; what it lost its report says.
pub type OnTrouble = Arc<dyn Fn(&str) + Send + Sync>;

/// Set when nobody waits for what is left any more: what was not sent is then lost.
pub type GiveUp = Arc<AtomicBool>;

impl SinkReport {
    /// The report of a thread that is gone without one.
    pub(crate) fn of_a_defect() -> SinkReport {
        SinkReport {
            error: Some(io::Error::other(THREAD_FAILED)),
            ..SinkReport::default()
        }
    }
}
