//! The thread of a sink that keeps series, and how it receives events.
//!
//! Must not know protocols. Invariant: exactly the events that change series are sent.

use std::io;
use std::thread::{self, JoinHandle};

use loadline_model::RunEvent;

use super::Inbox;

/// A running sink whose thread ends with a report.
#[derive(Debug)]
pub(crate) struct SeriesThread<R> {
    inbox: Inbox,
    thread: JoinHandle<R>,
}

impl<R: Send + 'static> SeriesThread<R> {
    /// Starts the thread, which reads its inbox until no more events come.
    ///
    /// # Errors
    /// No thread can be started.
    pub(crate) fn start(
        name: &str,
        run: impl FnOnce(&Inbox) -> R + Send + 'static,
    ) -> io::Result<SeriesThread<R>> {
        let inbox = Inbox::default();
        let own = inbox.clone();
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || run(&own))?;
        Ok(SeriesThread { inbox, thread })
    }

    /// Passes on an event.
    pub(crate) fn event(&self, event: &RunEvent) {
        if matches!(
            event,
            RunEvent::Started { .. }
                | RunEvent::Series(_)
                | RunEvent::Second { .. }
                | RunEvent::Resource(_)
        ) {
            self.inbox.tell(event);
        }
    }

    /// Signals that no more events come, and waits for the report; `None`: the thread failed.
    pub(crate) fn finish(self) -> Option<R> {
        self.inbox.end();
        self.thread.join().ok()
    }
}
