//! The one clock of a run.
//!
//! Everything that measures or waits takes its instants from here. Must not be read by pure
//! crates. Invariant: instants never go back, and zero is the start of the run.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use loadline_model::Nanos;

use crate::platform;

/// The monotonic clock, counted from the start of the run.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    // One per run, never freed: every part of the engine has a copy of the clock, and what makes
    // virtual users ready has it before the run starts.
    zero: &'static Zero,
}

/// Where a clock's time begins.
#[derive(Debug)]
struct Zero {
    origin_ns: AtomicU64,
    unix_ns: AtomicU64,
    /// When the test began of which the run is a part; zero: with the run.
    begun_ns: AtomicU64,
}

impl Clock {
    /// A clock whose zero is now.
    #[must_use]
    pub fn start() -> Clock {
        let clock = Clock {
            zero: Box::leak(Box::new(Zero {
                origin_ns: AtomicU64::new(0),
                unix_ns: AtomicU64::new(0),
                begun_ns: AtomicU64::new(0),
            })),
        };
        clock.restart();
        clock
    }

    /// Makes now the zero: when everything is ready and nothing has begun.
    pub(crate) fn restart(&self) {
        let zero = self.zero;
        zero.origin_ns.store(platform::monotonic_ns(), Relaxed);
        zero.unix_ns.store(unix_ns(), Relaxed);
    }

    /// Makes an instant on the operating system's scale the zero, which may lie ahead: until then it is always now.
    pub fn begin_at(&self, monotonic_ns: u64) {
        let now = platform::monotonic_ns();
        let ahead = monotonic_ns.saturating_sub(now);
        let past = now.saturating_sub(monotonic_ns);
        let zero = self.zero;
        zero.origin_ns.store(monotonic_ns, Relaxed);
        let unix_at_zero = (unix_ns() + ahead).saturating_sub(past);
        zero.unix_ns.store(unix_at_zero, Relaxed);
    }

    /// Nanoseconds since 1970 at the clock's zero.
    #[must_use]
    pub fn started_unix_ns(&self) -> u64 {
        self.zero.unix_ns.load(Relaxed)
    }

    fn origin_ns(&self) -> u64 {
        self.zero.origin_ns.load(Relaxed)
    }

    /// The time since the start of the run.
    #[must_use]
    #[inline]
    pub fn now(&self) -> Nanos {
        Nanos(platform::monotonic_ns().saturating_sub(self.origin_ns()))
    }

    /// The test begins now, and the run when what comes before it is done: `setup()` of a script.
    pub fn begin_test(&self) {
        self.zero.begun_ns.store(platform::monotonic_ns(), Relaxed);
    }

    /// The time since the test began.
    #[must_use]
    pub fn since_test_began(&self) -> Nanos {
        match self.zero.begun_ns.load(Relaxed) {
            0 => self.now(),
            begun => Nanos(platform::monotonic_ns().saturating_sub(begun)),
        }
    }

    /// An instant of the run on the operating system's scale.
    #[must_use]
    pub fn to_monotonic_ns(&self, at: Nanos) -> u64 {
        at.0.saturating_add(self.origin_ns())
    }
}

/// Nanoseconds since 1970, read where a run is dated.
fn unix_ns() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where wall time is read"
    )]
    let now = std::time::SystemTime::now();
    now.duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| {
            u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
        })
}
