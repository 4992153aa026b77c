//! The clock of the observers.
//!
//! Must not know what time is used for. Invariant: time never goes back, because wall time is read once and
//! then advanced by the monotonic clock.

use std::fmt::Debug;
use std::time::{Duration, Instant, SystemTime};

/// Returns the time.
pub trait Clock: Send + Sync + Debug {
    /// Nanoseconds since 1970; never goes back.
    fn unix_ns(&self) -> u64;

    /// CPU time used by the calling thread, in nanoseconds. Unlike elapsed time, it does not grow while others
    /// use the CPU; budgets are based on it.
    fn thread_cpu_ns(&self) -> u64;
}

/// The operating system's clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    origin: Instant,
    origin_unix_ns: u64,
}

impl SystemClock {
    /// Reads wall time, the only time.
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

    #[cfg(unix)]
    fn thread_cpu_ns(&self) -> u64 {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the pointer is to a local that outlives the call; on failure it stays zero.
        unsafe {
            libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time);
        }
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        let rest = u64::try_from(time.tv_nsec).unwrap_or(0);
        seconds.saturating_mul(1_000_000_000).saturating_add(rest)
    }

    /// Without per-thread accounting, the elapsed time is an upper bound for the CPU time.
    #[cfg(not(unix))]
    fn thread_cpu_ns(&self) -> u64 {
        self.unix_ns()
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
    pub(crate) struct TestClock {
        unix_ns: AtomicU64,
        cpu_ns: AtomicU64,
        /// What each reading of the processor time adds to it.
        pub(crate) cpu_step_ns: AtomicU64,
    }

    impl TestClock {
        pub(crate) fn set_seconds(&self, seconds: f64) {
            self.unix_ns.store((seconds * 1e9) as u64, Relaxed);
        }
    }

    impl Clock for TestClock {
        fn unix_ns(&self) -> u64 {
            self.unix_ns.load(Relaxed)
        }

        fn thread_cpu_ns(&self) -> u64 {
            let step = self.cpu_step_ns.load(Relaxed);
            self.cpu_ns.fetch_add(step, Relaxed)
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_thread_that_works_uses_processor_time() {
        let clock = SystemClock::start();
        let before = clock.thread_cpu_ns();
        let mut sum = 0_u64;
        while clock.thread_cpu_ns() == before && sum < u64::MAX / 2 {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(clock.thread_cpu_ns() > before);
    }

    #[test]
    fn the_clock_stands_in_this_century_and_never_goes_back() {
        let clock = SystemClock::start();
        let first = clock.unix_ns();
        assert!(first > 1_700_000_000_000_000_000);
        assert!(clock.unix_ns() >= first);
    }
}
