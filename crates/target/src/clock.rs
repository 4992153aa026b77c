//! The one place where the server reads time.
//!
//! It must not know what time is used for. Invariant: `now_ns` never goes back, and both clocks advance
//! together, because wall time is read once and then advanced by the monotonic clock.

use std::time::{Duration, Instant, SystemTime};

/// Monotonic nanoseconds since the start of the server, and wall time derived from them.
#[derive(Debug)]
pub(crate) struct Clock {
    origin: Instant,
    wall_origin: SystemTime,
}

impl Clock {
    /// Starts counting at zero.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the injected clock of this crate"
    )]
    pub(crate) fn start() -> Self {
        Self {
            origin: Instant::now(),
            wall_origin: SystemTime::now(),
        }
    }

    /// Nanoseconds since `start`; 584 years fit.
    pub(crate) fn now_ns(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Wall time now.
    pub(crate) fn wall(&self) -> SystemTime {
        self.wall_origin + Duration::from_nanos(self.now_ns())
    }
}
