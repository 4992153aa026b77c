//! The one pace of all requests of a process (`rps`): a token bucket that holds one token.
//!
//! Must not read a clock. Invariant: starts that are reserved lie at least the interval apart,
//! whichever workers ask.

use std::sync::atomic::{AtomicU64, Ordering};

use loadline_model::Nanos;

/// When requests may begin.
#[derive(Debug)]
pub(super) struct Pace {
    interval_ns: u64,
    /// The earliest start that is still free.
    free_at: AtomicU64,
}

impl Pace {
    /// At most so many requests a second; at least one.
    pub(super) fn new(per_second: u32) -> Pace {
        Pace {
            interval_ns: 1_000_000_000 / u64::from(per_second.max(1)),
            free_at: AtomicU64::new(0),
        }
    }

    /// Takes the next free start, which is not before `now`.
    pub(super) fn reserve(&self, now: Nanos) -> Nanos {
        let mut free = self.free_at.load(Ordering::Relaxed);
        loop {
            let start = free.max(now.0);
            let next = start.saturating_add(self.interval_ns);
            let swapped = self.free_at.compare_exchange_weak(
                free,
                next,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            match swapped {
                Ok(_) => return Nanos(start),
                Err(other) => free = other,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_lie_apart_and_are_not_saved_up() {
        let pace = Pace::new(2);
        let half = 500_000_000;
        assert_eq!(pace.reserve(Nanos(10)), Nanos(10));
        assert_eq!(pace.reserve(Nanos(11)), Nanos(10 + half));
        assert_eq!(pace.reserve(Nanos(12)), Nanos(10 + 2 * half));
        let later = Nanos(100 * half);
        assert_eq!(pace.reserve(later), later);
        assert_eq!(
            pace.reserve(later),
            later + std::time::Duration::from_millis(500)
        );
    }
}
