//! Real time for tests that run real processes.
//!
//! Must not know what is waited for. Invariant: the only place in this crate that reads a clock, and
//! every wait has an end.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often a condition is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The time that passes in the world of the processes under test.
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

/// Lets time pass.
#[expect(
    clippy::disallowed_methods,
    reason = "processes under test live in real time"
)]
pub fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// Waits until `is_so` gives something, for `limit` at most.
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
