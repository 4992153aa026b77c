//! The clock of the operator.
//!
//! Must not know what time is for. Invariant: time is read here and passed on.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use k8s_openapi::jiff::Timestamp;
use time::OffsetDateTime;

/// The current time.
#[must_use]
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// The time since the first call; unlike the calendar, nobody sets it.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "this is the injected clock of this crate"
)]
pub(crate) fn uptime() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// The current time for certificates.
#[must_use]
pub(crate) fn calendar() -> OffsetDateTime {
    let seconds = now().as_second();
    OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}
