//! Signals during a sequence of loads.
//!
//! Must not know loads. Invariant: the first signal ends the current load, and no other one starts.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use loadline_model::{ExitCode, RunCommand};

use crate::Ending;
use crate::terminal::signals::{self, FirstSignal, SecondSignal};

/// The message at the first signal.
const STOPS: &str = "\nstopping: requests in flight are interrupted, no other load starts; press Ctrl-C again to exit at once\n";

/// Passes signals on to the current load.
pub(super) struct Stops {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_asked: bool,
    /// The receiver of orders to the current load.
    load: Option<Sender<RunCommand>>,
}

impl Stops {
    pub(super) fn listen() -> Result<Stops, Ending> {
        let (_, orders) = signals::orders(FirstSignal::interrupts(STOPS), SecondSignal::Ends)?;
        let shared = Arc::new(Shared::default());
        let for_thread = Arc::clone(&shared);
        let pass_on = move || {
            while let Ok(order) = orders.recv() {
                for_thread.pass_on(order);
            }
        };
        let started = std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(pass_on);
        started.map_err(|error| {
            Ending::refusal(ExitCode::Other, &format!("cannot start a thread: {error}"))
        })?;
        Ok(Stops { shared })
    }

    pub(super) fn is_asked(&self) -> bool {
        self.shared.lock().is_asked
    }

    /// The orders to the next load; `None` if there must not be one.
    pub(super) fn of_next_load(&self) -> Option<Receiver<RunCommand>> {
        let mut state = self.shared.lock();
        if state.is_asked {
            return None;
        }
        let (sender, receiver) = mpsc::channel();
        state.load = Some(sender);
        Some(receiver)
    }

    pub(super) fn wait(&self, duration: Duration) {
        let state = self.shared.lock();
        let waited = self
            .shared
            .changed
            .wait_timeout_while(state, duration, |state| !state.is_asked);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass_on(&self, order: RunCommand) {
        let mut state = self.lock();
        state.is_asked = true;
        if let Some(load) = &state.load {
            // The load may have ended already; then there is nothing to stop.
            let _ = load.send(order);
        }
        self.changed.notify_all();
    }
}
