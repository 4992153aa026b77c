//! The user's stop requests, as seen by everything that waits in a suite; and the suite's clock.
//!
//! Must not know what is stopped. Invariant: a wait ends when its time is over or another request arrives,
//! whichever comes first.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use loadline_engine::clock::Clock;
use loadline_model::{ExitCode, RunCommand};
use loadline_suite::hooks;

use crate::Ending;
use crate::terminal::signals::{self, FirstSignal, SecondSignal};

/// The message at the first signal.
const NOTICE: &str = "\nstopping: the run ends, then cleanup hooks run; press Ctrl-C again to end the run without its outputs\n";

/// The number of requests.
#[derive(Debug, Default)]
pub(super) struct Wish {
    asked: Mutex<u32>,
    /// Whether the first request came through the REST API.
    is_remote: AtomicBool,
    changed: Condvar,
}

impl Wish {
    /// Listens from now on to signals, and to the holders of the returned sender.
    ///
    /// # Errors
    /// Signals cannot be caught, or no thread can be started.
    pub(super) fn listen() -> Result<(Arc<Wish>, Sender<RunCommand>), Ending> {
        let (orders, received) =
            signals::orders(FirstSignal::interrupts(NOTICE), SecondSignal::Orders)?;
        let wish = Arc::new(Wish::default());
        let listener = Arc::clone(&wish);
        let others = orders.clone();
        let started = std::thread::Builder::new()
            .name("suite-signals".to_owned())
            .spawn(move || {
                // The other end of the orders: while it exists, so does the queue.
                let _orders = orders;
                listener.count(&received);
            });
        started.map_err(|error| {
            let why = format!("cannot start a thread: {error}; raise the limit of threads");
            Ending::refusal(ExitCode::Other, &why)
        })?;
        Ok((wish, others))
    }

    fn count(&self, received: &Receiver<RunCommand>) {
        for order in received.iter() {
            if order.is_stop() {
                let mut held = self.held();
                if *held == 0 && order == RunCommand::StopRemotely {
                    self.is_remote.store(true, Ordering::Relaxed);
                }
                *held += 1;
                drop(held);
                self.changed.notify_all();
            }
        }
    }

    /// The number of stop requests.
    pub(super) fn times(&self) -> u32 {
        *self.held()
    }

    /// Whether the first request came through the REST API.
    pub(super) fn is_remote(&self) -> bool {
        self.is_remote.load(Ordering::Relaxed)
    }

    /// Waits; another request ends the wait.
    pub(super) fn wait(&self, span: Duration) {
        let held = self.held();
        let before = *held;
        let waited = self
            .changed
            .wait_timeout_while(held, span, |asked| *asked == before);
        // A panic while counting leaves no inconsistent state.
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn held(&self) -> MutexGuard<'_, u32> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The clock with which hooks wait.
pub(super) struct SuiteClock {
    pub(super) wish: Arc<Wish>,
    pub(super) clock: Clock,
}

impl hooks::Clock for SuiteClock {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.clock.now().0)
    }

    fn pause(&self, span: Duration) {
        self.wish.wait(span);
    }

    fn should_stop(&self) -> bool {
        self.wish.times() > 0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn every_order_to_stop_counts_and_ends_waits() {
        let wish = Arc::new(Wish::default());
        let (orders, received) = mpsc::channel();
        let listener = Arc::clone(&wish);
        let counting = std::thread::spawn(move || listener.count(&received));
        for order in [
            RunCommand::Interrupt,
            RunCommand::Resume,
            RunCommand::StopNow,
        ] {
            orders.send(order).expect("the listener is there");
        }
        drop(orders);
        counting.join().expect("it counts without panic");
        assert_eq!((wish.times(), wish.is_remote()), (2, false));
        wish.wait(Duration::ZERO);
    }
}
