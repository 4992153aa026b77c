//! A thread that runs observers: reads them when they are due, waits in between.
//!
//! Must not know what they read. Invariants: reads are due at whole multiples of the interval since 1970, so
//! they do not drift; two reads are at least half an interval apart, so that no rate is computed over an
//! instant.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Release};
use std::time::Duration;

use super::shared::{LaneControl, Orders};
use super::watch::Watch;
use crate::clock::{Clock, nanoseconds};

/// Observers that share a thread.
pub(super) struct Lane {
    pub(super) watches: Vec<Watch>,
    pub(super) shared: Arc<LaneControl>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) tail: Duration,
    /// Set just before the thread ends.
    pub(super) has_ended: Arc<AtomicBool>,
}

/// Signals that the thread has ended, even after a panic.
struct Ending {
    shared: Arc<LaneControl>,
    has_ended: Arc<AtomicBool>,
    was_idle: bool,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.has_ended.store(true, Release);
        self.shared.lane_ends(self.was_idle);
    }
}

impl Lane {
    /// Reads until stopped; returns its observers.
    pub(super) fn run(mut self) -> Vec<Watch> {
        let mut ending = Ending {
            shared: Arc::clone(&self.shared),
            has_ended: Arc::clone(&self.has_ended),
            was_idle: false,
        };
        loop {
            let orders = self.shared.orders();
            if orders.stop {
                break;
            }
            let next = self.look(orders);
            if next.is_none() && !ending.was_idle {
                ending.was_idle = true;
                self.shared.lane_is_idle();
            }
            let wait =
                next.map(|next| Duration::from_nanos(next.saturating_sub(self.clock.unix_ns())));
            self.shared.wait_for_orders(orders, wait);
        }
        for watch in &mut self.watches {
            watch.flush(self.clock.unix_ns());
        }
        self.watches
    }

    /// Runs the reads and peeks that are due; returns the next time at which one is due, `None`: all observers
    /// have ended.
    fn look(&mut self, orders: Orders) -> Option<u64> {
        let ended = orders.load_ended_unix_ns;
        let tail_ends = ended.map(|at| at.saturating_add(nanoseconds(self.tail)));
        for watch in &mut self.watches {
            if watch
                .due(ended)
                .is_some_and(|due| due <= self.clock.unix_ns())
            {
                let first = watch.look(&*self.clock, ended);
                if let Some(result) = first {
                    self.shared.has_looked(watch.name(), result);
                }
                watch.end_where_done(ended, tail_ends);
            } else {
                watch.peek(&*self.clock);
            }
        }
        let nexts = self.watches.iter().filter_map(|watch| watch.next(ended));
        nexts.min()
    }
}
