//! Events of a run that a sink has not taken yet.
//!
//! Must not know their use. Invariants: no event is lost; sending one only blocks for a sink's thread that took
//! nothing for minutes, which no network can cause.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use loadline_model::RunEvent;

/// Maximum queued events: some minutes of a run with several observer readings per second.
const EVENTS_MAX: usize = 4_096;

#[derive(Debug, Default)]
struct Waiting {
    events: Vec<RunEvent>,
    has_ended: bool,
}

/// The events between a run and a sink.
#[derive(Clone, Debug, Default)]
pub struct Inbox {
    waiting: Arc<(Mutex<Waiting>, Condvar)>,
}

/// Events taken by a sink.
#[derive(Debug)]
pub struct Taken {
    /// The events, in order.
    pub events: Vec<RunEvent>,
    /// Whether no more will come.
    pub has_ended: bool,
}

impl Inbox {
    /// Sends an event.
    pub fn tell(&self, event: &RunEvent) {
        let mut waiting = self.lock();
        while waiting.events.len() >= EVENTS_MAX {
            waiting = self
                .waiting
                .1
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
        waiting.events.push(event.clone());
        if waiting.events.len() >= EVENTS_MAX {
            self.waiting.1.notify_all();
        }
    }

    /// Signals that no more events come.
    pub fn end(&self) {
        self.lock().has_ended = true;
        self.waiting.1.notify_all();
    }

    /// Waits for this time, or until no more events come, and takes what there is.
    #[must_use]
    pub fn take(&self, after: Duration) -> Taken {
        let waiting = self.lock();
        let (mut waiting, _) = self
            .waiting
            .1
            .wait_timeout_while(waiting, after, |waiting| {
                !waiting.has_ended && waiting.events.len() < EVENTS_MAX
            })
            .unwrap_or_else(PoisonError::into_inner);
        let taken = Taken {
            events: std::mem::take(&mut waiting.events),
            has_ended: waiting.has_ended,
        };
        drop(waiting);
        self.waiting.1.notify_all();
        taken
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
