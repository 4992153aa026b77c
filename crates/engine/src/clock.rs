//! The one clock of a run.
//!
//! All measurements and waits use it. Must not be read by pure crates. Invariant: instants never go back, and
//! zero is the start of the run.

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

/// The zero of a clock.
#[derive(Debug)]
struct Zero {
    origin_ns: AtomicU64,
    unix_ns: AtomicU64,
    /// When the test started that the run belongs to; zero: with the run.
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

    /// Sets zero to now, when everything is ready and nothing has started.
    pub(crate) fn restart(&self) {
        let zero = self.zero;
        zero.origin_ns.store(platform::monotonic_ns(), Relaxed);
        zero.unix_ns.store(unix_ns(), Relaxed);
    }

    /// Sets zero to an instant on the operating system's scale. It may be in the future: until then the time is
    /// zero. It may also precede that scale's zero, as a negative number in two's complement: a test can be
    /// older than the machine that joins it.
    pub fn begin_at(&self, monotonic_ns: u64) {
        let ahead = ahead_ns(monotonic_ns, platform::monotonic_ns());
        let zero = self.zero;
        zero.origin_ns.store(monotonic_ns, Relaxed);
        let unix_at_zero = unix_ns().saturating_add_signed(ahead);
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
        let since = ahead_ns(platform::monotonic_ns(), self.origin_ns());
        Nanos(since.max(0).unsigned_abs())
    }

    /// The test starts now; the run starts after what precedes it, the script's `setup()`.
    pub fn begin_test(&self) {
        self.zero.begun_ns.store(platform::monotonic_ns(), Relaxed);
    }

    /// The test started this long before the run, in another process.
    pub fn begin_test_before(&self, before_ns: u64) {
        let begun = self.origin_ns().wrapping_sub(before_ns);
        self.zero.begun_ns.store(begun, Relaxed);
    }

    /// The time since the start of the test.
    #[must_use]
    pub fn since_test_began(&self) -> Nanos {
        match self.zero.begun_ns.load(Relaxed) {
            0 => self.now(),
            begun => Nanos(
                ahead_ns(platform::monotonic_ns(), begun)
                    .max(0)
                    .unsigned_abs(),
            ),
        }
    }

    /// An instant of the run on the operating system's scale.
    #[must_use]
    pub fn to_monotonic_ns(&self, at: Nanos) -> u64 {
        at.0.saturating_add_signed(self.origin_ns().cast_signed())
    }
}

/// How far one instant of the operating system's scale is ahead of another; either may be negative.
pub(crate) fn ahead_ns(of: u64, from: u64) -> i64 {
    of.wrapping_sub(from).cast_signed()
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
