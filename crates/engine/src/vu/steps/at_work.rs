//! Counts running threads.
//!
//! Must not know what they do. Invariant: a thread that was counted as running is counted as ended once.

use super::GroupOnWorker;

/// Counts a thread as running while this exists.
pub(super) struct AtWork<'a>(&'a GroupOnWorker);

impl<'a> AtWork<'a> {
    pub(super) fn begin(of: &'a GroupOnWorker) -> AtWork<'a> {
        of.state().begin_thread(of.group);
        AtWork(of)
    }
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.state().end_thread(self.0.group);
    }
}
