//! The one place where this crate reads time and waits.
//!
//! Must not know what time is used for. Invariant: everything else in this crate takes its time from a
//! [`Clock`].

use std::fmt::Debug;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Wall time, and waiting.
pub trait Clock: Debug + Send + Sync {
    /// Nanoseconds since 1970.
    fn unix_ns(&self) -> u64;
    /// Returns after this time.
    fn wait(&self, time: Duration);
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the injected clock of this crate"
    )]
    fn unix_ns(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        u64::try_from(since.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the injected clock of this crate"
    )]
    fn wait(&self, time: Duration) {
        std::thread::sleep(time);
    }
}
