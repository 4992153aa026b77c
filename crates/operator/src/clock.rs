//! The clock of the operator.
//!
//! Must not know what time is for. Invariant: time is read here and passed on.

use k8s_openapi::jiff::Timestamp;
use time::OffsetDateTime;

/// The current time.
#[must_use]
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// The same for certificates.
#[must_use]
pub(crate) fn calendar() -> OffsetDateTime {
    let seconds = now().as_second();
    OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}
