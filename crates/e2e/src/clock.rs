//! Real time for tests that run real processes.
//!
//! Must not know what is waited for. Invariant: this is the only place in this crate that reads a clock, and
//! every wait has a limit.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Interval of checking a condition.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The current time of the processes under test.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "processes under test live in real time"
)]
pub fn now() -> Instant {
    Instant::now()
}

/// Seconds since 1970.
///
/// # Panics
/// It is before 1970.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "processes under test tell instants as time of day"
)]
pub fn unix_s() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("it is after 1970").as_secs_f64()
}

/// Sleeps.
#[expect(
    clippy::disallowed_methods,
    reason = "processes under test live in real time"
)]
pub fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// Waits until `is_so` returns a value, up to `limit`.
pub fn wait_for<T>(limit: Duration, mut is_so: impl FnMut() -> Option<T>) -> Option<T> {
    let until = now() + limit;
    loop {
        if let Some(found) = is_so() {
            return Some(found);
        }
        if now() >= until {
            return None;
        }
        pause(LOOK_EVERY);
    }
}
