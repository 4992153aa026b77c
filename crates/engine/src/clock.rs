//! The one clock of a run.
//!
//! Everything that measures or waits takes its instants from here. Must not be read by pure
//! crates. Invariant: instants never go back, and zero is the start of the run.

use loadline_model::Nanos;

use crate::platform;

/// The monotonic clock, counted from the start of the run.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin_ns: u64,
}

impl Clock {
    /// A clock whose zero is now.
    #[must_use]
    pub fn start() -> Clock {
        Clock {
            origin_ns: platform::monotonic_ns(),
        }
    }

    /// The time since the start of the run.
    #[must_use]
    #[inline]
    pub fn now(&self) -> Nanos {
        Nanos(platform::monotonic_ns().saturating_sub(self.origin_ns))
    }

    /// An instant of the run on the operating system's scale.
    #[must_use]
    pub fn to_monotonic_ns(&self, at: Nanos) -> u64 {
        at.0.saturating_add(self.origin_ns)
    }
}

/// Milliseconds since 1970, read where a run is dated.
#[must_use]
pub fn unix_ms() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where wall time is read"
    )]
    let now = std::time::SystemTime::now();
    now.duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| {
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        })
}
