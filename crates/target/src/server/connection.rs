//! The record of one connection, shared by its task, its requests and the worker's sweep.
//!
//! It must not know HTTP or sockets. Invariant: this record alone shows whether a connection is neither busy
//! nor recently used, without a timer per connection or request.

use crate::clock::Clock;
use crate::config::Limits;
use crate::duration::as_ns;
use crate::faults::WireAnswer;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Waker};

/// What the worker wants of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Carry on.
    Continue,
    /// End after the requests at hand.
    Finish,
    /// End now.
    Abort,
}

/// The record of one connection.
pub(crate) struct Connection {
    clock: Arc<Clock>,
    requests: AtomicU64,
    busy: AtomicU32,
    used_ns: AtomicU64,
    /// Zero when the last write went through.
    write_stalled_ns: AtomicU64,
    finish: AtomicBool,
    abort: AtomicBool,
    waker: Mutex<Option<Waker>>,
    wire_answer: Mutex<Option<WireAnswer>>,
}

impl Connection {
    /// The record of a connection that was opened now.
    pub(crate) fn new(clock: Arc<Clock>) -> Self {
        let used_ns = AtomicU64::new(clock.now_ns());
        Self {
            clock,
            requests: AtomicU64::new(0),
            busy: AtomicU32::new(0),
            used_ns,
            write_stalled_ns: AtomicU64::new(0),
            finish: AtomicBool::new(false),
            abort: AtomicBool::new(false),
            waker: Mutex::new(None),
            wire_answer: Mutex::new(None),
        }
    }

    /// Counts a request that began at `now_ns`; returns its number, from 1.
    pub(crate) fn count_request(&self, now_ns: u64) -> u64 {
        self.used_ns.store(now_ns, Relaxed);
        self.requests.fetch_add(1, Relaxed) + 1
    }

    /// Notes whether a write had to wait.
    pub(crate) fn note_write(&self, waits: bool) {
        let since = self.write_stalled_ns.load(Relaxed);
        match (waits, since) {
            (true, 0) => self
                .write_stalled_ns
                .store(self.clock.now_ns().max(1), Relaxed),
            (false, 1..) => self.write_stalled_ns.store(0, Relaxed),
            _ => {}
        }
    }

    /// True when the limits say that this connection has to go.
    pub(crate) fn is_overdue(&self, now_ns: u64, limits: &Limits) -> bool {
        let since = |instant: u64| now_ns.saturating_sub(instant);
        let stalled = self.write_stalled_ns.load(Relaxed);
        if stalled > 0 && since(stalled) > as_ns(limits.stalled_write) {
            return true;
        }
        self.busy.load(Relaxed) == 0 && since(self.used_ns.load(Relaxed)) > as_ns(limits.idle)
    }

    /// Asks the connection's task to end after the requests at hand.
    pub(crate) fn ask_to_finish(&self) {
        self.finish.store(true, Relaxed);
        self.wake();
    }

    /// Asks the connection's task to end now.
    pub(crate) fn ask_to_abort(&self) {
        self.abort.store(true, Relaxed);
        self.wake();
    }

    /// What the task has to do; called at every poll of the connection.
    pub(crate) fn wish(&self) -> Wish {
        if self.abort.load(Relaxed) {
            Wish::Abort
        } else if self.finish.load(Relaxed) {
            Wish::Finish
        } else {
            Wish::Continue
        }
    }

    /// Makes `ask_to_…` wake this task.
    pub(crate) fn register(&self, cx: &Context<'_>) {
        let mut waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
        *waker = Some(cx.waker().clone());
    }

    /// Leaves an answer to be written to the bare connection after HTTP has ended.
    pub(crate) fn leave_wire_answer(&self, answer: WireAnswer) {
        *self
            .wire_answer
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(answer);
    }

    /// Takes the answer left by `leave_wire_answer`.
    pub(crate) fn take_wire_answer(&self) -> Option<WireAnswer> {
        self.wire_answer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    fn wake(&self) {
        let waker = self
            .waker
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// While it lives, the connection counts as busy.
pub(crate) struct Busy(Arc<Connection>);

impl Busy {
    /// Marks the connection.
    pub(crate) fn new(connection: Arc<Connection>) -> Self {
        connection.busy.fetch_add(1, Relaxed);
        Self(connection)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.used_ns.store(self.0.clock.now_ns(), Relaxed);
        self.0.busy.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn idle_and_stalled_connections_are_overdue_and_busy_ones_are_not() {
        let limits = Limits {
            idle: Duration::from_secs(10),
            stalled_write: Duration::from_secs(20),
            ..Limits::default()
        };
        let at = |seconds: u64| as_ns(Duration::from_secs(seconds));
        let connection = Arc::new(Connection::new(Arc::new(Clock::start())));
        assert!(!connection.is_overdue(at(9), &limits));
        assert!(connection.is_overdue(at(11), &limits));
        assert_eq!(connection.count_request(at(5)), 1);
        assert!(!connection.is_overdue(at(14), &limits));
        let busy = Busy::new(Arc::clone(&connection));
        assert!(!connection.is_overdue(at(99), &limits));
        connection.note_write(true);
        assert!(connection.is_overdue(at(99), &limits));
        connection.note_write(false);
        assert!(!connection.is_overdue(at(99), &limits));
        drop(busy);
        assert!(connection.is_overdue(at(99), &limits));
    }

    #[test]
    fn abort_wins_over_finish() {
        let connection = Connection::new(Arc::new(Clock::start()));
        assert_eq!(connection.wish(), Wish::Continue);
        connection.ask_to_finish();
        assert_eq!(connection.wish(), Wish::Finish);
        connection.ask_to_abort();
        assert_eq!(connection.wish(), Wish::Abort);
    }
}
