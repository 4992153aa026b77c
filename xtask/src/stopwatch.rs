//! The only place in xtask that reads a clock or waits.
//!
//! Must not know what is timed. Invariant: no other module of xtask calls a clock or sleeps.

use std::time::{Duration, Instant};

/// Runs from its creation; wall time.
#[derive(Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "this module is the injected clock of xtask"
        )]
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// Sleeps between two checks of another process that offers nothing to wait on.
pub(crate) fn pause(duration: Duration) {
    #[expect(
        clippy::disallowed_methods,
        reason = "polling a foreign process has no event to wait for"
    )]
    std::thread::sleep(duration);
}

/// Polls `ready` every 20 ms until it returns true or `limit` has passed; returns whether it did.
pub(crate) fn wait_until(limit: Duration, mut ready: impl FnMut() -> bool) -> bool {
    let watch = Stopwatch::start();
    loop {
        if ready() {
            return true;
        }
        if watch.elapsed() > limit {
            return false;
        }
        pause(Duration::from_millis(20));
    }
}
