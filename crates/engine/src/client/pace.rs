//! Rate limiters: for all requests of a process (`rps`), and for failures that take no time.
//!
//! Each is a token bucket with a single token. Must not read a clock. Invariant: reserved starts are at least
//! the interval apart, whichever workers ask.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use loadline_model::{ErrorClass, Nanos};

use super::StopSign;

/// Maximum immediate failures per second and worker. k6 needs 66 µs of a core per refused connection, so it
/// never reaches as many on the one core that a worker has.
pub const INSTANT_FAILURES_PER_SECOND: u32 = 20_000;
/// Pauses shorter than this are saved up: no timer is exact to less.
const PAUSE_MIN: Duration = Duration::from_millis(4);

/// When requests may start.
#[derive(Debug)]
pub(crate) struct Pace {
    interval_ns: u64,
    /// The earliest start that is still free.
    free_at: AtomicU64,
}

impl Pace {
    /// At most this many requests per second; at least one.
    pub(crate) fn new(per_second: u32) -> Pace {
        Pace {
            interval_ns: 1_000_000_000 / u64::from(per_second.max(1)),
            free_at: AtomicU64::new(0),
        }
    }

    /// Reserves the next free start, which is not before `now`.
    pub(crate) fn reserve(&self, now: Nanos) -> Nanos {
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

/// Prevents a worker's immediate failures from repeating as fast as the CPU allows.
#[derive(Debug)]
pub(crate) struct FailurePace(Pace);

impl Default for FailurePace {
    fn default() -> FailurePace {
        FailurePace(Pace::new(INSTANT_FAILURES_PER_SECOND))
    }
}

impl FailurePace {
    /// Waits after an immediate failure; a stop ends the wait.
    #[cold]
    pub(crate) async fn hold_up(&self, class: ErrorClass, now: Nanos, stop: &impl StopSign) {
        if let Some(pause) = self.pause_after(class, now) {
            // The next caller notices that the pause was cut short.
            let _ = stop.guard(tokio::time::sleep(pause)).await;
        }
    }

    /// How long to pause after a failure; `None`: not at all.
    fn pause_after(&self, class: ErrorClass, now: Nanos) -> Option<Duration> {
        if !class.is_instant() {
            return None;
        }
        let wait = Duration::from_nanos(self.0.reserve(now).since(now));
        (wait >= PAUSE_MIN).then_some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_that_cost_no_time_are_held_to_their_pace() {
        let pace = FailurePace::default();
        let (mut now, mut pauses) = (Nanos(1), 0);
        let classes = [
            ErrorClass::Refused,
            ErrorClass::Request,
            ErrorClass::FdLimit,
        ];
        for class in classes
            .iter()
            .cycle()
            .take(INSTANT_FAILURES_PER_SECOND as usize)
        {
            now.0 += 1_000;
            if let Some(pause) = pace.pause_after(*class, now) {
                now = now + pause;
                pauses += 1;
            }
        }
        assert!((0.99..1.01).contains(&(now.0 as f64 / 1e9)), "{now:?}");
        assert!((1..=251).contains(&pauses), "{pauses}");
        let slow = FailurePace::default();
        let paused = (0..1_000).find_map(|count| {
            let at = Nanos(count * 100_000);
            slow.pause_after(ErrorClass::Refused, at)
        });
        assert_eq!(paused, None, "10,000 a second are not held up");
        assert_eq!(pace.pause_after(ErrorClass::Closed, Nanos(1)), None);
    }

    #[test]
    fn starts_lie_apart_and_are_not_saved_up() {
        let pace = Pace::new(2);
        let half = 500_000_000;
        assert_eq!(pace.reserve(Nanos(10)), Nanos(10));
        assert_eq!(pace.reserve(Nanos(11)), Nanos(10 + half));
        assert_eq!(pace.reserve(Nanos(12)), Nanos(10 + 2 * half));
        let later = Nanos(100 * half);
        assert_eq!(pace.reserve(later), later);
        assert_eq!(pace.reserve(later), later + Duration::from_millis(500));
    }
}
