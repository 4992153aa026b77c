//! The thread of a sink that keeps series, and how it is told what happens.
//!
//! Must not know protocols. Invariant: only events that change series are told, and each of them is.

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
    /// Starts the thread, which takes from its inbox until no more events come.
    ///
    /// # Errors
    /// There can be none.
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

    /// Tells what happened.
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

    /// Says that no more events come, and waits for the report; `None`: the thread failed.
    pub(crate) fn finish(self) -> Option<R> {
        self.inbox.end();
        self.thread.join().ok()
    }
}
