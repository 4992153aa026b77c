//! The clock of the observers.
//!
//! Must not know what time is used for. Invariant: time never goes back, because wall time is read once and then
//! carried forward by the monotonic clock.

use std::fmt::Debug;
use std::time::{Duration, Instant, SystemTime};

/// Tells what time it is.
pub trait Clock: Send + Sync + Debug {
    /// Nanoseconds since 1970; never goes back.
    fn unix_ns(&self) -> u64;
}

/// The operating system's clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    origin: Instant,
    origin_unix_ns: u64,
}

impl SystemClock {
    /// Reads wall time, for the only time.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the injected clock of this crate"
    )]
    pub fn start() -> SystemClock {
        let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        SystemClock {
            origin: Instant::now(),
            origin_unix_ns: nanoseconds(wall.unwrap_or_default()),
        }
    }
}

impl Clock for SystemClock {
    fn unix_ns(&self) -> u64 {
        self.origin_unix_ns
            .saturating_add(nanoseconds(self.origin.elapsed()))
    }
}

/// A span as a number; 584 years fit.
pub(crate) fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// The seconds between two times; zero where the second is not later.
pub(crate) fn seconds_between(from_unix_ns: u64, to_unix_ns: u64) -> f64 {
    to_unix_ns.saturating_sub(from_unix_ns) as f64 / 1e9
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::*;

    /// A clock that tests set.
    #[derive(Debug, Default)]
    pub(crate) struct TestClock(pub(crate) AtomicU64);

    impl TestClock {
        pub(crate) fn set_seconds(&self, seconds: f64) {
            self.0.store((seconds * 1e9) as u64, Relaxed);
        }
    }

    impl Clock for TestClock {
        fn unix_ns(&self) -> u64 {
            self.0.load(Relaxed)
        }
    }

    #[test]
    fn the_clock_stands_in_this_century_and_never_goes_back() {
        let clock = SystemClock::start();
        let first = clock.unix_ns();
        assert!(first > 1_700_000_000_000_000_000);
        assert!(clock.unix_ns() >= first);
    }
}
