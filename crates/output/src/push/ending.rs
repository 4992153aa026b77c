//! Whether the run has ended, and how long a server has been waited for since then.
//!
//! Must not know bodies. Invariants: waiting threads are woken when the run ends; whenever the server accepts
//! something, the time limit starts again.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a server that accepts nothing is retried after the run has ended.
const PATIENCE: Duration = Duration::from_secs(3);
/// The longest wait between two attempts then.
const WAIT_MAX: Duration = Duration::from_secs(1);

/// The end of a run, for threads that deliver its measurements.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    /// Since when the server is waited for; `None`: the run is still going.
    since: Mutex<Option<Instant>>,
    came: Condvar,
}

impl Ending {
    /// The run has ended.
    pub(crate) fn come(&self) {
        self.lock().get_or_insert_with(now);
        self.came.notify_all();
    }

    pub(crate) fn has_come(&self) -> bool {
        self.lock().is_some()
    }

    /// The server accepted something.
    pub(crate) fn is_heeded(&self) {
        if let Some(since) = &mut *self.lock() {
            *since = now();
        }
    }

    /// Whether the time for a server that accepts nothing has passed.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over_at(now())
    }

    fn is_over_at(&self, now: Instant) -> bool {
        self.lock()
            .is_some_and(|since| now.saturating_duration_since(since) >= PATIENCE)
    }

    /// Waits; for a shorter time once the run has ended.
    pub(crate) fn wait(&self, wait: Duration) {
        let since = self.lock();
        let had_come = since.is_some();
        let wait = if had_come { wait.min(WAIT_MAX) } else { wait };
        drop(
            self.came
                .wait_timeout_while(since, wait, |since| since.is_some() == had_come),
        );
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a server is waited for in real time"
)]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_takes_nothing_has_its_time_from_the_end_on() {
        let ending = Ending::default();
        let long_after = now() + 2 * PATIENCE;
        assert!(!ending.has_come() && !ending.is_over_at(long_after));
        ending.come();
        assert!(ending.has_come() && !ending.is_over());
        assert!(ending.is_over_at(long_after));
        ending.is_heeded();
        assert!(!ending.is_over_at(now()));
    }
}
